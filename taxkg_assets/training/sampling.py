"""Sampling of training examples: questions first, other kinds in equal parts, up to the time budget."""

from __future__ import annotations

import random
from dataclasses import replace

import polars as pl

from taxkg_assets.training.examples import Example

QUESTIONS = "scenario"
QUESTION_SHARE = 0.75
"""Share of questions among the examples, where there are enough: the model will be used with questions."""
WRITTEN = "written:"
"""Prefix of the source of a question written by a person; these go before generated ones."""
NEGATIVES = 4
"""Hardest negatives of an example that training samples from; a guide encodes them all before the first step."""


def read_examples(pairs: pl.DataFrame, hard_negatives: pl.DataFrame) -> list[Example]:
    """Join pairs with their negatives to training examples, hardest negatives first.

    Args:
        pairs: Rows of `pairs`.
        hard_negatives: Rows of `hard_negatives`.
    """
    hardest = hard_negatives.sort("pair_id", "rank").group_by("pair_id", maintain_order=True).agg("passage")
    negatives_of = dict(hardest.iter_rows())
    return [
        Example(
            query=row["query"],
            positive=row["passage"],
            negatives=tuple(negatives_of.get(row["pair_id"], ())),
            kind=row["kind"],
            family=row["family"],
            weight=row["weight"],
            pair_id=row["pair_id"],
        )
        for row in pairs.sort("pair_id").iter_rows(named=True)
    ]


def sample_examples(
    pairs: pl.DataFrame, hard_negatives: pl.DataFrame, *, most: int, dev: int, seed: int = 0
) -> tuple[list[Example], list[Example]]:
    """Sample training and development examples, balancing the kinds other than questions.

    No passage of a development family is a negative of a training example, as training would push development positives
    away from questions.

    Args:
        pairs: Pairs of both splits.
        hard_negatives: Their negatives.
        most: Most training examples.
        dev: Most development examples.
        seed: Seed of the sample.

    Returns:
        Training examples with their hardest negatives, and development examples with all negatives.
    """
    kept_out = pairs.filter(pl.col("split") == "dev")["family"].unique().to_list()
    negatives = {"train": hard_negatives.filter(~pl.col("family").is_in(kept_out)), "dev": hard_negatives}
    written = frozenset(pairs.filter(pl.col("source").str.starts_with(WRITTEN))["pair_id"])
    sides = [read_examples(pairs.filter(pl.col("split") == side), negative) for side, negative in negatives.items()]
    draw = random.Random(seed)
    chosen, measured = (
        _draw_by_kind(side, most, draw, written=written) for side, most in zip(sides, (most, dev), strict=True)
    )
    return [replace(example, negatives=example.negatives[:NEGATIVES]) for example in chosen], measured


def sample_questions(pairs: pl.DataFrame, hard_negatives: pl.DataFrame, *, count: int) -> list[Example]:
    """Sample questions of the development families deterministically, with their hardest negatives.

    Args:
        pairs: Pairs of both splits.
        hard_negatives: Their negatives.
        count: Most questions.

    Returns:
        Examples sorted by pair id.
    """
    questions = pairs.filter(pl.col("split") == "dev", pl.col("kind") == QUESTIONS).sort("pair_id")
    drawn = questions.sample(min(count, questions.height), seed=0)
    return [replace(e, negatives=e.negatives[:NEGATIVES]) for e in read_examples(drawn, hard_negatives)]


def _draw_by_kind(examples: list[Example], most: int, draw: random.Random, *, written: frozenset[str]) -> list[Example]:
    by_kind: dict[str, list[Example]] = {}
    for example in examples:
        by_kind.setdefault(example.kind, []).append(example)
    questions_of = by_kind.pop(QUESTIONS, [])
    others = sorted(by_kind, key=lambda kind: (len(by_kind[kind]), kind))
    available = sum(len(by_kind[kind]) for kind in others)
    questions = max(round(most * QUESTION_SHARE), most - available)
    chosen = _draw([e for e in questions_of if e.pair_id in written], questions, draw)
    chosen += _draw([e for e in questions_of if e.pair_id not in written], questions - len(chosen), draw)
    for ix, kind in enumerate(others):
        chosen += _draw(by_kind[kind], (most - len(chosen)) // (len(others) - ix), draw)
    return sorted(chosen, key=lambda example: example.pair_id)


def _draw(examples: list[Example], count: int, draw: random.Random) -> list[Example]:
    return draw.sample(examples, count) if len(examples) > count else list(examples)
