"""The typesetter: blocks to lines, lines to columns, columns to pages. Draws with the Base-14 Helvetica family only."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import pymupdf

BLACK, BLUE, GRAY, WHITE = (0.0, 0.0, 0.0), (0.05, 0.35, 0.65), (0.90, 0.90, 0.90), (1.0, 1.0, 1.0)
Color = tuple[float, float, float]
PAGE_WIDTH, PAGE_HEIGHT = 612.0, 792.0
FONTS = {"regular": "helv", "bold": "hebo", "italic": "heit", "link": "heit"}
_METRICS = {style: pymupdf.Font(name) for style, name in FONTS.items()}
_INLINE = re.compile(r"\*\*(?P<bold>.+?)\*\*|\*(?P<italic>.+?)\*|\[(?P<link>.+?)\]")


@dataclass(frozen=True, slots=True)
class Measure:
    """Type sizes and page geometry of one kind of document, in points."""

    body_pt: float = 10.0
    leading_pt: float = 11.8
    headings_pt: dict[str, float] = field(default_factory=lambda: {"section": 14.0, "subsection": 12.0, "minor": 11.0})
    columns: tuple[tuple[float, float], ...] = ((42.0, 292.0), (318.0, 568.0))
    top: float = 44.0
    bottom: float = 736.0
    paragraph_gap_pt: float = 4.5
    first_line_pt: float = 12.0
    is_first_flush: bool = True


@dataclass(frozen=True, slots=True)
class Run:
    """Text in one style at an offset from the line's left edge and baseline."""

    x: float
    text: str
    style: str
    size_pt: float
    dy: float = 0.0


@dataclass(frozen=True, slots=True)
class Line:
    """A strip across a column; `keeps_next` forbids a break after it."""

    runs: tuple[Run, ...]
    height: float
    gap: float = 0.0
    keeps_next: bool = False
    icon: str = ""
    shaded: tuple[tuple[float, float, float, float], ...] = ()
    rules: tuple[tuple[float, float, float, float], ...] = ()


@cache
def width_of(text: str, style: str, size_pt: float) -> float:
    """Width of a text in points."""
    return float(_METRICS[style].text_length(text, size_pt))


def draw_text(
    shape: pymupdf.Shape, at: tuple[float, float], *, text: str, style: str, size_pt: float, color: Color = BLACK
) -> None:
    """Write one run; the Base-14 fonts are encoded in Windows-1252, curly quotes and dashes included."""
    shape.insert_text(at, text.encode("cp1252").decode("latin-1"), fontname=FONTS[style], fontsize=size_pt, color=color)


def _words(text: str) -> list[tuple[str, str, bool]]:
    """(word, style, is glued to the word before) for every word of a marked-up text."""
    out: list[tuple[str, str, bool]] = []
    position, glued = 0, False
    pieces: list[tuple[str, str]] = []
    for found in _INLINE.finditer(text):
        pieces.append((text[position : found.start()], "regular"))
        pieces.append((found.group(found.lastgroup or 0), found.lastgroup or "regular"))
        position = found.end()
    pieces.append((text[position:], "regular"))
    for piece, style in pieces:
        if not piece:
            continue
        glued = glued and not piece[0].isspace()
        for word in piece.split():
            out.append((word, style, glued))
            glued = False
        glued = not piece[-1].isspace()
    return out


def wrap(
    text: str, *, size_pt: float, width: Callable[[int], float], style: str = "regular"
) -> list[list[tuple[str, str]]]:
    """Fill lines greedily; returns lines of (text, style) runs. A long web address may break after a slash."""
    lines: list[list[tuple[str, str]]] = [[]]
    used = 0.0
    queue = [(word, style if own == "regular" else own, glued) for word, own, glued in _words(text)]
    for ix, (word, own, glued) in enumerate(queue):
        space = "" if glued or not lines[-1] else " "
        tail = word
        for following, _, is_glued in queue[ix + 1 :]:
            if not is_glued:
                break
            tail += following
        if used + width_of(space + tail, own, size_pt) > width(len(lines) - 1) and lines[-1] and not glued:
            head = word[: word.index("/") + 1] if own == "link" and "/" in word else ""
            if head and used + width_of(space + head, own, size_pt) <= width(len(lines) - 1):
                lines[-1].append((space + head, own))
                word = word[len(head) :]
            lines.append([])
            space, used = "", 0.0
        lines[-1].append((space + word, own))
        used += width_of(space + word, own, size_pt)
    return lines


def join_runs(pieces: list[tuple[str, str]], *, size_pt: float, x: float) -> tuple[Run, ...]:
    """Pieces of one line as runs: neighbors of one style become one run."""
    runs: list[Run] = []
    for text, style in pieces:
        if runs and runs[-1].style == style:
            runs[-1] = Run(runs[-1].x, runs[-1].text + text, style, size_pt)
        else:
            runs.append(Run(x, text, style, size_pt))
        x += width_of(text, style, size_pt)
    return tuple(runs)


def _draw_icon(shape: pymupdf.Shape, at: tuple[float, float], *, kind: str) -> None:
    x, y = at
    shape.draw_rect(pymupdf.Rect(x, y + 1, x + 29, y + 30))
    shape.finish(color=BLACK, fill=BLACK, width=0.5)
    if kind == "tip":
        shape.draw_circle((x + 14.5, y + 15.5), 12)
        shape.finish(color=WHITE, fill=WHITE, width=0.5)
        draw_text(shape, (x + 5.4, y + 19.2), text="TIP", style="bold", size_pt=10.5)
        return
    shape.draw_polyline([(x + 14.5, y + 4), (x + 4, y + 22), (x + 25, y + 22), (x + 14.5, y + 4)])
    shape.finish(color=WHITE, fill=WHITE, width=0.5)
    draw_text(shape, (x + 12.3, y + 20.2), text="!", style="bold", size_pt=15)
    draw_text(shape, (x + 2.2, y + 28.4), text="CAUTION", style="bold", size_pt=5.2, color=WHITE)


def draw_line(shape: pymupdf.Shape, line: Line, *, x: float, y: float) -> None:
    """Draw one line with its top left corner at (x, y)."""
    for x0, y0, x1, y1 in line.shaded:
        shape.draw_rect(pymupdf.Rect(x + x0, y + y0, x + x1, y + y1))
        shape.finish(color=None, fill=GRAY)
    for x0, y0, x1, y1 in line.rules:
        shape.draw_line((x + x0, y + y0), (x + x1, y + y1))
        shape.finish(color=BLACK, width=0.6)
    if line.icon:
        _draw_icon(shape, (x, y), kind=line.icon)
    for run in line.runs:
        base = y + run.dy + run.size_pt * 0.95
        color = BLUE if run.style == "link" else BLACK
        draw_text(shape, (x + run.x, base), text=run.text, style=run.style, size_pt=run.size_pt, color=color)
        if run.style == "link":
            end = x + run.x + width_of(run.text, run.style, run.size_pt)
            shape.draw_line(
                (x + run.x + (width_of(" ", "link", run.size_pt) if run.text[0] == " " else 0), base + 1.2),
                (end, base + 1.2),
            )
            shape.finish(color=BLUE, width=0.4)
