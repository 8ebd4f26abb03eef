"""Decision charts that a tag holds as one paragraph: each box and each answer between boxes is a text of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from taxkg_assets.extraction.forms.face_cells import find_cell
from taxkg_assets.extraction.layout.lines import Line
from taxkg_assets.extraction.layout.ruling import Ruling, merge_rules
from taxkg_assets.extraction.pdf.geometry import Corners
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.extraction.structure.tagged_page import TagUnit
from taxkg_assets.rules.models.tables import load_tables

# A chart has at least this number of answers between its boxes, each shorter than this.
_LEAST_ANSWERS, _ANSWER_CHARS = 3, 12
# Lines outside of boxes at most this far from each other, in type sizes, belong together.
_NEAR_SIZES = 1.5


def split_charts(page: Page, units: Sequence[TagUnit]) -> list[TagUnit]:
    """Split units that contain a decision chart: each drawn box, each answer (`Yes`) and each other text is one unit.

    Args:
        page: The page.
        units: Text of the page by structure tag.

    Returns:
        Units in the order of the tags; those without a chart are unchanged.
    """
    if not any(rule.is_horizontal for rule in page.rules):
        return list(units)
    ruling: Ruling | None = None
    new_units: list[TagUnit] = []
    for unit in units:
        if unit.table_ix >= 0 or len(unit.lines) < _LEAST_ANSWERS or sum(map(_is_answer, unit.lines)) < _LEAST_ANSWERS:
            new_units.append(unit)
            continue
        ruling = ruling if ruling is not None else merge_rules(page.rules)
        new_units += [replace(unit, path=(), lines=lines) for lines in _find_pieces(unit.lines, ruling)]
    return new_units


def _is_answer(line: Line) -> bool:
    return len(line.text) < _ANSWER_CHARS and load_tables().chart_answers.matches(line.text)


def _find_pieces(lines: Sequence[Line], ruling: Ruling) -> list[list[Line]]:
    """Group lines that follow each other in one box, or close to each other outside of boxes."""
    pieces: list[list[Line]] = []
    previous_cell: Corners | None = None
    for line in lines:
        corners = None if _is_answer(line) else find_cell(line, ruling)
        line_above = pieces[-1][-1] if pieces else None
        is_next = (
            line_above is not None
            and not _is_answer(line)
            and not _is_answer(line_above)
            and corners == previous_cell
            and (corners is not None or abs(line.base - line_above.base) <= _NEAR_SIZES * line.size)
        )
        if is_next:
            pieces[-1].append(line)
        else:
            pieces.append([line])
        previous_cell = corners
    return pieces
