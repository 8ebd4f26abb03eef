"""An open page to data: visible spans, drawings and form fields, and invisible text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

# PyMuPDF has no complete type annotations.
_MUPDF: Any = pymupdf
# Text outside the page is read too, so that it can be reported.
_UNWANTED: int = _MUPDF.TEXT_PRESERVE_IMAGES | _MUPDF.TEXT_PRESERVE_LIGATURES | _MUPDF.TEXT_MEDIABOX_CLIP
_TEXT_FLAGS: int = _MUPDF.TEXTFLAGS_DICT & ~_UNWANTED
# With these flags, glyphs are read as printed within their clips, and not the text that the file states for them.
_PRINTED_FLAGS: int = _TEXT_FLAGS | _MUPDF.TEXT_MEDIABOX_CLIP | _MUPDF.TEXT_IGNORE_ACTUALTEXT
# Characters whose font maps them to no letter: their text is the number of a glyph.
_NO_LETTERS: int = _MUPDF.mupdf.FZ_STEXT_UNICODE_IS_CID | _MUPDF.mupdf.FZ_STEXT_UNICODE_IS_GID
_LEAST_DISTINCT = 3
"""Different codes of a span that is text, and no bullet, sign or leader."""
_LEAST_VISIBLE = 0.2
"""Share of a page's characters below which the invisible ones may be its text."""
_AROUND: Any = _MUPDF.Rect(-FAR_PT, -FAR_PT, FAR_PT, FAR_PT)


@dataclass(frozen=True, slots=True)
class _Drawings:
    """What is on a page besides text.

    Attributes:
        rules: Drawn lines.
        fills: Filled rectangles.
        image_count: Number of images.
        background: What may be behind or over the text.
        is_plain: Whether the rendered text certainly equals the extracted text.
    """

    rules: tuple[Rule, ...] = ()
    fills: tuple[Fill, ...] = ()
    image_count: int = 0
    background: Background = field(default_factory=lambda: Background((), (), has_pictures=False))
    is_plain: bool = True


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a page as parsed.

    Attributes:
        text_page: Text page of PyMuPDF.
        blocks: Blocks of lines of spans, in one list.
        owners: Tag of each block, an index into `tags`; None where the structure tags were not read.
        tags: Structure tags.
    """

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
    hidden_texts: list[HiddenText],
    policy: TagPolicy | None = None,
    may_replace_text: bool = True,
) -> Page:
    """Read the spans, drawings and fields of an open page.

    Args:
        page: Open page of PyMuPDF.
        number: Number of the page in its document, from 1.
        has_fields: Whether the document has form fields.
        is_text: Whether the document is a text file.
        hidden_texts: List to which the invisible text of the page is added.
        policy: Decides whether the page is read by its structure tags; None reads no tags.
        may_replace_text: Whether structure tags of the document may state other words than the page prints.

    Returns:
        Visible spans, drawings and fields of the page.
    """
    widgets = read_widgets(page) if has_fields else ()
    distrust = ""
    if policy is not None and not is_text and policy.wants_tags(widget_count=len(widgets)):
        text, distrust = _read_tagged(page)
        if text is not None:
            hidden_of_page: list[HiddenText] = []
            read_result = _read_page(
                page,
                text,
                number=number,
                widgets=widgets,
                is_text=False,
                hidden_texts=hidden_of_page,
                may_replace_text=may_replace_text,
            )
            distrust = policy.find_distrust(read_result)
            if not distrust:
                hidden_texts += hidden_of_page
                return read_result
    read_result = _read_page(
        page,
        None,
        number=number,
        widgets=widgets,
        is_text=is_text,
        hidden_texts=hidden_texts,
        may_replace_text=may_replace_text,
    )
    return replace(read_result, distrust=distrust) if distrust else read_result


def _read_tagged(page: Any) -> tuple[_Text | None, str]:
    """Read the text of a page with its structure tags; None and a reason where they cannot be read."""
    try:
        text_page = page.get_textpage(clip=_AROUND, flags=_TEXT_FLAGS | _MUPDF.TEXT_COLLECT_STRUCTURE)
        flat_text = flatten_tags(text_page.extractDICT()["blocks"])
    except (RecursionError, RuntimeError, ValueError, _MUPDF.mupdf.FzErrorBase):
        return None, "The structure tree is damaged."
    if flat_text is None:
        return None, "The structure tree is too deep or too large."
    blocks, owners, tags = flat_text
    return (_Text(text_page, blocks, owners, tags), "") if tags else (None, "")


def _read_page(
    page: Any,
    text: _Text | None,
    *,
    number: int,
    widgets: tuple[Widget, ...],
    is_text: bool,
    hidden_texts: list[HiddenText],
    may_replace_text: bool,
) -> Page:
    """Read a page from its parsed text; for None, parse the text without structure tags."""
    # A page of a text file has no content stream; opening its low-level page ends the process.
    stored_content = b"" if is_text else page.read_contents()
    is_replaced = may_replace_text and bool(stored_content) and has_replacement_text(page)
    with with_content_stream(page, stored_content if is_replaced else strip_mcids(stored_content)) as content:
        if text is None:
            text_page = page.get_textpage(clip=_AROUND, flags=_TEXT_FLAGS)
            text = _Text(text_page, text_page.extractDICT()["blocks"])
        drawings = _Drawings() if is_text else _read_drawn(page, content, blocks=text.blocks, is_replaced=is_replaced)
        display_rect = page.rect
        width, height = display_rect.width, display_rect.height
        turn = _find_turn(page) if page.rotation else None
        checker = VisibilityChecker(page, width=width, height=height, background=drawings.background)
        spans, new_hidden_texts, is_garbled = _read_spans(
            page, text, checker=checker, turn=turn, number=number, is_plain=drawings.is_plain
        )
        hidden_texts += new_hidden_texts
        rules, fills = drawings.rules, drawings.fills
        if turn is not None:
            # Form fields are read as they are shown.
            rules, fills = _turned(rules, turn), _turned(fills, turn)
        sideways = find_sideways(text.blocks, page.rotation_matrix if turn else None)
        return Page(
            number,
            width,
            height,
            spans,
            rules,
            fills,
            widgets,
            drawings.image_count,
            sideways,
            text.tags,
            is_garbled=is_garbled,
        )


def _read_drawn(page: Any, content: bytes, *, blocks: Sequence[dict[str, Any]], is_replaced: bool) -> _Drawings:
    """Read what a page of a PDF paints besides text.

    `content` is the content stream, `blocks` the parsed text; `is_replaced`: the file states other words for the text.
    """
    wordless_content = strip_text_objects(content)
    instructions = content if wordless_content is None else wordless_content
    is_sure = not is_replaced and is_plain(page, instructions, blocks=blocks)
    xobjects = None
    has_parts = is_sure and has_form_xobjects(page)
    if has_parts:
        xobjects = _read_xobjects(page, wordless_content)
        is_sure = xobjects is not None
    if not is_sure or has_drawn_letters(page):
        wordless_content = xobjects = None
    rules, fills, occluders = read_drawings(page, wordless_content)
    if xobjects is not None:
        placed_occluders = xobjects.place_occluders(occluders)
        if placed_occluders is None:
            wordless_content = xobjects = None
            rules, fills, placed_occluders = read_drawings(page)
        occluders = placed_occluders
    image_count = len(page.get_images()) if has_named_parts(page) else 0
    # A plain page writes no text within a clip, but it may paint a form XObject there.
    unclipped_content = without_clipped_drawings(instructions) if has_parts else b""
    painters = read_painters(page, instructions, clipped_content=unclipped_content if is_sure else instructions)
    background = Background(
        fills, occluders, has_pictures=image_count > 0, painters=painters, wordless=wordless_content, xobjects=xobjects
    )
    return _Drawings(rules, fills, image_count, background, is_sure)


def _read_xobjects(page: Any, wordless_content: bytes | None) -> FormXObjects | None:
    """Read the form XObjects of a page; None if they cannot be separated from the text, or may hide letters."""
    if wordless_content is None:
        return None
    xobjects = FormXObjects(page, wordless_content, clip=_AROUND, flags=_TEXT_FLAGS)
    return xobjects if xobjects.are_letters_visible(flags=_PRINTED_FLAGS) else None


def _find_turn(page: Any) -> Turn:
    """Return the function that turns a rectangle of a rotated page into the page as it is shown."""
    matrix = page.rotation_matrix

    def turn(box: Sequence[float]) -> Corners:
        turned_box = _MUPDF.Rect(*box) * matrix
        return turned_box.x0, turned_box.y0, turned_box.x1, turned_box.y1

    return turn


def _turned(shapes: tuple[Shape, ...], turn: Turn) -> tuple[Shape, ...]:
    """Return rules or fills of a rotated page as the page is shown."""
    turned_shapes = []
    for shape in shapes:
        x0, y0, x1, y1 = turn((shape.x0, shape.y0, shape.x1, shape.y1))
        turned_shapes.append(replace(shape, x0=x0, y0=y0, x1=x1, y1=y1))
    return tuple(turned_shapes)


def _read_spans(
    page: Any, text: _Text, *, checker: VisibilityChecker, turn: Turn | None, number: int, is_plain: bool
) -> tuple[tuple[Span, ...], list[HiddenText], bool]:
    """Read the visible spans of a page in stored order, and its invisible texts.

    Args:
        page: Open page of PyMuPDF.
        text: Its parsed text.
        checker: Finds the spans that a reader does not see.
        turn: Turns a rectangle into the page as it is shown; None for a page without rotation.
        number: Number of the page, from 1.
        is_plain: Whether the page surely prints the letters that its text states.

    Returns:
        The spans, numbered from 0; the hidden texts, of which those under the picture of a scan are spans; and whether
        text was left out because its fonts do not state the letters.
    """
    raw_spans, places = _list_raw_spans(text)
    stored_boxes = [raw_span["bbox"] for raw_span in raw_spans]
    boxes = [turn(box) for box in stored_boxes] if turn else stored_boxes
    reasons = checker.find_reasons(raw_spans, stored_boxes, shown_boxes=boxes)
    hidden_texts: list[HiddenText] = []
    if not is_plain:
        mismatches = _find_mismatches(page, text, raw_spans=raw_spans, reasons=reasons, checker=checker)
        hidden_texts += _take_printed_text(mismatches, raw_spans, reasons, boxes=boxes, number=number)
    garbled = _find_garbled(raw_spans, reasons)
    spans: list[Span] = []
    covered_spans: list[Span] = []
    for ix, ((block_ix, line_ix, tag_ix), raw_span, (x0, y0, x1, y1), reason) in enumerate(
        zip(places, raw_spans, boxes, reasons, strict=True)
    ):
        if ix in garbled:
            continue
        words = shown_text = raw_span["text"]
        if not words.isprintable():
            words = strip_control_characters(words)
            shown_text = words.replace("\xa0", " ")
        font, size_pt, is_bold, is_italic = _type_of(raw_span["font"], raw_span["size"], raw_span["flags"])
        span = Span(
            len(spans),
            block_ix,
            line_ix,
            shown_text,
            font,
            size_pt,
            is_bold,
            is_italic,
            raw_span["color"],
            x0,
            y0,
            x1,
            y1,
            tag_ix,
        )
        if not reason:
            spans.append(span)
            continue
        if words.strip():
            hidden_texts.append(HiddenText(number, reason, words, (x0, y0, x1, y1)))
        if reason in (UNPAINTED, COVERED):
            covered_spans.append(span)  # with the blanks: OCR software may write each word and each blank by itself
    if any(span.text.strip() for span in covered_spans) and checker.is_ocr_layer(spans, covered_spans):
        # The OCR text of a scan is invisible, over or under the picture.
        ocr_spans = [replace(span, span_ix=ix) for ix, span in enumerate([*spans, *covered_spans])]
        hidden_texts = [row for row in hidden_texts if row.kind not in (UNPAINTED, COVERED)]
        return tuple(ocr_spans), hidden_texts, bool(garbled)
    return tuple(spans), hidden_texts, bool(garbled)


def _find_garbled(raw_spans: Sequence[dict[str, Any]], reasons: Sequence[str]) -> set[int]:
    """Find the spans whose fonts do not state which letters they print, so that codes stand in their place.

    Args:
        raw_spans: Parsed spans of a page.
        reasons: Why each is invisible; "" for a visible one.

    Returns:
        Indices of the spans. A page where each has one code, alone or repeated, has none: they may be bullets
        or leaders. Invisible spans count where hardly anything is visible: they may be the OCR text of a scan.
    """
    garbled = {ix for ix, span in enumerate(raw_spans) if span["char_flags"] & _NO_LETTERS}
    words = {ix for ix in garbled if len(set(raw_spans[ix]["text"].strip())) >= _LEAST_DISTINCT}
    if not words:
        return words
    if any(not reasons[ix] for ix in words):
        return garbled
    lengths = [len(span["text"].strip()) for span in raw_spans]
    visible_length = sum(length for length, reason in zip(lengths, reasons, strict=True) if not reason)
    return garbled if visible_length < _LEAST_VISIBLE * sum(lengths) else set()


def _list_raw_spans(text: _Text) -> tuple[list[dict[str, Any]], list[tuple[int, int, int]]]:
    """Return the parsed spans in stored order, and for each the numbers of its block, line and tag (−1 for none)."""
    raw_spans: list[dict[str, Any]] = []
    places: list[tuple[int, int, int]] = []
    owners = text.owners
    for block_ix, block in enumerate(text.blocks):
        tag_ix = owners[block_ix] if owners is not None else -1
        for line_ix, line in enumerate(block["lines"]):
            line_spans = line["spans"]
            raw_spans += line_spans
            places += [(block_ix, line_ix, tag_ix)] * len(line_spans)
    return raw_spans, places


def _take_printed_text(
    mismatches: Mapping[int, GlyphMismatch],
    raw_spans: Sequence[dict[str, Any]],
    reasons: list[str],
    *,
    boxes: Sequence[Corners],
    number: int,
) -> list[HiddenText]:
    """Replace the stored text of spans by the text that is printed in their place, and return what is not printed.

    Args:
        mismatches: What is printed and what is not, by number of the span.
        raw_spans: Parsed spans; changed.
        reasons: Why each span is hidden, empty for a visible one; changed for a span of which nothing is printed.
        boxes: Rectangle of each span on the shown page.
        number: Number of the page, from 1.
    """
    unseen_texts = []
    for ix, mismatch in mismatches.items():
        if not mismatch.printed.strip():
            reasons[ix] = reasons[ix] or mismatch.kind
        elif not reasons[ix]:
            unseen = strip_control_characters(mismatch.unseen)
            unseen_texts.append(HiddenText(number, mismatch.kind, unseen, boxes[ix]))
            raw_spans[ix]["text"] = mismatch.printed
    return unseen_texts


def _find_mismatches(
    page: Any, text: _Text, *, raw_spans: Sequence[dict[str, Any]], reasons: Sequence[str], checker: VisibilityChecker
) -> dict[int, GlyphMismatch]:
    """Find the spans whose rendered text differs from the extracted text; a quick test spares most pages this."""
    are_on_page = [reason != OFF_PAGE for reason in reasons]
    printed_text = checker.read_printed_text(_PRINTED_FLAGS)
    if printed_text is not None and are_printed(raw_spans, are_on_page, rendered_text=printed_text):
        return {}
    printed_page = page.get_textpage(clip=_AROUND, flags=_PRINTED_FLAGS)
    return find_mismatches(raw_spans, are_on_page, text_page=text.text_page, printed_page=printed_page)


@lru_cache(maxsize=1024)
def _type_of(font: str, size: float, flags: int) -> tuple[str, float, bool, bool]:
    """Return font, size, weight and slant; cached, as a page repeats a few of them hundreds of times."""
    is_bold = bool(flags & 16) or load_roles().bold_fonts.matches(font)
    return intern(font), round(size, 2), is_bold, bool(flags & 2)
