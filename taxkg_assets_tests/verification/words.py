"""The language of the tests: the product's own terms and mentions, one weight for every word, no encoder."""

from __future__ import annotations

from typing import Any

from taxkg_assets.extraction.references.mentions import Headings, find_mentions
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.verification.claims import Claim, read_claim
from taxkg_assets.verification.draft import Statement
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.language import Language

LANGUAGE = Language(
    find_terms=find_terms,
    read_weight=lambda term: 3.0,
    unknown_weight=9.0,
    find_mentions=lambda text: find_mentions(text, headings=Headings({})),
)


def claim_of(text: str, *, lead_in: str = "") -> Claim:
    """The claim of one statement."""
    return read_claim(Statement(text, 0, len(text), lead_in=lead_in), language=LANGUAGE)


def passage_of(text: str, **given: Any) -> Passage:
    """A sentence of the instructions of an invented form."""
    values: dict[str, Any] = {
        "document_id": "i9999--2031",
        "node_id": "i9999--2031:p0001:e0001",
        "kind": "sentence",
        "text": text,
        "start": 0,
        "end": len(text),
        "lead_in": "",
        "before": "",
        "headings": ("Instructions for Form 9999 (2031)",),
        "label": "",
        "keys": frozenset(),
        "page": 1,
        "bboxes": (),
    }
    return Passage(**{**values, **given})
