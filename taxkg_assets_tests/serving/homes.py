"""Homes compared, and the command line run as people run it."""

from __future__ import annotations

import gc
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
from polars.testing import assert_frame_equal

from taxkg_assets.defs.home.store import Store
from taxkg_assets.serving.cli import application

TABLES = (
    *("documents", "quarantine", "spans", "elements", "tables", "anchors", "faces", "sections", "references"),
    "document_quality",
    *(
        "registry",
        "lines",
        "formulas",
        "flows",
        "nodes",
        "edges",
        "revisions",
        "chunks",
        "embeddings",
        "index",
        "eval_queries",
        "eval_runs",
        "eval_report",
    ),
)
"""All but `release`, which records history and so differs between two ways to the same data."""


def assert_same_tables(
    one: Path | str, other: Path | str, *, names: Iterable[str] = TABLES, moved: tuple[Path, Path] | None = None
) -> None:
    """Rows sorted by key, `_at` columns aside, are equal in both homes, table by table.

    Where both read equal files of two folders, `moved` names the folder of each.
    """
    for name in names:
        frames = [_comparable(Store(home).read(name)) for home in (one, other)]
        if moved is not None:
            frames = [_forget_place(name, frame, moved) for frame in frames]
        assert frames[0].height == frames[1].height, name
        assert_frame_equal(frames[0], frames[1])


def _forget_place(name: str, frame: pl.DataFrame, moved: tuple[Path, Path]) -> pl.DataFrame:
    """One folder in place of the other, and no digest that covers it."""
    if name == "documents":
        places = pl.col("source_uri", "source_root")
        return frame.with_columns(places.str.replace(str(moved[0]), str(moved[1]), literal=True))
    digest = r'"documents": "\w+"'
    return frame.with_columns(pl.col("input_versions").str.replace(digest, "")) if name == "index" else frame


def _comparable(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(c for c in frame.columns if not c.endswith("_at"))


def run_cli(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """`taxkg …` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "taxkg_assets.serving.cli", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **(environment or {})},
        check=False,
    )


def run_here(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`taxkg …` in this process, which takes no seconds to start: for what a command says, not for what it loads."""
    shown, said, collected, status = io.StringIO(), io.StringIO(), gc.get_threshold(), 0
    with redirect_stdout(shown), redirect_stderr(said), patch.object(sys, "argv", ["taxkg", *arguments]):
        try:
            application.main()
        except SystemExit as ended:
            status = int(ended.code or 0)
        finally:
            gc.set_threshold(*collected)
    return subprocess.CompletedProcess(arguments, status, shown.getvalue(), said.getvalue())


def run_json(*arguments: str) -> Any:
    """The JSON that a command prints."""
    done = run_here(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
