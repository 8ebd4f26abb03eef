"""The report's means, denominators and tests, and the gate that reads them."""

from __future__ import annotations

import pytest

from taxkg_assets.evaluation.eval_report import build_eval_report, find_families, find_retrieval_faults
from taxkg_assets.rules.floors import Floor
from taxkg_assets.schemas import EvalReport
from taxkg_assets_tests.evaluation.corpus import BOOK, FEE, FORM, LAW, RENT, documents, queries, question, runs

QUERIED = queries(
    question("a", (FORM, RENT)),
    question("b", (BOOK, RENT), type="procedural"),
    question("c", (LAW, FEE), type="procedural"),
    question("d", ("gone--2020", FEE), type="procedural"),
)
RUNS = runs(
    ("bm25", "a", 1, FORM, RENT),
    ("bm25", "b", 1, LAW, FEE),
    ("bm25", "c", 1, BOOK, RENT),
    ("full", "a", 1, FORM, RENT),
    ("full", "b", 1, BOOK, RENT),
    ("full", "c", 1, FORM, RENT),
    ("full", "c", 2, LAW, FEE),
)
REPORT = build_eval_report(QUERIED, RUNS, documents=documents())


def cell(system: str, metric: str, piece: str = "all") -> dict[str, object]:
    return REPORT.filter(system=system, metric=metric, slice=piece).row(0, named=True)


def test_means_and_denominators() -> None:
    assert cell("bm25", "mrr")["value"] == pytest.approx((1 + 0 + 0) / 3)
    assert cell("full", "mrr")["value"] == pytest.approx((1 + 1 + 1 / 2) / 3)
    assert cell("full", "mrr", "procedural")["value"] == pytest.approx((1 + 1 / 2) / 2)
    assert cell("full", "wrong_document@1")["value"] == pytest.approx(1 / 3)
    assert (cell("full", "mrr")["n"], cell("full", "mrr")["n_dropped"]) == (3, 1)


def test_the_test_is_against_the_baseline() -> None:
    assert cell("bm25", "mrr")["p_value"] is None
    # Differences 0, 1, 1/2: of the 2**2 swaps of the two that differ, two are as large as 3/2.
    assert cell("full", "mrr")["p_value"] == pytest.approx(2 / 4)


def test_a_single_family_has_no_interval() -> None:
    assert cell("full", "mrr", "concept")["low"] is None
    assert cell("full", "mrr")["low"] is not None


def test_families_join_the_revisions_of_a_document() -> None:
    families = find_families(QUERIED, documents())
    assert families["family"].to_list() == ["f9000", "i9000", "town-code", "gone"]


def test_rows_are_the_same_twice_and_in_key_order() -> None:
    assert build_eval_report(QUERIED, RUNS, documents=documents()).equals(REPORT)
    assert REPORT.equals(REPORT.sort(EvalReport.primary_key()))


def floor(**overrides: object) -> Floor:
    fields = {"id": "f", "gate": "eval_report", "metric": "mrr", "floor": 0.9, "bound": "min"}
    given = {"measured": None, "n": None, "source": "test", "date": "2030-01-01", **fields, **overrides}
    return Floor(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("broken", "kept"),
    [
        ({"floor": 0.9}, {"floor": 0.8}),
        ({"metric": "wrong_document@1", "bound": "max", "floor": 0.3}, {"metric": "wrong_document@1", "bound": "max"}),
        ({"query_set": "town"}, {"query_set": "city"}),
    ],
)
def test_the_gate_names_broken_floors_only(broken: dict[str, object], kept: dict[str, object]) -> None:
    faults = find_retrieval_faults(REPORT, [floor(id="broken", **broken), floor(id="kept", **kept)])
    assert faults["floor_id"].to_list() == ["broken"]


def test_a_report_without_the_released_system_is_a_fault() -> None:
    assert find_retrieval_faults(REPORT, [floor(floor=0.0)], system="other").height == 1
    assert find_retrieval_faults(EvalReport.create_empty(), [floor()]).is_empty()
