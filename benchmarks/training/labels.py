"""Labels by hand against what the training data claims: false negatives, valid pairs, and the judge.

The label files hold ids and labels only: the texts are in the home. The annotator sees no score.
A row is identified by its content, a hash of its query and the element of its passage, so that it is found again when
tables are rebuilt, as long as both are in them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.training.corpus import Corpus, read_jsonl
from benchmarks.training.report import render_interval
from taxkg_assets.evaluation.agreement import ANSWERS, OTHER_EDITION, Agreement, score_agreement, score_rate
from taxkg_assets.evaluation.significance import Interval
from taxkg_assets.prompts.contract import Block, Proposer
from taxkg_assets.prompts.tasks import NEGATIVE_JUDGING, PAIR_JUDGING, NegativeItem, QuestionItem
from taxkg_assets.rules.loader import load_family
from taxkg_assets.training.leakage import normalize

FOLDER = Path(__file__).parents[2] / "data" / "training"
NEGATIVE_LABELS, PAIR_LABELS = FOLDER / "negative_labels.jsonl", FOLDER / "pair_labels.jsonl"
NAIVE, OURS = "naive", "ours"
ALL = "all"
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Texts:
    """A labeled row with its texts, as a judge is handed them."""

    label: Row
    question: str
    positive: str
    passage: str


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of closeness: what it keeps of naive negatives, and the share of those that answer after all."""

    name: str
    kept: int
    false: Interval


def name_query(query: str) -> str:
    """What the label files call a short side: the hash of its words, so that no text is in them."""
    return hashlib.sha256(normalize(query).encode()).hexdigest()[:16]


def find_texts(corpus: Corpus, labels: Sequence[Row], *, pairs: pl.DataFrame) -> tuple[list[Texts], int]:
    """The texts of labeled negatives; and how many of them this home does not hold (any more)."""
    of_query = {name_query(row["query"]): row for row in pairs.iter_rows(named=True)}
    found = []
    for label in labels:
        pair = of_query.get(label["query"])
        row = corpus.searcher.find_row(label["element"])
        if pair is not None and row is not None:
            found.append(Texts(label, pair["query"], pair["passage"], corpus.passages[row]))
    return found, len(labels) - len(found)


def find_mined(labels: Sequence[Row], *, pairs: pl.DataFrame, hard_negatives: pl.DataFrame) -> list[Row]:
    """Of labeled negatives those that are naive, and those of ours that are negatives in these tables."""
    queries = dict(pairs.select("pair_id", "query").iter_rows())
    mined = {
        (name_query(queries[pair_id]), element) for pair_id, element in _ends(hard_negatives) if pair_id in queries
    }
    return [label for label in labels if label["set"] == NAIVE or (label["query"], label["element"]) in mined]


def _ends(hard_negatives: pl.DataFrame) -> list[tuple[str, str]]:
    return [
        (str(pair_id), str(node_id)) for pair_id, node_id in hard_negatives.select("pair_id", "node_id").iter_rows()
    ]


def score_false_negatives(labels: Sequence[Row], *, also: Sequence[str] = ()) -> dict[str, Interval]:
    """Share of negatives that answer after all, by the set they were drawn from."""
    wrong = {ANSWERS, *also}
    found = {}
    for name in (NAIVE, OURS):
        own = [label for label in labels if label["set"] == name]
        if own:
            hits = [label["label"] in wrong for label in own]
            found[name] = score_rate(hits, [label["query"] for label in own], stream=("false_negatives", name))
    return found


def weight_sources(labels: Sequence[Row], counts: Mapping[str, int]) -> float | None:
    """Share of our negatives that answer after all, each source counting as much as there are negatives of it.

    The sample holds as many of a rare source as of a common one, so that each can be judged by itself.
    """
    shares: dict[str, float] = {}
    for source in counts:
        own = [label["label"] == ANSWERS for label in labels if label["set"] == OURS and label["source"] == source]
        if own:
            shares[source] = sum(own) / len(own)
    total = sum(counts[source] for source in shares)
    return sum(share * counts[source] for source, share in shares.items()) / total if total else None


def score_limits(corpus: Corpus, texts: Sequence[Texts]) -> list[Limit]:
    """What each limit of closeness keeps of labeled naive negatives, and how many of those kept answer after all.

    Absolute: a passage so like the right one is left out. Relative: one nearly as like the question as that one.
    """
    limits = load_family("training")["negatives"]
    naive = [own for own in texts if own.label["set"] == NAIVE]
    encoder = corpus.encoder
    queried = encoder.encode_questions([own.question for own in naive])
    right, other = (encoder.encode_passages([getattr(own, name) for own in naive]) for name in ("positive", "passage"))
    is_alike = (right * other).sum(axis=1) >= limits["max_similarity"]
    is_as_near = (queried * other).sum(axis=1) >= limits["max_share_of_positive"] * (queried * right).sum(axis=1)
    left_out = {"none": is_alike & False, "absolute": is_alike, "relative": is_as_near, "both": is_alike | is_as_near}
    found = []
    for name, left in left_out.items():
        kept = [own.label for own, is_left in zip(naive, left.tolist(), strict=True) if not is_left]
        rate = score_rate(
            [label["label"] == ANSWERS for label in kept],
            [label["query"] for label in kept],
            stream=("limits", name),
        )
        found.append(Limit(name, len(kept), rate))
    return found


def judge_negatives(texts: Sequence[Texts], proposer: Proposer) -> dict[str, Agreement]:
    """Whether the judge finds the same passages to answer after all: over all, and by where a negative is from."""
    items = [
        NegativeItem(
            item_id=str(number),
            question=own.question,
            positive=own.positive,
            blocks=(Block(element_id=own.label["element"], text=own.passage),),
        )
        for number, own in enumerate(texts)
    ]
    said = proposer.propose(NEGATIVE_JUDGING, items)
    verdicts = [judged.proposal is not None and judged.proposal.needs_evidence() for judged in said]
    groups = [name_source(own.label) for own in texts]
    return _agree(verdicts, [own.label["label"] == ANSWERS for own in texts], groups=groups)


def judge_pairs(labels: Sequence[Row], proposer: Proposer, *, pairs: pl.DataFrame) -> tuple[dict[str, Agreement], int]:
    """Whether the judge finds the same pairs valid, over all and by kind; and how many labeled pairs are not here."""
    held_out = {
        (row["kind"], name_query(row["query"]), row["passage_node_id"]): row for row in pairs.iter_rows(named=True)
    }
    known = [(label, held_out[name_pair(label)]) for label in labels if name_pair(label) in held_out]
    items = [
        QuestionItem(
            item_id=pair["pair_id"],
            question=pair["query"],
            blocks=(Block(element_id=pair["chunk_id"], text=pair["passage"]),),
        )
        for _, pair in known
    ]
    said = proposer.propose(PAIR_JUDGING, items)
    verdicts = [judged.proposal is not None and judged.proposal.needs_evidence() for judged in said]
    found = _agree(verdicts, [label["is_valid"] for label, _ in known], groups=[label["kind"] for label, _ in known])
    return found, len(labels) - len(known)


def name_pair(label: Row) -> tuple[str, str, str]:
    """What distinguishes labeled pairs."""
    return label["kind"], label["query"], label["element"]


def name_source(label: Row) -> str:
    """Where a labeled negative is from."""
    return f"{label['set']}: {label['source']}"


def _agree(verdicts: Sequence[bool], labels: Sequence[bool], *, groups: Sequence[str]) -> dict[str, Agreement]:
    """Over all and by group; nothing where there is nothing."""
    if not verdicts:
        return {}
    found = {ALL: score_agreement(verdicts, labels)}
    for name in sorted(set(groups)):
        own = [place for place, group in enumerate(groups) if group == name]
        found[name] = score_agreement([verdicts[place] for place in own], [labels[place] for place in own])
    return found


def render_negatives(labels: Sequence[Row]) -> str:
    """The rates as a table, and what the rows are by source."""
    strict = score_false_negatives(labels)
    wide = score_false_negatives(labels, also=[OTHER_EDITION])
    lines = ["| negatives | rows | answer after all | or would, in another edition |", "|---|---|---|---|"]
    for name, interval in strict.items():
        count = sum(label["set"] == name for label in labels)
        lines.append(f"| {name} | {count} | {render_interval(interval)} | {render_interval(wide[name])} |")
    lines += ["", "| source | rows | answers | other edition | related | unrelated |", "|---|---|---|---|---|---|"]
    by_source: dict[str, Counter[str]] = {}
    for label in labels:
        by_source.setdefault(name_source(label), Counter())[label["label"]] += 1
    for source, own in sorted(by_source.items()):
        counts = " | ".join(str(own[name]) for name in ("answers", "other_edition", "related", "unrelated"))
        lines.append(f"| {source} | {sum(own.values())} | {counts} |")
    return "\n".join(lines) + "\n"


def render_limits(limits: Sequence[Limit]) -> str:
    """The limits as a table."""
    lines = ["| naive negatives within the limit | kept | of these answer after all |", "|---|---|---|"]
    lines += [f"| {own.name} | {own.kept} | {render_interval(own.false)} |" for own in limits]
    return "\n".join(lines) + "\n"


def render_pairs(labels: Sequence[Row]) -> str:
    """Share of valid pairs by kind."""
    lines = ["| pairs | labeled | valid |", "|---|---|---|"]
    for kind in sorted({label["kind"] for label in labels}):
        own = [label["is_valid"] for label in labels if label["kind"] == kind]
        rate = score_rate(own, [label["query"] for label in labels if label["kind"] == kind], stream=("valid", kind))
        lines.append(f"| {kind} | {len(own)} | {render_interval(rate)} |")
    return "\n".join(lines) + "\n"


def render_agreement(name: str, found: Mapping[str, Agreement]) -> str:
    """One line a kind or source: how often judge and label say the same, and who says yes alone."""
    lines = [
        f"| {name}: judge and label | labeled | agree | kappa | label says yes | both | judge alone | label alone |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for group, own in found.items():
        kappa = "" if own.kappa is None else f"{own.kappa:.2f}"
        lines.append(
            f"| {group} | {own.n} | {100 * own.accuracy:.0f} % | {kappa} | {own.both + own.label_alone} | {own.both} "
            f"| {own.judge_alone} | {own.label_alone} |"
        )
    return "\n".join(lines) + "\n"


def open_labels() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Labeled negatives and labeled pairs."""
    return read_jsonl(NEGATIVE_LABELS), read_jsonl(PAIR_LABELS)
