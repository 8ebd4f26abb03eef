"""Drawn lines, shading and form fields of an open PDF page, as plain data.

Called by the reader of pages only: all later stages use `Page.rules`, `Page.fills` and `Page.widgets`. White, slanted,
curved and very short strokes draw no structure and are left out.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from taxkg_assets.extraction.pdf.content_stream import with_content_stream
from taxkg_assets.extraction.pdf.geometry import Corners
from taxkg_assets.extraction.pdf.library import pymupdf
from taxkg_assets.extraction.pdf.model import Fill, Rule
from taxkg_assets.extraction.pdf.occluders import MASK, NAMED_PART, SLIT, Occluder
from taxkg_assets.extraction.pdf.render_fast_path import has_soft_mask
from taxkg_assets.rules.models.hidden_text import load_hidden_text
from taxkg_assets.rules.models.tables import load_tables

# An operator that paints a named object: a shading, a pattern, a picture or a part of the page.
_PAINTERS = re.compile(rf"/\S+\s+(sh|scn|SCN|{NAMED_PART})\b".encode())
# A pattern that begins with letters is looked for many times faster: most pages hold none of these operators.
_MAY_PAINT = tuple(re.compile(name + rb"(?<=\s" + name + rb")\b") for name in (b"sh", b"scn", b"SCN", b"Do"))
_MAY_SET_STATE = re.compile(rb"gs(?<=\sgs)\b")
_STATES = re.compile(rb"/(\S+)\s+gs\b")
_CLIPS = re.compile(rb"re(?<=\bre)\s+W")
_NUMBERS = re.compile(rb"-?\d*\.?\d+")


def read_drawings(
    page: Any, wordless_content: bytes | None = None
) -> tuple[tuple[Rule, ...], tuple[Fill, ...], tuple[Occluder, ...]]:
    """Read straight dark lines as rules, shaded rectangles as fills, and all opaque paths as occluders.

    Args:
        page: Open page of PyMuPDF.
        wordless_content: The page's content stream without its text, to read instead of the whole stream; None to read
            the whole stream. Without text, `Occluder.order` does not count text.

    Returns:
        Rules, fills and occluders, in points.
    """
    if wordless_content is not None:
        with with_content_stream(page, wordless_content):
            return read_drawings(page)
    rules: list[Rule] = []
    fills: list[Fill] = []
    occluders: list[Occluder] = []
    for path in page.get_cdrawings():
        occluders += _find_occluders(path)
        kind = path["type"]  # `f` for a filled path, `s` for a stroked one, `fs` for both
        is_stroked = "s" in kind and _is_inked(path.get("color"), path.get("stroke_opacity"))
        is_painted = "f" in kind and _is_inked(path.get("fill"), path.get("fill_opacity"))
        color = _rgb(path.get("fill")) if is_painted else None
        for item in path["items"]:
            if item[0] == "l" and is_stroked:
                _add_line(rules, item[1], item[2])
            elif item[0] in ("re", "qu"):
                _add_rectangle(rules, fills, _corners(item), is_stroked=is_stroked, color=color)
    return tuple(rules), tuple(fills), tuple(occluders)


def _find_occluders(path: dict[str, Any]) -> list[Occluder]:
    """Return the areas that a path covers opaquely: its filled area, and the stroke of a broad pen."""
    kind, order = path["type"], path["seqno"]
    x0, y0, x1, y1 = path["rect"]
    occluders = []
    if "f" in kind and path.get("fill_opacity") == 1.0:
        thin_pt = load_tables().drawings.thin_pt
        if x1 - x0 > thin_pt and y1 - y0 > thin_pt:
            occluders.append(Occluder(order, (x0, y0, x1, y1), _rgb(path.get("fill"))))
    if "s" in kind and path.get("stroke_opacity") == 1.0:
        pen_pt = path["width"] or 0.0
        if pen_pt > load_hidden_text().limits.broad_pt:
            half = pen_pt / 2
            stroke_box = (x0 - half, y0 - half, x1 + half, y1 + half)
            occluders.append(Occluder(order, stroke_box, _rgb(path.get("color"))))
    return occluders


def read_painters(page: Any, content: bytes, *, clipped_content: bytes) -> frozenset[str]:
    """Collect the operators with which a page paints XObjects and shadings, clips to a slit, or uses a mask.

    Args:
        page: Open page of PyMuPDF.
        content: The page's content stream.
        clipped_content: The part of the content stream whose clips may apply to text.

    Returns:
        Operators such as `Do` and `sh`, `SLIT` for a narrow clip and `MASK` for a soft mask.
    """
    painters = _find_painters(content)
    if NAMED_PART in painters and not _may_shade_parts(page):
        painters.remove(NAMED_PART)
    least_pt = load_hidden_text().limits.slit_pt
    for clip in _CLIPS.finditer(clipped_content):
        sides = _NUMBERS.findall(clipped_content[max(0, clip.start() - 40) : clip.start()])[-2:]
        if min((abs(float(side)) for side in sides), default=least_pt) < least_pt:
            painters.add(SLIT)
            break
    # A page of a text file has no content stream; opening its low-level page ends the process.
    if content and has_soft_mask(page):
        painters.add(MASK)
    return frozenset(painters)


def _is_masked(page: Any, part: int, content: bytes) -> bool:
    """Decide whether a part of a page paints through a mask of its own."""
    if not _MAY_SET_STATE.search(content):
        return False
    states = {state.decode("latin1") for state in _STATES.findall(content)}
    mask_keys = (f"Resources/ExtGState/{state}/SMask" for state in states)
    return any(page.parent.xref_get_key(part, key)[0] in ("dict", "xref") for key in mask_keys)


def _find_painters(content: bytes) -> set[str]:
    if not any(operator.search(content) for operator in _MAY_PAINT):
        return set()
    return {operator.decode() for operator in _PAINTERS.findall(content)}


def _may_shade_parts(page: Any) -> bool:
    """Decide whether a part of a page may paint a shading or a pattern; pictures and plain drawings do not."""
    if next(page.annots(), None) is not None or next(page.widgets(), None) is not None:
        return True
    parts = {part[0] for part in page.get_xobjects()}
    try:
        contents = {part: page.parent.xref_stream(part) or b"" for part in parts}
        return any(
            _find_painters(content) - {NAMED_PART} or _is_masked(page, part, content)
            for part, content in contents.items()
        )
    except (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase):
        # Only the parser knows which instructions of a damaged part can be painted.
        return True


def _is_inked(color: tuple[float, ...] | None, opacity: float | None) -> bool:
    """Decide whether a color can be seen on white paper."""
    white = load_tables().drawings.white
    return color is not None and bool(min(color) < white) and (opacity is None or opacity > 0)


# The paths of a page have a few colors.
@lru_cache(maxsize=256)
def _rgb(color: tuple[float, ...] | None) -> int:
    red, green, blue = (round(255 * part) for part in (color or (0.0, 0.0, 0.0)))
    return red << 16 | green << 8 | blue


def _corners(item: tuple[Any, ...]) -> Corners:
    """Return left, top, right and bottom of a rectangle or quad item."""
    if item[0] == "re":
        x0, y0, x1, y1 = item[1]
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
    xs, ys = zip(*item[1], strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _add_line(rules: list[Rule], start: tuple[float, float], end: tuple[float, float]) -> None:
    # Comparing is faster than the least and the greatest of two: a form has thousands of lines.
    (x0, y0), (x1, y1) = start, end
    if x1 < x0:
        x0, x1 = x1, x0
    if y1 < y0:
        y0, y1 = y1, y0
    width, height = x1 - x0, y1 - y0
    limits = load_tables().drawings
    if (width > limits.slant_pt and height > limits.slant_pt) or (width < limits.short_pt and height < limits.short_pt):
        return
    if width >= height:
        middle = (y0 + y1) / 2
        rules.append(Rule(x0, middle, x1, middle))
    else:
        middle = (x0 + x1) / 2
        rules.append(Rule(middle, y0, middle, y1))


def _add_rectangle(rules: list[Rule], fills: list[Fill], box: Corners, *, is_stroked: bool, color: int | None) -> None:
    """Turn a rectangle into one rule (if thin), or else into four rules (if stroked) and a fill (if painted)."""
    x0, y0, x1, y1 = box
    if min(x1 - x0, y1 - y0) <= load_tables().drawings.thin_pt:
        if is_stroked or color is not None:
            if x1 - x0 >= y1 - y0:
                _add_line(rules, (x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2))
            else:
                _add_line(rules, ((x0 + x1) / 2, y0), ((x0 + x1) / 2, y1))
        return
    if is_stroked:
        for start, end in (((x0, y0), (x1, y0)), ((x0, y1), (x1, y1)), ((x0, y0), (x0, y1)), ((x1, y0), (x1, y1))):
            _add_line(rules, start, end)
    if color is not None:
        fills.append(Fill(x0, y0, x1, y1, color))
