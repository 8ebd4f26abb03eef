"""Pages whose rendered text is their extracted text; decided from how a page is written, before it is read twice.

Two things part what is said from what is printed: a text in place of glyphs (`ActualText`), and a
clip. Most pages hold neither, or clip nothing but drawn lines. Whatever is not surely of this kind is not plain: a
page that is called plain without being so would hide text from the comparison of both readings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from taxkg_assets.extraction.pdf.library import pymupdf

_MUPDF: Any = pymupdf.mupdf
_REPLACED = "ActualText"
# What a page may use next to fonts and pictures, without a clip or marks of its own.
_PLAIN_RESOURCES = frozenset({"Font", "ProcSet", "XObject", "ColorSpace"})
# A drawing that is put aside as a whole: no text, no string, no comment, no other such group within.
_WHOLE = rb"(?:<<[^<>()%]*>>|\[[\d.\s-]*\])"
_DRAWN = rb"[^()<>\[\]{}%'\"TqQ]*"
_GROUP = re.compile(rb"q(?<!\Sq)\s" + _DRAWN + rb"(?:" + _WHOLE + _DRAWN + rb")*Q(?<=\sQ)(?!\S)")
_MOST_NESTED = 8
# A glyph may be drawn next to its place, but hardly by more than the size of usual type.
_EDGE_PT = 9.0
_END = rb"(?![^\s()<>\[\]{}/%])"
_CLIP = re.compile(rb"W\*?" + _END)
# A comment could hold what seems to be the begin of a group; a picture within the text could hold anything.
_COMMENTED = re.compile(rb"%[^\r\n]*\sq\s")
PICTURE = re.compile(rb"BI(?<![^\s()<>\[\]{}/%]BI)" + _END)
"""Begins a picture among a page's instructions: its bytes may look like any of these."""
_MODE = re.compile(rb"Tr" + _END)
_PLAIN_MODE = re.compile(rb"(?:\s|^)[0-3]\s+$")
_MODE_BYTES = 8


def is_plain(page: Any, content: bytes, *, blocks: Sequence[dict[str, Any]]) -> bool:
    """Return whether a page certainly displays the letters of its text, so that rendering need not be compared.

    Replacement text (`ActualText`) and form XObjects are checked separately.

    Args:
        page: Open page of PyMuPDF.
        content: The page's instructions, its text objects emptied or not.
        blocks: Its text as parsed, upright as the page is stored.
    """
    return (
        _keeps_off_edges(page, blocks)
        and _has_plain_words(content)
        and not _clips_text(content)
        and _has_plain_parts(page)
    )


def _keeps_off_edges(page: Any, blocks: Sequence[dict[str, Any]]) -> bool:
    """Decide whether all text is well inside or outside a page: one painted as a picture is clipped at its edges."""
    if page.rotation:
        return False
    shown = page.rect
    width, height = shown.width, shown.height
    for block in blocks:
        x0, y0, x1, y1 = block["bbox"]
        is_inside = x0 > _EDGE_PT and y0 > _EDGE_PT and x1 < width - _EDGE_PT and y1 < height - _EDGE_PT
        if not is_inside and not (x1 <= 0 or y1 <= 0 or x0 >= width or y0 >= height):
            return False
    return True


def _has_plain_words(content: bytes) -> bool:
    """Decide whether no instruction names a text for glyphs, however the name is written, or clips to glyphs."""
    if b"#" in content or _REPLACED.encode() in content:
        return False
    return all(
        _PLAIN_MODE.search(content, max(0, mode.start() - _MODE_BYTES), mode.start())
        for mode in _MODE.finditer(content)
    )


def _clips_text(content: bytes) -> bool:
    """Decide whether text may be written while a clip holds: one not put aside with the drawing that it is made for."""
    if _CLIP.search(content) is None:
        return False
    if (b"%" in content and _COMMENTED.search(content)) or PICTURE.search(content):
        return True
    return _CLIP.search(_without_groups(content)) is not None


def without_clipped_drawings(content: bytes) -> bytes:
    """Remove what is drawn within its own clips from a page's instructions, except XObjects.

    Args:
        content: Instructions of a page that is plain.

    Returns:
        The instructions in whose clips a form XObject may be painted.
    """
    return _without_groups(content, but=b"Do")


def _without_groups(content: bytes, *, but: bytes = b"") -> bytes:
    """Put aside drawings that begin and end as a whole, until no clip is left; `but`: what these do not contain."""
    with_blank = (lambda group: group[0] if but in group[0] else b" ") if but else b" "
    for _ in range(_MOST_NESTED):
        length = len(content)
        content = _GROUP.sub(with_blank, content)
        if len(content) == length or _CLIP.search(content) is None:
            break
    return content


def _has_plain_parts(page: Any) -> bool:
    """Decide whether neither fields, notes nor named parts can clip or replace a page's own text."""
    inside = low_level_page(page)
    if _MUPDF.pdf_first_annot(inside).m_internal or _MUPDF.pdf_first_widget(inside).m_internal:
        return False
    resources = _resources_of(inside)
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
    # Read without an object of Python for each: a page has many fonts.
    inside, font_of, value_of, name_of = (
        fonts.m_internal,
        _MUPDF.ll_pdf_dict_get_val,
        _MUPDF.ll_pdf_dict_gets,
        _MUPDF.ll_pdf_to_name,
    )
    return any(name_of(value_of(font_of(inside, ix), "Subtype")) == "Type3" for ix in range(_MUPDF.pdf_dict_len(fonts)))


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


def _resources_of(inside: Any) -> Any:
    return _MUPDF.pdf_dict_get_inheritable(inside.obj(), _MUPDF.PDF_ENUM_NAME_Resources)


def _keys(dictionary: Any) -> set[str]:
    return {
        _MUPDF.pdf_to_name(_MUPDF.pdf_dict_get_key(dictionary, ix)) for ix in range(_MUPDF.pdf_dict_len(dictionary))
    }


def has_replacement_text(page: Any) -> bool:
    """Return whether the structure tree contains replacement text (`ActualText`) for part of the page.

    Args:
        page: Open page of PyMuPDF.
    """
    described = low_level_page(page).obj()
    document = _MUPDF.pdf_get_bound_document(described)
    parents = _MUPDF.pdf_dict_getp(_MUPDF.pdf_trailer(document), "Root/StructTreeRoot/ParentTree")
    if not parents.m_internal:
        return False
    parts = _MUPDF.pdf_lookup_number(parents, _MUPDF.pdf_dict_get_int(described, _MUPDF.PDF_ENUM_NAME_StructParents))
    # A page has hundreds of parts: read without an object of Python for each of them.
    inside, part_of, value_of = parts.m_internal, _MUPDF.ll_pdf_array_get, _MUPDF.ll_pdf_dict_gets
    return any(value_of(part_of(inside, ix), _REPLACED) for ix in range(_MUPDF.pdf_array_len(parts)))
