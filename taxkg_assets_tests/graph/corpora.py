"""A small invented corpus as frames: a form with face and recipient text, its booklet, an older face, another form."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeVar

import dataframely as dy
import polars as pl

from taxkg_assets.graph.edges import build_edges
from taxkg_assets.graph.nodes import build_nodes
from taxkg_assets.schemas import (
    Anchors,
    Documents,
    Edges,
    Elements,
    Faces,
    Flows,
    Lines,
    Links,
    Nodes,
    References,
    Registry,
    Sections,
    Tables,
)
from taxkg_assets.schemas.validation import dtypes, validated

S = TypeVar("S", bound=dy.Schema)

_BOX = {"x0_pt": 1.0, "y0_pt": 1.0, "x1_pt": 9.0, "y1_pt": 9.0}


def frame_of(schema: type[S], rows: list[dict[str, Any]]) -> dy.DataFrame[S]:
    """Validate rows as a table, sorted by its key."""
    return validated(pl.DataFrame(rows, schema=dtypes(schema)).sort(schema.primary_key()), schema)


def document(document_id: str, form: str, doc_type: str, revision: str, *, is_draft: bool = False) -> dict[str, Any]:
    """One row of `documents`; a revision without a month is annual."""
    return {
        "document_id": document_id,
        "irs_name": document_id.split("--")[0],
        "form": form,
        "doc_type": doc_type,
        "revision": revision,
        "tax_year": int(revision) if len(revision) == 4 else None,
        "is_draft": is_draft,
        "title": f"Title of {document_id}",
        "pdf_modified_on": "",
        "sha256": "0" * 64,
        "page_count": 1,
        "source_uri": "",
        "source_root": "",
        "code_version": "",
        "warnings": [],
        "image_only_pages": [],
        "hidden_texts": [],
        "page_sources": [{"page": 1, "source": "layout", "reason": ""}],
        "page_url": None,
        "pdf_url": None,
        "tier": 1,
        "fetched_at": datetime(2031, 1, 1, tzinfo=UTC),
    }


def anchor(
    anchor_id: str, kind: str, key: str | None, heading: str, *, perspective: str, parent: str | None = None
) -> dict[str, Any]:
    """One row of `anchors`."""
    document_id = anchor_id.rpartition("#")[0]
    return {
        "anchor_id": anchor_id,
        "document_id": document_id,
        "page": 1,
        "kind": kind,
        "key": key,
        "heading": heading,
        "parent_anchor_id": parent,
        "form": "",
        "perspective": perspective,
        "repeat_ix": 0,
        "source": "layout",
        "element_id": f"{document_id}:p0001:e{anchor_id[-2:]}0",
        "confidence": 1.0,
        "bbox": _BOX,
    }


def face(document_id: str, form: str, key: str, label: str) -> dict[str, Any]:
    """One row of `faces`."""
    return {
        "document_id": document_id,
        "form": form,
        "revision": "",
        "box_key": key,
        "label": label,
        "is_unlabelled": False,
        "page": 1,
        "bbox": _BOX,
        "field_names": [],
        "confidence": 1.0,
    }


def registered(row: dict[str, Any], revision: str) -> dict[str, Any]:
    """The registry's row for a face box."""
    return {
        **{name: row[name] for name in ("document_id", "form", "box_key", "label", "confidence")},
        "revision": revision,
        "canonical_id": f"{row['form']}/{revision}/{row['box_key']}",
        "aliases": [],
        "group_id": None,
        "history": [],
        "source": f"{row['document_id']}:p1",
    }


def element(document_id: str, page: int, ix: int, **corners: float) -> dict[str, Any]:
    """One row of `elements`."""
    return {
        "element_id": f"{document_id}:p{page:04d}:e{ix:04d}",
        "document_id": document_id,
        "page": page,
        "element_ix": ix,
        "column_ix": 0,
        "role": "BodyText",
        "role_confidence": 1.0,
        "text": "Printed words.",
        "bbox": {**_BOX, **corners},
        "table_id": None,
        "size_pt": 9.0,
        "is_bold": False,
    }


def section(element_id: str, anchor_id: str | None, ix: int, text: str) -> dict[str, Any]:
    """One row of `sections`."""
    return {
        "element_id": element_id,
        "anchor_id": anchor_id,
        "document_id": element_id.rsplit(":", 2)[0],
        "page": 1,
        "paragraph_ix": ix,
        "source": "layout",
        "role": "BodyText",
        "table_id": None,
        "text": text,
        "element_ids": [element_id],
        "pieces": [{"start": 0, "end": len(text), "page": 1, **_BOX}],
    }


def reference(place: dict[str, Any], kind: str, target: str, relation: str, **more: Any) -> dict[str, Any]:
    """One row of `references`: the whole text of a section is its evidence."""
    return {
        **{name: place[name] for name in ("document_id", "page", "element_id", "anchor_id")},
        "start": 0,
        "end": len(place["text"]),
        "mention_start": 0,
        "mention_end": 1,
        "kind": kind,
        "target": target,
        "target_form": "",
        "evidence": place["text"],
        "is_self": False,
        "relation": relation,
        "polarity": "positive",
        "confidence": 0.9,
        "rule_id": f"test.{kind}",
        "created_by": "regex",
        **more,
    }


class Corpus:
    """Rows of every table the graph is made from, and the graph."""

    def __init__(self) -> None:
        self.documents = [
            document("f9--2031-01", "9", "form", "2031-01"),
            document("f9--2028-01", "9", "form", "2028-01"),
            document("f9--2032-draft", "9", "form", "2032-01", is_draft=True),
            document("i9--2030-01", "9", "filer_instructions", "2030-01"),
            document("f8--2031", "8", "form", "2031"),
        ]
        self.elements = [element(row["document_id"], 1, 0) for row in self.documents]
        self.anchors = [
            anchor("f9--2031-01#01", "section", None, "Instructions for Recipient", perspective="recipient"),
            anchor("f9--2031-01#02", "box", "box_1", "Box 1.", perspective="recipient", parent="f9--2031-01#01"),
            anchor("i9--2030-01#01", "section", None, "Specific Instructions", perspective="filer"),
            anchor("i9--2030-01#02", "box", "box_1", "Box 1. Pay", perspective="filer", parent="i9--2030-01#01"),
            anchor(
                "i9--2030-01#03",
                "box_group",
                "boxes_2-3",
                "Boxes 2 and 3",
                perspective="filer",
                parent="i9--2030-01#01",
            ),
        ]
        self.faces = [
            face("f9--2031-01", "9", "box_1", "Pay"),
            face("f9--2031-01", "9", "box_2", "Tax withheld"),
            face("f9--2028-01", "9", "box_1", "Pay"),
            face("f8--2031", "8", "box_4", "Tax withheld"),
        ]
        self.registry = [registered(row, row["document_id"].split("--")[1]) for row in self.faces]
        self.links: list[dict[str, Any]] = []
        self.sections = [
            section("f9--2031-01:p0001:e021", "f9--2031-01#02", 0, "Shows your pay."),
            section("i9--2030-01:p0001:e021", "i9--2030-01#02", 0, "Enter pay, which box 2 does not hold."),
            section("i9--2030-01:p0001:e031", "i9--2030-01#03", 1, "See Form 7 for both."),
        ]
        self.references = [
            reference(self.sections[1], "box", "box_2", "excludes", polarity="negative"),
            reference(self.sections[2], "form", "Form 7", "references"),
        ]

    def frames(self) -> dict[str, Any]:
        """The input tables, validated."""
        return {
            "documents": frame_of(Documents, self.documents),
            "anchors": frame_of(Anchors, self.anchors),
            "elements": frame_of(Elements, self.elements),
            "sections": frame_of(Sections, self.sections),
            "tables": Tables.create_empty(),
            "references": frame_of(References, self.references),
            "registry": frame_of(Registry, self.registry),
            "faces": frame_of(Faces, self.faces),
            "links": frame_of(Links, self.links) if self.links else Links.create_empty(),
        }

    @staticmethod
    def lines_and_flows() -> dict[str, Any]:
        """The tables of lines, empty: these forms have boxes only."""
        return {"lines": Lines.create_empty(), "flows": Flows.create_empty()}

    def graph(self) -> tuple[dy.DataFrame[Nodes], dy.DataFrame[Edges]]:
        """Build the graph."""
        frames = self.frames()
        nodes = build_nodes(**frames)
        kept = ("anchors", "sections", "references", "registry", "documents", "links")
        return nodes, build_edges(nodes, **{name: frames[name] for name in kept}, **self.lines_and_flows())
