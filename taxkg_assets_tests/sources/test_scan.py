"""Which documents there are, and when one is gone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from taxkg_assets.sources.manifest import FilePlace, SourceFile, SourceManifest
from taxkg_assets.sources.scan import (
    MissingSourceError,
    SourceError,
    describe_skipped,
    drop_source,
    find_duplicate_files,
    find_source_files,
    merge_sources,
)

EMPTY = SourceManifest()


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


def scan(manifest: SourceManifest, *roots: Path) -> SourceManifest:
    return merge_sources(manifest, {root: find_source_files(root) for root in roots})


def test_only_documents_count(folders: tuple[Path, Path]) -> None:
    assert find_source_files(folders[0]).keys() == {"a", "b"}
    assert find_source_files(folders[1]).keys() == {"c"}


def test_subfolders_and_dangling_links_are_named_where_they_look_like_documents(folders: tuple[Path, Path]) -> None:
    one, other = folders
    assert describe_skipped(one) == describe_skipped(one / "a.pdf") == describe_skipped(one / "nothing") == ""
    for name in ("2022", "2023", "2024", "2025", "pictures"):
        (one / name / "deep").mkdir(parents=True)
        (one / name / "deep" / ("x.png" if name == "pictures" else "x.pdf")).write_bytes(b"x")
    (one / "gone.pdf").symlink_to(other / "nothing.pdf")
    (one / "gone.png").symlink_to(other / "nothing.png")
    (one / "there.pdf").symlink_to(other / "c.PDF")
    assert describe_skipped(one) == (
        f"Not read in {one}: the subfolders 2022, 2023, 2024 and 1 more (give them as --corpus); "
        "the broken links gone.pdf."
    )
    assert "2022" not in describe_skipped(one, roots=[str(one / "2022")])


def test_pipes_and_empty_folders_named_like_documents_are_listed(folders: tuple[Path, Path]) -> None:
    one, _ = folders
    os.mkfifo(one / "pipe.pdf")
    (one / "empty.pdf").mkdir()
    (one / "pictures").mkdir()
    assert describe_skipped(one) == f"Not read in {one}: empty.pdf, pipe.pdf (no files)."
    assert describe_skipped(one, roots=[str(one / "empty.pdf")]) == f"Not read in {one}: pipe.pdf (no files)."
    assert find_source_files(one).keys() == {"a", "b"}
    with pytest.raises(MissingSourceError, match=r"pipe\.pdf is neither"):
        find_source_files(one / "pipe.pdf")


def test_a_source_that_cannot_be_read_yet_is_recorded_and_keeps_its_files(folders: tuple[Path, Path]) -> None:
    one, other = folders
    manifest = merge_sources(scan(EMPTY, one), {}, unreadable_roots=[one, other])
    assert manifest.roots == sorted(map(str, folders))
    assert manifest.files.keys() == {"a", "b"}


def test_a_document_leaves_only_when_its_own_folder_is_scanned_without_it(folders: tuple[Path, Path]) -> None:
    one, other = folders
    manifest = scan(EMPTY, one, other)
    (one / "a.pdf").unlink()
    assert scan(manifest, other).files.keys() == {"a", "b", "c"}
    assert scan(manifest, one).files.keys() == {"b", "c"}


def test_a_single_file_never_removes(folders: tuple[Path, Path]) -> None:
    one, _ = folders
    manifest = scan(scan(EMPTY, one), one / "a.pdf")
    assert manifest.files.keys() == {"a", "b"}


def test_equal_names_with_equal_bytes_are_one_document_and_with_other_bytes_no_one_knows(
    folders: tuple[Path, Path],
) -> None:
    one, other = folders
    manifest = scan(EMPTY, one)
    (other / "a.pdf").write_bytes(b"a")
    assert scan(manifest, other).files["a"] == SourceFile(root=str(one), path=str(one / "a.pdf"))
    (other / "a.pdf").write_bytes(b"another")
    disputed = scan(manifest, other)
    assert disputed.files.keys() == {"a", "b", "c"}
    assert disputed.files["a"].rival == FilePlace(root=str(other), path=str(other / "a.pdf"))
    assert scan(disputed, one).files["a"].rival, "the other one is still there"
    assert drop_source(disputed, str(other), other_scans={}).files["a"].rival is None
    (other / "a.pdf").unlink()
    assert scan(disputed, one).files["a"] == manifest.files["a"]


def test_names_that_differ_in_their_ending_only_are_rivals(folders: tuple[Path, Path]) -> None:
    (folders[0] / "a.txt").write_bytes(b"another")
    assert scan(EMPTY, folders[0]).files["a"].rival == FilePlace(root=str(folders[0]), path=str(folders[0] / "a.txt"))


def test_of_equal_bytes_the_admitted_one_stays_else_the_shorter_name() -> None:
    assert find_duplicate_files({"f1 (1)": "s", "f1": "s", "f2": "t"}, admitted_hashes={}) == {"f1 (1)": "f1"}
    assert find_duplicate_files({"f1 (1)": "s", "f1": "s"}, admitted_hashes={"f1 (1)": "s"}) == {"f1": "f1 (1)"}
    assert find_duplicate_files({"new": "s"}, admitted_hashes={"old": "s"}) == {"new": "old"}, (
        "a file that was not scanned is as it was"
    )
    assert find_duplicate_files({"new": "s", "old": "changed"}, admitted_hashes={"old": "s"}) == {}
    assert find_duplicate_files({"one": "s", "two": "s"}, admitted_hashes={"one": "s", "two": "s"}) == {}, (
        "nothing built is lost"
    )


@pytest.mark.parametrize("name", ["absent", "notes.csv"])
def test_an_unknown_source_is_an_error(folders: tuple[Path, Path], name: str) -> None:
    with pytest.raises(SourceError, match=name):
        find_source_files(folders[0] / name)
