"""Recorded sources: the inbox is one by itself, a dropped one takes its documents along, the last one stays."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from taxkg_assets.defs.ingest import source_scan
from taxkg_assets.defs.ingest.source_scan import has_sources, scan_sources
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.serving.build import SAMPLES
from taxkg_assets.serving.daemon import prepare_home
from taxkg_assets.serving.sources import drop, list_sources
from taxkg_assets.sources.scan import MissingSourceError, SourceError, find_source_files
from taxkg_assets_tests.serving.homes import run_here, run_json

pytestmark = pytest.mark.slow

STATUTE = next(SAMPLES.glob("*.txt"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with two recorded folders; one document is in both of them."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        shutil.copy(STATUTE, tmp_path / name / "both.txt")
        shutil.copy(STATUTE, tmp_path / name / f"{name}.txt")
    made = Home(home=str(tmp_path / "home"))
    scan_sources(made, [tmp_path / "one", tmp_path / "two"])
    return made


def documents(home: Home) -> list[str]:
    return sorted(home.store.read_manifest().files)


def test_a_dropped_folder_takes_along_what_is_nowhere_else(home: Home, tmp_path: Path) -> None:
    assert documents(home) == ["both", "one", "two"]
    assert drop(home.home, tmp_path / "one") == ["one"]
    assert documents(home) == ["both", "two"]
    assert [row["source"] for row in list_sources(home.home)] == [str(tmp_path / "two")]
    assert sorted(scan_sources(home).manifest.files) == ["both", "two"], "the next build does not bring it back"


def test_a_folder_that_is_gone_can_be_dropped(home: Home, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "one")
    assert drop(home.home, tmp_path / "one") == ["one"]


def test_the_only_source_and_an_unknown_one_are_refused(home: Home, tmp_path: Path) -> None:
    with pytest.raises(MissingSourceError, match="not a recorded source"):
        drop(home.home, tmp_path / "three")
    drop(home.home, tmp_path / "one")
    with pytest.raises(SourceError, match="the only source"):
        drop(home.home, tmp_path / "two")
    assert documents(home) == ["both", "two"]


def test_the_inbox_is_a_source_that_no_one_has_to_name(tmp_path: Path) -> None:
    home = Home(home=str(tmp_path / "home"))
    inbox = tmp_path / "home" / "inbox"
    inbox.mkdir(parents=True)
    assert not has_sources(home)
    shutil.copy(STATUTE, inbox / "dropped.txt")
    assert has_sources(home)
    assert list(scan_sources(home).manifest.files) == ["dropped"]
    with pytest.raises(SourceError, match="the inbox is always a source"):
        drop(home.home, inbox)


def test_an_inspection_of_the_sources_does_not_undo_what_another_records_meanwhile(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "three").mkdir()
    shutil.copy(STATUTE, tmp_path / "three" / "three.txt")
    recording = threading.Thread(target=scan_sources, args=(home, [tmp_path / "three"]))
    looked: list[Path] = []

    def find_slowly(root: Path) -> dict[str, list[Path]]:
        looked.append(root)
        if len(looked) == 1:
            recording.start()
            recording.join(0.2)
        return find_source_files(root)

    monkeypatch.setattr(source_scan, "find_source_files", find_slowly)
    (tmp_path / "one" / "one.txt").unlink()
    scan_sources(home)
    recording.join()
    assert documents(home) == ["both", "three", "two"]


@pytest.mark.parametrize("setting", ["TAXKG_AUTOMATION=true", "TAXKG_WATCH=1099", ""])
def test_a_home_that_fills_itself_begins_without_the_samples(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if setting:
        monkeypatch.setenv(*setting.split("="))
    store = prepare_home(str(tmp_path / "home"))
    assert bool(store.read_manifest().files) == (not setting)


def test_from_the_command_line(home: Home, tmp_path: Path) -> None:
    rows = run_json("sources", "list", "--home", home.home)
    assert [(row["documents"], row["is_there"]) for row in rows] == [(2, True), (1, True)]
    assert run_json("sources", "drop", str(tmp_path / "one"), "--home", home.home) == {"leaving": ["one"]}
    assert run_here("sources", "drop", "--home", home.home).returncode == 2
