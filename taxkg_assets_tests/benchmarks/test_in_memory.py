"""Benchmarks that take the index apart: the same passages again, without some, with other words or vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.answerable import leave_out_families
from benchmarks.documents import CorpusError
from benchmarks.in_memory import index_in_memory, replace_vectors
from benchmarks.prefix import drop_prefix
from benchmarks.questions import Judge
from benchmarks.retrieval import repeat_texts
from benchmarks.training.corpus import Corpus
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets_tests.retrieval.conftest import TermEncoder

QUESTION = "may repair fees of a shipyard be harbour rent"


def test_repeated_texts_keep_their_vectors_and_tokens(searcher: Searcher) -> None:
    own = index_in_memory(searcher)
    index = index_in_memory(repeat_texts(searcher, own.height + 3))
    assert index.height == own.height + 3
    assert index.rows["chunk_id"].n_unique() == index.height
    assert (index.vectors[own.height :] == own.vectors[:3]).all()
    assert own.tokens is not None
    assert index.tokens is not None
    assert np.diff(index.tokens.starts)[own.height :].tolist() == np.diff(own.tokens.starts)[:3].tolist()


def test_without_its_context_a_passage_is_found_by_its_own_words_alone(searcher: Searcher) -> None:
    bare, own = index_in_memory(drop_prefix(searcher)), index_in_memory(searcher)
    assert bare.height == own.height
    assert set(bare.rows["context"]) == {""}
    assert (bare.rows["terms"].str.len_chars() < own.rows["terms"].str.len_chars()).any()
    assert bare.lexical is not own.lexical
    assert drop_prefix(searcher).search(QUESTION)


def test_families_are_left_out_with_their_passages(searcher: Searcher) -> None:
    judge = Judge(searcher)
    family = judge.families["i2077zed--2031"]
    rest = leave_out_families(judge, frozenset({family}))
    assert 0 < rest.index.height < searcher.index.height
    assert {judge.families[name] for name in index_in_memory(rest).rows["document_id"]}.isdisjoint({family})
    assert all(row.document != "i2077zed--2031" for row in rest.search(QUESTION))


def test_other_vectors_leave_no_direction_of_the_old_ones(corpus: Corpus) -> None:
    old = corpus.index
    new = replace_vectors(old, -old.vectors, model_hash="contrary")
    assert (new.document_vectors == -old.document_vectors).all()
    assert (new.model_hash, new.tokens, new.open_level("section")) == ("contrary", None, None)
    assert new.lexical.score_rows([]).shape == (old.height,)


def test_an_index_that_is_not_in_memory_is_refused(searcher: Searcher) -> None:
    class Elsewhere:
        height = 1_000_000

    with pytest.raises(CorpusError, match="1,000,000 passages"):
        index_in_memory(replace(searcher, index=Elsewhere(), encoder=TermEncoder()))  # type: ignore[arg-type]
