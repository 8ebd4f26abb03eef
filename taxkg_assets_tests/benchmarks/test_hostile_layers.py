"""Changed authored layers of generated documents: none crashes, hangs, fails unexpectedly or serves false words."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.hostile_layers import FALSE, LIMITS, find_failures, load_layered, run
from benchmarks.layer_mutants import MUTATIONS, build_layer_mutants

pytestmark = pytest.mark.slow

CASES = 28


def test_the_same_seed_makes_the_same_mutants() -> None:
    originals = load_layered([])
    one, other = (list(build_layer_mutants(originals, cases=8, seed=3)) for _ in range(2))
    assert [(m.original, m.mutations) for m in one] == [(m.original, m.mutations) for m in other]
    assert len({mutant.data for mutant in one}) == 8


def test_no_changed_layer_does_harm(tmp_path: Path) -> None:
    report = run(cases=CASES, out=tmp_path, folders=[])
    assert {case.mutation for case in report.cases} == set(MUTATIONS)
    assert len(report.cases) == CASES
    assert find_failures(report) == []
    assert sum(case.outcome == "read" for case in report.cases) > CASES // 2
    assert max(case.seconds for case in report.cases) < LIMITS.seconds
    assert f"| {'loop_tree'} |" in report.write(tmp_path)
    assert FALSE not in {case.outcome for case in report.cases}
