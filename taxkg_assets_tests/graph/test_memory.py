"""What a builder remembers of documents gives the rows that it would find again."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from taxkg_assets.defs.home.store import Store
from taxkg_assets.graph.edges import build_edges
from taxkg_assets.graph.flows import build_flows
from taxkg_assets_tests.graph.findings import Findings

pytestmark = pytest.mark.slow


Tables = dict[str, Any]


def _read(home: Path, build: Callable[..., pl.DataFrame]) -> Tables:
    store = Store(home)
    return {name: store.read(name) for name in inspect.signature(build).parameters if name != "memory"}


def _without(tables: Tables, document_id: str) -> Tables:
    return {
        name: rows.filter(pl.col("document_id") != document_id) if "document_id" in rows.columns else rows
        for name, rows in tables.items()
    }


@pytest.mark.parametrize("build", [build_flows, build_edges])
def test_nothing_is_found_twice(built_samples: Path, build: Callable[..., pl.DataFrame]) -> None:
    tables, memory = _read(built_samples, build), Findings()
    first = build(**tables, memory=memory)
    made = memory.missed
    assert made > 0
    assert_frame_equal(build(**tables, memory=memory), first)
    assert (memory.missed, memory.recalled) == (made, made)
    assert_frame_equal(build(**tables), first)


def test_a_statement_is_read_again_when_the_form_it_names_comes_or_goes(built_samples: Path) -> None:
    """The later face plays the return whose line the earlier one names by its label."""
    tables, memory = _read(built_samples, build_flows), Findings()
    played = "sample-f1099div--2026-01"
    is_played = pl.col("document_id") == played
    for name in ("documents", "lines"):
        form = pl.when(is_played).then(pl.lit("1040")).otherwise("form").alias("form")
        tables[name] = tables[name].with_columns(form)
    is_first = is_played & (pl.col("key") == tables["lines"].filter(is_played)["key"][0])
    label = pl.when(is_first).then(pl.lit("Ordinary dividends")).otherwise("label").alias("label")
    tables["lines"] = tables["lines"].with_columns(label)
    fewer = _without(tables, played)

    before = build_flows(**fewer, memory=memory)
    assert set(before["target_document_id"]) == {None}
    after = build_flows(**tables, memory=memory)
    assert played in after.filter(pl.col("document_id") != played)["target_document_id"].to_list()
    assert_frame_equal(after, build_flows(**tables))
    assert_frame_equal(build_flows(**fewer, memory=memory), before)
