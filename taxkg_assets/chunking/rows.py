"""Rows of `chunks`: the values that each inherits from its document and heading, and its rectangles."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from taxkg_assets.records import AnchorRecord, DocumentRecord, PlacedBoxRecord, copy_place
from taxkg_assets.rules.models.chunking import load_chunking

_OWN_LINE = ("section", "subsection", "part", "statute_section")
_NUMBERED = ("line", "box", "column")
# Longest printed number, with brackets, an arrow and blanks.
_NUMBER_CHARS = 8
_RUN_IN_ENDS = (".", ":", "—", "–")
_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Owner:
    """The properties that a chunk inherits from its document and heading.

    Attributes:
        document: Row of `documents`.
        anchor: Row of `anchors` of the heading; None for a chunk under no heading.
        headings: Heading path from the outermost heading to the anchor.
        anchor_key: Key of the nearest anchor that has one, such as `box_1b`.
        perspective: Audience of the text.
        form: Form of the nearest anchor that names one, or else of the document.
        corpus: Description of the whole corpus; empty without the three-tier context.
        outline: First top-level headings of the document; empty without the three-tier context.
    """

    document: DocumentRecord
    anchor: AnchorRecord | None
    headings: tuple[str, ...]
    anchor_key: str | None
    perspective: str
    form: str
    corpus: str = ""
    outline: tuple[str, ...] = ()


class Owners:
    """Computes the properties that chunks inherit from each heading, once per heading.

    Args:
        documents: Rows of `documents`.
        anchors: Rows of `anchors` of these documents.
        has_tiers: Whether contexts describe the corpus and the document's outline, too.
    """

    def __init__(
        self, documents: Iterable[DocumentRecord], anchors: Iterable[AnchorRecord], *, has_tiers: bool = False
    ) -> None:
        self._documents = {row["document_id"]: row for row in documents}
        self._anchors = {row["anchor_id"]: row for row in anchors}
        self._corpus = _describe_corpus(self._documents.values()) if has_tiers else ""
        self._outlines = _find_outlines(self._anchors.values()) if has_tiers else {}
        self._owners: dict[tuple[str, str | None], Owner] = {}

    def find(self, document_id: str, anchor_id: str | None) -> Owner:
        """Return the properties that the chunks of a heading inherit.

        Args:
            document_id: Document of the chunk.
            anchor_id: Heading of the chunk; None for a chunk under no heading.

        Raises:
            KeyError: The document or an anchor is unknown.
        """
        if (document_id, anchor_id) not in self._owners:
            self._owners[document_id, anchor_id] = self._find_owner(document_id, anchor_id)
        return self._owners[document_id, anchor_id]

    def _find_owner(self, document_id: str, anchor_id: str | None) -> Owner:
        document = self._documents[document_id]
        path: list[AnchorRecord] = []
        next_id = anchor_id
        while next_id is not None:
            path.append(self._anchors[next_id])
            next_id = path[-1]["parent_anchor_id"]
        return Owner(
            document=document,
            anchor=path[0] if path else None,
            headings=tuple(row["heading"] for row in reversed(path)),
            anchor_key=next((row["key"] for row in path if row["key"]), None),
            perspective=path[0]["perspective"] if path else _PERSPECTIVE_OF[document["doc_type"]],
            form=next((row["form"] for row in path if row["form"]), document["form"]),
            corpus=self._corpus,
            outline=self._outlines.get(document_id, ()),
        )


def _describe_corpus(documents: Iterable[DocumentRecord]) -> str:
    """Return the first tier of a context: the subject of all documents together."""
    forms = sorted({row["form"] for row in documents if row["form"]})
    return f"Tax forms, instructions and law: {', '.join(forms[: load_chunking().tiers.forms])}"


def _find_outlines(anchors: Iterable[AnchorRecord]) -> dict[str, tuple[str, ...]]:
    """Return the outlines of the second tier: the first top-level headings of each document."""
    max_headings = load_chunking().tiers.headings
    outlines = dict[str, list[str]]()
    for row in sorted(anchors, key=lambda row: row["anchor_id"]):
        outline = outlines.setdefault(row["document_id"], [])
        if row["parent_anchor_id"] is None and row["heading"] not in outline and len(outline) < max_headings:
            outline.append(row["heading"])
    return {document_id: tuple(headings) for document_id, headings in outlines.items()}


_PERSPECTIVE_OF = {
    "form": "face",
    "filer_instructions": "filer",
    "recipient_instructions": "recipient",
    "publication": "publication",
    "statute": "statute",
    "other": "other",
}


def begins_with_heading(text: str, anchor: AnchorRecord) -> bool:
    """Return whether a text begins with its heading.

    Args:
        text: Text of a chunk.
        anchor: Row of `anchors` of the heading.
    """
    heading = anchor["heading"]
    if anchor["kind"] in _NUMBERED:
        return heading in text[: len(heading) + _NUMBER_CHARS]
    return text.startswith(heading)


def heading_separator(anchor: AnchorRecord) -> str:
    """Return the separator between a heading and its text.

    Args:
        anchor: Row of `anchors` of the heading.

    Returns:
        A blank after a run-in heading, which begins a sentence; a line feed after any other heading.
    """
    is_run_in = anchor["kind"] not in _OWN_LINE and anchor["heading"].endswith(_RUN_IN_ENDS)
    return " " if is_run_in else "\n"


def make_row(owner: Owner, *, text: str, **columns: Any) -> dict[str, Any]:
    """Build a row of `chunks` from its owner, with the defaults of an accepted structural chunk.

    Args:
        owner: Document and heading of the chunk.
        text: Text of the chunk.
        columns: Values of further columns, which replace the defaults.

    Returns:
        Values by column.
    """
    document = owner.document
    anchor_id = owner.anchor["anchor_id"] if owner.anchor else None
    return {
        "document_id": document["document_id"],
        "anchor_id": anchor_id,
        "anchor_key": owner.anchor_key,
        "heading_path": " > ".join(part for part in (document["title"], *owner.headings) if part),
        "form": owner.form,
        "perspective": owner.perspective,
        "parent_id": anchor_id or document["document_id"],
        "text": text,
        "context": _context(owner),
        "token_count": count_tokens(text),
        "status": "accepted",
        "quality": 1.0,
        "reason": "",
        "tags": [],
        "entities": [],
        "boundary_confidence": 1.0,
        "refinements": 0,
        "created_by": "structural",
        **columns,
    }


def _context(owner: Owner) -> str:
    """Return document, form, revision, audience and headings of a chunk, which readers need to understand its text."""
    document = owner.document
    title = document["title"] or document["document_id"]
    document_parts = [title if owner.form.replace("Pub.", "Publication") in title else f"{owner.form}, {title}"]
    if document["revision"][:4] not in title:
        document_parts.append(document["revision"])
    if document["is_draft"]:
        document_parts.append("draft")
    document_parts.append(load_chunking().perspectives[owner.perspective])
    document_context = ", ".join(part for part in document_parts if part)
    if not owner.corpus:
        return " > ".join([document_context, *owner.headings])
    outline = f": {'; '.join(owner.outline)}" if owner.outline else ""
    return "\n".join(
        part for part in (owner.corpus, f"{document_context}{outline}", " > ".join(owner.headings)) if part
    )


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text: one per about seven letters of a word, and one per punctuation mark.

    Args:
        text: Any text.

    Returns:
        Number of tokens, at least 0.
    """
    letters = load_chunking().tokens.letters_per_piece
    return sum(math.ceil(len(word) / letters) for word in _WORD_OR_MARK.findall(text))


def merge_line_boxes(pieces: Iterable[PlacedBoxRecord]) -> list[PlacedBoxRecord]:
    """Merge the rectangles of consecutive lines in one column of a page.

    Args:
        pieces: Rectangles in reading order.

    Returns:
        Rectangles in the same order.
    """
    boxes: list[PlacedBoxRecord] = []
    for piece in pieces:
        last_box = boxes[-1] if boxes else None
        if last_box is not None and _is_next_line(last_box, piece):
            last_box["x0_pt"] = min(last_box["x0_pt"], piece["x0_pt"])
            last_box["y0_pt"] = min(last_box["y0_pt"], piece["y0_pt"])
            last_box["x1_pt"] = max(last_box["x1_pt"], piece["x1_pt"])
            last_box["y1_pt"] = max(last_box["y1_pt"], piece["y1_pt"])
        else:
            boxes.append(copy_place(piece))
    return boxes


def _is_next_line(last_box: PlacedBoxRecord, piece: PlacedBoxRecord) -> bool:
    height = piece["y1_pt"] - piece["y0_pt"]
    is_overlapping = piece["x0_pt"] < last_box["x1_pt"] and piece["x1_pt"] > last_box["x0_pt"]
    is_near = -height <= piece["y0_pt"] - last_box["y1_pt"] <= height
    return bool(piece["page"] == last_box["page"] and is_overlapping and is_near)
