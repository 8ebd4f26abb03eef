"""The registry of boxes: one identity per box of a form revision, with its other names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.graph.names import expand, find_abbreviations, find_aliases, find_usage, fold_name, keep_unambiguous
from taxkg_assets.records import AnchorRecord, DocumentRecord, FaceRecord, iter_records
from taxkg_assets.rules.forms import split_forms

_KEY = re.compile(r"^box_(\d*)([a-z]*)$")
_GROUP_KEY = re.compile(r"^boxes_(\d+)[a-z]?-(\d+)[a-z]?$")


def build_registry(
    faces: dy.DataFrame[schemas.Faces],
    anchors: dy.DataFrame[schemas.Anchors],
    *,
    documents: dy.DataFrame[schemas.Documents],
    sections: dy.DataFrame[schemas.Sections],
) -> dy.DataFrame[schemas.Registry]:
    """Build one row per box of a form revision, with its identity, aliases, group and history.

    Args:
        faces: One row per box of a form.
        anchors: Headings of all documents.
        documents: Forms and revisions.
        sections: Content elements, whose sentences name boxes.

    Returns:
        One row per row of `faces`, with label and confidence unchanged.

    Source:
        rules/aliases.yaml for abbreviations; instructions for further names.
    """
    usage = find_usage(
        iter_records(anchors.sort("document_id", "anchor_id"), AnchorRecord),
        documents=iter_records(documents, DocumentRecord),
        texts=sections.select("document_id", "anchor_id", "text").iter_rows(),
        forms=frozenset(faces["form"].unique()),
    )
    history = _find_histories(faces, documents)
    groups = _groups_by_form(anchors, documents)
    letters = _lettered_keys(faces)
    rows = [
        {
            "document_id": face["document_id"],
            "form": face["form"],
            "revision": face["revision"],
            "box_key": face["box_key"],
            "canonical_id": "/".join((face["form"], face["revision"], face["box_key"])),
            "label": face["label"],
            "aliases": find_aliases(face, usage),
            "group_id": _find_group(face, groups, letters),
            "source": f"{face['document_id']}:p{face['page']}",
            "history": history.get((face["document_id"], face["box_key"]), []),
            "confidence": face["confidence"],
        }
        for face in iter_records(faces.sort("document_id", "box_key"), FaceRecord)
    ]
    _drop_invented_names(rows, pl.concat([sections["text"], anchors["heading"], faces["label"]]))
    _drop_shared_names(rows)
    return schemas.Registry.validate(pl.DataFrame(rows, schema=schemas.Registry.create_empty().schema))


def find_registry_faults(registry: dy.DataFrame[schemas.Registry], faces: dy.DataFrame[schemas.Faces]) -> pl.DataFrame:
    """Find rows that violate an invariant of the registry: missing labels, differences from the printed forms.

    Args:
        registry: Registered boxes.
        faces: Boxes as printed.

    Returns:
        `document_id`, `box_key`, `label` and `fault`, one row per fault.
    """
    key = ["document_id", "box_key"]
    columns = [*key, "label"]
    joined = registry.join(faces.select(*key, "is_unlabelled", face_label="label"), on=key, how="left")
    unlabeled = joined.filter((pl.col("label") == "") & ~pl.col("is_unlabelled").fill_null(False))
    renamed = joined.filter(pl.col("face_label").is_not_null() & (pl.col("label") != pl.col("face_label")))
    invented = registry.join(faces, on=key, how="anti")
    return pl.concat(
        [
            unlabeled.select(*columns, fault=pl.lit("label missing although the face prints one")),
            renamed.select(*columns, fault=pl.lit("label differs from the face")),
            invented.select(*columns, fault=pl.lit("no such box on the face")),
        ]
    ).sort("document_id", "box_key", "fault")


def find_unregistered_boxes(
    registry: dy.DataFrame[schemas.Registry], faces: dy.DataFrame[schemas.Faces]
) -> pl.DataFrame:
    """Find printed boxes that the registry lacks.

    Args:
        registry: Registered boxes.
        faces: Boxes as printed.

    Returns:
        `document_id`, `box_key` and `label`.
    """
    missing_boxes = faces.join(registry, on=["document_id", "box_key"], how="anti")
    return missing_boxes.select("document_id", "box_key", "label").sort("document_id", "box_key")


def find_invented_names(registry: pl.DataFrame, sections: pl.DataFrame, *, anchors: pl.DataFrame) -> pl.DataFrame:
    """Find aliases with an abbreviation that no document of the library prints.

    Args:
        registry: Registered boxes.
        sections: Content elements with their text.
        anchors: Headings, whose text `sections` lacks.

    Returns:
        `document_id`, `box_key`, `alias` and `abbreviation`, one row per unprinted abbreviation.
    """
    named = [
        (row["document_id"], row["box_key"], alias, short)
        for row in registry.iter_rows(named=True)
        for alias in row["aliases"]
        for short in find_abbreviations(alias)
    ]
    texts = pl.concat([sections["text"], anchors["heading"], registry["label"]])
    unprinted = _find_unprinted({short for *_, short in named}, texts)
    rows = [row for row in named if row[3] in unprinted]
    columns = ["document_id", "box_key", "alias", "abbreviation"]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row").sort(columns)


def _find_unprinted(abbreviations: Collection[str], texts: pl.Series) -> set[str]:
    """Return the abbreviations that none of some texts contains as a word."""
    return {short for short in abbreviations if not texts.str.contains(rf"\b{re.escape(short)}\b").any()}


def _drop_invented_names(rows: list[dict[str, Any]], texts: pl.Series) -> None:
    """Keep the names whose abbreviations are printed."""
    shorts = {alias: find_abbreviations(alias) for row in rows for alias in row["aliases"]}
    unprinted = _find_unprinted({short for found in shorts.values() for short in found}, texts)
    for row in rows:
        row["aliases"] = [alias for alias in row["aliases"] if unprinted.isdisjoint(shorts[alias])]


def _drop_shared_names(rows: list[dict[str, Any]]) -> None:
    """Keep the names that mean only one box of their face."""
    for _, of_face in groupby(rows, key=lambda row: row["document_id"]):
        boxes = list(of_face)
        unshared_names = keep_unambiguous([row["aliases"] for row in boxes], labels=[row["label"] for row in boxes])
        for row, names in zip(boxes, unshared_names, strict=True):
            row["aliases"] = names


def _find_histories(
    faces: dy.DataFrame[schemas.Faces], documents: dy.DataFrame[schemas.Documents]
) -> dict[tuple[str, str], list[str]]:
    """List the identities of each box on the older faces of its form, newest first.

    It is the same field if the label is the same under the same key, or occurs only once on both faces.
    """
    drafts = set(documents.filter(pl.col("is_draft"))["document_id"])
    by_form: dict[str, dict[tuple[str, str], list[FaceRecord]]] = defaultdict(lambda: defaultdict(list))
    for face in iter_records(faces.sort("document_id", "box_key"), FaceRecord):
        by_form[face["form"]][face["revision"], face["document_id"]].append(face)
    histories: dict[tuple[str, str], list[str]] = {}
    for of_form in by_form.values():
        older: list[FaceRecord] = []
        for (_, document_id), boxes in sorted(of_form.items()):
            for box in boxes:
                before = _find_predecessor(box, older, boxes)
                if before is not None and before["revision"] != box["revision"]:
                    past = histories[before["document_id"], before["box_key"]]
                    name = "/".join((before["form"], before["revision"], before["box_key"]))
                    histories[document_id, box["box_key"]] = [name, *past]
                else:
                    histories[document_id, box["box_key"]] = []
            if document_id not in drafts:
                older = boxes
    return histories


def _find_predecessor(box: FaceRecord, older: Sequence[FaceRecord], newer: Sequence[FaceRecord]) -> FaceRecord | None:
    label = fold_name(expand(box["label"]))
    same_label = [other for other in older if fold_name(expand(other["label"])) == label]
    at_key = next((other for other in same_label if other["box_key"] == box["box_key"]), None)
    is_moved = len(same_label) == 1 and sum(fold_name(expand(other["label"])) == label for other in newer) == 1
    return at_key or (same_label[0] if label and is_moved else None)


def _groups_by_form(
    anchors: dy.DataFrame[schemas.Anchors], documents: dy.DataFrame[schemas.Documents]
) -> dict[str, list[tuple[int, int]]]:
    """Collect the printed groups of boxes (boxes 14 to 16) of each form."""
    forms = dict(zip(documents["document_id"], documents["form"], strict=True))
    groups: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for anchor in anchors.filter(pl.col("kind") == "box_group").iter_rows(named=True):
        match = _GROUP_KEY.match(anchor["key"] or "")
        if match and int(match[1]) < int(match[2]):
            for form in split_forms(anchor["form"] or forms.get(anchor["document_id"], "")):
                groups[form].add((int(match[1]), int(match[2])))
    return {form: sorted(ranges) for form, ranges in groups.items()}


def _lettered_keys(faces: dy.DataFrame[schemas.Faces]) -> set[tuple[str, str]]:
    """Find the numbers that a face divides by letters: 2 where it prints 2a and 2b."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for document_id, key in faces.select("document_id", "box_key").iter_rows():
        match = _KEY.match(key)
        if match and match[1] and match[2]:
            counts[document_id, match[1]] += 1
    return {number for number, count in counts.items() if count > 1}


def _find_group(
    face: FaceRecord, groups: dict[str, list[tuple[int, int]]], letters: set[tuple[str, str]]
) -> str | None:
    """Return the group of a box: its number where letters divide it, else the printed range that contains it."""
    match = _KEY.match(face["box_key"])
    if match is None or not match[1]:
        return None
    if (face["document_id"], match[1]) in letters:
        return match[1]
    number = int(match[1])
    return next((f"{low}-{high}" for low, high in groups.get(face["form"], ()) if low <= number <= high), None)
