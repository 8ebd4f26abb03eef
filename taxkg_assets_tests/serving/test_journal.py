"""The log of questions outlives a home that cannot be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxkg_assets.defs.home.store import Store
from taxkg_assets.serving import journal
from taxkg_assets.serving.journal import Journal


def test_judgments_wait_for_a_home_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(journal, "MOST_KEPT", 2)
    store = Store(tmp_path / "home")
    kept = Journal(store)
    with monkeypatch.context() as full:
        full.setattr(store, "append", _fail)
        for comment in ("first", "second", "third"):
            kept.note_feedback("0" * 32, is_helpful=True, comment=comment)
            kept._commit()
    assert sum("No space left" in line for line in caplog.messages) == 1
    kept.close()
    assert sorted(store.read("feedback")["comment"]) == ["second", "third"]


def _fail(*_: object) -> None:
    raise OSError(28, "No space left on device")
