"""What all folds share, read from a home: examples of its pairs and negatives, questions with gold, near misses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.documents import CorpusError
from benchmarks.labeled import read_labeled
from benchmarks.training.corpus import Corpus
from benchmarks.training.cross_validation import Study
from benchmarks.training.folds import Choice, is_same_question
from benchmarks.training.near_misses import open_near_misses
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.training.leakage import find_overlaps
from taxkg_assets.training.sampling import WRITTEN, read_examples

LEAST_SHARED = 0.2
"""Share of its terms that a text has in common with a question that it could repeat."""


def open_study(
    corpus: Corpus, gold: Path, *, choice: Choice, near_misses: int, pool: int, source: str = "", without: str = ""
) -> tuple[Study, dict[str, dict[str, int]]]:
    """Read a home and a file of questions; and count by kind what was left out because it repeats a question.

    Args: source, without: how the sources of the pairs begin that are learned from and are not, to try some alone.
    """
    if not gold.is_file():
        raise CorpusError(f"{gold} is not there: name the questions with gold by --gold.")
    own = pl.col("source")
    is_passed_over = own.str.starts_with(without) if without else pl.lit(False)
    pairs = corpus.table("pairs").filter((own.str.starts_with(source) & ~is_passed_over) | (pl.col("split") == "dev"))
    negatives = corpus.table("hard_negatives")
    known = set(corpus.rows["document_id"])
    questions = [row for row in read_labeled(gold) if row["gold"] and {p["document"] for p in row["gold"]} <= known]
    overlaps = find_repeats(pairs["query"].to_list(), questions, corpus=corpus)
    is_repeat = pl.Series([query in overlaps for query in pairs["query"]], dtype=pl.Boolean)
    clean, repeats = pairs.filter(~is_repeat), count_kinds(pairs.filter(is_repeat))
    study = Study(
        corpus=corpus,
        questions=questions,
        families=corpus.families,
        examples=read_examples(clean, negatives),
        dev_families=frozenset(clean.filter(pl.col("split") == "dev")["family"]),
        query_families=dict(clean.select("pair_id", "query_family").iter_rows()),
        near_misses=open_near_misses(corpus, most=near_misses),
        choice=choice,
        written=frozenset(clean.filter(pl.col("source").str.starts_with(WRITTEN))["pair_id"]),
        pool=pool,
        repeats=repeats,
    )
    return study, {"pairs": count_kinds(pairs), "repeat a question": repeats}


def count_kinds(pairs: pl.DataFrame) -> dict[str, int]:
    """How many pairs of each kind there are."""
    return dict(pairs.group_by("kind").len("n").sort("kind").iter_rows())


def find_repeats(queries: Sequence[str], questions: Sequence[Mapping[str, Any]], *, corpus: Corpus) -> set[str]:
    """Short sides that repeat a question word for word or nearly so, whatever fold it is queried in.

    Only those that share a fifth of their words with one are encoded, for the others are far from all.
    """
    queried = [question["query"] for question in questions]
    words = [frozenset(find_terms(query)) for query in queried]
    near = [query for query in sorted(set(queries)) if is_same_question(query, words, least=LEAST_SHARED)]
    found = find_overlaps(near, queried, encode=corpus.searcher.encoder.encode_passages)
    return {near[place] for place in found}
