"""Words of a form XObject are judged as the page's own words are, though the page is not drawn for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pymupdf
import pytest

from taxkg_assets.extraction.pdf import visibility
from taxkg_assets.extraction.pdf.form_xobjects import FormXObjects
from taxkg_assets.extraction.pdf.model import Source
from taxkg_assets.extraction.pdf.occluders import Occluder
from taxkg_assets.extraction.pdf.reader import read_source

OWN = "Enter the rent in box 3."
WORDS = "Words of a notice that every reader of the page should see."
DARK = (0.1, 0.1, 0.1)
SHADE = (60, 280, 560, 320)
SHADED = "60 472 500 40 re f"
Draw = Callable[[Any], Any]


def _draw_icon(page: Any) -> None:
    page.draw_rect(SHADE, color=None, fill=DARK)
    page.insert_text((72, 300), WORDS, color=(1, 1, 1))


def _draw_covered(page: Any) -> None:
    page.insert_text((72, 300), WORDS)
    page.draw_rect(SHADE, color=None, fill=(1, 1, 1))


def _draw_white(page: Any) -> None:
    page.insert_text((72, 300), WORDS, color=(1, 1, 1))


def _draw_on_its_color(page: Any) -> None:
    page.draw_rect(SHADE, color=None, fill=DARK)
    page.insert_text((72, 300), WORDS, color=DARK)


def _draw_nothing(page: Any) -> None:
    page.insert_text((72, 300), "Note")


def _compose(draw: Draw, *, before: str = "", after: str = "", box: tuple[float, ...] = (0, 0, 612, 792)) -> Any:
    """A page with words of its own and an XObject.

    before: what is written in front of it; after: what paints over it; box: what the XObject shows of it.
    """
    inner: Any = pymupdf.open()
    draw(inner.new_page(width=612, height=792))
    document: Any = pymupdf.open()
    page = document.new_page(width=612, height=792)
    page.insert_font(fontname="helv")
    page.show_pdf_page(pymupdf.Rect(*box), inner, 0, clip=pymupdf.Rect(*box))
    (content,) = page.get_contents()
    written = f"BT /helv 11 Tf 72 692 Td ({OWN}) Tj ET q {before} /fzFrm0 Do Q {after}"
    document.update_stream(content, written.encode("latin1"))
    return pymupdf.open(stream=document.tobytes())


def _read(document: Any) -> Source:
    return read_source(document.tobytes(), document_id="notice")


def _seen(source: Source) -> str:
    return " ".join(span.text for page in source.pages for span in page.spans)


def test_white_words_on_a_dark_box_stay() -> None:
    source = _read(_compose(_draw_icon))
    assert _seen(source) == f"{OWN} {WORDS}"
    assert source.hidden_texts == ()
    (fill,) = source.pages[0].fills
    assert (fill.x0, fill.y1) == pytest.approx((60, 320))


@pytest.mark.parametrize(
    ("draw", "kind"),
    [(_draw_covered, "covered"), (_draw_white, "like its background"), (_draw_on_its_color, "like its background")],
)
def test_words_that_no_one_can_see_are_left_out(draw: Draw, kind: str) -> None:
    source = _read(_compose(draw))
    assert _seen(source) == OWN
    assert [(row.kind, row.text) for row in source.hidden_texts] == [(kind, WORDS)]


def test_words_behind_a_slit_are_left_out() -> None:
    source = _read(_compose(_draw_icon, before="60 490 500 1 re W n"))
    assert _seen(source) == OWN
    assert [row.text for row in source.hidden_texts] == [WORDS]


def test_words_behind_the_edge_of_the_xobject_are_left_out() -> None:
    source = _read(_compose(_draw_covered, box=(0, 0, 612, 200)))
    assert WORDS not in _seen(source)


def test_a_box_of_the_page_hides_words_of_the_xobject() -> None:
    source = _read(_compose(_draw_icon, after=f"1 1 1 rg {SHADED}"))
    assert _seen(source) == OWN
    assert [row.text for row in source.hidden_texts] == [WORDS]


def test_the_xobject_hides_words_of_the_page() -> None:
    def draw(page: Any) -> None:
        page.draw_rect((60, 80, 560, 120), color=None, fill=(1, 1, 1))
        page.insert_text((72, 300), WORDS)

    source = _read(_compose(draw))
    assert _seen(source) == WORDS
    assert [(row.kind, row.text) for row in source.hidden_texts] == [("covered", OWN)]


def test_the_page_is_not_drawn_for_words_of_an_xobject(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[object] = []
    monkeypatch.setattr(visibility, "read_paint_log", drawn.append)
    assert WORDS in _seen(_read(_compose(_draw_icon)))
    assert not drawn


def test_the_page_is_not_drawn_for_words_of_an_xobject_that_the_next_line_touches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[object] = []
    monkeypatch.setattr(visibility.VisibilityChecker, "_display_list", property(drawn.append))

    def draw(page: Any) -> None:
        page.draw_rect((60, 280, 560, 304), color=None, fill=DARK)
        page.insert_text((72, 300), WORDS, color=(1, 1, 1))

    touching = "Line below that touches."
    source = _read(_compose(draw, after=f"BT /helv 11 Tf 72 479 Td ({touching}) Tj ET"))
    assert WORDS in _seen(source)
    assert touching in _seen(source)
    assert not drawn


def test_covers_are_counted_next_to_the_words_of_xobjects() -> None:
    document = _compose(_draw_nothing, after=SHADED)
    page = document[0]
    xobjects = FormXObjects(page, b"q /fzFrm0 Do Q 9 9 50 50 re f", clip=(0, 0, 612, 792), flags=0)
    kinds = [kind for kind, _ in xobjects.log]
    assert kinds == ["fill-text", "fill-path"]
    placed = xobjects.place_occluders([Occluder(1, (9, 733, 59, 783), 0)])
    assert placed == (Occluder(0, (9, 733, 59, 783), 0),)
    assert xobjects.place_occluders([Occluder(0, (9, 733, 59, 783), 0)]) is None
