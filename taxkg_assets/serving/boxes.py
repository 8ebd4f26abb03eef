"""Look-up of one box: its place in the registry and what the corpus states about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from taxkg_assets.graph.coverage import READERS, find_aligned
from taxkg_assets.graph.lookup import find_boxes, find_named_forms, order_of_key
from taxkg_assets.graph.resolution import face_node_id
from taxkg_assets.schemas import Documents, Edges, Nodes, Registry
from taxkg_assets.serving.known_names import list_names
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.replies import BoxPassage, BoxRow

ALIGNED = ("same_field", "same_field_other_revision", "part_of_group")


class BoxNotFoundError(Exception):
    """No such form, or no such box on it; the message lists the existing ones."""


def find_box(released: Released, form: str, key: str) -> list[BoxRow]:
    """Look up the registry rows of a box in every revision of a form.

    Args:
        released: The release to read.
        form: Name of the form in any style: 1099-DIV, "Form 1099-DIV", f1099div.
        key: Key of the box in any style: 1a, "box 1a", box_1a.

    Returns:
        The box in each revision, the newest first, with its passages.

    Raises:
        BoxNotFoundError: The form has no such box; the message lists the existing boxes.
    """
    registry = released.table("registry")
    bare_form = _bare(form)
    boxes = registry.filter(pl.col("form").map_elements(lambda name: _bare(name) == bare_form, return_dtype=pl.Boolean))
    if boxes.is_empty():
        form_names = list_names(registry["form"].unique().sort(), unknown_name=form)
        raise BoxNotFoundError(f"The release has no form {form!r} with boxes. Forms: {form_names}.")
    rows = match_key(boxes, re.sub(r"^box[\s_]*", "", key.strip().lower()))
    if rows.is_empty():
        keys = ", ".join(k.removeprefix("box_") for k in boxes["box_key"].unique(maintain_order=True))
        raise BoxNotFoundError(f"Form {form} has no box {key!r}. Boxes: {keys}.")
    return [_with_passages(row, released) for row in rows.iter_rows(named=True)]


def match_key(boxes: pl.DataFrame, number: str) -> pl.DataFrame:
    """Select the box with a number from the registry rows of a form.

    Where a form divides the box into fields (12a to 12d), select the first field.

    Args:
        boxes: Rows of `registry` of one form.
        number: Number of the box, e.g. 12 or 2e.

    Returns:
        At most one row per document, newest revision first.
    """
    exact = boxes.filter(pl.col("box_key") == f"box_{number}")
    divided = boxes.filter(
        (pl.col("group_id") == number) & ~pl.col("document_id").is_in(exact["document_id"].implode())
    ).sort("box_key")
    first_rows = divided.unique("document_id", keep="first", maintain_order=True)
    return pl.concat([exact, first_rows]).sort("revision", "document_id", descending=True)


def list_named_boxes(released: Released, words: Sequence[str]) -> list[BoxRow]:
    """Look up the boxes that a user's words name: a form and a key, or the label of a box.

    Args:
        released: The release to read.
        words: Words of the user.

    Returns:
        The boxes, each with its passages.

    Raises:
        BoxNotFoundError: No box has this name.
    """
    name = " ".join(words)
    registry = Registry.cast(released.table("registry"))
    documents = Documents.cast(released.table("documents"))
    rows = find_boxes(name, registry, documents=documents)
    if rows.is_empty():
        if len(words) == 2:
            return find_box(released, *words)
        form_names = list_names(registry["form"].unique().sort(), unknown_name=name)
        raise BoxNotFoundError(f"The release has no box {name!r}. Forms with boxes: {form_names}.")
    number = words[-1].lower()
    if len(words) == 2 and set(rows["box_key"]) == {f"box_{number}"} and rows["form"].n_unique() == 1:
        rows = Registry.cast(match_key(registry.filter(pl.col("form") == rows["form"][0]), number))
    return [_with_passages(row, released) for row in rows.iter_rows(named=True)]


def list_boxes(released: Released, form: str) -> list[BoxRow]:
    """List every box of a form, final revisions before drafts, the newest first.

    Args:
        released: The release to read.
        form: Form, e.g. 1099-DIV.

    Returns:
        The boxes with `filer` and `recipient`: whether those instructions cover the box.

    Raises:
        BoxNotFoundError: No form with boxes has this name; the message lists them.
    """
    rows = list_boxes_of_forms(released, [form])
    if not rows:
        form_names = list_names(released.table("registry")["form"].unique().sort(), unknown_name=form)
        raise BoxNotFoundError(f"The release has no form {form!r} with boxes. Forms: {form_names}.")
    return rows


def list_boxes_of_forms(released: Released, words: Sequence[str]) -> list[BoxRow]:
    """List all boxes of the forms in a query that names no box.

    Args:
        released: The release to read.
        words: Words of the user.

    Returns:
        The boxes, final revisions before drafts and the newest first, with `filer` and `recipient`: whether those
        instructions cover the box (in this revision, in another one, or None). Empty if the words name no form, or
        something else as well.
    """
    registry = Registry.cast(released.table("registry"))
    forms = find_named_forms(" ".join(words), registry)
    if not forms:
        return []
    nodes = Nodes.cast(released.table("nodes"))
    edges = Edges.cast(released.table("edges"))
    coverage = find_aligned(registry, nodes, edges=edges).pivot(
        "reader", index=["document_id", "box_key"], values="how"
    )
    rows = registry.filter(pl.col("form").is_in(forms)).join(coverage, on=["document_id", "box_key"], how="left")
    absent = [pl.lit(None, dtype=pl.String).alias(reader) for reader in READERS if reader not in rows.columns]
    order = sorted(rows.with_columns(absent).to_dicts(), key=lambda row: order_of_key(row["box_key"]))
    drafts = set(released.table("documents").filter(pl.col("is_draft"))["document_id"])
    order.sort(key=lambda row: (row["document_id"] not in drafts, row["revision"], row["document_id"]), reverse=True)
    return [BoxRow(**row) for row in sorted(order, key=lambda row: str(row["form"]))]


def _with_passages(row: Mapping[str, Any], released: Released) -> BoxRow:
    node_id = face_node_id(row["document_id"], row["box_key"])
    passages = _passages(node_id, nodes=released.table("nodes"), edges=released.table("edges"))
    documents = [row["document_id"], *(passage.document_id for passage in passages)]
    return BoxRow(**row, passages=passages, quality=released.flags_of(*documents))


def _bare(form: str) -> str:
    return re.sub(r"[^a-z0-9]", "", re.sub(r"^(form\s+|f(?=\d))", "", form.strip().lower()))


def _passages(node_id: str, *, nodes: pl.DataFrame, edges: pl.DataFrame) -> list[BoxPassage]:
    """Return paragraphs under the headings that the graph aligns with the box, groups of boxes among them."""
    aligned = edges.filter(pl.col("source_id") == node_id, pl.col("relation").is_in(ALIGNED))
    headings = aligned.select(parent_id="target_id").unique()
    columns = ("document_id", "perspective", "page", "heading_path", "text", "node_id", "bboxes")
    passages = nodes.filter(pl.col("level") != "anchor").join(headings, on="parent_id").sort("document_id", "ordinal")
    return [BoxPassage(**row) for row in passages.select(columns).iter_rows(named=True)]
