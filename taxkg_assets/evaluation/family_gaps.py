"""Compare scores of development families with those of left-out families, and the difference with a bound."""

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
"""Suffix of a floor's metric for the score of development families minus that of left-out families."""
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
        family_figures: Scores by family.
        floors: Bounds of the differences.

    Returns:
        One row per floor: both scores, their difference, its bound, and the number of rows behind each score.
        `is_judged` says whether both groups have enough rows; `is_within_bound` is also true where they have not.
    """
    totals = {
        (row["metric"], row["group"]): row
        for row in family_figures.filter(pl.col("family") == ALL).iter_rows(named=True)
        if row["value"] is not None
    }
    rows = []
    for floor in floors:
        metric = floor.metric.removesuffix(GAP)
        development, left_out = totals.get((metric, DEVELOPMENT)), totals.get((metric, LEFT_OUT))
        values = [total["value"] if total else None for total in (development, left_out)]
        counts = [total["n"] if total else 0 for total in (development, left_out)]
        gap = None
        if development is not None and left_out is not None:
            gap = development["value"] - left_out["value"]
        is_judged = gap is not None and min(counts) >= floor.least_n
        is_within_bound = gap is None or not is_judged or floor.holds(gap)
        rows.append((floor.id, metric, *values, gap, floor.floor, *counts, is_judged, is_within_bound))
    return pl.DataFrame(rows, schema=_GAPS, orient="row")
