"""Extraction tables filled from a few columns, the others with plain values of their type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import dataframely as dy
import polars as pl

S = TypeVar("S", bound=dy.Schema)
_PLAIN: dict[type[pl.DataType], Any] = {pl.String: "", pl.Boolean: False, pl.Float64: 0.5, pl.Int32: 1, pl.List: []}
_BBOX = {"x0_pt": 0.0, "y0_pt": 0.0, "x1_pt": 1.0, "y1_pt": 1.0}


def build_frame(schema: type[S], rows: Sequence[dict[str, Any]], **shared: Any) -> dy.DataFrame[S]:
    """A validated table: `rows` and `shared` name what matters, the rest is filled in."""
    plain = {name: _PLAIN.get(type(dtype), _BBOX) for name, dtype in schema.create_empty().schema.items()}
    if "source" in plain:
        plain["source"] = "layout"
    if "resolved_by" in plain:
        plain["resolved_by"] = "link"
    filled = [{**plain, **shared, **row} for row in rows]
    return schema.validate(pl.DataFrame(filled, schema=schema.create_empty().schema), cast=True)
