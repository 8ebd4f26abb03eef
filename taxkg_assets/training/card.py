"""The card in a model's folder: what it learned from, how, and what it is worth."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from taxkg_assets.training.examples import Example
from taxkg_assets.training.gain import Gain

if TYPE_CHECKING:
    from taxkg_assets.training.model import TrainedModel


def render_card(trained: TrainedModel, gain: Gain, *, base: str, kinds: Sequence[Example]) -> str:
    """The model card as Markdown, with the header that model hubs read."""
    counts = Counter(example.kind for example in kinds)
    interval = "no interval" if gain.low is None or gain.high is None else f"[{gain.low:+.3f}, {gain.high:+.3f}]"
    lines = [
        "---",
        "library_name: sentence-transformers",
        "pipeline_tag: sentence-similarity",
        f"base_model: {base}",
        "---",
        "# Encoder tuned on a graph of tax forms and instructions",
        "",
        f"Tuned by `taxkg train` from {base}. {'Chosen' if gain.is_enough else 'Not chosen'}: {gain.reason}.",
        "",
        "## Results on form families that gave no pair",
        "",
        "| questions | nDCG@10 of the base | nDCG@10 tuned | gain | interval by families |",
        "|---|---|---|---|---|",
        f"| {gain.questions} | {gain.base:.3f} | {gain.own:.3f} | {gain.own - gain.base:+.3f} | {interval} |",
        "",
        "| kind of question | gain |",
        "|---|---|",
        *(f"| {kind} | {value:+.3f} |" for kind, value in sorted(gain.by_kind.items())),
        "",
        "Mixtures with the base (share of the tuned weights: nDCG@10): "
        + ", ".join(f"{alpha:g}: {score:.3f}" for alpha, score in sorted(trained.alphas.items()))
        + f". Taken: {trained.alpha:g}.",
        "",
        *_tell_scale(trained),
        "## Data",
        "",
        "| kind of pair | pairs |",
        "|---|---|",
        *(f"| {kind} | {count} |" for kind, count in sorted(counts.items())),
        "",
        f"{len({example.family for example in kinds})} form families.",
        "",
        "## Training",
        "",
        f"{trained.steps} steps, {trained.examples} examples in {trained.seconds:.0f} s "
        f"({trained.examples / max(trained.seconds, 1e-9):.1f} a second), peak memory {trained.peak_mb:.0f} MiB.",
        "",
        "```json",
        json.dumps(trained.settings, indent=1, sort_keys=True),
        "```",
        "",
    ]
    return "\n".join(lines)


def _tell_scale(trained: TrainedModel) -> list[str]:
    """What its cosines are worth, for whoever compares them with a limit."""
    if trained.scale is None:
        return []
    said = f"{trained.scale.slope:g} times its cosine and {trained.scale.offset:+g} is what the base would give"
    return [f"Cosines lie otherwise than the base's: {said} (`cosines.json`; the search reads it).", ""]


def render_cross_card(trained: TrainedModel, *, base: str, kinds: Sequence[Example]) -> str:
    """The card of a cross-encoder."""
    counts = Counter(example.kind for example in kinds)
    before, after = (sum(score.ndcg for score in scores) / len(scores) for scores in (trained.base, trained.tuned))
    lines = [
        "---",
        "library_name: sentence-transformers",
        "pipeline_tag: text-ranking",
        f"base_model: {base}",
        "---",
        "# Cross-encoder trained on a graph of tax forms and instructions",
        "",
        f"Trained by `taxkg train` from {base} on {sum(counts.values())} pairs: "
        + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        + ".",
        "",
        f"Answers among their hard negatives, {len(trained.base)} development pairs of other form families: nDCG@10 "
        f"{before:.3f} before training, {after:.3f} after.",
        "",
        f"{trained.steps} steps, {trained.examples} examples in {trained.seconds:.0f} s, peak memory "
        f"{trained.peak_mb:.0f} MiB.",
        "",
        "```json",
        json.dumps(trained.settings, indent=1, sort_keys=True),
        "```",
        "",
    ]
    return "\n".join(lines)
