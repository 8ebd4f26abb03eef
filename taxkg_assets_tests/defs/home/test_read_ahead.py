"""Files of an index that the operating system reads ahead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from taxkg_assets.defs.home.read_ahead import READ_BY_ROW, read_file_ahead, read_index_ahead
from taxkg_assets.defs.home.store import Store


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="the operating system takes no such request")
def test_every_byte_of_a_file_is_requested_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "posix_fadvise", lambda file, start, length, advice: requests.append((start, length)))
    path = tmp_path / "vectors.npy"
    path.write_bytes(bytes(300_000))
    read_file_ahead(path)
    ends = [0, *(start + length for start, length in requests)]
    assert [start for start, _ in requests] == ends[:-1]
    assert ends[-1] >= 300_000


def test_a_missing_file_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("taxkg_assets.defs.home.read_ahead.read_file_ahead", lambda path: _open_file(path, opened))
    facts = tmp_path / "index" / "bench" / "facts"
    facts.mkdir(parents=True)
    (facts / READ_BY_ROW[-1]).write_bytes(b"rows")
    read_index_ahead(Store(tmp_path), "index/bench")
    assert opened == [READ_BY_ROW[-1]]


def _open_file(path: Path, opened: list[str]) -> None:
    path.open("rb").close()
    opened.append(path.name)
