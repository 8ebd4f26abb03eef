"""The extraction report: counts by document type, document checks, what to check, figures on labels."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import polars as pl

from taxkg_assets.evaluation.extraction_report import render_extraction_report
from taxkg_assets.evaluation.report import RenderedReport
from taxkg_assets.schemas import DocumentQuality, Documents, FamilyFigures, Quarantine

TAGS, LAYOUT = ({"page": 1, "source": name, "reason": ""} for name in ("tags", "layout"))
DOCUMENTS = [
    {"document_id": "i9999", "doc_type": "filer_instructions", "page_count": 3, "page_sources": [TAGS, TAGS, LAYOUT]},
    {"document_id": "f9999", "doc_type": "form", "page_count": 1, "page_sources": [LAYOUT]},
]
COUNTS = pl.DataFrame(
    {
        "document_id": ["i9999", "f9999"],
        "elements": [300, 100],
        "anchors": [40, 5],
        "fields": [None, 9],
        "tables": [2, None],
        "role_confidence": [0.9, 0.7],
    }
)


def _frame(schema: Any, rows: list[dict[str, Any]]) -> Any:
    return schema.validate(pl.DataFrame(rows, schema=schema.create_empty().schema), cast=True)


def _outcome(document: str, outcome: str, **given: Any) -> dict[str, Any]:
    row = {"document_id": document, "law": "boxes_are_explained", "strength": "incomplete", "outcome": outcome}
    return {**row, "rows": 0, "message": "", "examples": [], "remedy": "", **given}


def _render(*, figures: list[dict[str, Any]], refused: list[dict[str, Any]]) -> RenderedReport:
    flagged = _outcome("f9999", "flagged", rows=2, message="Two boxes <b> lack a text.", remedy="Add the booklet.")
    rows = [{"image_only_pages": [], "warnings": [], "hidden_texts": [], **row} for row in DOCUMENTS]
    return render_extraction_report(
        Documents.sample(overrides=rows),
        quality=_frame(DocumentQuality, [_outcome("i9999", "passed"), flagged]),
        quarantine=_frame(Quarantine, refused),
        figures=_frame(FamilyFigures, figures),
        counts=COUNTS,
    )


def test_counts_are_by_document_type_and_confidence_is_weighted_by_elements() -> None:
    text = _render(figures=[], refused=[]).markdown
    assert "| filer instructions | 1 | 3 | 2 | 0 | 1 | 0 | 300 | 40 | 0 | 2 | 0.900 |" in text
    assert "| **all** | 2 | 4 | 2 | 0 | 2 | 0 | 400 | 45 | 9 | 2 | 0.850 |" in text  # (300 × .9 + 100 × .7) / 400
    assert "| boxes are explained | flags | 1 | **1** | 0 |" in text


def test_failed_checks_and_quarantine_are_named_with_their_remedy() -> None:
    refused = {
        "document_id": "bad",
        "sha256": "0" * 64,
        "source_uri": "in/bad.pdf",
        "stage": "open",
        "reason": "The file is no PDF.",
        "remedy": "Fetch it again.",
        "is_check_failure": False,
        "code_version": "1",
        "first_seen_at": datetime(2031, 1, 1, tzinfo=UTC),
    }
    pages = _render(figures=[], refused=[refused])
    assert "| bad | quarantine | open: The file is no PDF. | Fetch it again. |" in pages.markdown
    assert "Two boxes &lt;b&gt; lack a text." in pages.html
    assert "<b>" not in pages.html


def test_the_least_certain_document_comes_first() -> None:
    text = _render(figures=[], refused=[]).markdown.partition("Least certain")[2]
    assert text.index("f9999") < text.index("i9999")


def test_figures_on_labels_are_shown_or_called_not_measured() -> None:
    rows = [
        {"metric": "ownership_accuracy", "group": group, "family": family, "value": value, "n": n}
        for group, family, value, n in (
            ("development", "all", 0.95, 40),
            ("left out", "all", 0.8, 20),
            ("development", "1", 0.95, 40),
            ("left out", "2", 0.8, 20),
        )
    ]
    pages = _render(figures=rows, refused=[])
    assert "| paragraphs under their heading | 0.950 | 0.800 | 40 | 20 |" in pages.markdown
    assert "Paragraphs under their heading, by family" in pages.html
    assert "Not measured" in _render(figures=[], refused=[]).markdown
