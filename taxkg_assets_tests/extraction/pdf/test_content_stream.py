"""A page with shortened instructions says and draws what it did; what may be more than a word or a mark is kept."""

from __future__ import annotations

from typing import Any

import pymupdf
import pytest

from taxkg_assets.extraction.pdf.content_stream import strip_mcids, strip_text_objects
from taxkg_assets.extraction.pdf.drawings import read_drawings
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets_tests.extraction.pdf.test_render_fast_path import write_page
from taxkg_assets_tests.extraction.pdf.test_visibility import say

LINE = "q 1 0 0 1 10 10 cm 60 20 m 300 20 l S Q"
SHADE = "0.8 g 60 60 200 30 re f 0 g"


@pytest.mark.parametrize(
    "operators",
    [
        f"{LINE} {say('Report the rent here.')} {SHADE}",
        f"/P << /MCID 0 >> BDC {say('Of two parts')} EMC {LINE}",
        f"BT /F1 9 Tf 1 0 0 1 60 700 Tm [<0A0B> -30 <0C0E>] TJ ET {SHADE}",
        rf"BT /F1 9 Tf (ends \) ET here) Tj ET {LINE}",
        f"BT /F1 9 Tf 0 -9 Td (ET 1 0 0 rg) Tj T* ET {SHADE}",
    ],
    ids=["a line and shading", "marked", "in hexadecimal", "a bracket within", "words like instructions"],
)
def test_text_is_left_out_and_all_drawings_stay(operators: str) -> None:
    wordless = strip_text_objects(operators.encode())
    assert wordless is not None
    assert b"Tf" not in wordless
    page = write_page(operators)
    drawn, alone = read_drawings(page), read_drawings(page, wordless)
    assert alone[:2] == drawn[:2]
    assert [occluder.box for occluder in alone[2]] == [occluder.box for occluder in drawn[2]]
    assert drawn[0] or drawn[1]
    assert b"Tf" in page.read_contents()


@pytest.mark.parametrize(
    "operators",
    [
        "BT /F1 9 Tf 1 0 0 rg (red) Tj ET 9 9 90 90 re f",
        "BT /F1 9 Tf 7 Tr (a clip) Tj ET 9 9 90 90 re f",
        "BT /F1 9 Tf (never ended) Tj",
        "% BT\n 9 9 90 90 re f % ET",
        "q 9 0 0 9 9 9 cm BI /W 1 /H 1 /BPC 8 /CS /G ID BT ET EI Q",
    ],
    ids=["a colour", "a clip to glyphs", "no end", "a comment", "a picture"],
)
def test_what_may_be_more_than_text_is_kept(operators: str) -> None:
    assert strip_text_objects(operators.encode()) is None


def test_a_long_text_object_without_end_takes_no_longer_than_its_length() -> None:
    assert strip_text_objects(b"BT " + b"(a) <0A> [ 9 ] Tj " * 20_000) is None


def test_marks_lose_their_numbers_unless_a_text_holds_what_looks_like_one() -> None:
    marked = f"/P <</MCID 4>> BDC {say('Report the rent here.')} EMC".encode()
    assert strip_mcids(marked) == marked.replace(b"/MCID", b"/None")
    written = marked.replace(b"rent", b"/MCID")
    assert strip_mcids(written) == written
    escaped = marked.replace(b"rent", rb"and/or \) /MC 5/MCID")
    assert strip_mcids(escaped) == escaped


def test_an_encrypted_file_that_needs_no_password_reads_like_a_plain_one() -> None:
    document: Any = write_page(f"/P <</MCID 0>> BDC {say('Report the rent here.')} EMC {LINE} {SHADE}").parent
    locked = document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner", permissions=0)
    plain, read = (read_source(data, document_id="d").pages for data in (document.tobytes(), locked))
    assert read == plain
    assert plain[0].rules
