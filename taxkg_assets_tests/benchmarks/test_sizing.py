"""Sizing: what grows faster than the pages is named, and processor time is seen from outside."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.sizing import READING, Report, Size, Watch, by_table, find_slopes, reckon, render

BURN = "import time\nwhile time.process_time() < 0.6: pass"


def size(pages: int) -> Size:
    """Reading costs 10 ms a page and 1 s; edges as the square of the pages; a gate next to nothing."""
    spent = {READING: 1 + pages / 100, "edges": pages**2 / 1e5, "edges_no_dangling_edges": 0.01, "embeddings": 0.5}
    return Size(pages=pages, documents=pages, seconds=spent, rows={}, peak_mb=100, is_done=True)


@pytest.fixture(scope="module")
def report() -> Report:
    sizes = [size(pages) for pages in (100, 300, 1000, 3000)]
    return Report(sizes, find_slopes(sizes))


def test_what_is_worse_than_linear_is_named(report: Report) -> None:
    slopes = {slope.step: slope for slope in report.slopes}
    assert slopes[READING].ms_a_page == pytest.approx(10.0)
    assert slopes[READING].fixed_s == pytest.approx(1.0)
    assert slopes["edges"].power == pytest.approx((2.0, 2.0, 2.0))
    assert slopes["edges: gates"].power is None, "too cheap to tell how it grows"
    assert [slope.step for slope in report.slopes if slope.is_steep] == ["edges"]
    assert "Worse than linear: edges." in render(report)


def test_libraries_are_reckoned_from_the_lines(report: Report) -> None:
    reported = reckon(report, 2000)
    assert reported["reading"] == pytest.approx(1 + 2000 * 0.01)
    assert reported["encoding"] == pytest.approx(2000 * 0.5 / 100)


def test_the_gates_of_a_table_are_one_step() -> None:
    spent = {"edges": 1.0, "edges_no_dangling_edges": 2.0, "edges_relations_are_consistent": 3.0, "eval_runs": 4.0}
    assert by_table(spent) == {"edges": 1.0, "edges: gates": 5.0, "eval_runs": 4.0}


def test_processor_time_is_seen_from_outside() -> None:
    with subprocess.Popen([sys.executable, "-c", BURN]) as process:
        watch = Watch(process)
        process.wait()
    assert 0.1 < watch.all() < 1.0
    assert watch.peak_mb > 0
