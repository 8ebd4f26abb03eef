"""Whole builds: a bad version of a document, documents that come, change and go, and builds that are killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import polars as pl
import pymupdf
import pytest

from taxkg_assets.defs.home.store import HomeBusyError, Store
from taxkg_assets.serving.build import SAMPLES, SelectionError, build
from taxkg_assets.serving.instance import open_instance
from taxkg_assets.sources.scan import MissingSourceError
from taxkg_assets_tests.defs.hostile import valid_pdf
from taxkg_assets_tests.serving.homes import assert_same_tables, run_here

pytestmark = pytest.mark.slow

FORM = "sample-f1099div--2024-01"
LAW = "ext:irc_section:IRC 501(c)(3)"
CODE = """SAMPLE - not a law in force.
Title 26: Internal Revenue Code, an invented excerpt
Chapter 1: Imaginary taxes
§ 501. Bodies without tax.
   (c) A body that teaches how to tie knots owes nothing.
§ 502. Bodies with tax.
   (a) Any other body owes a penny, unless section 501 frees it.
"""


def test_a_bad_new_version_leaves_the_old_rows_and_a_fixed_one_recovers(small_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    path = folder / "own.pdf"
    path.write_bytes(valid_pdf())
    assert build(str(small_home), roots=[folder]).is_done
    store = Store(small_home)
    old = store.read("spans")
    path.write_bytes(b"%PDF-1.7 cut")
    result = build(str(small_home))
    assert result.is_done
    assert [row["document_id"] for row in result.quarantine] == ["own"]
    assert store.read("spans").equals(old)
    path.write_bytes(valid_pdf(pages=3))
    result = build(str(small_home))
    assert (result.is_done, result.quarantine) == (True, [])
    assert store.read("documents").filter(document_id="own")["page_count"].item() == 3


def test_documents_that_come_change_and_go_end_as_a_clean_build(
    built_samples: Path, begin_home: Callable[..., Path], tmp_path: Path
) -> None:
    folder, home = tmp_path / "corpus", begin_home(tmp_path / "home", with_vectors=False)
    folder.mkdir()
    statute, old = next(SAMPLES.glob("*.txt")), folder / "old-f1099div.pdf"
    shutil.copy(statute, folder)
    with pymupdf.open(SAMPLES / f"{FORM}.pdf") as form:
        form[-1].insert_text((72, 740), "This edition is no longer used.", fontsize=8)
        form.save(old)
    assert build(str(home), roots=[folder]).is_done
    before = readings(home)
    assert LAW in cited_laws(home)
    arrived = {*SAMPLES.glob("*.pdf")}
    for path in arrived:
        shutil.copy(path, folder)
    (folder / "usc-26.txt").write_text(CODE, encoding="utf8")
    (folder / statute.name).write_text(statute.read_text(encoding="utf8") + "\nA last sentence was added.\n")
    assert build(str(home)).is_done
    after = readings(home)
    changed = {statute.stem, "usc-26", *(path.stem for path in arrived)}
    assert {name for name in after if after[name] != before.get(name)} == changed
    assert not any(target.startswith("ext:irc_section:IRC 501") for target in cited_laws(home))
    assert any(target.startswith("usc-26#") for target in cited_laws(home)), "the law that was cited is here now"
    assert not Store(home).read("revisions").is_empty()
    for gone in (old, folder / "usc-26.txt"):
        gone.unlink()
    shutil.copy(statute, folder)
    assert build(str(home)).is_done
    assert LAW in cited_laws(home), "the law went"
    assert_same_tables(home, built_samples, moved=(folder, SAMPLES))


def cited_laws(home: Path) -> set[str]:
    """What sentences of the sample's town code that mention sections lead to."""
    is_said = pl.col("element_id").str.starts_with("sample-statute") & pl.col("evidence").str.contains("section")
    return set(Store(home).read("edges").filter(is_said)["target_id"])


def readings(home: Path) -> dict[str, str]:
    """The reading of each document that `spans` holds."""
    state = Store(home).state("spans")
    assert state is not None
    return {document: reading["reading"] for document, reading in state.documents.items()}


def test_a_second_build_changes_nothing(sample_home: Path) -> None:
    store = Store(sample_home)
    before = {path.name: store.version(path.name) for path in (sample_home / "tables").iterdir() if path.is_dir()}
    result = build(str(sample_home))
    assert result.is_done
    assert result.built == []
    assert before == {name: store.version(name) for name in before}


def test_a_killed_build_continues_where_it_was(
    small_corpus: Path, built_small: Path, begin_home: Callable[..., Path], tmp_path: Path
) -> None:
    """Killed three times, each time further on: early tables, late tables, index. What was written is used."""
    home = begin_home(tmp_path / "home", with_vectors=False)
    killed = [moment for moment in ("documents", "sections", "embeddings") if _kill_build(small_corpus, home, moment)]
    assert len(killed) >= 2
    assert not Store(home).exists("release")
    assert build(str(home)).is_done
    assert_same_tables(home, built_small)


def _kill_build(corpus: Path, home: Path, moment: str) -> bool:
    """Start a build of a folder and kill it once a table has its first commit.

    Returns: false, without a build, where the build before it came further than that before it died.
    """
    command = [sys.executable, "-m", "taxkg_assets.serving.cli", "build", "--corpus", str(corpus), "--home", str(home)]
    log = home / "tables" / moment / "_delta_log"
    if log.exists():
        return False
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        while process.poll() is None and not log.exists():
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL, "the build was over before it could be killed"
    return True


def test_a_home_takes_one_build_at_a_time(sample_home: Path) -> None:
    holder = (
        "import sys; from taxkg_assets.defs.home.store import Store\n"
        "with Store(sys.argv[1]).exclusive(): print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", holder, str(sample_home)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(HomeBusyError, match="Wait for it"):
            build(str(sample_home))
        other.communicate("")
    assert build(str(sample_home)).is_done


def test_an_unknown_asset_is_named_with_those_there_are(sample_home: Path) -> None:
    with pytest.raises(SelectionError, match=r"No asset named nonsense.*edges"):
        build(str(sample_home), select=["nonsense"])


def test_an_asset_alone_names_what_has_to_be_built_before_it(tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match=r"cannot be built alone.* anchors.*`taxkg build`"):
        build(str(tmp_path), select=["chunks"])


def test_a_run_covers_only_outdated_documents(sample_home: Path, tmp_path: Path) -> None:
    text = next(SAMPLES.glob("*.txt")).read_text(encoding="utf8")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "another-code.txt").write_text(text.replace("7-", "9-"), encoding="utf8")
    result = build(str(sample_home), roots=[tmp_path / "corpus"], select=["documents"])
    with open_instance(Store(sample_home)) as instance:
        kind = dg.DagsterEventType.ASSET_MATERIALIZATION
        events = instance.get_records_for_run(result.run_ids[-1], of_type=kind).records
    assert {record.partition_key for record in events} == {"another-code"}
    assert Store(sample_home).count("documents") == result.rows["documents"] > 1


def test_an_empty_or_absent_folder_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    with pytest.raises(MissingSourceError, match=r"There is no .pdf or .txt document in .*corpus"):
        build(str(tmp_path / "home"), roots=[folder])
    assert run_here("build", "--corpus", str(tmp_path / "absent"), "--home", str(tmp_path / "x")).returncode == 2
