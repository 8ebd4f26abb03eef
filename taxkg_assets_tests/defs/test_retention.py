"""Retention: what a kept release reads stays whole, whatever else goes, and no table looks changed afterwards."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from deltalake import DeltaTable

from taxkg_assets.defs import retention
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.retention import find_kept_versions, run_retention
from taxkg_assets.defs.retrieval import KEPT_RELEASES
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.schemas import Faces
from taxkg_assets.serving.build import SAMPLES, build
from taxkg_assets.serving.release import withdraw
from taxkg_assets.serving.released import open_release

pytestmark = pytest.mark.slow


@pytest.fixture
def old_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything counts as old, whatever the clock says."""
    monkeypatch.setattr(retention, "LEAST_HOURS", 0)


def versions(store: Store) -> dict[str, int]:
    return {name: store.version(name) for name in PIPELINE}


@pytest.mark.usefixtures("old_enough")
def test_releases_that_a_rollback_may_go_to_stay_whole_and_older_ones_go(small_home: Path, tmp_path: Path) -> None:
    folder, store, home = tmp_path / "more", Store(small_home), Home(home=str(small_home))
    folder.mkdir()
    statute = next(SAMPLES.glob("*.txt")).read_text(encoding="utf8")
    for number in range(KEPT_RELEASES):
        (folder / "more.txt").write_text(f"{statute}\nSentence number {number} was added.\n", encoding="utf8")
        assert build(str(small_home), roots=[folder]).is_done
    assert store.read("release").height == KEPT_RELEASES + 1
    served = open_release(str(small_home))
    before = {name: served.table(name) for name in json.loads(served.row["table_versions"])}
    commits = versions(store)
    reported = run_retention(home, keep_days=0, is_dry=True)
    freed = run_retention(home, keep_days=0)
    assert freed == reported
    assert sum(one.files for one in freed) > 0
    assert all(one.files == 0 for one in run_retention(home, keep_days=0))
    assert versions(store) == commits, "nobody has to build or judge anything again"
    assert build(str(small_home)).built == []
    again = open_release(str(small_home))
    assert all(again.table(name).equals(frame) for name, frame in before.items())
    for _ in range(KEPT_RELEASES - 1):
        withdraw(str(small_home))
        older = open_release(str(small_home))
        assert all(older.table(name).height for name in ("documents", "nodes", "chunks"))
        assert older.searcher.search("what is reported in box 2e", k=1)


def test_what_is_young_stays_whatever_reads_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for page in range(1, 4):
        store.write("faces", Faces.sample(overrides=[{"page": page, "label": "x"}]), inputs=str(page))
    assert find_kept_versions(store) == {"faces": {store.version("faces")}}
    (freed,) = run_retention(Home(home=str(tmp_path)), keep_days=0)
    assert freed.files == 0, "a reader may have opened it a moment ago"


@pytest.mark.usefixtures("old_enough")
def test_the_log_is_read_from_a_checkpoint_when_older_entries_are_gone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write("faces", Faces.sample(), inputs="")
    # Every 100 commits by default; here fewer, as each takes 50 ms.
    DeltaTable(store.table_uri("faces")).alter.set_table_properties({"delta.checkpointInterval": "10"})
    for number in range(13):
        store.write("faces", Faces.sample(overrides=[{"page": 1, "label": str(number)}]), inputs=str(number))
    log = Path(store.table_uri("faces")) / "_delta_log"
    assert any(path.name.endswith("checkpoint.parquet") for path in log.iterdir())
    entries = len(list(log.iterdir()))
    (freed,) = run_retention(Home(home=str(tmp_path)), keep_days=0)
    assert freed.files > 20
    assert len(list(log.iterdir())) < entries - 8
    assert store.read("faces")["label"].to_list() == ["12"]
    store.write("faces", Faces.sample(overrides=[{"page": 1, "label": "next"}]), inputs="next")
    assert store.read("faces")["label"].to_list() == ["next"]


@pytest.mark.parametrize("lost", ["index", "none"])
def test_a_release_without_its_index_holds_nothing_back(lost: str, sample_home: Path) -> None:
    store = Store(sample_home)
    if lost == "index":
        shutil.rmtree(sample_home / "index")
    kept = find_kept_versions(store)
    assert kept["nodes"] == {store.version("nodes")}
