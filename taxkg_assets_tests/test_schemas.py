"""The quick check of a table says what dataframely's own says: it passes and refuses the same frames."""

from __future__ import annotations

from collections.abc import Callable

import dataframely as dy
import polars as pl
import pytest
from dataframely.exc import SchemaError, ValidationError

from taxkg_assets.schemas import Anchors, Elements, Faces, References, Sections, Spans, Tables, validated

SCHEMAS: list[type[dy.Schema]] = [Spans, Elements, Tables, Anchors, Faces, Sections, References]
BREAKS: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "a key twice": lambda frame: pl.concat([frame, frame]),
    "a page below one": lambda frame: frame.with_columns(pl.lit(0, frame.schema["page"]).alias("page")),
    "nothing where something must be": lambda frame: frame.with_columns(
        pl.lit(None, frame.schema["document_id"]).alias("document_id")
    ),
    "a column of another type": lambda frame: frame.with_columns(pl.col("page").cast(pl.Float64)),
    "a column less": lambda frame: frame.drop("page"),
}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_valid_frame_passes_as_it_is(schema: type[dy.Schema]) -> None:
    frame = _sample(schema)
    assert validated(frame, schema).equals(schema.validate(frame))
    assert validated(frame.clear(), schema).equals(schema.create_empty())


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_frame_is_refused_in_dataframelys_words(schema: type[dy.Schema], name: str) -> None:
    broken = BREAKS[name](_sample(schema))
    with pytest.raises((SchemaError, ValidationError)) as theirs:
        schema.validate(broken)
    with pytest.raises(type(theirs.value)) as ours:
        validated(broken, schema)
    assert str(ours.value) == str(theirs.value)


_PIECE = {"start": 0, "end": 4, "page": 1, "x0_pt": 1.0, "y0_pt": 1.0, "x1_pt": 2.0, "y1_pt": 2.0}


@pytest.mark.parametrize(
    ("schema", "changed"),
    [
        (Spans, {"x0_pt": float("inf")}),
        (Elements, {"role_confidence": float("nan")}),
        (Elements, {"bbox": {"x0_pt": 1.0, "y0_pt": float("nan"), "x1_pt": 2.0, "y1_pt": 2.0}}),
        (Sections, {"pieces": [_PIECE, {**_PIECE, "y1_pt": float("-inf")}]}),
        (Sections, {"pieces": [{**_PIECE, "start": None}]}),
        (Sections, {"element_ids": ["doc:p0001:e0000", None]}),
    ],
)
def test_what_is_missing_or_endless_is_found_at_any_depth(schema: type[dy.Schema], changed: dict[str, object]) -> None:
    row = {**_sample(schema).row(0, named=True), **changed}
    broken = pl.DataFrame([row], schema=schema.create_empty().schema)
    with pytest.raises(ValidationError) as theirs:
        schema.validate(broken)
    with pytest.raises(ValidationError) as ours:
        validated(broken, schema)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize(
    ("schema", "changed"),
    [
        (Elements, {"role": "Prose"}),
        (Elements, {"role_confidence": 1.5}),
        (Elements, {"element_id": ""}),
        (Spans, {"span_ix": -1}),
        (Anchors, {"kind": "hint"}),
        (Sections, {"source": "guess"}),
    ],
)
def test_what_valid_rows_have_shown_hides_no_wrong_value(schema: type[dy.Schema], changed: dict[str, object]) -> None:
    valid = _sample(schema)
    for _ in range(2):
        assert validated(valid, schema).equals(valid)
    broken = pl.DataFrame([{**valid.row(0, named=True), **changed}], schema=schema.create_empty().schema)
    with pytest.raises(ValidationError) as theirs:
        schema.validate(broken)
    with pytest.raises(ValidationError) as ours:
        validated(broken, schema)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("changed", [{"pieces": []}, {"anchor_id": None}])
def test_empty_lists_and_values_that_may_be_missing_pass(changed: dict[str, object]) -> None:
    row = {**_sample(Sections).row(0, named=True), **changed}
    frame = pl.DataFrame([row], schema=Sections.create_empty().schema)
    assert validated(frame, Sections).equals(Sections.validate(frame))


def test_a_rule_of_the_whole_row_is_queried() -> None:
    broken = _sample(References).with_columns(end=pl.col("start"))
    with pytest.raises(ValidationError, match="end_is_after_start"):
        validated(broken, References)


def test_a_column_too_many_is_left_out() -> None:
    frame = _sample(Spans).with_columns(extra=1)
    assert validated(frame, Spans).columns == Spans.column_names()


def _sample(schema: type[dy.Schema]) -> pl.DataFrame:
    overrides: dict[str, list[int]] = {}
    if schema is References:
        overrides = {"start": [0, 9], "end": [8, 20], "mention_start": [1, 9], "mention_end": [5, 12]}
    return schema.sample(2, overrides=overrides or None, generator=dy.random.Generator(7))
