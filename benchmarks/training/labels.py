"""Labels by hand against what the training data claims: false negatives, valid pairs, and the judge.

The label files hold ids and labels only: the texts stand in the home. Who reads them labels without seeing a score.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.training.corpus import Corpus, read_jsonl
from benchmarks.training.report import render_interval
from taxkg_assets.evaluation.agreement import ANSWERS, OTHER_EDITION, Agreement, score_agreement, score_rate
from taxkg_assets.evaluation.significance import Interval
from taxkg_assets.prompts.contract import Block, Proposer
from taxkg_assets.prompts.tasks import NEGATIVE_JUDGING, PAIR_JUDGING, NegativeItem, QuestionItem
from taxkg_assets.retrieval.lexical import find_terms
from taxkg_assets.rules.loader import load_family

FOLDER = Path(__file__).parents[2] / "data" / "training"
NEGATIVE_LABELS, PAIR_LABELS = FOLDER / "negative_labels.jsonl", FOLDER / "pair_labels.jsonl"
NAIVE, OURS = "naive", "ours"
WRITTEN = "written:"
"""How the source of a pair names the written question that made it; the labels name the question alone."""
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Texts:
    """A labelled row with its texts, as a judge is handed them."""

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


def sample_naive(corpus: Corpus, asked: Sequence[Row], *, depth: int) -> list[dict[str, Any]]:
    """The best hits of BM25 that are not the answering passage itself, which is what naive negatives are.

    Args: asked: rows with `question` (its id), `query` and `chunk_id`.
    """
    rows = []
    for row in asked:
        scores = corpus.searcher.index.lexical.score_rows(find_terms(row["query"]))
        order = [int(place) for place in np.argsort(-scores, kind="stable")[: depth + 1]]
        hits = [place for place in order if place != corpus.row_of[row["chunk_id"]]][:depth]
        rows += [
            {"question": row["question"], "element": corpus.rows["node_ids"][hit][0], "set": NAIVE, "source": "bm25"}
            for hit in hits
        ]
    return rows


def sample_pairs(pairs: pl.DataFrame, *, of_kind: int, seed: int) -> pl.DataFrame:
    """As many pairs of each kind, drawn at random."""
    draw = random.Random(seed)
    kinds = [pairs.filter(pl.col("kind") == kind).sort("pair_id") for kind in pairs["kind"].unique().sort()]
    return pl.concat([own[sorted(draw.sample(range(own.height), min(of_kind, own.height)))] for own in kinds])


def find_texts(corpus: Corpus, labels: Sequence[Row], *, pairs: pl.DataFrame) -> tuple[list[Texts], int]:
    """The texts of labelled negatives; and how many of them this home does not hold (any more)."""
    of_pair = {row["pair_id"]: row for row in pairs.iter_rows(named=True)}
    written = pairs.filter(pl.col("source").str.starts_with(WRITTEN))
    of_question = {row["source"].removeprefix(WRITTEN): row for row in written.iter_rows(named=True)}
    found = []
    for label in labels:
        pair = of_pair.get(label["question"]) or of_question.get(label["question"])
        row = corpus.searcher.find_row(label["element"])
        if pair is not None and row is not None:
            found.append(Texts(label, pair["query"], pair["passage"], corpus.passages[row]))
    return found, len(labels) - len(found)


def score_false_negatives(labels: Sequence[Row], *, also: Sequence[str] = ()) -> dict[str, Interval]:
    """Share of negatives that answer after all, by the set they were drawn from."""
    wrong = {ANSWERS, *also}
    found = {}
    for name in (NAIVE, OURS):
        own = [label for label in labels if label["set"] == name]
        if own:
            hits = [label["label"] in wrong for label in own]
            found[name] = score_rate(hits, [label["question"] for label in own], stream=("false_negatives", name))
    return found


def score_limits(corpus: Corpus, texts: Sequence[Texts]) -> list[Limit]:
    """What each limit of closeness keeps of labelled naive negatives, and how many of those kept answer after all.

    Absolute: a passage so like the right one is left out. Relative: one nearly as like the question as that one.
    """
    limits = load_family("training")["negatives"]
    naive = [own for own in texts if own.label["set"] == NAIVE]
    encoder = corpus.searcher.encoder
    asked = encoder.encode_questions([own.question for own in naive])
    right, other = (encoder.encode_passages([getattr(own, name) for own in naive]) for name in ("positive", "passage"))
    is_alike = (right * other).sum(axis=1) >= limits["most_likeness"]
    is_as_near = (asked * other).sum(axis=1) >= limits["of_positive"] * (asked * right).sum(axis=1)
    left_out = {"none": is_alike & False, "absolute": is_alike, "relative": is_as_near, "both": is_alike | is_as_near}
    found = []
    for name, left in left_out.items():
        kept = [own.label for own, is_left in zip(naive, left.tolist(), strict=True) if not is_left]
        rate = score_rate(
            [label["label"] == ANSWERS for label in kept],
            [label["question"] for label in kept],
            stream=("limits", name),
        )
        found.append(Limit(name, len(kept), rate))
    return found


def judge_negatives(texts: Sequence[Texts], proposer: Proposer) -> Agreement:
    """Whether the judge finds the same passages to answer after all."""
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
    verdicts = [judged.proposal is not None and judged.proposal.is_claim() for judged in said]
    return score_agreement(verdicts, [own.label["label"] == ANSWERS for own in texts])


def judge_pairs(labels: Sequence[Row], proposer: Proposer, *, pairs: pl.DataFrame) -> tuple[Agreement, int]:
    """Whether the judge finds the same pairs valid; and how many labelled pairs this home does not hold."""
    of_pair = {row["pair_id"]: row for row in pairs.iter_rows(named=True)}
    known = [label for label in labels if label["pair"] in of_pair]
    items = [
        QuestionItem(
            item_id=label["pair"],
            question=of_pair[label["pair"]]["query"],
            blocks=(Block(element_id=of_pair[label["pair"]]["chunk_id"], text=of_pair[label["pair"]]["passage"]),),
        )
        for label in known
    ]
    said = proposer.propose(PAIR_JUDGING, items)
    verdicts = [judged.proposal is not None and judged.proposal.is_claim() for judged in said]
    return score_agreement(verdicts, [label["is_valid"] for label in known]), len(labels) - len(known)


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
        by_source.setdefault(f"{label['set']}: {label['source']}", Counter())[label["label"]] += 1
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
    lines = ["| pairs | labelled | valid |", "|---|---|---|"]
    for kind in sorted({label["kind"] for label in labels}):
        own = [label["is_valid"] for label in labels if label["kind"] == kind]
        lines.append(f"| {kind} | {len(own)} | {100 * sum(own) / len(own):.0f} % |")
    return "\n".join(lines) + "\n"


def render_agreement(name: str, agreement: Agreement) -> str:
    """One sentence on a judge."""
    kappa = "none: one verdict was always given" if agreement.kappa is None else f"{agreement.kappa:.2f}"
    return (
        f"{name}: {agreement.n} labelled, judge and label agree on {100 * agreement.accuracy:.0f} % (kappa {kappa}); "
        f"yes by both {agreement.both}, by the judge alone {agreement.judge_alone}, "
        f"by the label alone {agreement.label_alone}.\n"
    )


def open_labels() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Labelled negatives and labelled pairs."""
    return read_jsonl(NEGATIVE_LABELS), read_jsonl(PAIR_LABELS)
