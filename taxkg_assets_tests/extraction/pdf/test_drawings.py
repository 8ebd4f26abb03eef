"""What a PDF draws comes back as rules and fills; what cannot be seen or is slanted does not."""

from __future__ import annotations

import pymupdf

from taxkg_assets.extraction.pdf.drawings import read_drawings


def test_lines_thin_boxes_and_frames_are_rules_and_shading_is_a_fill() -> None:
    page = pymupdf.open().new_page(width=200, height=200)
    page.draw_line((10, 20), (90, 20))
    page.draw_line((10, 100), (90, 160))
    page.draw_rect((10, 30, 90, 31), color=None, fill=(0, 0, 0))
    page.draw_rect((10, 40, 90, 60), color=(0, 0, 0))
    page.draw_rect((10, 70, 90, 90), color=None, fill=(0.8, 0.8, 0.8))
    page.draw_rect((100, 70, 190, 90), color=None, fill=(1, 1, 1))
    rules, fills, _ = read_drawings(page)
    levels = sorted((round(rule.y0), rule.is_horizontal) for rule in rules)
    assert levels == [(20, True), (30, True), (40, False), (40, False), (40, True), (60, True)]
    assert [(round(fill.x0), round(fill.y0), fill.color) for fill in fills] == [(10, 70, 0xCCCCCC)]
