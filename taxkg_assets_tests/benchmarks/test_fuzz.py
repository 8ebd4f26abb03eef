"""Broken PDFs of every kind, from the samples: each has an outcome, none outlives its limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fuzz import PROJECT, find_hangs, render, run
from benchmarks.mutants import MUTATIONS, build_mutants, load_originals
from taxkg_assets.defs.ingest.reader import Limits

pytestmark = pytest.mark.slow

SAMPLES = PROJECT / "data" / "samples"
LIMITS = Limits(seconds=60.0, memory_mb=1024)


def test_the_same_seed_makes_the_same_mutants() -> None:
    originals = load_originals([SAMPLES], seed=1)
    one, other = (list(build_mutants(originals, cases=26, seed=7)) for _ in range(2))
    assert [m.mutations for m in one] == [m.mutations for m in other]
    plain = [ix for ix, mutant in enumerate(one) if "encrypt" not in mutant.mutations]
    assert [one[ix].data for ix in plain] == [other[ix].data for ix in plain]
    assert len({mutant.data for mutant in one}) > 20


def test_every_broken_document_has_an_outcome_within_its_limits(tmp_path: Path) -> None:
    cases = len(MUTATIONS)
    report = run(cases=cases, out=tmp_path, folders=[SAMPLES], limits=LIMITS)
    assert {case.mutation for case in report.cases} == set(MUTATIONS)
    assert len(report.cases) == cases
    assert not find_hangs(report)
    assert max(case.child_mb for case in report.cases) < 2 * LIMITS.memory_mb
    assert "| flip_bytes |" in render(report)
    # A run that continues reads nothing again.
    assert run(cases=cases, out=tmp_path, folders=[SAMPLES], limits=LIMITS).cases == report.cases
