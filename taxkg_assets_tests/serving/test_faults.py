"""Disks that are full or read-only, a clock that jumps: one clear message, nothing lost, nothing half-visible."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from taxkg_assets.defs.home.store import Store
from taxkg_assets.serving.build import SAMPLES, build
from taxkg_assets.serving.errors import find_storage_fault
from taxkg_assets_tests.defs.hostile import valid_pdf
from taxkg_assets_tests.serving.homes import assert_same_tables
from taxkg_assets_tests.serving.namespace import CLI, can_mount, run_mounted

needs_mounts = pytest.mark.skipif(not can_mount(), reason="no mounts without rights on this machine")
FULL_AT = ("700k", "2600k")
"""Sizes of a disk that a build of the samples fills while it reads documents, and while it makes the index."""
DAY_S = 86_400.0

FILL = f"""
mount -t tmpfs -o size={FULL_AT[0]} none "$1"
{CLI} build --corpus "$2" --home "$1/home" >/dev/null; echo "full while it reads: $?" >&2
mount -o remount,size={FULL_AT[1]} "$1"
{CLI} build --home "$1/home" >/dev/null; echo "full while it indexes: $?" >&2
mount -o remount,size=300m "$1"
{CLI} build --home "$1/home" >/dev/null; echo "freed: $?" >&2
cp -r "$1/home" "$3"
"""

LOCK = f"""
mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"
{CLI} search "what is reported in box 2e" --home "$1" >/dev/null; echo "search: $?" >&2
{CLI} build --corpus "$2" --home "$1" >/dev/null; echo "build: $?" >&2
"""


@needs_mounts
def test_a_full_disk_is_reported_once_and_the_build_continues_when_it_is_freed(
    built_samples: Path, tmp_path: Path
) -> None:
    (tmp_path / "disk").mkdir()
    done = run_mounted(FILL, tmp_path / "disk", SAMPLES, tmp_path / "home")
    assert "full while it reads: 1" in done.stderr
    assert "full while it indexes: 1" in done.stderr
    assert "freed: 0" in done.stderr
    assert done.stderr.count("taxkg:") == 2, "once for each build"
    assert done.stderr.count("Free space") == 2
    assert "Traceback" not in done.stderr
    assert_same_tables(tmp_path / "home", built_samples)


def test_a_message_is_seen_though_a_step_left_the_streams_on_a_full_disk() -> None:
    code = """
import os
from taxkg_assets.serving.cli import application

def fill():
    with open("/dev/full", "w") as full:
        os.dup2(full.fileno(), 1)
        os.dup2(full.fileno(), 2)
    print("the last words of a step")
    raise OSError(28, "No space left on device", "tables/spans")

application.app = fill
application.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "taxkg: The disk cannot be written or read" in done.stderr


@needs_mounts
def test_a_read_only_home_is_served_and_refuses_a_build(sample_home: Path) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in sample_home.rglob("*"))
    done = run_mounted(LOCK, sample_home, SAMPLES)
    assert "search: 0" in done.stderr
    assert "build: 1" in done.stderr
    assert done.stderr.count("taxkg:") == 1
    assert "Read-only file system" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted((path, path.stat().st_mtime_ns) for path in sample_home.rglob("*")) == before


def test_a_fault_of_the_disk_is_found_in_the_chain_of_errors() -> None:
    error = RuntimeError("the step failed")
    error.__cause__ = OSError(28, "No space left on device", "tables/spans")
    assert find_storage_fault(error) == "No space left on device: tables/spans"
    assert not find_storage_fault(ValueError("a page is full of boxes"))


@pytest.mark.parametrize(
    ("error", "is_of_the_disk"),
    [
        (RuntimeError("cannot copy data: No space left on device (os error 28)"), True),
        (RuntimeError("connection refused (os error 111)"), False),
        (RuntimeError("a title says: No space left on device"), False),
        (OSError(2, "No such file or directory", "disk quota exceeded.pdf"), False),
    ],
)
def test_error_numbers_tell_a_fault_of_the_disk_from_others(error: Exception, is_of_the_disk: bool) -> None:
    assert bool(find_storage_fault(error)) == is_of_the_disk


def test_a_database_that_cannot_be_written_is_a_fault_of_the_disk(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError) as caught:
        sqlite3.connect(tmp_path)
    assert find_storage_fault(caught.value) == "unable to open database file"
    with pytest.raises(sqlite3.OperationalError) as caught:
        sqlite3.connect(":memory:").execute("select disk from full")
    assert not find_storage_fault(caught.value)


@pytest.fixture
def jumping_clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A clock that jumps to and fro by a day or two at every twentieth look."""
    real, looks = time.time, [0]

    def jump() -> float:
        looks[0] += 1
        return real() + (0.0, -DAY_S, 2 * DAY_S, DAY_S)[looks[0] // 20 % 4]

    monkeypatch.setattr(time, "time", jump)
    return looks


def test_a_clock_that_jumps_disturbs_neither_gates_nor_what_is_current(
    sample_home: Path, tmp_path: Path, jumping_clock: list[int]
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "own.pdf").write_bytes(valid_pdf())
    result = build(str(sample_home), roots=[folder])
    assert jumping_clock[0] > 100, "the build looks at the clock"
    assert result.is_done, result.errors
    assert Store(sample_home).read("release").height == 2
    assert build(str(sample_home)).built == []
