"""An open page to data: its visible spans, its drawings and fields, and its invisible words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from sys import intern
from typing import Any, TypeVar

from taxkg_assets.extraction.pdf.content_stream import strip_mcids, strip_text_objects, with_content_stream
from taxkg_assets.extraction.pdf.drawings import read_drawings, read_painters
from taxkg_assets.extraction.pdf.form_widgets import read_widgets
from taxkg_assets.extraction.pdf.form_xobjects import FormXObjects
from taxkg_assets.extraction.pdf.geometry import Corners
from taxkg_assets.extraction.pdf.hidden_text import COVERED, OFF_PAGE, UNPAINTED, HiddenText
from taxkg_assets.extraction.pdf.library import pymupdf
from taxkg_assets.extraction.pdf.model import Fill, Page, Rule, Span, Widget
from taxkg_assets.extraction.pdf.render_fast_path import (
    has_drawn_letters,
    has_form_xobjects,
    has_named_parts,
    has_replacement_text,
    is_plain,
    without_clipped_drawings,
)
from taxkg_assets.extraction.pdf.rendered_text import GlyphMismatch, are_printed, find_mismatches
from taxkg_assets.extraction.pdf.sanitize import strip_control_characters
from taxkg_assets.extraction.pdf.tag_policy import TagPolicy
from taxkg_assets.extraction.pdf.tags import Tag, flatten_tags
from taxkg_assets.extraction.pdf.text_direction import find_sideways
from taxkg_assets.extraction.pdf.visibility import FAR_PT, Background, VisibilityChecker
from taxkg_assets.rules.models.roles import load_roles

Turn = Callable[[Sequence[float]], Corners]
Shape = TypeVar("Shape", Rule, Fill)

# PyMuPDF carries no complete type annotations.
_MUPDF: Any = pymupdf
# Text outside the page is read too, so that it can be reported.
_UNWANTED: int = _MUPDF.TEXT_PRESERVE_IMAGES | _MUPDF.TEXT_PRESERVE_LIGATURES | _MUPDF.TEXT_MEDIABOX_CLIP
_TEXT_FLAGS: int = _MUPDF.TEXTFLAGS_DICT & ~_UNWANTED
# What glyphs print within their clips, and not what the file says in their place.
_PRINTED_FLAGS: int = _TEXT_FLAGS | _MUPDF.TEXT_MEDIABOX_CLIP | _MUPDF.TEXT_IGNORE_ACTUALTEXT
_AROUND: Any = _MUPDF.Rect(-FAR_PT, -FAR_PT, FAR_PT, FAR_PT)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What is on a page besides text; `is_plain` where the rendered text is surely the extracted one."""

    rules: tuple[Rule, ...] = ()
    fills: tuple[Fill, ...] = ()
    image_count: int = 0
    background: Background = field(default_factory=lambda: Background((), (), has_pictures=False))
    is_plain: bool = True


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a page as parsed: flat blocks, and the tag of each where the structure tags were read."""

    text_page: Any
    blocks: list[dict[str, Any]]
    owners: list[int] | None = None
    tags: tuple[Tag, ...] = ()


def read_page(
    page: Any,
    *,
    number: int,
    has_fields: bool,
    is_text: bool,
    hidden: list[HiddenText],
    policy: TagPolicy | None = None,
) -> Page:
    """Read the spans, drawings and fields of an open page.

    Args:
        page: Open page of PyMuPDF.
        number: Number of the page in its document, from 1.
        has_fields: Whether the document has form fields.
        is_text: Whether the document is a text file.
        hidden: List to which the invisible text of the page is added.
        policy: Decides whether the page is read by its structure tags; None reads no tags.

    Returns:
        Visible spans, drawings and fields of the page.
    """
    widgets = read_widgets(page) if has_fields else ()
    distrust = ""
    if policy is not None and not is_text and policy.wants_tags(widget_count=len(widgets)):
        text, distrust = _read_tagged(page)
        if text is not None:
            unseen: list[HiddenText] = []
            read = _read_page(page, text, number=number, widgets=widgets, is_text=False, hidden=unseen)
            distrust = policy.find_distrust(read)
            if not distrust:
                hidden += unseen
                return read
    read = _read_page(page, None, number=number, widgets=widgets, is_text=is_text, hidden=hidden)
    return replace(read, distrust=distrust) if distrust else read


def _read_tagged(page: Any) -> tuple[_Text | None, str]:
    """Read the text of a page with its structure tags; None, and the reason if it has any, where that cannot be."""
    try:
        text_page = page.get_textpage(clip=_AROUND, flags=_TEXT_FLAGS | _MUPDF.TEXT_COLLECT_STRUCTURE)
        flat = flatten_tags(text_page.extractDICT()["blocks"])
    except (RecursionError, RuntimeError, ValueError, _MUPDF.mupdf.FzErrorBase):
        return None, "The structure tree is damaged."
    if flat is None:
        return None, "The structure tree is too deep or too large."
    blocks, owners, tags = flat
    return (_Text(text_page, blocks, owners, tags), "") if tags else (None, "")


def _read_page(
    page: Any, text: _Text | None, *, number: int, widgets: tuple[Widget, ...], is_text: bool, hidden: list[HiddenText]
) -> Page:
    """Read a page with text that was parsed already, or without structure tags where there is none."""
    # A page of a text file has no content stream; opening its low-level page ends the process.
    written = b"" if is_text else page.read_contents()
    is_replaced = bool(written) and has_replacement_text(page)
    with with_content_stream(page, written if is_replaced else strip_mcids(written)) as content:
        if text is None:
            text_page = page.get_textpage(clip=_AROUND, flags=_TEXT_FLAGS)
            text = _Text(text_page, text_page.extractDICT()["blocks"])
        drawn = _Drawn() if is_text else _read_drawn(page, content, blocks=text.blocks, is_replaced=is_replaced)
        display_rect = page.rect
        width, height = display_rect.width, display_rect.height
        turn = _turn_of(page) if page.rotation else None
        sight = VisibilityChecker(page, width=width, height=height, background=drawn.background)
        spans, unseen = _read_spans(page, text, sight=sight, turn=turn, number=number, is_plain=drawn.is_plain)
        hidden += unseen
        rules, fills = drawn.rules, drawn.fills
        if turn is not None:
            # Form fields are read as they are shown.
            rules, fills = _turned(rules, turn), _turned(fills, turn)
        sideways = find_sideways(text.blocks, page.rotation_matrix if turn else None)
        return Page(number, width, height, spans, rules, fills, widgets, drawn.image_count, sideways, text.tags)


def _read_drawn(page: Any, content: bytes, *, blocks: Sequence[dict[str, Any]], is_replaced: bool) -> _Drawn:
    """Read what a page of a PDF is painted with besides text.

    `content`: its instructions; `blocks`: its text as parsed; `is_replaced`: the document has other words for its text.
    """
    wordless = strip_text_objects(content)
    instructions = content if wordless is None else wordless
    is_sure = not is_replaced and is_plain(page, instructions, blocks=blocks)
    xobjects = None
    has_parts = is_sure and has_form_xobjects(page)
    if has_parts:
        xobjects = _read_xobjects(page, wordless)
        is_sure = xobjects is not None
    if not is_sure or has_drawn_letters(page):
        wordless = xobjects = None
    rules, fills, occluders = read_drawings(page, wordless)
    if xobjects is not None:
        counted = xobjects.place_occluders(occluders)
        if counted is None:
            wordless = xobjects = None
            rules, fills, counted = read_drawings(page)
        occluders = counted
    image_count = len(page.get_images()) if has_named_parts(page) else 0
    # Of a plain page no text is written while a clip holds, but a form XObject may be.
    plain = without_clipped_drawings(instructions) if has_parts else b""
    painters = read_painters(page, instructions, clipped=plain if is_sure else instructions)
    background = Background(
        fills, occluders, has_pictures=image_count > 0, painters=painters, wordless=wordless, xobjects=xobjects
    )
    return _Drawn(rules, fills, image_count, background, is_sure)


def _read_xobjects(page: Any, wordless: bytes | None) -> FormXObjects | None:
    """Read the form XObjects of a page; None where they cannot be separated from its text, or may hide letters."""
    if wordless is None:
        return None
    xobjects = FormXObjects(page, wordless, clip=_AROUND, flags=_TEXT_FLAGS)
    return xobjects if xobjects.are_letters_visible(flags=_PRINTED_FLAGS) else None


def _turn_of(page: Any) -> Turn:
    """Return the function that turns a rectangle of a rotated page into the page as it is shown."""
    matrix = page.rotation_matrix

    def turn(box: Sequence[float]) -> Corners:
        shown = _MUPDF.Rect(*box) * matrix
        return shown.x0, shown.y0, shown.x1, shown.y1

    return turn


def _turned(shapes: tuple[Shape, ...], turn: Turn) -> tuple[Shape, ...]:
    turned = []
    for shape in shapes:
        x0, y0, x1, y1 = turn((shape.x0, shape.y0, shape.x1, shape.y1))
        turned.append(replace(shape, x0=x0, y0=y0, x1=x1, y1=y1))
    return tuple(turned)


def _read_spans(
    page: Any, text: _Text, *, sight: VisibilityChecker, turn: Turn | None, number: int, is_plain: bool
) -> tuple[tuple[Span, ...], list[HiddenText]]:
    """Read the visible spans of a page in stored order, and the words of the invisible ones."""
    spans: list[Span] = []
    unseen: list[HiddenText] = []
    under_picture: list[Span] = []
    owners = text.owners
    raws: list[dict[str, Any]] = []
    places: list[tuple[int, int, int]] = []
    for block_ix, block in enumerate(text.blocks):
        tag_ix = owners[block_ix] if owners is not None else -1
        for line_ix, line in enumerate(block["lines"]):
            spans_of_line = line["spans"]
            raws += spans_of_line
            places += [(block_ix, line_ix, tag_ix)] * len(spans_of_line)
    stored = [raw["bbox"] for raw in raws]
    boxes = [turn(box) for box in stored] if turn else stored
    reasons = sight.find_reasons(raws, stored, shown=boxes)
    mismatches = {} if is_plain else _find_mismatches(page, text, raws=raws, reasons=reasons, sight=sight)
    for ix, mismatch in mismatches.items():
        if not mismatch.printed.strip():
            reasons[ix] = reasons[ix] or mismatch.kind
        elif not reasons[ix]:
            unseen.append(HiddenText(number, mismatch.kind, strip_control_characters(mismatch.unseen), boxes[ix]))
            raws[ix]["text"] = mismatch.printed
    for (block_ix, line_ix, tag_ix), raw, (x0, y0, x1, y1), reason in zip(places, raws, boxes, reasons, strict=True):
        words = shown = raw["text"]
        if not words.isprintable():
            words = strip_control_characters(words)
            shown = words.replace("\xa0", " ")
        font, size_pt, is_bold, is_italic = _type_of(raw["font"], raw["size"], raw["flags"])
        span = Span(
            len(spans),
            block_ix,
            line_ix,
            shown,
            font,
            size_pt,
            is_bold,
            is_italic,
            raw["color"],
            x0,
            y0,
            x1,
            y1,
            tag_ix,
        )
        if not reason:
            spans.append(span)
        elif words.strip():
            unseen.append(HiddenText(number, reason, words, (x0, y0, x1, y1)))
            if reason in (UNPAINTED, COVERED):
                under_picture.append(span)
    if under_picture and sight.is_ocr_layer(spans, under_picture):
        # The reading of a scan is unseen over or under its picture.
        read = [replace(span, span_ix=ix) for ix, span in enumerate([*spans, *under_picture])]
        return tuple(read), [row for row in unseen if row.kind not in (UNPAINTED, COVERED)]
    return tuple(spans), unseen


def _find_mismatches(
    page: Any, text: _Text, *, raws: Sequence[dict[str, Any]], reasons: Sequence[str], sight: VisibilityChecker
) -> dict[int, GlyphMismatch]:
    """Find the spans whose rendered text differs from the extracted one, by letters only where a quick test fails."""
    on_page = [reason != OFF_PAGE for reason in reasons]
    seen = sight.read_printed_text(_PRINTED_FLAGS)
    if seen is not None and are_printed(raws, on_page, seen=seen):
        return {}
    printed = page.get_textpage(clip=_AROUND, flags=_PRINTED_FLAGS)
    return find_mismatches(raws, on_page, text_page=text.text_page, printed=printed)


@lru_cache(maxsize=1024)
def _type_of(font: str, size: float, flags: int) -> tuple[str, float, bool, bool]:
    """Return font, size, weight and slant; cached, as a page repeats a few of them hundreds of times."""
    is_bold = bool(flags & 16) or load_roles().bold_fonts.matches(font)
    return intern(font), round(size, 2), is_bold, bool(flags & 2)
