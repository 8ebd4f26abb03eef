"""What commands print of their results."""

from __future__ import annotations

import io

import dagster as dg
import polars as pl
import pytest
from rich.console import Console

from taxkg_assets.defs.wiring.verdicts import Verdict, verdict_metadata
from taxkg_assets.retrieval.answering.answer import Answer
from taxkg_assets.serving import render, render_answers
from taxkg_assets.serving.build import BuildResult, GateResult, record_gate


@pytest.mark.parametrize(
    ("passed", "is_measured", "severity", "word"),
    [
        (True, True, dg.AssetCheckSeverity.ERROR, "passed"),
        (True, False, dg.AssetCheckSeverity.ERROR, "not measured"),
        (False, True, dg.AssetCheckSeverity.WARN, "warned"),
        (False, True, dg.AssetCheckSeverity.ERROR, "blocked"),
    ],
)
def test_a_build_prints_the_state_of_each_gate(
    passed: bool, is_measured: bool, severity: dg.AssetCheckSeverity, word: str
) -> None:
    verdict = Verdict(pl.DataFrame(), 7, figures={"recall": 0.5}, is_passed=passed, is_measured=is_measured)
    result = BuildResult(is_done=True, seconds=0.0, run_ids=[])
    metadata = dg.AssetCheckResult(passed=passed, metadata=verdict_metadata(verdict)).metadata
    record_gate(
        dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey("index"), check_name="floors", passed=passed, metadata=metadata, severity=severity
        ),
        result,
    )
    out = io.StringIO()
    render.print_build_result(result, out=Console(file=out, width=160), is_whole=True)
    row = next(line for line in out.getvalue().splitlines() if "floors" in line)
    assert [cell.strip() for cell in row.split("│")[1:-1]] == ["index", "floors", word, "7", "0", "recall 0.500"]


def test_a_build_prints_what_is_new_and_what_was_found_within_a_terminal() -> None:
    gates = [GateResult("edges", f"law_{number}", is_passed=True, figures={}, word="passed") for number in range(90)]
    gates.append(GateResult("anchors", "headings_nest", is_passed=False, figures={"rows checked": 9}, word="warned"))
    gates.append(GateResult("tables", "cells", is_passed=True, figures={}, word="not measured"))
    rows = dict.fromkeys([f"table_{number}" for number in range(30)], 5)
    result = BuildResult(is_done=True, seconds=1.0, run_ids=[], gates=gates, built=["table_7"], rows=rows)
    result.skipped.append("Not read in forms: the subfolders old.")
    out = io.StringIO()
    render.print_build_result(result, out=Console(file=out, width=80))
    lines = out.getvalue().splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "29 tables unchanged." in lines
    assert "skipped Not read in forms: the subfolders old." in lines
    assert "Gates: 90 passed, 1 warned, 1 not measured. `--verbose` lists them all." in lines
    assert any("headings nest" in line for line in lines)


@pytest.mark.parametrize(
    ("rows", "is_released", "said"),
    [
        (
            [{"document_id": "harbor", "page": 2}, {"document_id": "canal", "page": 9}],
            True,
            ("Documents: canal, harbor. Remove their files", "The last release still answers questions."),
        ),
        ([{"metric": "recall", "value": 0.5}], False, ("no single document causes it", "There is no release yet.")),
    ],
)
def test_a_failed_gate_names_the_documents_the_remedy_and_what_is_served(
    rows: list[dict[str, object]], is_released: bool, said: tuple[str, ...]
) -> None:
    figures = {"first offending rows": rows}
    gate = GateResult("edges", "edges_carry_evidence", is_passed=False, figures=figures, word="blocked")
    result = BuildResult(is_done=False, seconds=1.0, run_ids=[], gates=[gate], is_released=is_released)
    out = io.StringIO()
    render.print_build_result(result, out=Console(file=out, width=200))
    for words in said:
        assert words in out.getvalue()


def test_an_abstention_names_the_words_that_were_searched_for() -> None:
    found = Answer(
        answer=None,
        confidence=0.1,
        abstained=True,
        outcome="abstention",
        results=[],
        corrections={"[bold]harbro": "harbor"},
    )
    out = io.StringIO()
    render_answers.print_answer("harbro dues", found, out=Console(file=out, width=120))
    lines = out.getvalue().splitlines()
    assert lines[1] == "Searched for “harbor” instead of “[bold]harbro”."
    assert lines[2].startswith("No answer:")
