"""Which pairs a model learns from: questions first, the other kinds in equal parts, no more than there is time for."""

from __future__ import annotations

import random
from dataclasses import replace

import polars as pl

from taxkg_assets.training.examples import Example

QUESTIONS = "scenario"
QUESTION_SHARE = 0.75
"""Share of the pairs that are questions, where there are enough; what is asked of the model later are questions."""
WRITTEN = "written:"
"""How the source of a question begins that was written, not made: these go before made ones."""
NEGATIVES = 4
"""Hardest negatives of an example that training draws from: a guide reads them all before the first step."""


def read_examples(pairs: pl.DataFrame, hard_negatives: pl.DataFrame) -> list[Example]:
    """Pairs with their negatives, hardest first, in the order of their ids."""
    hardest = hard_negatives.sort("pair_id", "rank").group_by("pair_id", maintain_order=True).agg("passage")
    held = dict(hardest.iter_rows())
    return [
        Example(
            query=row["query"],
            positive=row["passage"],
            negatives=tuple(held.get(row["pair_id"], ())),
            kind=row["kind"],
            family=row["family"],
            weight=row["weight"],
            pair_id=row["pair_id"],
        )
        for row in pairs.sort("pair_id").iter_rows(named=True)
    ]


def choose_examples(
    pairs: pl.DataFrame, hard_negatives: pl.DataFrame, *, most: int, dev: int, seed: int = 0
) -> tuple[list[Example], list[Example]]:
    """At most so many examples to train on, and to measure by; kinds other than questions in equal parts.

    No passage of a family to measure by is a negative of an example to train on: what answers there would be pushed
    away from questions.

    Returns: examples with the hardest of their negatives; the measuring ones with all.
    """
    kept_out = pairs.filter(pl.col("split") == "dev")["family"].unique().to_list()
    negatives = {"train": hard_negatives.filter(~pl.col("family").is_in(kept_out)), "dev": hard_negatives}
    written = frozenset(pairs.filter(pl.col("source").str.starts_with(WRITTEN))["pair_id"])
    sides = [read_examples(pairs.filter(pl.col("split") == side), own) for side, own in negatives.items()]
    draw = random.Random(seed)
    chosen, measured = (
        _draw_by_kind(side, most, draw, written=written) for side, most in zip(sides, (most, dev), strict=True)
    )
    return [replace(example, negatives=example.negatives[:NEGATIVES]) for example in chosen], measured


def choose_questions(pairs: pl.DataFrame, hard_negatives: pl.DataFrame, *, count: int) -> list[Example]:
    """So many questions of the families to measure by, always the same, with the hardest of their negatives."""
    own = pairs.filter(pl.col("split") == "dev", pl.col("kind") == QUESTIONS).sort("pair_id")
    drawn = own.sample(min(count, own.height), seed=0)
    return [replace(e, negatives=e.negatives[:NEGATIVES]) for e in read_examples(drawn, hard_negatives)]


def _draw_by_kind(examples: list[Example], most: int, draw: random.Random, *, written: frozenset[str]) -> list[Example]:
    by_kind: dict[str, list[Example]] = {}
    for example in examples:
        by_kind.setdefault(example.kind, []).append(example)
    asked = by_kind.pop(QUESTIONS, [])
    others = sorted(by_kind, key=lambda kind: (len(by_kind[kind]), kind))
    spared = sum(len(by_kind[kind]) for kind in others)
    questions = max(round(most * QUESTION_SHARE), most - spared)
    chosen = _draw([e for e in asked if e.pair_id in written], questions, draw)
    chosen += _draw([e for e in asked if e.pair_id not in written], questions - len(chosen), draw)
    for place, kind in enumerate(others):
        chosen += _draw(by_kind[kind], (most - len(chosen)) // (len(others) - place), draw)
    return sorted(chosen, key=lambda example: example.pair_id)


def _draw(examples: list[Example], count: int, draw: random.Random) -> list[Example]:
    return draw.sample(examples, count) if len(examples) > count else list(examples)
