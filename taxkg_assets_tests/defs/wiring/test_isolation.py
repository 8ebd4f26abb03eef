"""A document on which a builder fails is left out and recorded; the others are built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pytest

from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.isolation import (
    BuilderError,
    build_isolated,
    find_documents,
    read_failures,
    record_failures,
    select_rows,
)
from taxkg_assets.evaluation.labels import LabelError

Build = Callable[[Mapping[str, pl.DataFrame]], pl.DataFrame]
NAMES = [f"d{number:02}" for number in range(40)]
FRAMES = {
    "documents": pl.DataFrame({"document_id": NAMES}),
    "pairs": pl.DataFrame({"from_document_id": NAMES[:-1], "to_document_id": NAMES[1:]}),
    "words": pl.DataFrame({"word": ["harbor", "toll"]}),
}


def failing_on(*names: str) -> Build:
    """A builder that divides by zero where it meets one of some documents."""

    def build(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
        assert frames["words"].height == 2
        for name in frames["documents"]["document_id"]:
            1 / (name not in names)
        return frames["documents"]

    return build


def isolate(build: Build, *, most: int = 4) -> tuple[pl.DataFrame, dict[str, str]]:
    return build_isolated(build, FRAMES, names=find_documents(FRAMES), table="tolls", most=most)


def test_a_builder_that_does_not_fail_is_called_once() -> None:
    rows, errors = isolate(failing_on())
    assert rows.height == len(NAMES)
    assert errors == {}


@pytest.mark.parametrize("names", [("d00",), ("d39",), ("d07", "d08"), ("d01", "d20", "d21", "d39")])
def test_documents_on_which_a_builder_fails_are_left_out(names: tuple[str, ...]) -> None:
    rows, errors = isolate(failing_on(*names))
    assert sorted(errors) == sorted(names)
    assert rows["document_id"].to_list() == [name for name in NAMES if name not in names]
    assert all(error.startswith("ZeroDivisionError: division by zero (test_isolation.py:") for error in errors.values())


def test_a_builder_that_fails_on_many_documents_or_on_none_alone_stops_the_build() -> None:
    with pytest.raises(BuilderError, match=r"table tolls cannot be built: ZeroDivisionError.*No single document"):
        isolate(failing_on(*NAMES[:5]))

    def fail_on_both(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
        1 / (not {"d00", "d39"} <= set(frames["documents"]["document_id"]))
        return frames["documents"]

    with pytest.raises(BuilderError, match="table tolls cannot be built"):
        isolate(fail_on_both)


@pytest.mark.parametrize("error", [LabelError("The set x lacks gold. Correct the file."), OSError(28, "disk is full")])
def test_errors_that_no_document_causes_are_not_blamed_on_documents(error: Exception) -> None:
    calls = []

    def build(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
        calls.append(frames)
        raise error

    with pytest.raises(type(error)):
        isolate(build)
    assert len(calls) == 1


def test_pairs_stay_where_both_documents_do() -> None:
    chosen = select_rows(FRAMES, ["d01", "d02", "d04"])
    assert chosen["pairs"].rows() == [("d01", "d02")]
    assert chosen["words"].height == 2


def test_the_home_remembers_who_was_left_out_until_the_rows_are_built(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert read_failures(store).is_empty()
    record_failures(store.storage, "flows", {"a": "IndexError: 1", "b": "IndexError: 2"})
    record_failures(store.storage, "chunks", {"c": "KeyError: 3"})
    assert read_failures(store).rows() == [
        ("c", "chunks", "KeyError: 3"),
        ("a", "flows", "IndexError: 1"),
        ("b", "flows", "IndexError: 2"),
    ]
    record_failures(store.storage, "flows", {}, kept={"b"})
    record_failures(store.storage, "chunks", {})
    assert read_failures(store).rows() == [("b", "flows", "IndexError: 2")]
