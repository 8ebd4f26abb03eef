"""Links, names and bookmarks as data; hostile tables give a reason and never more than they may."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Any

import pymupdf
import pytest

from taxkg_assets.extraction.errors import StageError
from taxkg_assets.extraction.pdf.navigation import Navigation
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.extraction.pdf.rotation import derotate_pages
from taxkg_assets.rules.loader import load_family
from taxkg_assets_tests.extraction.navigation_pdfs import (
    EDITION,
    find_top,
    go_to,
    link_object,
    make_booklet,
    make_linked_booklet,
    new_object,
    open_address,
    set_tree,
    write_links,
    write_names,
)
from taxkg_assets_tests.extraction.typeset import Booklet

_BOX = (50.0, 100.0, 90.0, 110.0)


def _read(booklet: Booklet) -> Navigation:
    return read_source(booklet.bytes(), document_id="sample").navigation


def test_what_is_read_is_what_the_library_reads() -> None:
    booklet = make_linked_booklet()
    document = booklet.document
    document.set_toc([[1, "Rules", 1], [2, "Early Harvest", 2], [1, "Late Harvest", 2]])
    read = _read(booklet)
    reopened: Any = pymupdf.open(stream=booklet.bytes())
    expected = [(name, place["page"] + 1, place["to"][1]) for name, place in reopened.resolve_names().items()]
    found = [(named.name, named.place.page, 792.0 - named.place.y) for named in read.destinations]
    assert [one[:2] for one in sorted(found)] == [one[:2] for one in sorted(expected)]
    assert [one[2] for one in sorted(found)] == pytest.approx([one[2] for one in sorted(expected)], abs=0.01)
    assert [(mark.level, mark.title) for mark in read.bookmarks] == [
        (1, "Rules"),
        (2, "Early Harvest"),
        (1, "Late Harvest"),
    ]
    boxes = sorted(tuple(link["from"]) for link in reopened[0].get_links())
    assert sorted((area.x0, area.y0, area.x1, area.y1) for area in read.areas) == [pytest.approx(box) for box in boxes]
    assert {area.url or area.name for area in read.areas} == {"https://www.irs.gov/hives", f"{EDITION}_publink100078"}
    assert read.reasons == ()


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_rotated_page_has_its_links_where_it_shows_them(turn: int) -> None:
    booklet = make_linked_booklet()
    booklet.document[0].set_rotation(turn)
    booklet.document[1].set_rotation(turn)
    data = booklet.bytes()
    page = read_source(data, document_id="sample")
    area = next(area for area in page.navigation.areas if area.url)
    words = next(span for span in page.pages[0].spans if "Hives" in span.text)
    assert words.x0 - 1 <= (area.x0 + area.x1) / 2 <= words.x1 + 1
    assert words.y0 - 1 <= (area.y0 + area.y1) / 2 <= words.y1 + 1
    upright = derotate_pages(page)
    assert len(upright.navigation.areas) == len(page.navigation.areas)


@pytest.mark.parametrize(
    ("target", "page", "y"),
    [
        ("[{second} 0 R/XYZ 40 700 0]", 2, 92.0),
        ("[{second} 0 R/FitH 700]", 2, 92.0),
        ("[{second} 0 R/FitR 10 100 200 700]", 2, 92.0),
        ("[{second} 0 R/Fit]", 2, 0.0),
        ("[1/XYZ null 700 null]", 2, 92.0),
        ("[9999 0 R/XYZ null 700 null]", None, None),
        ("[77/XYZ null 700 null]", None, None),
        ("[]", None, None),
        ("(nobody)", None, None),
    ],
)
def test_places_without_a_name(target: str, page: int | None, y: float | None) -> None:
    booklet = make_booklet()
    second = booklet.document.page_xref(1)
    write_links(booklet.document, 0, [link_object(_BOX, f"/Dest {target.format(second=second)}")])
    places = [area.place for area in _read(booklet).areas if area.place is not None]
    assert [(place.page, place.y) for place in places] == ([(page, y)] if page else [])


@pytest.mark.parametrize(
    "action",
    [
        "/A<</S/JavaScript/JS(app.alert\\(1\\))>>",
        "/A<</S/Launch/F(calc.exe)>>",
        "/A<</S/GoToR/F(other.pdf)/D[0/Fit]>>",
        "/A<</S/SubmitForm/F(https://example.org)>>",
    ],
)
def test_links_that_run_or_open_something_are_left_out(action: str) -> None:
    booklet = make_booklet()
    write_links(booklet.document, 0, [link_object(_BOX, action)])
    read = _read(booklet)
    assert read.areas == ()
    assert read.reasons


def _cyclic_tree(document: Any) -> None:
    number = set_tree(document, "<</Kids[]>>")
    document.update_object(number, f"<</Kids[{number} 0 R {number} 0 R]>>")


def _deep_tree(document: Any, depth: int = 3000) -> None:
    number = new_object(document, "<</Names[]>>")
    for _ in range(depth):
        number = new_object(document, f"<</Kids[{number} 0 R]/Limits[(a)(z)]>>")
    set_tree(document, f"<</Kids[{number} 0 R]>>")


def _bookmarks_to_deep_names(document: Any) -> None:
    _deep_tree(document, 10_000)
    root, below = new_object(document, "<<>>"), "null"
    for ix in range(1000):
        below = f"{new_object(document, f'<</Title(t)/A<</S/GoTo/D(n{ix})>>/Next {below}/Parent {root} 0 R>>')} 0 R"
    document.update_object(root, f"<</First {below}/Last {below}/Count 1000>>")
    document.xref_set_key(document.pdf_catalog(), "Outlines", f"{root} 0 R")


def _million_names(document: Any) -> None:
    page = document.page_xref(0)
    set_tree(document, "<</Names[" + "".join(f"(n{ix})[{page} 0 R/Fit]" for ix in range(150_000)) + "]>>")


def _nested_array(document: Any) -> None:
    set_tree(document, f"<</Names[(a){'[' * 90}{']' * 90}]>>")


def _names_out_of_the_file(document: Any) -> None:
    set_tree(document, "<</Names[(a) 99999 0 R(b)[99999 0 R/XYZ 0 0 0](c)[0 0 R/Fit](d)null(e)7]>>")


def _cyclic_outline(document: Any) -> None:
    root, first = new_object(document, "<<>>"), new_object(document, "<<>>")
    document.update_object(first, f"<</Title(Again)/Next {first} 0 R/First {root} 0 R/Parent {root} 0 R>>")
    document.update_object(root, f"<</First {first} 0 R/Last {first} 0 R/Count 2>>")
    document.xref_set_key(document.pdf_catalog(), "Outlines", f"{root} 0 R")


def _many_links(document: Any) -> None:
    link = new_object(document, link_object(_BOX, open_address("https://example.org")))
    document.xref_set_key(document.page_xref(0), "Annots", f"[{f'{link} 0 R ' * 20_000}]")


def _odd_links(document: Any) -> None:
    odd = [
        "<</Type/Annot/Subtype/Link/Rect[0 0 1e30 5]/A<</S/URI/URI(https://example.org)>>>>",
        "<</Type/Annot/Subtype/Link/Rect[5 5 5 5]/A<</S/URI/URI(https://example.org)>>>>",
        "<</Type/Annot/Subtype/Link/Rect(none)/A 99999 0 R>>",
        "<</Type/Annot/Subtype/Link/Rect[1 2 3]>>",
        "<</Type/Annot/Subtype/Link/Rect[1 2 30 40]/A[1 2 3]>>",
        link_object(_BOX, "/Dest<</D<</D<</D 1>>>>>>"),
        link_object(_BOX, go_to("x" * 5000)),
    ]
    write_links(document, 0, odd)
    document.xref_set_key(document.page_xref(1), "Annots", "(neither a list nor a link)")


_HOSTILE: list[Callable[[Any], None]] = [
    _cyclic_tree,
    _deep_tree,
    _bookmarks_to_deep_names,
    _million_names,
    _nested_array,
    _names_out_of_the_file,
    _cyclic_outline,
    _many_links,
    _odd_links,
]


@pytest.mark.parametrize("spoil", _HOSTILE, ids=lambda spoil: spoil.__name__)
def test_hostile_tables_are_read_as_far_as_they_can_be(spoil: Callable[[Any], None]) -> None:
    booklet = make_booklet()
    spoil(booklet.document)
    began = perf_counter()
    read = _read(booklet)
    assert perf_counter() - began < 10.0
    limits = load_family("navigation")["limits"]
    assert len(read.areas) <= limits["links_on_page"] * 2
    assert len(read.destinations) <= limits["names"]
    assert len(read.bookmarks) <= limits["bookmarks"]
    assert read.reasons or spoil in (_deep_tree, _bookmarks_to_deep_names)
    assert all(area.x1 > area.x0 and area.y1 > area.y0 for area in read.areas)


@pytest.mark.slow
def test_spoiled_objects_never_raise() -> None:
    """Objects of links and names with characters dropped, doubled or exchanged, some hundred times."""
    draw = random.Random(7)
    booklet = make_linked_booklet()
    valid = booklet.bytes()
    for _ in range(120):
        document: Any = pymupdf.open(stream=valid)
        numbers = [n for n in range(1, document.xref_length()) if not document.xref_is_stream(n)]
        numbers = [n for n in numbers if any(key in document.xref_object(n) for key in ("/Link", "/D", "publink"))]
        for number in draw.sample(numbers, min(3, len(numbers))):
            text = list(document.xref_object(number, compressed=True))
            at = draw.randrange(2, len(text) - 2)
            text[at : at + draw.randrange(1, 4)] = draw.choice([[], ["0"], ["["], [")"], ["/"], ["<<"], [" 7 0 R "]])
            try:
                document.update_object(number, "".join(text))
            except Exception:
                continue
        try:
            data = document.tobytes()
        except ValueError:  # the pages themselves are gone
            continue
        with suppress(StageError):
            read_source(data, document_id="sample")


def test_the_same_name_twice_keeps_its_first_place() -> None:
    booklet = make_booklet()
    pages = [booklet.document.page_xref(ix) for ix in (0, 1)]
    set_tree(booklet.document, f"<</Names[(a)[{pages[0]} 0 R/Fit](a)[{pages[1]} 0 R/Fit]]>>")
    assert [(named.name, named.place.page) for named in _read(booklet).destinations] == [("a", 1)]


def test_old_files_name_places_in_the_catalog() -> None:
    booklet = make_booklet()
    document = booklet.document
    page = document.page_xref(1)
    document.xref_set_key(document.pdf_catalog(), "Dests", f"<</ch1[{page} 0 R/XYZ 0 700 0]>>")
    write_names(document, {"ch2": (1, 90.0)})
    assert {named.name: named.place.page for named in _read(booklet).destinations} == {"ch1": 2, "ch2": 2}


def test_titles_in_all_encodings() -> None:
    booklet = make_linked_booklet()
    words = ["plain", "\\220s", "(nested)", "\\(open", "b\\\\c"]
    links = [link_object(_BOX, go_to("lastpage"), title=word) for word in words]
    utf = "<FEFF" + "Größe".encode("utf-16-be").hex() + ">"
    links.append(link_object(_BOX, go_to("lastpage")).replace("/Rect", f"/Contents{utf}/Rect"))
    write_links(booklet.document, 0, links)
    assert [area.title for area in _read(booklet).areas] == ["plain", "’s", "(nested)", "(open", "b\\c", "Größe"]


def test_tops_of_headings_are_found() -> None:
    document = make_booklet().document
    assert find_top(document, 1, "Late") > find_top(document, 1, "Early")
