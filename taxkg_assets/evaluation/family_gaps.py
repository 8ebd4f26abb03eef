"""Development families next to left-out ones: the difference of each figure, and its bound."""

from __future__ import annotations

from collections.abc import Sequence

import dataframely as dy
import polars as pl

from taxkg_assets.rules.floors import Floor
from taxkg_assets.schemas import FamilyFigures

DEVELOPMENT, LEFT_OUT = "development", "left out"
ALL = "all"
"""Name of the row that counts all families of a group together."""
GAP = "_gap"
"""Ends the name of a floor's metric: the figure of the development families less that of the left-out ones."""
_GAPS = {
    "floor_id": pl.String,
    "metric": pl.String,
    "development": pl.Float64,
    "left_out": pl.Float64,
    "gap": pl.Float64,
    "floor": pl.Float64,
    "n_development": pl.Int64,
    "n_left_out": pl.Int64,
    "is_judged": pl.Boolean,
    "is_within_bound": pl.Boolean,
}


def compare_groups(family_figures: dy.DataFrame[FamilyFigures], floors: Sequence[Floor]) -> pl.DataFrame:
    """Compare scores on development families with those on left-out families, to detect overfitted rules.

    Args:
        family_figures: Figures by family.
        floors: Bounds of the differences.

    Returns:
        One row per floor: both figures, their difference, its bound, the rows behind each, `is_judged` (both groups
        have at least the floor's number of rows), and `is_within_bound` (the difference is; also true where it is not
        judged).
    """
    totals = {
        (row["metric"], row["group"]): row
        for row in family_figures.filter(pl.col("family") == ALL).iter_rows(named=True)
        if row["value"] is not None
    }
    rows = []
    for floor in floors:
        pair = [totals.get((floor.metric.removesuffix(GAP), group)) for group in (DEVELOPMENT, LEFT_OUT)]
        values = [row["value"] if row else None for row in pair]
        counts = [row["n"] if row else 0 for row in pair]
        gap = values[0] - values[1] if values[0] is not None and values[1] is not None else None
        is_judged = gap is not None and min(counts) >= floor.least_n
        is_within_bound = gap is None or not is_judged or floor.holds(gap)
        metric = floor.metric.removesuffix(GAP)
        rows.append((floor.id, metric, *values, gap, floor.floor, *counts, is_judged, is_within_bound))
    return pl.DataFrame(rows, schema=_GAPS, orient="row")
