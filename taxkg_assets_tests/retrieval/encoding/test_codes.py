"""Codes of vectors find the rows that the vectors themselves find, with and without a filter."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from taxkg_assets.retrieval.encoding import codes
from taxkg_assets.retrieval.encoding.codes import build_codes, find_smallest_distances
from taxkg_assets.retrieval.encoding.encoder import Vectors
from taxkg_assets.retrieval.index import scores
from taxkg_assets.retrieval.index.row_filter import RowFilter
from taxkg_assets.retrieval.index.scores import BestRows, NearRows
from taxkg_assets.retrieval.index.top_rows import find_top
from taxkg_assets.rules.models.ranking import Codes


def _draw(height: int, dimension: int, *, seed: int = 7) -> Vectors:
    """Unit vectors in topics of 60 that all point much the same way, as those of passages under many encoders do."""
    draw = np.random.default_rng(seed)
    topics = draw.standard_normal((-(-height // 60), dimension)) + 2.0
    raw = np.repeat(topics, 60, axis=0)[:height] + 0.6 * draw.standard_normal((height, dimension))
    unit: Vectors = (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _facts(height: int) -> Any:
    rows = np.arange(height)
    return cast(Any, SimpleNamespace(document_number=rows % 10, uniform_runs=(rows, np.ones_like(rows))))


def test_bytes_order_rows_as_vectors_do() -> None:
    vectors, query_vector = _draw(300, 70), _draw(1, 70, seed=1)[0]
    rows = np.array([5, 250, 0, 17])
    found = build_codes(vectors).compare(query_vector, rows)
    assert np.corrcoef(found, vectors[rows] @ query_vector)[0, 1] > 0.999


def test_a_row_differs_in_no_bit_from_itself() -> None:
    vectors = _draw(300, 70)
    assert build_codes(vectors).count_differences(vectors[42]).argmin() == 42
    assert build_codes(vectors).count_differences(vectors[42])[42] == 0


@pytest.mark.parametrize("is_divided", [False, True])
@pytest.mark.parametrize("dimension", [64, 200, 384])
def test_differing_bits_are_counted_over_all_words(
    dimension: int, is_divided: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codes, "_SIGNS_AT_ONCE", 128)
    monkeypatch.setattr(codes, "_DIVIDED_FROM", 2 if is_divided else 10**6)
    vectors, query_vector = _draw(300, dimension), _draw(1, dimension, seed=1)[0]
    built = build_codes(vectors)
    differing = (vectors > built.center) != (query_vector > built.center)
    assert built.count_differences(query_vector).tolist() == differing.sum(axis=1).tolist()


def test_the_least_hold_those_equal_to_the_last() -> None:
    assert find_smallest_distances(np.array([3, 1, 2, 2, 9], dtype=np.uint16), 2).tolist() == [1, 2, 3]


def test_of_very_many_numbers_about_as_many_as_requested_are_found() -> None:
    numbers = np.random.default_rng(7).integers(100, 300, 40_000).astype(np.uint16)
    found = find_smallest_distances(numbers, 2_000)
    assert 1_500 < len(found) < 2_500
    assert set(found) == set(np.flatnonzero(numbers <= numbers[found].max()))


@pytest.mark.parametrize("kept", [range(10), range(5), range(1)])
def test_codes_find_the_nearest_rows_that_pass(kept: range, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "_limits", lambda: Codes(compared=1_000, thinned=4, oversize=1.5))
    vectors = _draw(6_000, 64)
    query_vector = vectors[77] + 0.3 * vectors[1_200]
    facts, documents = _facts(len(vectors)), np.isin(np.arange(10), list(kept))
    found = NearRows(build_codes(vectors), query_vector, facts).find(RowFilter(documents=documents), count=20)
    exact = find_top(vectors @ query_vector, 10, among=documents[facts.document_number])
    assert documents[facts.document_number[found]].all()
    assert len(set(exact.tolist()) & set(found.tolist())) >= 9


@pytest.mark.parametrize("kept", [range(10), range(1)])
def test_the_best_rows_are_exact_under_a_filter(kept: range, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "POOL_SIZE", 50)
    values = np.random.default_rng(3).integers(0, 40, 2_000).astype(np.float32)
    facts, documents = _facts(len(values)), np.isin(np.arange(10), list(kept))
    found = BestRows(values, 0.0, facts).find(RowFilter(documents=documents), count=30)
    assert found.tolist() == find_top(values, 30, floor=0.0, among=documents[facts.document_number]).tolist()
