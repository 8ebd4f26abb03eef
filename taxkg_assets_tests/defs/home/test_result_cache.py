"""Findings that a home keeps: those of this code and of the last run, and none from a damaged file."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxkg_assets.defs.home import result_cache
from taxkg_assets.defs.home.result_cache import ResultCache
from taxkg_assets.defs.home.store import Store
from taxkg_assets.graph.revision_edges import find_revision_links


def _open(home: Path) -> ResultCache:
    return ResultCache(Store(home), "edges", find_revision_links)


def _keep(home: Path, **found: object) -> None:
    memory = _open(home)
    for key, value in found.items():
        memory.remember(key, value)
    memory.keep()


def test_findings_come_back(tmp_path: Path) -> None:
    _keep(tmp_path, one=[["a", "b", 1 / 3]], two=[])
    memory = _open(tmp_path)
    assert memory.recall("one") == [["a", "b", 1 / 3]]
    assert memory.recall("two") == []
    assert memory.recall("three") is None


def test_what_a_run_does_not_use_is_forgotten(tmp_path: Path) -> None:
    _keep(tmp_path, one=[1], two=[2])
    memory = _open(tmp_path)
    memory.recall("two")
    memory.keep()
    assert (_open(tmp_path).recall("one"), _open(tmp_path).recall("two")) == (None, [2])


def test_other_code_finds_nothing_and_removes_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _keep(tmp_path, one=[1])
    monkeypatch.setattr(result_cache, "code_fingerprint", lambda *_: "changed")
    assert _open(tmp_path).recall("one") is None
    _keep(tmp_path, one=[2])
    assert len(list((tmp_path / "cache" / "findings").iterdir())) == 1


@pytest.mark.parametrize(("old", "new"), [(b"", b""), (b"[1]", b"5"), (b"}", b""), (b"1", b"\xff"), (b"\n", b"")])
def test_a_damaged_file_is_as_none(tmp_path: Path, old: bytes, new: bytes) -> None:
    _keep(tmp_path, one=[1])
    (path,) = (tmp_path / "cache" / "findings").glob("*.json")
    path.write_bytes(path.read_bytes().replace(old, new) if old else b"")
    assert _open(tmp_path).recall("one") is None
