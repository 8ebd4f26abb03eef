"""Keys, forms, sections and amounts survive as search terms; BM25 ranks and scores them."""

from __future__ import annotations

import bm25s
import numpy as np
import polars as pl
import pytest

from taxkg_assets.retrieval.encoding.lexical import find_distinct_terms, find_terms, stem
from taxkg_assets.retrieval.index import bm25
from taxkg_assets.retrieval.index.bm25 import build_lexical, build_lexical_of_column
from taxkg_assets.rules.loader import load_family


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("box 2e", {"box_2e", "2e"}),
        ("Form 1099-DIV", {"1099-div"}),
        ("a 1099div", {"1099-div"}),
        ("your W2", {"w-2"}),
        ("all W-2s and 1099-INTs", {"w-2", "1099-int"}),
        ("Form 1040-ES", {"1040-es"}),
        ("§ 12-503.1", {"sec_12-503.1", "12-503.1"}),
        ("section 1411A", {"sec_1411a", "1411a"}),
        ("$26,500 or 40k", {"26500", "40000"}),
        ("12.5% of it", {"12.5", "12.5%"}),
    ],
)
def test_keys_and_amounts_are_terms(text: str, terms: set[str]) -> None:
    assert terms <= set(find_terms(text))


def test_keys_one_letter_apart_share_nothing() -> None:
    assert set(find_terms("box 2e")) & set(find_terms("box 2f")) == {"box"}


def test_words_that_say_nothing_say_nothing_contracted() -> None:
    assert find_terms("what's new, who’s there, it'll rain on the owner's lot") == ["new", "rain", "owner", "lot"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("distribution", "distributed"), ("taxes", "taxed"), ("penalty", "penalties"), ("files", "filing")],
)
def test_forms_of_one_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_rare_terms_outweigh_common_ones() -> None:
    rows = [["rent", "berth"], ["rent", "duty"], ["rent"]]
    retriever = build_lexical(rows)
    scores = retriever.score_rows(["rent", "berth"])
    assert scores.argmax() == 0
    assert retriever.idf("berth") > retriever.idf("rent") > retriever.idf("unknown") == 0.0


def test_expansions_count_less_than_the_question() -> None:
    retriever = build_lexical([["rent"], ["berth"]])
    scores = retriever.score_rows(["rent"], expansion_terms=["berth"], expansion_weight=0.5)
    assert scores[0] == pytest.approx(2 * scores[1])


def test_no_rows_have_no_terms() -> None:
    empty = build_lexical([])
    assert (empty.row_count, empty.starts.tolist(), empty.score_rows(["box"]).tolist()) == (0, [0], [])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_scores_are_those_of_an_index_made_elsewhere(seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = [[f"term{number}" for number in draw.zipf(1.3, draw.integers(0, 60)) % 500] for _ in range(300)]
    settings = load_family("lexical")["bm25"]
    own = build_lexical(rows)
    order = sorted({term for row in rows for term in row or ["∅"]})
    number = {term: place for place, term in enumerate(order)}
    other = bm25s.BM25(k1=settings["k1"], b=settings["b"])
    other.index(([[number[term] for term in row or ["∅"]] for row in rows], number), show_progress=False)
    assert own.vocabulary.terms.to_list() == order
    assert own.starts.tolist() == other.scores["indptr"].tolist()[: len(order) + 1]
    assert own.rows.tolist() == other.scores["indices"].tolist()
    assert own.scores.tobytes() == other.scores["data"].astype(np.float32).tobytes()


@pytest.mark.parametrize("rows", [[], [""], ["rent berth rent", "", "berth  duty", "§ é"] * 9])
def test_a_column_of_terms_is_indexed_as_their_lists_are(rows: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25, "_SPLIT_AT_ONCE", 4)
    own = build_lexical_of_column(pl.Series(rows, dtype=pl.String))
    other = build_lexical(row.split(" ") for row in rows)
    assert own.vocabulary.terms.to_list() == other.vocabulary.terms.to_list()
    assert own.row_count == other.row_count
    for name in ("starts", "rows", "scores"):
        assert getattr(own, name).tobytes() == getattr(other, name).tobytes()


def test_distinct_terms_are_those_of_the_text() -> None:
    text = "Berth duty is due; berth rent, box 2e, is not."
    assert find_distinct_terms(text) == find_distinct_terms(text) == frozenset(find_terms(text))


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("401k", "401(k)"),
        ("403b", "403(b)"),
        ("501c3", "501(c)(3)"),
        ("1099k", "1099-K"),
        ("1120s", "1120-S"),
        ("efile", "e-file"),
        ("501c3", "501(c)3"),
        ("401k", "401 (k)"),
        ("72t", "72(t)"),
        ("1099-K", "1099\u2010K"),
    ],
)
def test_a_name_typed_without_its_signs_is_the_printed_one(typed: str, printed: str) -> None:
    assert set(find_terms(typed)) <= set(find_terms(f"about {printed} barns"))
    assert find_terms("200k") == find_terms("$200,000")
    assert "1099-s" not in find_terms("two 1099s")
    assert find_terms("$1,250(b)")[0] == "1250"
    assert find_terms("E\u2013Elective") == ["e", "electiv"]
