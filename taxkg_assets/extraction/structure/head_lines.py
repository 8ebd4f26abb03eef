"""Printed lines of a page as its masthead, running heads and footers are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from taxkg_assets.extraction.pdf.model import Page, Span
from taxkg_assets.rules.models.identity import load_identity

_PLACE = attrgetter("y1", "x0")


@dataclass(frozen=True, slots=True)
class HeadLine:
    """One printed line: spans on one baseline, left to right; `runs` are its stretches of one type size."""

    page: int
    text: str
    size_pt: float
    y_frac: float
    runs: tuple[HeadLine, ...] = ()


def squeeze(text: str) -> str:
    """Collapse whitespace to single spaces.

    Args:
        text: Text of spans.

    Returns:
        The text on one line.
    """
    return " ".join(text.replace("\u00a0", " ").split())


def find_head_lines(page: Page, *, is_whole: bool) -> list[HeadLine]:
    """Join the spans on each baseline of a page to lines; a wide gap begins a new line.

    Args:
        page: The page.
        is_whole: Whether to return all lines; otherwise those at the top and bottom and those that may name a form.

    Returns:
        Lines from top to bottom.
    """
    spans = sorted((span for span in page.spans if span.text.strip()), key=_PLACE)
    rows: list[list[Span]] = []
    for span in spans:
        if rows and abs(span.y1 - rows[-1][0].y1) <= 0.35 * max(span.size_pt, rows[-1][0].size_pt):
            rows[-1].append(span)
        else:
            rows.append([span])
    if not is_whole:
        edge_pt = load_identity().limits.edge_frac * page.height_pt + 1.0
        footer_y = page.height_pt - edge_pt
        rows = [
            row
            for row in rows
            if any(not edge_pt < span.y0 < footer_y or span.text.lstrip().startswith("F") for span in row)
        ]
    return [line for row in rows for line in _split_at_gaps(page, sorted(row, key=lambda span: span.x0))]


def _split_at_gaps(page: Page, row: list[Span]) -> Iterator[HeadLine]:
    part = row[:1]
    for span in row[1:]:
        if span.x0 - part[-1].x1 > 3.0 * span.size_pt:
            yield _as_line(page, part)
            part = []
        part.append(span)
    yield _as_line(page, part)


def _as_line(page: Page, spans: list[Span]) -> HeadLine:
    first_span = spans[0]
    y_frac = first_span.y0 / page.height_pt if page.height_pt else 0.0
    if len(spans) == 1:
        return HeadLine(page.page, squeeze(first_span.text), first_span.size_pt, y_frac, ())
    sizes = {round(span.size_pt) for span in spans}
    runs = [list(run) for _, run in groupby(spans, key=lambda span: round(span.size_pt))] if len(sizes) > 1 else []
    return HeadLine(
        page=page.page,
        text=squeeze(" ".join(span.text for span in spans)),
        size_pt=max(span.size_pt for span in spans),
        y_frac=y_frac,
        runs=tuple(_as_line(page, run) for run in runs),
    )


def find_size_runs(lines: list[HeadLine]) -> list[HeadLine]:
    """Split lines where their type size changes.

    Args:
        lines: Printed lines.

    Returns:
        Parts of the lines, each of one type size.
    """
    return [run for line in lines for run in (line.runs or (line,))]
