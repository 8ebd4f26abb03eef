"""Training holds the home for itself: builds do not wait for it, nor it for them; two trainings do not run at once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from taxkg_assets.defs.home.store import HomeBusyError, Store
from taxkg_assets.schemas import Index
from taxkg_assets.serving.build import SelectionError
from taxkg_assets.serving.train import train

pytestmark = pytest.mark.slow

HOLDER = """import sys
from taxkg_assets.defs.home.store import Store
with Store(sys.argv[1]).exclusive(work=sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def kept(home: Path, *, work: str) -> Iterator[None]:
    """Another process holds the home."""
    command = [sys.executable, "-c", HOLDER, str(home), work]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        try:
            yield
        finally:
            other.communicate("")


def test_training_does_not_wait_for_a_build_and_reads_only_what_gates_have_passed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write("index", Index.sample(1), inputs="")
    with kept(tmp_path, work="build"):
        result = train(str(tmp_path), kind="all")
    assert not result.is_done
    assert any("taxkg build" in error for error in result.errors), result.errors
    assert not store.active_run(work="training")


def test_two_trainings_do_not_run_at_once(tmp_path: Path) -> None:
    with kept(tmp_path, work="training"):
        with pytest.raises(HomeBusyError, match="Another training"):
            train(str(tmp_path), kind="all")
        with Store(tmp_path).exclusive():
            assert not (tmp_path / "tables").exists()


def test_a_home_that_is_not_built_is_reported_so(tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="run `taxkg build` first"):
        train(str(tmp_path), kind="encoder")
