"""Look-up of one box: its place in the registry and what the corpus says of it."""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from taxkg_assets.serving.released import Released


class BoxNotFoundError(Exception):
    """No such form, or no such box on it; the message lists what there is."""


def find_box(released: Released, form: str, key: str) -> list[dict[str, Any]]:
    """Registry rows of a box in every revision of a form, newest first, each with its passages.

    Args:   form: 1099-DIV, "Form 1099-DIV", f1099div. key: 1a, "box 1a", box_1a.
    Raises: BoxNotFoundError.
    """
    registry = released.table("registry")
    wanted = _bare(form)
    mine = registry.filter(pl.col("form").map_elements(lambda own: _bare(own) == wanted, return_dtype=pl.Boolean))
    if mine.is_empty():
        known = ", ".join(registry["form"].unique().sort()) or "none"
        raise BoxNotFoundError(f"No form {form!r} with boxes in this corpus. Forms: {known}.")
    box_key = "box_" + re.sub(r"^box[\s_]*", "", key.strip().lower())
    rows = mine.filter(pl.col("box_key") == box_key).sort("revision", "document_id", descending=True)
    if rows.is_empty():
        keys = ", ".join(k.removeprefix("box_") for k in mine["box_key"].unique(maintain_order=True))
        raise BoxNotFoundError(f"Form {form} has no box {key!r}. Boxes: {keys}.")
    nodes = released.table("nodes").filter(pl.col("level") != "anchor")
    return [{**row, "passages": _passages(nodes, row["canonical_id"])} for row in rows.iter_rows(named=True)]


def _bare(form: str) -> str:
    return re.sub(r"[^a-z0-9]", "", re.sub(r"^(form\s+|f(?=\d))", "", form.strip().lower()))


def _passages(nodes: pl.DataFrame, canonical_id: str) -> list[dict[str, Any]]:
    columns = ("document_id", "perspective", "page", "heading_path", "text", "node_id", "bboxes")
    found = nodes.filter(pl.col("canonical_id") == canonical_id).sort("document_id", "ordinal")
    return found.select(columns).to_dicts()
