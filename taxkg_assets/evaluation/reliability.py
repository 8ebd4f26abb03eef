"""Does confidence mean what it says? Precision by bins of confidence on labelled rows, and the rows left for review."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import dataframely as dy
import polars as pl

from taxkg_assets.rules.confidence import find_sure_threshold, read_confidence
from taxkg_assets.schemas import Anchors, Sections, Tables

BINS = (0.0, 0.8, 0.9, 0.95, 1.0)
OUTCOME = {"confidence": pl.Float64, "is_right": pl.Boolean}


def score_reliability(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Compare confidence with precision: one row per bin of confidence that holds a labelled decision.

    Args: outcomes: confidence and is_right of labelled decisions.
    """
    rows = []
    for low, high in pairwise(BINS):
        is_in = (pl.col("confidence") >= low) & ((pl.col("confidence") < high) | (pl.lit(high) == BINS[-1]))
        held = outcomes.filter(is_in)
        if held.height:
            right = int(held["is_right"].sum())
            rows.append((f"{low:.2f} to {high:.2f}", held.height, right / held.height, held["confidence"].mean()))
    return pl.DataFrame(
        rows,
        schema={"confidence": pl.String, "n": pl.Int64, "precision": pl.Float64, "mean_confidence": pl.Float64},
        orient="row",
    )


def find_unsure(rows: pl.DataFrame, *, text: str, confidence: str = "confidence") -> pl.DataFrame:
    """Find the rows that a person should look at: below the sure threshold, the least sure first."""
    below = rows.filter(pl.col(confidence) < find_sure_threshold())
    named = below.select("document_id", "page", text=pl.col(text), confidence=pl.col(confidence))
    return named.sort("confidence", "document_id", "page", "text")


def find_unsure_owners(sections: dy.DataFrame[Sections], anchors: dy.DataFrame[Anchors]) -> pl.DataFrame:
    """Find the paragraphs whose owner is not sure; text above a document's first heading has none."""
    heads = anchors.select("anchor_id", anchor_page="page")
    where = pl.when(pl.col("anchor_page") == pl.col("page")).then(pl.lit("same page")).otherwise(pl.lit("later page"))
    placed = sections.select("document_id", "page", "anchor_id", "text").join(heads, on="anchor_id")
    return find_unsure(_weigh(placed.with_columns(kind=where), group="owners"), text="text")


def find_unsure_tables(tables: dy.DataFrame[Tables]) -> pl.DataFrame:
    """Find the tables whose cells cannot be told by their headers."""
    kind = pl.when("has_headers").then(pl.lit("with headers")).otherwise(pl.lit("without headers"))
    shown = tables.select("document_id", "page", "markdown", kind=kind)
    return find_unsure(_weigh(shown, group="tables"), text="markdown")


def _weigh(rows: pl.DataFrame, *, group: str) -> pl.DataFrame:
    # A join and no replacement: of no rows at all, polars would make a column of the wrong type.
    weights = [(kind, read_confidence(group, kind)) for kind in rows["kind"].unique().sort()]
    known = pl.DataFrame(weights, schema={"kind": pl.String, "confidence": pl.Float64}, orient="row")
    return rows.join(known, on="kind", how="left", maintain_order="left")


def list_outcomes(pairs: Iterable[tuple[float, bool]]) -> pl.DataFrame:
    """Outcomes of labelled decisions as a table."""
    return pl.DataFrame(list(pairs), schema=OUTCOME, orient="row")
