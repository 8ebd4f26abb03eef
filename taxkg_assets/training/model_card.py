"""The model card in a model's folder: data, training and results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from taxkg_assets.training.examples import Example
from taxkg_assets.training.promotion import DECIDING, Figure, Promotion
from taxkg_assets.training.trained_model import TrainedModel


@dataclass(frozen=True, slots=True)
class Provenance:
    """The data that a model was trained on.

    Attributes:
        tables: Version and content digest by table.
        documents: Document ids.
        left_out: Number of pairs left out, by kind and reason.
    """

    tables: Mapping[str, str] = field(default_factory=dict)
    documents: Sequence[str] = ()
    left_out: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def render_card(
    trained: TrainedModel,
    promotion: Promotion,
    *,
    base: str,
    examples: Sequence[Example],
    dev: Sequence[Example],
    origin: Provenance,
) -> str:
    """Render an encoder's model card as Markdown, with the metadata header of model hubs.

    Args:
        trained: The model.
        promotion: Decision on its promotion, with figures.
        base: Name of the base model.
        examples: Training examples; the card lists their number by kind.
        dev: Development examples.
        origin: Tables and documents that the examples come from.

    Returns:
        Markdown.
    """
    outcome = "Promoted" if promotion.is_promoted else "Not promoted"
    lines = [
        "---",
        "library_name: sentence-transformers",
        "pipeline_tag: sentence-similarity",
        f"base_model: {base}",
        "---",
        "# Encoder tuned on a graph of tax forms and instructions",
        "",
        f"Tuned by `taxkg train` from {base}. {outcome}: {promotion.reason}.",
        "",
        *_render_results(trained, promotion, dev),
        "## Data",
        "",
        *_render_data(examples, origin),
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


def _render_results(trained: TrainedModel, promotion: Promotion, dev: Sequence[Example]) -> list[str]:
    return [
        "## Results on form families without training pairs",
        "",
        f"{promotion.questions} questions, vectors alone, by families: {_list_families(dev)}.",
        "",
        "| | base | tuned | gain | interval by families |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {figure.base:.3f} | {figure.tuned:.3f} | {figure.tuned - figure.base:+.3f} "
            f"| {_render_interval(figure)} |"
            for name, figure in promotion.figures.items()
        ),
        "",
        f"| kind of question | gain in {DECIDING} |",
        "|---|---|",
        *(f"| {kind} | {value:+.3f} |" for kind, value in sorted(promotion.by_kind.items())),
        "",
        "Interpolation with the base (weight of the tuned parameters: nDCG@10): "
        + ", ".join(f"{alpha:g}: {score:.3f}" for alpha, score in sorted(trained.alphas.items()))
        + f". Selected: {trained.alpha:g}.",
        "",
        *_render_scale(trained),
    ]


def _list_families(examples: Sequence[Example]) -> str:
    return ", ".join(sorted({example.family for example in examples}))


def _render_interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return "none"
    return f"[{figure.low:+.3f}, {figure.high:+.3f}]"


def _render_data(examples: Sequence[Example], origin: Provenance) -> list[str]:
    """Render the training data: pairs by kind, those left out by reason, families, documents and tables."""
    counts = Counter(example.kind for example in examples)
    reasons = list(dict.fromkeys(reason for left_out in origin.left_out.values() for reason in left_out))
    lines = [
        "| kind of pair | trained on | " + "".join(f"{reason} | " for reason in reasons),
        "|---|---|" + "---|" * len(reasons),
    ]
    for kind in sorted({*counts, *origin.left_out}):
        left_out = origin.left_out.get(kind, {})
        lines.append(f"| {kind} | {counts[kind]} | " + "".join(f"{left_out.get(reason, 0)} | " for reason in reasons))
    lines += ["", f"Form families: {_list_families(examples)}.", ""]
    if origin.documents:
        lines += [f"{len(origin.documents)} documents: {', '.join(origin.documents)}.", ""]
    if origin.tables:
        lines += [*(f"- `{name}`: {state}" for name, state in origin.tables.items()), ""]
    return lines


def _render_scale(trained: TrainedModel) -> list[str]:
    """Render how the model's cosines compare with those of its base."""
    if trained.scale is None:
        return []
    mapping = f"{trained.scale.slope:g} times its cosine and {trained.scale.offset:+g} is what the base would give"
    return [f"Its cosines differ from the base's: {mapping} (`cosines.json`, read by the search).", ""]


def render_cross_card(trained: TrainedModel, *, base: str, examples: Sequence[Example]) -> str:
    """Render a cross-encoder's model card as Markdown.

    Args:
        trained: The model.
        base: Name of the model that it was initialized from.
        examples: Training examples, counted by kind.

    Returns:
        Markdown.
    """
    counts = Counter(example.kind for example in examples)
    mean_before, mean_after = (
        sum(score.ndcg for score in scores) / len(scores) for scores in (trained.base, trained.tuned)
    )
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
        f"{mean_before:.3f} before training, {mean_after:.3f} after.",
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
