"""Spans to runs: the pieces of a printed line that stand in one cell.

A run never crosses a wide gap or a dotted leader; a list mark stays with its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from taxkg_assets.extraction.layout.lines import LIST_MARKS, are_joined
from taxkg_assets.extraction.layout.ruling import Ruling
from taxkg_assets.extraction.pdf.model import Span
from taxkg_assets.rules.models.tables import load_tables


# Not frozen, because frozen instances are slower to make; changed only while spans are joined.
@dataclass(slots=True)
class Run:
    """Text of one cell in one printed line.

    Attributes:
        text: Text without blanks around it.
        x0: Left edge, in points.
        y0: Upper edge.
        x1: Right edge.
        y1: Lower edge.
        size_pt: Type size.
        is_bold: Whether all spans are bold.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size_pt: float
    is_bold: bool

    @property
    def middle(self) -> float:
        """Return the vertical middle, in points from the top of the page."""
        return (self.y0 + self.y1) / 2

    @property
    def center(self) -> float:
        """Return the horizontal center, in points from the left of the page."""
        return (self.x0 + self.x1) / 2


def split_leaders(spans: Iterable[Span]) -> list[Span]:
    """Split dotted leaders off the spans they are stored with, assuming equally wide characters.

    Args:
        spans: Spans of the page.

    Returns:
        Spans without leaders, in the same order.
    """
    parts: list[Span] = []
    pattern = load_tables().inner_leaders.leader_inside_text.pattern
    for span in spans:
        if ".." not in span.text and ". ." not in span.text:
            parts.append(span)
            continue
        edges = sorted({0, len(span.text), *(edge for match in pattern.finditer(span.text) for edge in match.span())})
        step = (span.x1 - span.x0) / max(1, len(span.text))
        for start, end in pairwise(edges):
            parts.append(replace(span, text=span.text[start:end], x0=span.x0 + start * step, x1=span.x0 + end * step))
    return parts


def find_runs(spans: Iterable[Span], *, ruling: Ruling) -> list[Run]:
    """Join the spans of each printed line into runs of one cell, without leaders and blanks.

    Drawn vertical lines separate runs, too.

    Args:
        spans: Spans of the page.
        ruling: Drawn lines of the page.

    Returns:
        Runs in the order of the PDF.
    """
    join_em = load_tables().runs.join_em
    runs: list[Run] = []
    line_place, is_open = (-1, -1), False
    parts = (part for span in spans for part in _split_at_walls(span, ruling)) if ruling.verticals else spans
    for span in parts:
        text = span.text
        stripped = text.strip()
        last_run = runs[-1] if runs else None
        if last_run is not None and stripped == "." and _ends_number(last_run, span):
            last_run.text, last_run.x1 = f"{last_run.text}.", span.x1
            continue
        # No leader begins with a letter, as nearly all spans do.
        if not stripped or (not stripped[0].isalnum() and load_tables().leaders.matches(text)):
            # Blanks inside a line keep the run open, a leader ends it.
            is_open = is_open and not stripped
            continue
        x0, x1 = (span.x0, span.x1) if stripped == text else _strip_extent(span)
        span_place = (span.block_ix, span.line_ix)
        if (
            is_open
            and last_run
            and span_place == line_place
            and -1.0 <= x0 - last_run.x1 <= join_em * span.size_pt
            and not _is_walled(ruling, last_run, x0)
        ):
            last_run.text += " " + stripped if x0 - last_run.x1 > 0.12 * span.size_pt else stripped
            last_run.x1, last_run.y0, last_run.y1 = x1, min(last_run.y0, span.y0), max(last_run.y1, span.y1)
            last_run.is_bold = last_run.is_bold and span.is_bold
        else:
            runs.append(Run(stripped, x0, span.y0, x1, span.y1, span.size_pt, span.is_bold))
        line_place, is_open = span_place, True
    return _with_marks_joined(runs)


def _ends_number(run: Run, span: Span) -> bool:
    """Decide whether a span is the period of a row's number, set in another font than the number; a leader is none."""
    is_level = abs(span.y1 - run.y1) <= load_tables().runs.same_line_pt
    is_near = is_level and abs(span.x0 - run.x1) <= load_tables().runs.period_em * span.size_pt
    return is_near and run.text.isalnum() and is_line_number(f"{run.text}.")


def is_amount(text: str) -> bool:
    """Return whether a cell's text is a number, an amount, a rate or a printed blank.

    Args:
        text: Text of a cell.
    """
    # None begins with a letter, as nearly all texts do.
    return not text[:1].isalpha() and load_tables().amounts.matches(text)


def is_numbered(text: str) -> bool:
    """Return whether a line begins with the number of a worksheet line.

    Args:
        text: Text of a line.
    """
    return load_tables().worksheet_lines.matches(text)


def is_line_number(text: str) -> bool:
    """Return whether a text consists of the number or letter of a worksheet line.

    Args:
        text: Text of a cell.
    """
    return load_tables().line_numbers.matches(text)


def is_year(text: str) -> bool:
    """Return whether a text consists of a year.

    Args:
        text: Text of a cell.
    """
    return load_tables().years.matches(text)


def is_note(text: str) -> bool:
    """Return whether a line begins like a footnote or a note.

    Args:
        text: Text of a line.
    """
    return load_tables().notes.matches(text)


def is_filing_note(text: str) -> bool:
    """Return whether a line is the remark printed next to a worksheet's caption.

    Args:
        text: Text of a line.
    """
    return load_tables().filing_notes.matches(text)


def is_caption(text: str) -> bool:
    """Return whether a line begins like the numbered caption of a table or worksheet.

    Args:
        text: Text of a line.
    """
    return load_tables().captions.numbered_table.pattern.search(text) is not None


def find_lines(runs: Iterable[Run]) -> list[list[Run]]:
    """Group runs into printed lines, top to bottom, each from left to right.

    Args:
        runs: Runs of one page or table.

    Returns:
        Runs of each line, from left to right.
    """
    slack = load_tables().runs.same_line_pt
    lines: list[list[Run]] = []
    line_middle = 0.0
    for middle, _, _, run in sorted((run.middle, run.x0, ix, run) for ix, run in enumerate(runs)):
        if lines and middle - line_middle <= slack:
            lines[-1].append(run)
        else:
            lines.append([run])
            line_middle = middle
    return [sorted(line, key=lambda run: run.x0) if len(line) > 1 else line for line in lines]


def join_text(runs: Iterable[Run]) -> str:
    """Join the runs of a cell, undoing hyphenation between lower-case letters at line ends.

    Args:
        runs: Runs of one cell.

    Returns:
        Text of the cell.
    """
    run_list = list(runs)
    if len(run_list) == 1:
        # Most cells hold one run.
        return " ".join(run_list[0].text.split())
    text = ""
    for line in find_lines(run_list):
        part = _join_line(line)
        if text.endswith("-") and len(text) > 1 and text[-2].islower() and part[:1].islower():
            text = text[:-1] + part
        elif text.endswith(("/", "—")) and part[:1] not in LIST_MARKS:
            text += part
        else:
            text = f"{text} {part}" if text else part
    return " ".join(text.split())


def _join_line(runs: Sequence[Run]) -> str:
    """Join the runs of one line of a cell, without a blank where they meet."""
    text = runs[0].text
    for run_before, run in pairwise(runs):
        is_one = are_joined(
            run_before.text, run.text, gap_pt=run.x0 - run_before.x1, size_pt=max(run_before.size_pt, run.size_pt)
        )
        text = text + run.text if is_one else f"{text} {run.text}"
    return text


def _split_at_walls(span: Span, ruling: Ruling) -> list[Span]:
    """Cut a span that runs over a drawn vertical at the blank nearest to it, taking characters as equally wide."""
    if " " not in span.text.strip():
        return [span]
    wall = ruling.right(span.x0 + 4, (span.y0 + span.y1) / 2)
    if wall is None or wall.at >= span.x1 - 4:
        return [span]
    step = (span.x1 - span.x0) / len(span.text)
    blank_ixs = [ix for ix, letter in enumerate(span.text) if letter == " "]
    cut_ix = min(blank_ixs, key=lambda ix: abs(span.x0 + (ix + 0.5) * step - wall.at))
    cut_x = span.x0 + (cut_ix + 0.5) * step
    if abs(cut_x - wall.at) > 2 * span.size_pt:
        return [span]
    left_part, right_part = (
        replace(span, text=span.text[:cut_ix], x1=wall.at - 1),
        replace(span, text=span.text[cut_ix:], x0=wall.at + 1),
    )
    return [left_part, *_split_at_walls(right_part, ruling)]


def _is_walled(ruling: Ruling, run: Run, x: float) -> bool:
    """Decide whether a vertical is between a run and what begins at x."""
    wall = ruling.right(run.x1 - 1.5, run.middle) if x - run.x1 > 1.0 else None
    return wall is not None and wall.at <= x + 1.0


def _strip_extent(span: Span) -> tuple[float, float]:
    """Cut leading and trailing blanks off a span's extent, taking characters as equally wide."""
    text = span.text
    step = (span.x1 - span.x0) / len(text)
    lead_count = len(text) - len(text.lstrip())
    tail_count = len(text) - len(text.rstrip())
    return span.x0 + 0.6 * lead_count * step, span.x1 - 0.6 * tail_count * step


def _with_marks_joined(runs: list[Run]) -> list[Run]:
    """Put a list mark that is alone before the text to its right."""
    joined_runs: list[Run] = []
    for run in runs:
        last_run = joined_runs[-1] if joined_runs else None
        if (
            last_run is not None
            and 0 <= run.x0 - last_run.x1 <= 3.5 * run.size_pt
            and abs(last_run.middle - run.middle) <= 3.0
            and load_tables().bullets.matches(last_run.text)
        ):
            joined_runs[-1] = replace(
                run, text=f"{last_run.text} {run.text}", x0=last_run.x0, y0=min(last_run.y0, run.y0)
            )
        else:
            joined_runs.append(run)
    return joined_runs
