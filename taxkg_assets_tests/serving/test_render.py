"""What commands print of their results."""

from __future__ import annotations

import io

import dagster as dg
import polars as pl
import pytest
from rich.console import Console

from taxkg_assets.defs.verdicts import Verdict, verdict_metadata
from taxkg_assets.serving import render
from taxkg_assets.serving.build import BuildResult, record_gate


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
    render.build_result(result, out=Console(file=out, width=160))
    row = next(line for line in out.getvalue().splitlines() if "floors" in line)
    assert [cell.strip() for cell in row.split("│")[1:-1]] == ["index", "floors", word, "7", "0", "recall 0.500"]
