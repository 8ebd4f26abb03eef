"""Sampling of training examples: questions first, other kinds in equal parts, up to a number of examples."""

from __future__ import annotations

import random
from dataclasses import replace

import polars as pl

from taxkg_assets.training.examples import Example

QUESTIONS = "scenario"
QUESTION_SHARE = 0.75
"""Share of questions among the examples where there are enough, because the model will be used with questions."""
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
    negative_lists = hard_negatives.sort("pair_id", "rank").group_by("pair_id", maintain_order=True).agg("passage")
    negatives_by_pair = dict(negative_lists.iter_rows())
    return [
        Example(
            query=row["query"],
            positive=row["passage"],
            negatives=tuple(negatives_by_pair.get(row["pair_id"], ())),
            kind=row["kind"],
            family=row["family"],
            weight=row["weight"],
            pair_id=row["pair_id"],
        )
        for row in pairs.sort("pair_id").iter_rows(named=True)
    ]


def sample_examples(
    pairs: pl.DataFrame, hard_negatives: pl.DataFrame, *, max_examples: int, max_dev: int, seed: int = 0
) -> tuple[list[Example], list[Example]]:
    """Sample training and development examples, balancing the kinds other than questions.

    No passage of a development family is a negative of a training example, as training would push development positives
    away from questions.

    Args:
        pairs: Pairs of both splits.
        hard_negatives: Their negatives.
        max_examples: Maximum number of training examples.
        max_dev: Maximum number of development examples.
        seed: Seed of the sample.

    Returns:
        Training examples with their hardest negatives, and development examples with all negatives.
    """
    dev_families = pairs.filter(pl.col("split") == "dev")["family"].unique().to_list()
    training_negatives = hard_negatives.filter(~pl.col("family").is_in(dev_families))
    written_ids = frozenset(pairs.filter(pl.col("source").str.starts_with(WRITTEN))["pair_id"])
    generator = random.Random(seed)

    def sample(split: str, negatives: pl.DataFrame, count: int) -> list[Example]:
        examples = read_examples(pairs.filter(pl.col("split") == split), negatives)
        return _sample_by_kind(examples, count, generator, written_ids=written_ids)

    training_examples = sample("train", training_negatives, max_examples)
    dev_examples = sample("dev", hard_negatives, max_dev)
    return [replace(row, negatives=row.negatives[:NEGATIVES]) for row in training_examples], dev_examples


def sample_questions(pairs: pl.DataFrame, hard_negatives: pl.DataFrame, *, count: int) -> list[Example]:
    """Sample questions of the development families deterministically, with their hardest negatives.

    Args:
        pairs: Pairs of both splits.
        hard_negatives: Their negatives.
        count: Maximum number of questions.

    Returns:
        Examples sorted by pair id.
    """
    questions = pairs.filter(pl.col("split") == "dev", pl.col("kind") == QUESTIONS).sort("pair_id")
    sampled = questions.sample(min(count, questions.height), seed=0)
    return [replace(row, negatives=row.negatives[:NEGATIVES]) for row in read_examples(sampled, hard_negatives)]


def _sample_by_kind(
    examples: list[Example], count: int, generator: random.Random, *, written_ids: frozenset[str]
) -> list[Example]:
    """Sample questions up to their share, written ones first, and fill the rest with other kinds in equal parts."""
    by_kind: dict[str, list[Example]] = {}
    for example in examples:
        by_kind.setdefault(example.kind, []).append(example)
    questions = by_kind.pop(QUESTIONS, [])
    other_kinds = sorted(by_kind, key=lambda kind: (len(by_kind[kind]), kind))
    other_count = sum(len(by_kind[kind]) for kind in other_kinds)
    question_count = max(round(count * QUESTION_SHARE), count - other_count)
    written = [question for question in questions if question.pair_id in written_ids]
    generated = [question for question in questions if question.pair_id not in written_ids]
    sampled = _sample(written, question_count, generator)
    sampled += _sample(generated, question_count - len(sampled), generator)
    for ix, kind in enumerate(other_kinds):
        sampled += _sample(by_kind[kind], (count - len(sampled)) // (len(other_kinds) - ix), generator)
    return sorted(sampled, key=lambda example: example.pair_id)


def _sample(examples: list[Example], count: int, generator: random.Random) -> list[Example]:
    return generator.sample(examples, count) if len(examples) > count else list(examples)
