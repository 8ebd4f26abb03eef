"""Broken PDFs of every kind, from the samples: each has an outcome, none outlives its limits."""

from __future__ import annotations

from benchmarks.fuzz import GRACE_SECONDS, PROJECT, render, run
from benchmarks.mutants import MUTATIONS, build_mutants, load_originals
from taxkg_assets.defs.reader import Limits

SAMPLES = PROJECT / "data" / "samples"
LIMITS = Limits(seconds=60.0, memory_mb=1024)


def test_the_same_seed_makes_the_same_mutants() -> None:
    originals = load_originals([SAMPLES], seed=1)
    one, other = (list(build_mutants(originals, cases=26, seed=7)) for _ in range(2))
    assert [m.mutations for m in one] == [m.mutations for m in other]
    plain = [ix for ix, mutant in enumerate(one) if "encrypt" not in mutant.mutations]
    assert [one[ix].data for ix in plain] == [other[ix].data for ix in plain]
    assert len({mutant.data for mutant in one}) > 20


def test_every_broken_document_has_an_outcome_within_its_limits() -> None:
    report = run(cases=3 * len(MUTATIONS), folders=[SAMPLES], limits=LIMITS)
    assert set(report.by_mutation) == set(MUTATIONS)
    assert sum(counts.total() for counts in report.by_mutation.values()) == 3 * len(MUTATIONS)
    assert not report.hangs
    assert report.slowest_s < LIMITS.seconds + GRACE_SECONDS
    assert report.child_mb < 2 * LIMITS.memory_mb
    assert "| flip_bytes |" in render(report)
