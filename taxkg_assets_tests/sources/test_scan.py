"""Which documents there are, and when one is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxkg_assets.sources.scan import SourceError, find_source_files, merge_sources

EMPTY = {"roots": [], "files": {}}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    (one / "a.pdf").write_bytes(b"a")
    (one / "b.txt").write_bytes(b"b")
    (one / "notes.csv").write_bytes(b"x")
    (one / ".hidden.pdf").write_bytes(b"x")
    (other / "c.PDF").write_bytes(b"c")
    return one, other


def scan(ledger: dict[str, object], *roots: Path) -> dict[str, object]:
    return merge_sources(ledger, {root: find_source_files(root) for root in roots})


def test_only_documents_count(folders: tuple[Path, Path]) -> None:
    assert find_source_files(folders[0]).keys() == {"a", "b"}
    assert find_source_files(folders[1]).keys() == {"c"}


def test_a_document_leaves_only_when_its_own_folder_is_scanned_without_it(folders: tuple[Path, Path]) -> None:
    one, other = folders
    ledger = scan(EMPTY, one, other)
    (one / "a.pdf").unlink()
    assert scan(ledger, other)["files"].keys() == {"a", "b", "c"}
    assert scan(ledger, one)["files"].keys() == {"b", "c"}


def test_a_single_file_never_removes(folders: tuple[Path, Path]) -> None:
    one, _ = folders
    ledger = scan(scan(EMPTY, one), one / "a.pdf")
    assert ledger["files"].keys() == {"a", "b"}


def test_equal_names_with_other_bytes_are_an_error_and_with_equal_bytes_one_document(
    folders: tuple[Path, Path],
) -> None:
    one, other = folders
    ledger = scan(EMPTY, one)
    (other / "a.pdf").write_bytes(b"a")
    assert scan(ledger, other)["files"]["a"]["root"] == str(one)
    (other / "a.pdf").write_bytes(b"another")
    with pytest.raises(SourceError, match=r"'a' but differ.*Rename one"):
        scan(ledger, other)


@pytest.mark.parametrize("name", ["absent", "notes.csv"])
def test_a_source_that_is_none_is_an_error(folders: tuple[Path, Path], name: str) -> None:
    with pytest.raises(SourceError, match=name):
        find_source_files(folders[0] / name)
