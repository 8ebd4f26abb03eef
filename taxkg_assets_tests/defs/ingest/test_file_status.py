"""A file that must stay out is refused by name, without being read; the others are read, and the refusal clears."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxkg_assets.defs import automation
from taxkg_assets.defs.automation import find_changes
from taxkg_assets.defs.ingest.file_status import MIB, FileStatus, inbox_of, inspect_files
from taxkg_assets.defs.ingest.intake import admit_documents
from taxkg_assets.defs.ingest.source_scan import scan_sources
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.sources.manifest import SourceFile

pytestmark = pytest.mark.slow

LAW = """Title 9. Pennies

§ 9-1. Who pays. A holder of a penny pays {} of them.
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with an empty inbox; the sensor does not wait until files have settled."""
    monkeypatch.setattr(automation, "SETTLE_SECONDS", 0.0)
    made = Home(home=str(tmp_path / "home"))
    inbox_of(made.settings).mkdir(parents=True)
    return made


def look(home: Home, path: Path) -> FileStatus:
    """How one file looks, which no one may open."""

    def opened(path: Path) -> str:
        raise PermissionError(13, "Permission denied")

    file = SourceFile(root=str(path.parent), path=str(path))
    return inspect_files({"it": file}, admitted_hashes={}, settings=home.settings, hash_file=opened)["it"]


def admit(home: Home) -> list[str]:
    """Admit what is in the sources as a run does; the documents in quarantine."""
    found = admit_documents(home, scan_sources(home).manifest.files)
    for name, (frame, states) in (("documents", found.documents), ("quarantine", found.quarantine)):
        if states:
            home.store.replace_documents(name, frame, documents=states)
    assert find_changes(home, scan_sources(home).manifest.files)[1:] == ([], []), "the sensor asks for nothing more"
    return home.store.read_or_empty("quarantine")["document_id"].to_list()


def test_a_file_that_must_not_or_cannot_be_read_is_refused_by_name(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAXKG_DOCUMENT_MEMORY_MB", "256")
    inbox, outside = inbox_of(home.settings), tmp_path / "outside.txt"
    outside.write_text("the words of another file", encoding="utf8")
    (inbox / "link.txt").symlink_to(outside)
    with (inbox / "big.pdf").open("wb") as big:
        big.truncate(257 * MIB)
    (tmp_path / "named.txt").symlink_to(outside)
    assert "link.txt is a link to a file outside the inbox" in look(home, inbox / "link.txt").reason
    assert look(home, inbox / "big.pdf").stage == "limits"
    assert "257 MiB" in look(home, inbox / "big.pdf").reason
    assert "gone.txt does not exist" in look(home, inbox / "gone.txt").reason
    assert "named.txt cannot be read (Permission denied)" in look(home, tmp_path / "named.txt").reason


def test_a_copy_and_a_disputed_name_are_left_out_and_recover(home: Home, tmp_path: Path) -> None:
    inbox, folder = inbox_of(home.settings), tmp_path / "folder"
    folder.mkdir()
    (folder / "law.txt").write_text(LAW.format("two"), encoding="utf8")
    (folder / "other.txt").write_text(LAW.format("six"), encoding="utf8")
    (inbox / "law (1).txt").write_text(LAW.format("two"), encoding="utf8")
    scan_sources(home, [folder])
    assert admit(home) == ["law (1)"]
    assert "same bytes as the document law." in home.store.read("quarantine")["reason"].item()
    (inbox / "other.txt").write_text(LAW.format("ten"), encoding="utf8")
    old = home.store.read("documents")
    assert admit(home) == ["law (1)", "other"]
    assert home.store.read("documents").equals(old), "what was built stays"
    reason = home.store.read("quarantine").filter(document_id="other")["reason"].item()
    assert str(inbox / "other.txt") in reason
    assert str(folder / "other.txt") in reason
    (inbox / "other.txt").unlink()
    (folder / "law.txt").unlink()
    assert admit(home) == []
    assert home.store.read("documents")["document_id"].to_list() == ["law (1)", "other"]
