"""A document on which a builder fails is left out and recorded; the others are built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dataframely as dy
import polars as pl
import pytest

from taxkg_assets.defects import Unit, drop_documents
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.isolation import (
    BuilderError,
    build_isolated,
    find_documents,
    names_of,
    read_failures,
    record_failures,
)
from taxkg_assets.defs.wiring.parts import BY_DOCUMENT, Part
from taxkg_assets.defs.wiring.table_builder import TableBuilder
from taxkg_assets.defs.wiring.table_step import TableStep, drop_invalid_rows
from taxkg_assets.evaluation.labels import LabelError
from taxkg_assets.settings import Settings


class Toll(dy.Schema):
    """A table with one row for each document."""

    document_id = dy.String(primary_key=True)


NAMES = [(f"d{number:02}",) for number in range(40)]
PAIRS = list(zip(["d1", "d2", "d3", "d4"], ["d2", "d3", "d4", "d5"], strict=True))


def failing_on(*names: str) -> Callable[[Sequence[Unit]], pl.DataFrame]:
    """A builder that divides by zero where it meets one of some documents."""

    def build(units: Sequence[Unit]) -> pl.DataFrame:
        for name in names_of(units):
            1 / (name not in names)
        return pl.DataFrame({"document_id": [unit[-1] for unit in units]}, schema={"document_id": pl.String})

    return build


def test_a_builder_that_does_not_fail_is_called_once() -> None:
    rows, errors = build_isolated(failing_on(), NAMES, table="tolls", most=4)
    assert rows.height == len(NAMES)
    assert errors == {}


@pytest.mark.parametrize("names", [("d00",), ("d39",), ("d07", "d08"), ("d01", "d20", "d21", "d39")])
def test_documents_on_which_a_builder_fails_are_left_out(names: tuple[str, ...]) -> None:
    rows, errors = build_isolated(failing_on(*names), NAMES, table="tolls", most=4)
    assert sorted(names_of(errors)) == sorted(names)
    assert rows["document_id"].to_list() == [name for (name,) in NAMES if name not in names]
    assert all(error.startswith("ZeroDivisionError: division by zero (test_isolation.py:") for error in errors.values())


def test_a_pair_on_which_a_builder_fails_is_left_out() -> None:
    rows, errors = build_isolated(failing_on("d1"), PAIRS, table="changes", most=4)
    assert list(errors) == [("d1", "d2")]
    assert rows["document_id"].to_list() == ["d3", "d4", "d5"]


def test_a_builder_that_fails_on_many_documents_stops_the_build() -> None:
    build = failing_on(*names_of(NAMES[:5]))
    with pytest.raises(BuilderError, match=r"table tolls cannot be built: ZeroDivisionError.*It fails on d00"):
        build_isolated(build, NAMES, table="tolls", most=4)


def test_a_builder_that_fails_on_no_document_alone_stops_the_build() -> None:
    def fail_on_both(units: Sequence[Unit]) -> pl.DataFrame:
        1 / (not {"d00", "d39"} <= names_of(units))
        return pl.DataFrame()

    with pytest.raises(BuilderError, match=r"table tolls cannot be built.*only on several together"):
        build_isolated(fail_on_both, NAMES, table="tolls", most=4)


@pytest.mark.parametrize("error", [LabelError("The set x lacks gold. Correct the file."), OSError(28, "disk is full")])
def test_errors_that_no_document_causes_are_not_blamed_on_documents(error: Exception) -> None:
    calls = []

    def build(units: Sequence[Unit]) -> pl.DataFrame:
        calls.append(units)
        raise error

    with pytest.raises(type(error)):
        build_isolated(build, NAMES, table="tolls", most=4)
    assert len(calls) == 1


def test_rows_of_dropped_documents_and_their_pairs_go() -> None:
    frames = {
        "documents": pl.DataFrame({"document_id": ["d1", "d2", None]}),
        "pairs": pl.DataFrame(PAIRS, schema=["from_document_id", "to_document_id"], orient="row"),
        "words": pl.DataFrame({"word": ["harbor", "toll"]}),
    }
    kept = drop_documents(frames, {"d2", "d5"})
    assert kept["documents"]["document_id"].to_list() == ["d1", None]
    assert kept["pairs"].rows() == [("d3", "d4")]
    assert kept["words"].height == 2
    assert find_documents(frames) == ["d1", "d2"]


@dataclass
class FakeHome:
    """What a step needs of a home."""

    store: Store
    settings: Settings = field(default_factory=Settings)


def test_a_document_stays_recorded_and_is_tried_again_while_others_are_added(tmp_path: Path) -> None:
    store = Store(tmp_path)
    home: Any = FakeHome(store)

    def build(documents: pl.DataFrame) -> pl.DataFrame:
        1 / ("odd" not in documents["document_id"])
        return documents

    builder = TableBuilder(build, ("documents",), {}, has_settings=False)
    step = TableStep("tolls", Toll, builder, (), None, BY_DOCUMENT, lambda _: "code", is_isolated=True)

    def run(names: Sequence[str], current: Sequence[str]) -> dict[Part, str]:
        frames = {"documents": pl.DataFrame({"document_id": names})}
        _, errors = step._build(
            home, frames, {}, [(name,) for name in names], [(name,) for name in current], kept_count=0
        )
        return errors

    with pytest.raises(BuilderError, match="It fails on odd"):
        run(["odd"], [])
    assert list(run(["a", "odd"], [])) == [("odd",)], "one of two does not cost the other"
    assert list(run(["odd"], ["a", "b"])) == [("odd",)], "it is added alone to a library"
    assert list(run(["a", "b", "odd"], [])) == [("odd",)]
    assert run(["c"], ["a", "b", "odd"]) == {}
    assert read_failures(store)["document_id"].to_list() == ["odd"], "its rows are still missing"
    assert run(["odd2"], ["a", "b"]) == {}
    assert read_failures(store).is_empty(), "it was built or has left"


def test_a_document_on_which_a_row_check_fails_is_left_out(tmp_path: Path) -> None:
    def find_odd_tolls(tolls: pl.DataFrame) -> pl.DataFrame:
        1 / ("odd" not in tolls["document_id"])
        return tolls.clear()

    builder = TableBuilder(lambda documents: documents, ("documents",), {}, has_settings=False)
    step = TableStep("tolls", Toll, builder, (find_odd_tolls,), None, BY_DOCUMENT, lambda _: "code", is_isolated=True)
    units = [("a",), ("b",), ("odd",)]
    frames = {"documents": pl.DataFrame({"document_id": ["a", "b", "odd"]})}
    home: Any = FakeHome(Store(tmp_path))
    (rows, _), errors = step._build(home, frames, {}, units, [], kept_count=0)
    assert rows["document_id"].to_list() == ["a", "b"]
    assert list(errors) == [("odd",)]


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


@pytest.mark.parametrize(("invalid", "total", "kept"), [(3, 100, 97), (20, 30, 10), (21, 30, 30), (30, 200, 200)])
def test_few_invalid_rows_are_dropped_and_many_are_left_for_the_gate(invalid: int, total: int, kept: int) -> None:
    rows = pl.DataFrame({"toll_id": range(total)})

    def find_free_tolls(tolls: pl.DataFrame) -> pl.DataFrame:
        return tolls.filter(pl.col("toll_id") < invalid)

    valid, notes = drop_invalid_rows(rows, {"tolls": rows}, checks=[find_free_tolls], key=["toll_id"], most=total // 10)
    assert valid.height == kept
    assert notes.get("rows dropped: free tolls") == (invalid if kept < total else None)
