"""What the names of fields mean in every reply: a name means one thing, whichever type has it."""

from __future__ import annotations

from typing import Any

MEANINGS = {
    "abstained": "whether the library does not answer the question",
    "anchor_key": "box, line or section that it falls under, e.g. box_1a; null for none",
    "answer": "the answer with its citations [n]; null if it abstains",
    "bbox": "rectangle, in points from the top left of its page",
    "bboxes": "rectangles, in points from the top left of their pages",
    "cells": "body cells of the table",
    "chunk_id": "passage of the index that contains it; empty if unknown",
    "citations": "quotes behind the sentences of a model",
    "column": "column of a table; may be empty",
    "compared": "values of the statement next to those of the passage",
    "confidence": "estimated chance that the answer contains what is needed, 0 to 1",
    "corrections": "words of the question that were taken for typing errors, with the words that were searched for",
    "counts": "number of statements for each verdict",
    "created_by": "rule: quoted; llm: worded by a model and checked",
    "doc_type": "form, filer_instructions, recipient_instructions, publication, statute or other",
    "document": "document id",
    "fields": "fields to be filled in; of a revision their number",
    "findings": "statements and quotations with their verdicts",
    "form": "form or publication number, e.g. 1099-DIV; empty if unknown",
    "heading_path": "headings above it, joined with ' > '",
    "height": "height of the page in points",
    "is_draft": "whether it is a draft",
    "is_equal": "whether both values are the same",
    "kind": "kind of the field: text, checkbox, choice or signature",
    "label": "words printed for it, or heading above it",
    "law": "quality check that the document failed",
    "level": "size of the passages: document, page, section or paragraph",
    "message": "what was found, in one sentence",
    "outcome": "answer, guidance (general guidance only) or abstention",
    "model": "name of the model that worded it; empty for quotes",
    "node_id": "id of its node, for `/v1/nodes` and `/v1/evidence`; empty if unknown",
    "outline": "headings in reading order",
    "page": "page of the PDF, from 1",
    "pages": "number of pages",
    "paragraphs": "paragraphs, list items and captions in reading order",
    "part": "part of the form: I, II, …; may be empty",
    "pieces": "its pieces in reading order",
    "places": "pages that the index names",
    "quality": "quality flags: what may be wrong, and what to do",
    "official_url": "the section on the publisher's web page",
    "quote": "words of the passage that support the sentence",
    "rank": "number of the passage, from 1; [n] in an answer",
    "rectangles": "rectangles, in points from the top left of their pages",
    "remedy": "what to do about it",
    "results": "ranked passages",
    "revision": "revision, YYYY-MM or YYYY; empty if unknown",
    "revisions": "revisions, the newest first",
    "role": "label, lead_in, sentence, item, row, cell or note",
    "row": "row of a table; may be empty",
    "score": "score of the ranking; higher is better, comparable within one reply only",
    "section": "heading above it; may be empty",
    "sentence_ix": "number of the sentence, from 0",
    "table_id": "id of the table",
    "tables": "tables of the page",
    "tax_year": "tax year; null if it has none",
    "term": "term as printed",
    "text": "its words",
    "title": "title as printed",
    "units": "parts of an answer by rule, each piece with its rectangles",
    "verdict": "verbatim, supported, contradicted, other_year, other_form, not_found or unclear",
    "via": "how it was found: ranks, what was read from the question, equal passages of other revisions (`same_in`)",
    "width": "width of the page in points",
    "x0": "left edge in points",
    "x1": "right edge in points",
    "y0": "upper edge in points",
    "y1": "lower edge in points",
}
"""Meaning of each name that a type does not describe itself."""


def describe_fields(document: dict[str, Any]) -> None:
    """Add descriptions to the fields of an OpenAPI document whose types have none.

    Args:
        document: OpenAPI document; it is changed.
    """
    for schema in document["components"]["schemas"].values():
        for name, field in schema.get("properties", {}).items():
            if "description" not in field and name in MEANINGS:
                field["description"] = MEANINGS[name]
