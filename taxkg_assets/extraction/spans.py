"""The table `spans`: every run of text of a document with its type and place."""

from __future__ import annotations

import dataframely as dy
import polars as pl

from taxkg_assets.extraction.pages import Source
from taxkg_assets.schemas import Spans


def build_spans(source: Source) -> dy.DataFrame[Spans]:
    """Build one row per visible run of text in one font."""
    spans = [span for page in source.pages for span in page.spans]
    pages = [page.page for page in source.pages for _ in page.spans]
    frame = pl.DataFrame(
        {
            "document_id": pl.Series([source.document_id], dtype=pl.String).new_from_index(0, len(spans)),
            "page": pl.Series(pages, dtype=pl.Int32),
            "span_ix": pl.Series([span.span_ix for span in spans], dtype=pl.Int32),
            "text": pl.Series([span.text for span in spans], dtype=pl.String),
            "font": pl.Series([span.font for span in spans], dtype=pl.String),
            "size_pt": pl.Series([span.size_pt for span in spans], dtype=pl.Float64),
            "is_bold": pl.Series([span.is_bold for span in spans], dtype=pl.Boolean),
            "is_italic": pl.Series([span.is_italic for span in spans], dtype=pl.Boolean),
            "color": pl.Series([span.color for span in spans], dtype=pl.Int32),
            "x0_pt": pl.Series([span.x0 for span in spans], dtype=pl.Float64),
            "y0_pt": pl.Series([span.y0 for span in spans], dtype=pl.Float64),
            "x1_pt": pl.Series([span.x1 for span in spans], dtype=pl.Float64),
            "y1_pt": pl.Series([span.y1 for span in spans], dtype=pl.Float64),
        }
    )
    return Spans.validate(frame, cast=True)
