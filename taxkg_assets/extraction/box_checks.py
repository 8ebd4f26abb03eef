"""Document checks on boxes: instructions explain every box that the form prints, and no other box."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import dataframely as dy
import polars as pl

from taxkg_assets.extraction.keys import read_members
from taxkg_assets.rules.models.box_grammar import load_box_grammar
from taxkg_assets.schemas import Anchors, Documents, Elements, Faces, Fields

_GUIDES = ("filer_instructions", "recipient_instructions")
_BOX_KINDS = ("box", "box_group")
_AND = " and "
_MEMBER = re.compile(r"^(?P<number>\d*)(?P<letter>[a-z]*)$")
# Unnumbered checkboxes of information returns: the instructions head them, the faces number nothing.
_UNNUMBERED = frozenset({"void", "corrected"})


def find_unexplained_boxes(
    anchors: dy.DataFrame[Anchors],
    faces: dy.DataFrame[Faces],
    documents: dy.DataFrame[Documents],
    elements: dy.DataFrame[Elements],
) -> pl.DataFrame:
    """Find boxes for which instructions have a line that begins with the key (`Box 3 …`), but no heading.

    Args:
        anchors: Headings of all documents.
        faces: Boxes of all forms.
        documents: Documents.
        elements: Printed elements of all documents.

    Returns:
        One row per box: `document_id` of the instructions without a heading for it, `form`, `revision` and `box_key`.
    """
    boxes = find_unanchored_boxes(faces, anchors, documents=documents, elements=elements)
    return boxes.filter(~pl.col("is_excused")).drop("is_excused")


def find_unanchored_boxes(
    faces: dy.DataFrame[Faces],
    anchors: dy.DataFrame[Anchors],
    *,
    documents: dy.DataFrame[Documents],
    elements: dy.DataFrame[Elements],
) -> pl.DataFrame:
    """Find boxes of a form that have no heading in its filer instructions or on its recipient pages.

    Which documents must explain a form does not depend on headings, so a document without any heading is found, too.

    Args:
        faces: Boxes of all forms.
        anchors: Headings of all documents.
        documents: Documents.
        elements: Printed elements of all documents.

    Returns:
        One row per box and document that should explain it: `document_id`, `form`, `revision`, `box_key`, and
        `is_excused`, whether the document has no line that begins with the key (`Box 3 …`), so that no heading is
        to be expected.
    """
    rows: list[dict[str, object]] = []
    boxes = anchors.filter(pl.col("kind").is_in(_BOX_KINDS))
    key_lines: dict[str, dict[str, list[str]]] = {}
    for face_id, form, revision, keys in _list_printed_keys(faces):
        for document_id in [face_id, *_find_instructions(documents, form=form, revision=revision)]:
            if document_id not in key_lines:
                key_lines[document_id] = _find_key_lines(elements, document_id)
            boxes_of_form = _select_boxes_of_form(boxes, document_id, form=form, documents=documents)
            elements_of_other_forms = set(boxes["element_id"]) - set(boxes_of_form["element_id"])
            keys_with_line = _find_named_keys(
                (
                    part
                    for element_id, key_parts in key_lines[document_id].items()
                    if element_id not in elements_of_other_forms
                    for part in key_parts
                ),
                keys,
            )
            if document_id == face_id and not keys_with_line and boxes_of_form.is_empty():
                continue  # a form without recipient pages explains nothing itself
            keys_without_heading = set(keys) - _find_named_keys(
                (part for key in boxes_of_form["key"] for part in _split_key(key)), keys
            )
            rows += [
                {
                    "document_id": document_id,
                    "form": form,
                    "revision": revision,
                    "box_key": f"box_{key}",
                    "is_excused": key not in keys_with_line,
                }
                for key in keys
                if key in keys_without_heading
            ]
    schema = {
        "document_id": pl.String,
        "form": pl.String,
        "revision": pl.String,
        "box_key": pl.String,
        "is_excused": pl.Boolean,
    }
    return pl.DataFrame(rows, schema=schema).sort("document_id", "form", "revision", "box_key")


def find_invented_boxes(
    faces: dy.DataFrame[Faces], anchors: dy.DataFrame[Anchors], *, documents: dy.DataFrame[Documents]
) -> pl.DataFrame:
    """Find headings of boxes that their form revision does not print.

    Instructions for an older revision are excluded, because the form may have dropped boxes since.

    Args:
        faces: Boxes of all forms.
        anchors: Headings of all documents.
        documents: Documents.

    Returns:
        Rows of `anchors`.
    """
    invented_ids: list[str] = []
    boxes = anchors.filter(pl.col("kind").is_in(_BOX_KINDS))
    for face_id, form, revision, keys in _list_printed_keys(faces):
        printed_keys = {*keys, *(key.rstrip("abcdefghijklmnopqrstuvwxyz") for key in keys), *_UNNUMBERED}
        for document_id in [
            face_id,
            *_find_instructions(documents, form=form, revision=revision, must_be_same_revision=True),
        ]:
            boxes_of_form = _select_boxes_of_form(boxes, document_id, form=form, documents=documents)
            for anchor_id, key in boxes_of_form.select("anchor_id", "key").iter_rows():
                range_ends = [end for part in _split_key(key) for end in part.split("-")]
                if any(end not in printed_keys for end in range_ends):
                    invented_ids.append(anchor_id)
    return anchors.filter(pl.col("anchor_id").is_in(invented_ids)).select(
        "document_id", "anchor_id", "form", "key", "heading"
    )


def find_boxes_without_face(
    faces: dy.DataFrame[Faces],
    anchors: dy.DataFrame[Anchors],
    fields: dy.DataFrame[Fields],
    *,
    documents: dy.DataFrame[Documents],
) -> pl.DataFrame:
    """Find forms with headings of boxes but no extracted box.

    A heading that is a field's label, as of a check box, is printed on the form itself and does not count.

    Args:
        faces: Boxes of all forms.
        anchors: Headings of all documents.
        fields: Fillable fields of all forms.
        documents: Documents.

    Returns:
        `document_id` and `boxes`, the number of those headings. These need review but are not errors by themselves.
    """
    forms = (
        documents.filter(pl.col("doc_type") == "form").select("document_id").join(faces, on="document_id", how="anti")
    )
    boxes = (
        anchors.filter(pl.col("kind").is_in(_BOX_KINDS))
        .join(forms, on="document_id", how="semi")
        .join(fields, on=["document_id", "anchor_id"], how="anti")
    )
    return boxes.group_by("document_id").len("boxes").sort("document_id")


def _list_printed_keys(faces: pl.DataFrame) -> Iterator[tuple[str, str, str, list[str]]]:
    """Return for each face its document, form, revision and the keys that it prints, without `box_`."""
    for (face_id, form, revision), group in faces.group_by("document_id", "form", "revision", maintain_order=True):
        yield str(face_id), str(form), str(revision), [key.removeprefix("box_") for key in group["box_key"]]


def _find_instructions(
    documents: pl.DataFrame, *, form: str, revision: str, must_be_same_revision: bool = False
) -> list[str]:
    """Find the instructions for a face: of its revision; for continuous use also the latest that are not newer."""
    guides: list[str] = []
    for doc_type in _GUIDES:
        instructions = documents.filter(
            (pl.col("doc_type") == doc_type) & pl.col("form").str.split(_AND).list.contains(form)
        ).sort("document_id")
        of_revision = instructions.filter(pl.col("revision") == revision)
        if of_revision.is_empty() and not must_be_same_revision and _is_continuous(revision):
            older = instructions.filter(
                pl.col("revision").str.contains("-", literal=True) & (pl.col("revision") < revision)
            )
            of_revision = older.filter(pl.col("revision") == pl.col("revision").max())
        guides += of_revision["document_id"].to_list()
    return guides


def _is_continuous(revision: str) -> bool:
    """Return whether a revision is in continuous use (year and month), not for one tax year."""
    return "-" in revision


def _select_boxes_of_form(boxes: pl.DataFrame, document_id: str, *, form: str, documents: pl.DataFrame) -> pl.DataFrame:
    """Select a document's boxes that mention a form; in a document of one form also those that name none."""
    form_names = documents.filter(pl.col("document_id") == document_id)["form"]
    forms = [form] if any(_AND in name for name in form_names) else [form, ""]
    return boxes.filter((pl.col("document_id") == document_id) & pl.col("form").is_in(forms))


def _split_key(key: str) -> list[str]:
    return key.split("_")[1:]


def _find_named_keys(parts: Iterable[str], keys: Sequence[str]) -> set[str]:
    """Return the keys of a face that numbers or ranges (`3`, `14-16`) name; `3` names 3, 3a and 3b."""
    named_keys: set[str] = set()
    for part in parts:
        first, _, last = part.partition("-")
        low, high = _sort_key_of_box(first), _sort_key_of_box(last or first, is_range_end=True)
        named_keys.update(name for name in keys if low <= _sort_key_of_box(name) <= high)
    return named_keys


def _sort_key_of_box(key: str, *, is_range_end: bool = False) -> tuple[int, str]:
    """Return a sort key in the order of the face: 2 < 2a < 2b < 10. As the end of a range, 2 includes 2a and 2b."""
    match = _MEMBER.match(key)
    if match is None:
        return (999, key)
    letter = match["letter"] or ("~" if is_range_end and match["number"] else "")
    return (int(match["number"] or 0), letter)


def _find_key_lines(elements: pl.DataFrame, document_id: str) -> dict[str, list[str]]:
    """Return the keys with which lines of a document begin (`Box 3 …`, `Boxes 3–5 …`), by element; not on faces."""
    prose = elements.filter((pl.col("document_id") == document_id) & ~pl.col("role").is_in(["FormField", "TableBlock"]))
    keys_by_element: dict[str, list[str]] = {}
    for rule in load_box_grammar().lines:
        for element_id, text in prose.select("element_id", "text").iter_rows():
            match = rule.pattern.match(text)
            if match is not None:
                keys_by_element.setdefault(element_id, []).extend(read_members(match["list"]))
    return keys_by_element
