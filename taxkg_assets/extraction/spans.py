"""The table `spans`: every run of text of a document with its type and place."""

from __future__ import annotations

import dataframely as dy

from taxkg_assets.extraction.pdf.model import Source
from taxkg_assets.schemas import Spans, build_frame, validated


def build_spans(source: Source) -> dy.DataFrame[Spans]:
    """Build one row per visible run of text in one font.

    Args:
        source: The document as shown.

    Returns:
        Rows of `spans` in stored order.
    """
    spans = [span for page in source.pages for span in page.spans]
    columns = {
        "document_id": [source.document_id] * len(spans),
        "page": [page.page for page in source.pages for _ in page.spans],
        "span_ix": [span.span_ix for span in spans],
        "text": [span.text for span in spans],
        "font": [span.font for span in spans],
        "size_pt": [span.size_pt for span in spans],
        "is_bold": [span.is_bold for span in spans],
        "is_italic": [span.is_italic for span in spans],
        "color": [span.color for span in spans],
        "x0_pt": [span.x0 for span in spans],
        "y0_pt": [span.y0 for span in spans],
        "x1_pt": [span.x1 for span in spans],
        "y1_pt": [span.y1 for span in spans],
    }
    return validated(build_frame(columns, Spans), Spans)
