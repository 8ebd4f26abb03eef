"""Plain pages: their rendered text certainly equals their extracted text, so that the two need not be compared.

Rendered and extracted text can differ for two reasons: a text that the file states in place of glyphs (`ActualText`),
and a clip. Most pages have neither, or clip drawn lines only. In case of doubt a page is not plain: otherwise hidden
text would never be found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from taxkg_assets.extraction.pdf.library import pymupdf

_MUPDF: Any = pymupdf.mupdf
_REPLACED = "ActualText"
# Resources of a plain page.
_PLAIN_RESOURCES = frozenset({"Font", "ProcSet", "XObject", "ColorSpace"})
# A drawing that can be removed as a whole: without text, strings, comments and inner groups.
_WHOLE = rb"(?:<<[^<>()%]*>>|\[[\d.\s-]*\])"
_DRAWN = rb"[^()<>\[\]{}%'\"TqQ]*"
_GROUP = re.compile(rb"q(?<!\Sq)\s" + _DRAWN + rb"(?:" + _WHOLE + _DRAWN + rb")*Q(?<=\sQ)(?!\S)")
_MOST_NESTED = 8
# A glyph may be drawn outside its rectangle, but not farther than the usual type size.
_EDGE_PT = 9.0
_END = rb"(?![^\s()<>\[\]{}/%])"
_CLIP = re.compile(rb"W\*?" + _END)
# A comment may contain what looks like the start of a group; an inline picture may contain anything.
_COMMENTED = re.compile(rb"%[^\r\n]*\sq\s")
PICTURE = re.compile(rb"BI(?<![^\s()<>\[\]{}/%]BI)" + _END)
"""Begins an inline picture in a content stream: its bytes may look like instructions."""
_MODE = re.compile(rb"Tr" + _END)
_PLAIN_MODE = re.compile(rb"(?:\s|^)[0-3]\s+$")
_MODE_BYTES = 8


def is_plain(page: Any, content: bytes, *, blocks: Sequence[dict[str, Any]]) -> bool:
    """Return whether a page certainly displays the letters of its text, so that rendering need not be compared.

    Replacement text (`ActualText`) and form XObjects are checked separately.

    Args:
        page: Open page of PyMuPDF.
        content: The page's content stream, with or without its text.
        blocks: Parsed text of the page, in stored coordinates.
    """
    return (
        _keeps_off_edges(page, blocks)
        and _has_plain_words(content)
        and not _clips_text(content)
        and _has_plain_parts(page)
    )


def _keeps_off_edges(page: Any, blocks: Sequence[dict[str, Any]]) -> bool:
    """Decide whether no text crosses the edges of a page, where glyphs that are drawn as pictures would be clipped."""
    if page.rotation:
        return False
    page_rect = page.rect
    width, height = page_rect.width, page_rect.height
    for block in blocks:
        x0, y0, x1, y1 = block["bbox"]
        is_inside = x0 > _EDGE_PT and y0 > _EDGE_PT and x1 < width - _EDGE_PT and y1 < height - _EDGE_PT
        if not is_inside and not (x1 <= 0 or y1 <= 0 or x0 >= width or y0 >= height):
            return False
    return True


def _has_plain_words(content: bytes) -> bool:
    """Decide whether no instruction states a text for glyphs (`ActualText`) or clips to glyphs."""
    if b"#" in content or _REPLACED.encode() in content:
        return False
    return all(
        _PLAIN_MODE.search(content, max(0, mode.start() - _MODE_BYTES), mode.start())
        for mode in _MODE.finditer(content)
    )


def _clips_text(content: bytes) -> bool:
    """Decide whether text may be written within a clip: a clip that remains after whole drawings are removed."""
    if _CLIP.search(content) is None:
        return False
    if (b"%" in content and _COMMENTED.search(content)) or PICTURE.search(content):
        return True
    return _CLIP.search(_without_groups(content)) is not None


def without_clipped_drawings(content: bytes) -> bytes:
    """Remove drawings with clips of their own from a content stream, unless they paint an XObject.

    Args:
        content: Content stream of a plain page.

    Returns:
        Content stream; a form XObject may be painted within the clips that remain.
    """
    return _without_groups(content, kept_operator=b"Do")


def _without_groups(content: bytes, *, kept_operator: bytes = b"") -> bytes:
    """Remove whole drawings (`q … Q`), unless they contain the operator `kept_operator`, until no clip is left."""
    replacement = (lambda group: group[0] if kept_operator in group[0] else b" ") if kept_operator else b" "
    for _ in range(_MOST_NESTED):
        length = len(content)
        content = _GROUP.sub(replacement, content)
        if len(content) == length or _CLIP.search(content) is None:
            break
    return content


def _has_plain_parts(page: Any) -> bool:
    """Decide whether no form field, annotation or resource can clip or replace a page's own text."""
    low_page = low_level_page(page)
    if _MUPDF.pdf_first_annot(low_page).m_internal or _MUPDF.pdf_first_widget(low_page).m_internal:
        return False
    resources = _resources_of(low_page)
    if not _keys(resources) <= _PLAIN_RESOURCES:
        return False
    return _kinds_of_parts(resources) <= {"Image", "Form"}


def has_form_xobjects(page: Any) -> bool:
    """Return whether the resources of a page include form XObjects, which may print text.

    Args:
        page: Open page of PyMuPDF.
    """
    return bool(_kinds_of_parts(_resources_of(low_level_page(page))) - {"Image"})


def _kinds_of_parts(resources: Any) -> set[str]:
    parts = _MUPDF.pdf_dict_gets(resources, "XObject")
    entries = (_MUPDF.pdf_dict_get_val(parts, ix) for ix in range(_MUPDF.pdf_dict_len(parts)))
    return {_MUPDF.pdf_to_name(_MUPDF.pdf_dict_gets(entry, "Subtype")) for entry in entries}


def has_named_parts(page: Any) -> bool:
    """Return whether the resources of a page include XObjects such as images.

    Args:
        page: Open page of PyMuPDF.
    """
    return bool(_MUPDF.pdf_dict_len(_MUPDF.pdf_dict_gets(_resources_of(low_level_page(page)), "XObject")))


def has_drawn_letters(page: Any) -> bool:
    """Return whether the resources of a page include a Type 3 font, whose letters are drawings.

    Args:
        page: Open page of PyMuPDF.
    """
    fonts = _MUPDF.pdf_dict_gets(_resources_of(low_level_page(page)), "Font")
    # Low-level functions make no Python object for each of the many fonts.
    low_fonts = fonts.m_internal
    font_of, value_of, name_of = _MUPDF.ll_pdf_dict_get_val, _MUPDF.ll_pdf_dict_gets, _MUPDF.ll_pdf_to_name
    return any(
        name_of(value_of(font_of(low_fonts, ix), "Subtype")) == "Type3" for ix in range(_MUPDF.pdf_dict_len(fonts))
    )


def has_soft_mask(page: Any) -> bool:
    """Return whether the resources of a page include a soft mask, which can make anything invisible.

    Args:
        page: Open page of PyMuPDF.
    """
    states = _MUPDF.pdf_dict_gets(_resources_of(low_level_page(page)), "ExtGState")
    masks = (
        _MUPDF.pdf_dict_gets(_MUPDF.pdf_dict_get_val(states, ix), "SMask") for ix in range(_MUPDF.pdf_dict_len(states))
    )
    return any(_MUPDF.pdf_is_dict(mask) for mask in masks)


def low_level_page(page: Any) -> Any:
    """Return a page as the PDF parser of MuPDF represents it.

    Args:
        page: Open page of PyMuPDF.

    Returns:
        `PdfPage` of MuPDF.
    """
    return _MUPDF.pdf_page_from_fz_page(page.this) if isinstance(page.this, _MUPDF.FzPage) else page.this


def _resources_of(low_page: Any) -> Any:
    return _MUPDF.pdf_dict_get_inheritable(low_page.obj(), _MUPDF.PDF_ENUM_NAME_Resources)


def _keys(dictionary: Any) -> set[str]:
    return {
        _MUPDF.pdf_to_name(_MUPDF.pdf_dict_get_key(dictionary, ix)) for ix in range(_MUPDF.pdf_dict_len(dictionary))
    }


def has_replacement_text(page: Any) -> bool:
    """Return whether the structure tree contains replacement text (`ActualText`) for part of the page.

    Args:
        page: Open page of PyMuPDF.
    """
    page_object = low_level_page(page).obj()
    document = _MUPDF.pdf_get_bound_document(page_object)
    parents = _MUPDF.pdf_dict_getp(_MUPDF.pdf_trailer(document), "Root/StructTreeRoot/ParentTree")
    if not parents.m_internal:
        return False
    parts = _MUPDF.pdf_lookup_number(parents, _MUPDF.pdf_dict_get_int(page_object, _MUPDF.PDF_ENUM_NAME_StructParents))
    # Low-level functions make no Python object for each of the hundreds of parts.
    low_parts, part_of, value_of = parts.m_internal, _MUPDF.ll_pdf_array_get, _MUPDF.ll_pdf_dict_gets
    return any(value_of(part_of(low_parts, ix), _REPLACED) for ix in range(_MUPDF.pdf_array_len(parts)))
