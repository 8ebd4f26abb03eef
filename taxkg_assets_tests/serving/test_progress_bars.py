"""The display of a running build."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from taxkg_assets.serving import progress_bars
from taxkg_assets.serving.progress_bars import MOST_BARS, ProgressBars


def opened(monkeypatch: pytest.MonkeyPatch) -> tuple[ProgressBars, io.StringIO]:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=80, height=24)
    monkeypatch.setattr(progress_bars, "Terminal", lambda **_: console)
    return ProgressBars(), out


def test_a_finished_stage_leaves_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    bars, out = opened(monkeypatch)
    monkeypatch.setattr(progress_bars, "LISTED_SECONDS", 0.0)
    with bars:
        for _ in range(8):
            bars.start("documents", 3)
            bars.advance("documents", 3)
            bars.finish("documents")
        assert bars.progress.tasks == []
        bars.finish("documents")
        bars.advance("documents")
    assert out.getvalue().count("✓") == 8


def test_many_stages_at_once_fit_a_small_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    bars, _ = opened(monkeypatch)
    with bars:
        for number in range(40):
            bars.start(f"stage {number}", 10)
        assert sum(task.visible for task in bars.progress.tasks) == MOST_BARS < 24


def test_a_quick_stage_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    bars, out = opened(monkeypatch)
    with bars:
        bars.start("tables", 1)
        bars.finish("tables")
    assert "✓" not in out.getvalue()


def test_reading_shows_documents_pages_and_the_time_left_within_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    bars, out = opened(monkeypatch)
    with bars:
        bars.start("documents", 1209)
        bars.advance("documents", 100)
        bars.estimate("documents", 12_345, 3670.4)
        bars.progress.refresh()
    shown = [line for line in out.getvalue().splitlines() if "12,345 pages, 1:01:10 left" in line]
    assert shown
    assert "100/1209" in shown[0]
