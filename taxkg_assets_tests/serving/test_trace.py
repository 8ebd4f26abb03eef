"""A trace follows flows both ways, cuts cycles and keeps to its depth; its picture names every line once a layer."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from taxkg_assets.serving.lines import LineNotFoundError
from taxkg_assets.serving.trace import draw, trace
from taxkg_assets_tests.serving.test_lines import Released

PAIRS = [("2040", "W-9"), ("W-9", "2060"), ("2060", "2040"), ("2060", "Schedule D (Form 2040)")]


def _release() -> Any:
    released = Released()
    rows = []
    for at, (source, target) in enumerate(PAIRS):
        row: dict[str, Any] = {
            "flow_id": str(at),
            "relation": "flows_to",
            "evidence": "Enter here",
            "document_id": source,
        }
        row |= {"page": 1, "bbox": None, "is_same_year": True, "agreement": "one_side", "problem": ""}
        for end, form in (("source", source), ("target", target)):
            names = {"document_id": form, "form": form, "part": "", "key": "line_7", "column": ""}
            row |= {f"{end}_{name}": value for name, value in names.items()}
        rows.append(row)
    released.tables["flows"] = pl.DataFrame(rows)
    return released


def _forms(steps: list[dict[str, Any]]) -> list[Any]:
    return [(step["form"], _forms(step["steps"])) for step in steps]


def test_flows_are_followed_both_ways_and_cycles_are_cut() -> None:
    traced = trace(_release(), ["2040", "line", "7"])
    assert _forms(traced["into"]) == [("W-9", [("2060", [("2040", []), ("Schedule D (Form 2040)", [])])])]
    assert _forms(traced["out_of"]) == [("2060", [("W-9", [("2040", [])])])]
    assert traced["into"][0]["statement"]["evidence"] == "Enter here"


def test_a_trace_keeps_to_its_depth() -> None:
    assert _forms(trace(_release(), ["2040", "line", "7"], depth=1)["into"]) == [("W-9", [])]


def test_the_picture_shows_every_line() -> None:
    root = ElementTree.fromstring(draw(trace(_release(), ["2040", "line", "7"])))
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"W-9 line 7", "2060 line 7", "Schedule D (Form 2040) line 7"} <= set(texts)


def test_a_release_without_flows_says_so() -> None:
    with pytest.raises(LineNotFoundError, match="taxkg build"):
        trace(Released(has_lines=False), ["2040", "7"])  # type: ignore[arg-type]
