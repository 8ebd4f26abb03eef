"""Invented revisions as frames: a few headings, paragraphs, printed pieces and boxes of two documents to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.graph.revisions import build_revisions, find_revision_changes
from taxkg_assets.schemas import Anchors, Documents, Elements, Faces, Revisions, Sections, Tables
from taxkg_assets_tests.graph.corpora import anchor, document, element, face, frame_of, section


class Paper:
    """One document: what is put in is printed in that order."""

    def __init__(
        self, document_id: str, revision: str, *, form: str = "9", doc_type: str = "form", is_draft: bool = False
    ) -> None:
        self.document = document(document_id, form, doc_type, revision, is_draft=is_draft)
        self.id = document_id
        self.form = form
        self.anchors: list[dict[str, Any]] = []
        self.sections: list[dict[str, Any]] = []
        self.elements: list[dict[str, Any]] = []
        self.faces: list[dict[str, Any]] = []

    def _element(self, text: str, page: int) -> str:
        row = element(self.id, page, len(self.elements)) | {"text": text}
        self.elements.append(row)
        return str(row["element_id"])

    def heading(self, text: str, key: str | None = None, *, kind: str = "section", page: int = 1) -> Paper:
        """Print a heading; what follows is under it."""
        element_id = self._element(text, page)
        row = anchor(f"{self.id}#{len(self.anchors):02d}", kind, key, text, perspective="filer")
        self.anchors.append(row | {"element_id": element_id, "page": page})
        return self

    def text(self, *texts: str, page: int = 1) -> Paper:
        """Print paragraphs."""
        for text in texts:
            self.piece(text, page=page, role="BodyText")
        return self

    def piece(
        self, text: str, *, x: float = 1.0, y: float = 1.0, width: float = 8.0, page: int = 1, role: str = "FormField"
    ) -> Paper:
        """Print one piece at a place."""
        element_id = self._element(text, page)
        owner = self.anchors[-1]["anchor_id"] if self.anchors else None
        corners = {"x0_pt": x, "y0_pt": y, "x1_pt": x + width, "y1_pt": y + 8.0}
        row = section(element_id, owner, len(self.sections), text) | {"role": role, "page": page}
        row["pieces"] = [{"start": 0, "end": len(text), "page": page, **corners}]
        self.sections.append(row)
        return self

    def margin(self, text: str, *, page: int = 1) -> Paper:
        """Print something at the edge of a page, which belongs to no paragraph."""
        self._element(text, page)
        self.elements[-1]["role"] = "PageArtifact"
        return self

    def line(self, number: str, words: str) -> Paper:
        """Print a numbered line, as the extraction puts it together."""
        self.heading(f"{number} {words}", f"line_{number}", kind="line").piece(f"{number} {words}")
        self.sections[-1]["element_id"] = self.sections[-1]["element_ids"][0] = self.anchors[-1]["element_id"]
        parts = [row for row in self.anchors if row["kind"] == "part"]
        self.anchors[-1]["parent_anchor_id"] = parts[-1]["anchor_id"] if parts else None
        self.elements.pop()
        return self

    def box(self, key: str, label: str) -> Paper:
        """Print a box on the face."""
        self.faces.append(face(self.id, self.form, f"box_{key}", label))
        return self


def frames_of(papers: Sequence[Paper]) -> dict[str, pl.DataFrame]:
    """The tables that revisions are made from."""
    return {
        "sections": frame_of(Sections, [row for paper in papers for row in paper.sections]),
        "anchors": frame_of(Anchors, [row for paper in papers for row in paper.anchors]),
        "tables": Tables.create_empty(),
        "faces": frame_of(Faces, [row for paper in papers for row in paper.faces]),
        "elements": frame_of(Elements, [row for paper in papers for row in paper.elements]),
    }


def changes_between(before: Paper, after: Paper) -> list[dict[str, Any]]:
    """The changes between two papers, whatever they are."""
    return find_revision_changes(before.document, after.document, frames=frames_of([before, after]))


def revisions_of(*papers: Paper) -> tuple[dy.DataFrame[Revisions], Mapping[str, Any]]:
    """The table of a corpus of papers, and the tables that it was made from."""
    frames: dict[str, Any] = frames_of(papers)
    frames["documents"] = frame_of(Documents, [paper.document for paper in papers])
    return build_revisions(**frames), frames
