"""Reports of changes: one pair of files for each pair of documents, whatever their names, and none for other pairs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from taxkg_assets.defs.graph import CHANGES, write_change_reports
from taxkg_assets.defs.home.storage import LocalStorage
from taxkg_assets_tests.graph.papers import Paper, revisions_of

LONG_NAME = "Harbor dues of rafts and boats as kept for the owners of the pier in the year é " * 3


def _changed(older: str, newer: str) -> tuple[Any, Any]:
    before = Paper(older, "2030").heading("Dues").text("Each boat pays a toll of $20 at noon.")
    after = Paper(newer, "2031").heading("Dues").text("Each boat pays a toll of $30 at noon.")
    revisions, frames = revisions_of(before, after)
    assert revisions.height
    return revisions, frames["documents"]


def _write(folder: Path, revisions: Any, documents: Any) -> list[str]:
    """Write the reports into a home in a folder, and return the names of the files."""
    store = SimpleNamespace(storage=LocalStorage(folder), read=lambda _: documents)
    write_change_reports(SimpleNamespace(store=store), revisions)  # type: ignore[arg-type]
    return [path.name for path in sorted((folder / CHANGES).iterdir())]


def test_reports_have_the_names_of_both_documents(tmp_path: Path) -> None:
    names = _write(tmp_path, *_changed("f9--2030", "f9--2031"))
    assert names == ["f9--2030--to--f9--2031.html", "f9--2030--to--f9--2031.md"]


def test_long_names_are_shortened_and_stay_apart(tmp_path: Path) -> None:
    older, newer = f"{LONG_NAME}--2030", f"{LONG_NAME}--2031"
    names = _write(tmp_path, *_changed(older, newer))
    assert len(names) == 2
    assert all(len(name.encode()) < 240 and name.startswith("Harbor dues") and "--to--" in name for name in names)
    others = _write(tmp_path / "other", *_changed(older, f"{LONG_NAME}--2032"))
    assert set(names).isdisjoint(others)
    assert _write(tmp_path, *_changed("f9--2030", "f9--2031")) == [
        "f9--2030--to--f9--2031.html",
        "f9--2030--to--f9--2031.md",
    ], "those of other pairs are removed"


def test_a_report_that_cannot_be_written_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write = LocalStorage.write

    def fail_for_pages(self: LocalStorage, name: str, data: bytes) -> None:
        if name.endswith(".html"):
            raise OSError(36, "File name too long")
        write(self, name, data)

    monkeypatch.setattr(LocalStorage, "write", fail_for_pages)
    assert _write(tmp_path, *_changed("f9--2030", "f9--2031")) == ["f9--2030--to--f9--2031.md"]
    assert "f9--2030--to--f9--2031.html was not written" in caplog.text
