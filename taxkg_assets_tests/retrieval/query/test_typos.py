"""A misspelled word finds what the right one finds; a correct word that no document prints stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from taxkg_assets.retrieval.encoding.lexical import Vocabulary, find_terms
from taxkg_assets.retrieval.query.typos import correct_typos
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.rules.models.ranking import load_ranking
from taxkg_assets_tests.retrieval.conftest import TermEncoder

PRINTED = ["harbor", "ledger", "deduction", "amortization", "lodging", "vested", "harpoone"]
WHOLE = {"harbor", "ledger", "deduction", "lodging", "vested", "lodger", "harpoon"}


class WordEncoder(TermEncoder):
    """An encoder with one token for each word of `WHOLE`, and a token for each letter of all others."""

    def find_tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Return numbers of tokens."""
        return [[0] if text in WHOLE else list(range(len(text))) for text in texts]


@pytest.fixture
def vocabulary() -> Vocabulary:
    terms = sorted(find_terms(" ".join(PRINTED)))
    return Vocabulary(pl.Series("term", terms, dtype=pl.String), np.full(len(terms), 50))


@pytest.mark.parametrize(
    ("typed", "corrected"),
    [
        ("habror fees", "harbor fees"),
        ("what is a legder", "what is a ledger"),
        ("deducton of rent", "deduction of rent"),
        ("leddger", "ledger"),
        ("amortizaton of a mill", "amortization of a mill"),
    ],
)
def test_a_misspelled_word_is_corrected(vocabulary: Vocabulary, typed: str, corrected: str) -> None:
    query, changes = correct_typos(typed, vocabulary=vocabulary, encoder=WordEncoder())
    assert query == corrected
    assert len(changes) == 1


@pytest.mark.parametrize(
    "query",
    [
        "is my lodger taxed",  # a word that the encoder knows, though no document prints it
        "unvested shares",  # the first letters turn the meaning around
        "do I owe Ledgr money",  # a name within a sentence
        "legr",  # too short to tell
        "lodgers and harpoons",  # forms of such words
        "harpoonist",  # no printed word is near
        "harbors and ledgers",  # other endings of printed words
        "box 1b of form 2077-ZED, 12-3456789",
    ],
)
def test_other_words_stay(vocabulary: Vocabulary, query: str) -> None:
    assert correct_typos(query, vocabulary=vocabulary, encoder=WordEncoder()) == (query, {})


def test_rare_terms_are_no_corrections(vocabulary: Vocabulary) -> None:
    rare = Vocabulary(vocabulary.terms, np.full(len(vocabulary.terms), load_ranking().typos.rows - 1))
    assert correct_typos("legder", vocabulary=rare, encoder=WordEncoder()) == ("legder", {})


def test_a_search_says_what_it_corrected(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = load_ranking()
    changed = rules.model_copy(update={"typos": rules.typos.model_copy(update={"rows": 1})})
    monkeypatch.setattr("taxkg_assets.retrieval.query.typos.load_ranking", lambda: changed)
    monkeypatch.setattr("taxkg_assets.retrieval.query.typos._is_one_token", lambda word, encoder: word != "habrour")
    right, wrong = searcher.search("harbour rent", k=3), searcher.search("habrour rent", k=3)
    assert [row.chunk_id for row in wrong] == [row.chunk_id for row in right]
    assert wrong[0].via.route.corrections == ["habrour: harbour"]
    assert not right[0].via.route.corrections
    off = searcher.with_parts(replace(searcher.parts, typos=False)).search("habrour rent", k=3)
    assert not off[0].via.route.corrections
