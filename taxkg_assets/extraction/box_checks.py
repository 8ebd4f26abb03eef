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
    """Find boxes for which the instructions have a line beginning with the key but no heading.

    Args:
        anchors: Headings of all documents.
        faces: Boxes of all forms.
        documents: Documents.
        elements: Printed elements of all documents.

    Returns:
        One row per box: `document_id` of the instructions without a heading for it, `form`, `revision` and `box_key`.
    """
    found = find_unanchored_boxes(faces, anchors, documents=documents, elements=elements)
    return found.filter(~pl.col("is_excused")).drop("is_excused")


def find_unanchored_boxes(
    faces: dy.DataFrame[Faces],
    anchors: dy.DataFrame[Anchors],
    *,
    documents: dy.DataFrame[Documents],
    elements: dy.DataFrame[Elements],
) -> pl.DataFrame:
    """Find boxes of a form that have no anchor in its filer instructions or on its recipient pages.

    Which documents must explain a form is decided without reading anchors, so that a reader that lost all anchors is
    detected.
    """
    rows: list[dict[str, object]] = []
    boxes = anchors.filter(pl.col("kind").is_in(_BOX_KINDS))
    begun: dict[str, dict[str, list[str]]] = {}
    for face_id, form, revision, keys in _face_keys(faces):
        for document_id in [face_id, *_find_guides(documents, form=form, revision=revision)]:
            if document_id not in begun:
                begun[document_id] = _keys_begun(elements, document_id)
            found = _boxes_of(boxes, document_id, form=form, documents=documents)
            others = set(boxes["element_id"]) - set(found["element_id"])
            lines = _covered((part for e, ps in begun[document_id].items() if e not in others for part in ps), keys)
            if document_id == face_id and not lines and found.is_empty():
                continue  # a form without recipient pages explains nothing itself
            missing = set(keys) - _covered((part for key in found["key"] for part in _parts(key)), keys)
            rows += [
                {
                    "document_id": document_id,
                    "form": form,
                    "revision": revision,
                    "box_key": f"box_{key}",
                    "is_excused": key not in lines,
                }
                for key in keys
                if key in missing
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
    """Find anchors of boxes that their form revision does not print.

    Older instructions are excluded, as they may mention boxes that the form has dropped since.

    Args:
        faces: Boxes of all forms.
        anchors: Headings of all documents.
        documents: Documents.

    Returns:
        Rows of `anchors`.
    """
    invented: list[str] = []
    boxes = anchors.filter(pl.col("kind").is_in(_BOX_KINDS))
    for face_id, form, revision, keys in _face_keys(faces):
        printed = {*keys, *(key.rstrip("abcdefghijklmnopqrstuvwxyz") for key in keys), *_UNNUMBERED}
        for document_id in [face_id, *_find_guides(documents, form=form, revision=revision, is_same=True)]:
            found = _boxes_of(boxes, document_id, form=form, documents=documents)
            for anchor_id, key in found.select("anchor_id", "key").iter_rows():
                ends = [end for part in _parts(key) for end in part.split("-")]
                if any(end not in printed for end in ends):
                    invented.append(anchor_id)
    return anchors.filter(pl.col("anchor_id").is_in(invented)).select(
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


def _face_keys(faces: pl.DataFrame) -> Iterator[tuple[str, str, str, list[str]]]:
    """Return for each face its document, form, revision and the keys that it prints, without `box_`."""
    for (face_id, form, revision), group in faces.group_by("document_id", "form", "revision", maintain_order=True):
        yield str(face_id), str(form), str(revision), [key.removeprefix("box_") for key in group["box_key"]]


def _find_guides(documents: pl.DataFrame, *, form: str, revision: str, is_same: bool = False) -> list[str]:
    """Find the instructions for a face: of its revision; for continuous use also the latest that are not newer."""
    guides: list[str] = []
    for doc_type in _GUIDES:
        related = documents.filter(
            (pl.col("doc_type") == doc_type) & pl.col("form").str.split(_AND).list.contains(form)
        ).sort("document_id")
        same = related.filter(pl.col("revision") == revision)
        if same.is_empty() and not is_same and _is_continuous(revision):
            older = related.filter(pl.col("revision").str.contains("-", literal=True) & (pl.col("revision") < revision))
            same = older.filter(pl.col("revision") == pl.col("revision").max())
        guides += same["document_id"].to_list()
    return guides


def _is_continuous(revision: str) -> bool:
    """Return whether a revision is in continuous use (year and month), not for one tax year."""
    return "-" in revision


def _boxes_of(boxes: pl.DataFrame, document_id: str, *, form: str, documents: pl.DataFrame) -> pl.DataFrame:
    """Select a document's boxes that mention a form; in a document of one form also those that name none."""
    named = documents.filter(pl.col("document_id") == document_id)["form"]
    forms = [form] if any(_AND in name for name in named) else [form, ""]
    return boxes.filter((pl.col("document_id") == document_id) & pl.col("form").is_in(forms))


def _parts(key: str) -> list[str]:
    return key.split("_")[1:]


def _covered(parts: Iterable[str], keys: Sequence[str]) -> set[str]:
    """Return the keys of a face that some parts of keys (`3`, `14-16`) name, groups and bare numbers included."""
    covered: set[str] = set()
    for part in parts:
        first, _, last = part.partition("-")
        low, high = _order(first), _order(last or first, is_last=True)
        covered.update(name for name in keys if low <= _order(name) <= high)
    return covered


def _order(key: str, *, is_last: bool = False) -> tuple[int, str]:
    """Put keys in the order of the face: 2 < 2a < 2b < 10; as the end of a run a bare number takes its letters in."""
    match = _MEMBER.match(key)
    if match is None:
        return (999, key)
    letter = match["letter"] or ("~" if is_last and match["number"] else "")
    return (int(match["number"] or 0), letter)


def _keys_begun(elements: pl.DataFrame, document_id: str) -> dict[str, list[str]]:
    """Return the keys of each line of a document that begins with some (`Box 3 …`, `Boxes 3–5 …`), except on faces."""
    prose = elements.filter((pl.col("document_id") == document_id) & ~pl.col("role").is_in(["FormField", "TableBlock"]))
    begun: dict[str, list[str]] = {}
    for rule in load_box_grammar().lines:
        for element_id, text in prose.select("element_id", "text").iter_rows():
            match = rule.pattern.match(text)
            if match is not None:
                begun.setdefault(element_id, []).extend(read_members(match["list"]))
    return begun
