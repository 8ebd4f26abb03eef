"""Development families next to left-out ones: grouped, compared, and a difference that is too wide is a fault."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets.evaluation import family_figures as module
from taxkg_assets.evaluation.family_figures import build_family_figures
from taxkg_assets.evaluation.family_gaps import GAP, compare_groups
from taxkg_assets.evaluation.labels import Labels, read_labels
from taxkg_assets.evaluation.report import _write_families
from taxkg_assets.rules.floors import Floor, load_floors
from taxkg_assets.rules.support import load_evidence_families, name_family
from taxkg_assets.schemas import Anchors, Documents, Elements, EvalQueries, EvalRuns, FamilyFigures, Sections, Tables
from taxkg_assets_tests.evaluation.extraction_frames import build_frame

BOUND: dict[str, Any] = {
    "id": "gap_of_roles",
    "gate": "family_figures",
    "metric": "role_accuracy_gap",
    "floor": 0.1,
    "bound": "max",
    "measured": None,
    "n": None,
    "source": "a test",
    "date": "2031-01-01",
    "least_n": 20,
}


def _figures(*rows: tuple[str, str, float | None, int]) -> Any:
    frame = pl.DataFrame(
        [
            {"metric": "role_accuracy", "group": group, "family": family, "value": value, "n": n}
            for group, family, value, n in rows
        ],
        schema=FamilyFigures.create_empty().schema,
    )
    return FamilyFigures.validate(frame)


def _compare(left_out: float, n: int) -> dict[str, Any]:
    figures = _figures(
        ("development", "all", 0.99, 200), ("left out", "all", left_out, n), ("left out", "9", left_out, n)
    )
    (row,) = compare_groups(figures, [Floor(**BOUND)]).iter_rows(named=True)
    return row


@pytest.mark.parametrize(
    ("left_out", "n", "is_judged", "is_within_bound"),
    [(0.95, 40, True, True), (0.8, 40, True, False), (0.8, 19, False, True), (1.0, 40, True, True)],
    ids=["nearly as good", "too wide", "too few rows", "better"],
)
def test_a_difference_beyond_the_bound_is_a_fault(
    left_out: float, n: int, is_judged: bool, is_within_bound: bool
) -> None:
    row = _compare(left_out, n)
    assert (row["is_judged"], row["is_within_bound"]) == (is_judged, is_within_bound)
    assert row["gap"] == pytest.approx(0.99 - left_out)


def test_without_left_out_labels_nothing_is_judged() -> None:
    (row,) = compare_groups(_figures(("development", "all", 0.99, 200)), [Floor(**BOUND)]).iter_rows(named=True)
    assert (row["left_out"], row["gap"], row["is_judged"], row["is_within_bound"]) == (None, None, False, True)


def test_the_report_shows_both_groups_and_the_verdict() -> None:
    figures = _figures(("development", "all", 0.99, 200), ("left out", "all", 0.7, 40))
    _, _, table = _write_families(compare_groups(figures, [Floor(**BOUND)]))
    assert [cell.text for cell in table.rows[0]] == [
        "role_accuracy", "0.990", "0.700", "+0.290", "0.10", "200", "40", "BROKEN",
    ]  # fmt: skip
    assert _write_families(compare_groups(_figures(), [Floor(**BOUND)])) == []


def test_every_measured_figure_has_a_bound() -> None:
    bounds = {floor.metric for floor in load_floors("family_figures")}
    extraction = ("role_accuracy", "structural_f1", "ownership_accuracy", "cell_accuracy")
    assert bounds == {f"{name}{GAP}" for name in (*extraction, *module.RETRIEVAL)}


def test_families_join_a_form_with_its_instructions_and_all_revisions() -> None:
    assert {name_family(name) for name in ("f1040sd--2025", "i1040sd--2018")} == {"1040sd"}
    assert name_family("p550--2025") == "p550"


def test_families_with_evidence_are_recorded_for_documents_and_questions() -> None:
    assert load_evidence_families("documents")
    assert load_evidence_families("questions")
    assert not load_evidence_families("boats")


def _label_pages(*documents: str) -> tuple[dict[str, Any], Labels]:
    """Labeled headings of documents, of which the last one's heading is not found."""
    empty = {
        name: build_frame(schema, [])
        for name, schema in {"elements": Elements, "sections": Sections, "tables": Tables}.items()
    }
    frames = {
        **empty,
        "anchors": build_frame(
            Anchors,
            [{"anchor_id": f"{d}:a", "document_id": d, "kind": "section", "heading": "Boats"} for d in documents[:-1]],
            perspective="filer",
        ),
        "documents": Documents.sample(len(documents), overrides={"document_id": list(documents)}),
        "eval_queries": EvalQueries.create_empty(),
        "eval_runs": EvalRuns.create_empty(),
    }
    rows = [{"document": d, "page": 1, "kind": "section", "heading": "Boats"} for d in documents]
    return frames, read_labels({"gold": {"anchors": rows}})


def test_every_family_is_scored_by_itself_and_with_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "load_evidence_families", lambda reads: frozenset({"barn"}))
    frames, labels = _label_pages("fbarn--2031", "ibarn--2030", "fboat--2031")
    built = build_family_figures(**frames, labels=labels)
    rows = built.select("group", "family", "value", "n").rows()
    assert rows == [
        ("development", "all", 1.0, 2),
        ("development", "barn", 1.0, 2),
        ("left out", "all", 0.0, 1),
        ("left out", "boat", 0.0, 1),
    ]
    floor = Floor(**{**BOUND, "metric": "structural_f1_gap", "least_n": 1})
    assert compare_groups(built, [floor])["is_within_bound"].to_list() == [False]
