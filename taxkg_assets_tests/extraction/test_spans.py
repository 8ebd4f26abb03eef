"""Spans keep type, weight and place, and are the same bytes each time."""

from __future__ import annotations

from taxkg_assets.extraction.invariants import find_off_page_spans
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.extraction.spans import build_spans
from taxkg_assets_tests.extraction.typeset import Booklet


def test_one_row_per_run_of_one_font() -> None:
    source = Booklet().set(("Bold lead. ", "b"), ("Then plain ", ""), ("and italic.", "i")).source()
    spans = build_spans(source)
    assert spans.select("text", "is_bold", "is_italic").rows() == [
        ("Bold lead. ", True, False),
        ("Then plain ", False, False),
        ("and italic.", False, True),
    ]
    assert spans["span_ix"].to_list() == [0, 1, 2]
    assert find_off_page_spans(spans, source).is_empty()


def test_built_twice_is_equal() -> None:
    data = Booklet().lines("One line.", "Two lines.").bytes()
    frames = [build_spans(read_source(data, document_id="sample")) for _ in range(2)]
    assert frames[0].equals(frames[1])


def test_span_outside_its_page_is_found() -> None:
    source = Booklet().lines("Inside.").source()
    spans = build_spans(source)
    moved = spans.with_columns(x0_pt=spans["x0_pt"] + 900, x1_pt=spans["x1_pt"] + 900)
    assert find_off_page_spans(moved, source)["text"].to_list() == ["Inside."]
