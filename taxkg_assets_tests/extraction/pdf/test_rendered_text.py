"""What glyphs print within their clips is the text; other text of the file is reported and left out."""

from __future__ import annotations

from typing import Any

import pymupdf
import pytest

from taxkg_assets.extraction.pdf.model import Source
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets_tests.extraction.pdf.test_visibility import ORDER, say, write_operators

PRINTED = "Report the rent here."


def _read(operators: str, *, turned: int = 0) -> Source:
    document: Any = pymupdf.open()
    page = document.new_page(width=612, height=792)
    page.insert_text((72, 100), "Enter the rent in box 3.")
    write_operators(page, operators)
    page.set_rotation(turned)
    return read_source(document.tobytes(), document_id="d")


def _seen(source: Source) -> str:
    return " ".join(span.text for span in source.pages[0].spans)


def _marked(text: str, *, glyphs: str) -> str:
    coded = (b"\xfe\xff" + text.encode("utf-16-be")).hex()
    return f"/Span <</ActualText <{coded}>>> BDC {say(glyphs)} EMC"


@pytest.mark.parametrize("turned", [0, 90])
@pytest.mark.parametrize(
    ("operators", "kind", "printed"),
    [
        (f"q 500 700 5 5 re W n {say(ORDER)} Q", "clipped", ""),
        (f"q 72 490 0 0 re W n {say(ORDER)} Q", "covered", ""),
        (_marked(ORDER, glyphs=PRINTED), "other glyphs", PRINTED),
    ],
    ids=["beside the clip", "an empty clip", "other words"],
)
def test_what_no_glyph_prints_is_left_out_and_reported(operators: str, kind: str, printed: str, turned: int) -> None:
    source = _read(operators, turned=turned)
    assert _seen(source).replace(" ", "") == f"Enter the rent in box 3.{printed}".replace(" ", "")
    (row,) = source.hidden_texts
    assert (row.kind, row.is_order, row.text.strip(".")) == (kind, True, ORDER.strip("."))


def test_the_part_of_a_line_that_is_clipped_away_is_left_out() -> None:
    source = _read(f"q 72 470 100 40 re W n {say(f'{PRINTED} {ORDER}')} Q")
    assert _seen(source).startswith(f"Enter the rent in box 3. {PRINTED[:15]}")
    assert "PREVIOUS" not in _seen(source)
    assert [(row.kind, row.is_order) for row in source.hidden_texts] == [("clipped", True)]


def test_what_shows_through_a_slit_is_not_read() -> None:
    source = _read(f"q 72 480 500 12.5 re W n Q q 72 491 500 1 re W n {say(ORDER)} Q")
    assert _seen(source) == "Enter the rent in box 3."
    assert [(row.kind, row.is_order) for row in source.hidden_texts] == [("covered", True)]


@pytest.mark.parametrize(
    "operators",
    [
        f"q 60 470 500 40 re W n {say(PRINTED)} Q",
        f"q 60 20 500 1 re W n 0 0 600 600 re f Q {say(PRINTED)}",
        _marked(PRINTED, glyphs=PRINTED.replace(" ", "  ")),
        f"{say(PRINTED)} {say(PRINTED)}",
    ],
    ids=["within the clip", "beside a slit", "the same words", "printed twice"],
)
def test_what_is_printed_as_it_is_said_stays(operators: str) -> None:
    source = _read(operators)
    assert PRINTED.replace(" ", "") in _seen(source).replace(" ", "")
    assert source.hidden_texts == ()
