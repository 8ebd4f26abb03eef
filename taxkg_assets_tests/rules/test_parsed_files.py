"""Parsed rule files are read from the cache while they hold the present file, and parsed again otherwise."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from taxkg_assets.rules.parsed_files import read_parsed


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return []


def _read(path: Path, parsed: list[str]) -> dict[str | int, Any]:
    def parse(text: str) -> dict[str | int, Any]:
        parsed.append(text)
        return {"words": text.split(), 1: None, "share": 0.25}

    return read_parsed(path, parse)


def test_a_file_is_parsed_once_until_it_changes(tmp_path: Path, parsed: list[str]) -> None:
    path = tmp_path / "barns.yaml"
    path.write_text("two barns", encoding="utf8")
    first, again = _read(path, parsed), _read(path, parsed)
    assert first == again == {"words": ["two", "barns"], 1: None, "share": 0.25}
    assert parsed == ["two barns"]
    path.write_text("three barns", encoding="utf8")
    assert _read(path, parsed)["words"] == ["three", "barns"]


@pytest.mark.parametrize("damage", [b"", b"no content", b"i\x01\x00\x00\x00"])
def test_a_damaged_cache_is_written_again(tmp_path: Path, parsed: list[str], damage: bytes) -> None:
    path = tmp_path / "barns.yaml"
    path.write_text("two barns", encoding="utf8")
    _read(path, parsed)
    (cached,) = (tmp_path / "__pycache__").iterdir()
    cached.write_bytes(damage)
    assert _read(path, parsed) == _read(path, parsed) == {"words": ["two", "barns"], 1: None, "share": 0.25}
    assert len(parsed) == 2


def test_where_nothing_may_be_written_the_file_is_parsed(
    tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "barns.yaml"
    path.write_text("two barns", encoding="utf8")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    _read(path, parsed)
    assert not (tmp_path / "__pycache__").exists()
    (tmp_path / "__pycache__").write_text("no folder", encoding="utf8")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert _read(path, parsed) == _read(path, parsed)
    assert len(parsed) == 3


def test_what_the_cache_cannot_hold_is_not_cached(tmp_path: Path, parsed: list[str]) -> None:
    path = tmp_path / "barns.yaml"
    path.write_text("two barns", encoding="utf8")
    assert read_parsed(path, lambda text: {"folder": tmp_path}) == {"folder": tmp_path}
    assert not (tmp_path / "__pycache__").exists()
