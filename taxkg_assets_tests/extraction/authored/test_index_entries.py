"""Index and contents pages: each page number with the words that it belongs to."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.authored.destinations import find_named_places
from taxkg_assets.extraction.authored.index_entries import find_entries, is_page_number
from taxkg_assets.extraction.authored.links import find_links
from taxkg_assets_tests.extraction.navigation_pdfs import find_box, go_to, link_object, write_links, write_names
from taxkg_assets_tests.extraction.typeset import Booklet

# Indentation in steps, words, page numbers.
_INDEX = [
    (0, "Bees:", ""),
    (1, "Keepers of", "2"),
    (1, "Lost in the winter after the first", ""),
    (2, "frost", "3"),
    (0, "Carts, borrowed", "4"),
    (0, "Frost Relief Act of 2019", "5"),
    (0, "Hives (See also Bees)", "6"),
    (1, "Painted", "7"),
    (0, "Jars 8,", "9"),
    (0, "Wax that was not sold to", ""),
    (2, "anybody", "10"),
    (0, "Yield:", ""),
    (1, "Early:", ""),
    (2, "Weighed", "11"),
]


def _set_index(booklet: Booklet, *, x: float) -> None:
    booklet.to(x)
    for step, words, number in _INDEX:
        booklet.set((f"{words} {number}".strip(), ""), size=8, indent=11.0 * step)


def _link_numbers(booklet: Booklet, numbers: list[str]) -> None:
    document = booklet.document
    write_names(document, {"there": (0, 50.0)})
    page_ix = document.page_count - 1
    lines = [line for block in document[page_ix].get_text("words") for line in [block]]
    links = [
        link_object((x0, y0 + 2, x1, y1 - 1), go_to("there")) for x0, y0, x1, y1, word, *_ in lines if word in numbers
    ]
    write_links(document, page_ix, links)


def _entries(booklet: Booklet) -> list[tuple[str, str, str, str]]:
    source = booklet.source()
    links, _ = find_links(source, places=find_named_places(source.navigation))
    page = source.pages[-1]
    found = find_entries(page, [link for link in links if link.page == page.page])
    return [(links[ix].text, entry.kind, entry.term, entry.subterm) for ix, entry in sorted(found.items())]


@pytest.mark.parametrize("x", [42.0, 310.0])
def test_an_index_has_terms_and_subterms(x: float) -> None:
    booklet = Booklet()
    _set_index(booklet, x=x)
    _link_numbers(booklet, [number for _, _, number in _INDEX if number])
    assert _entries(booklet) == [
        ("2", "index", "Bees", "Keepers of"),
        ("3", "index", "Bees", "Lost in the winter after the first frost"),
        ("4", "index", "Carts, borrowed", ""),
        ("5", "index", "Frost Relief Act of 2019", ""),
        ("6", "index", "Hives", ""),
        ("7", "index", "Hives", "Painted"),
        ("9", "index", "Jars", ""),
        ("10", "index", "Wax that was not sold to anybody", ""),
        ("11", "index", "Yield", "Early, Weighed"),
    ]


def test_contents_have_their_words_without_the_dots() -> None:
    booklet = Booklet()
    for words in ("Bees and hives", "Early honey"):
        booklet.set((f"{words} . . . . . . . . . . 4", ""))
    _link_numbers(booklet, ["4"])
    assert _entries(booklet) == [("4", "contents", "Bees and hives", ""), ("4", "contents", "Early honey", "")]


def test_a_page_number_in_running_text_is_no_entry() -> None:
    booklet = Booklet()
    booklet.lines("The rules for hives are on page 4 and those for jars", "are on page 5 of this booklet.")
    _link_numbers(booklet, ["4", "5"])
    assert _entries(booklet) == []


def test_a_few_numbers_among_other_links_are_no_index() -> None:
    booklet = Booklet()
    booklet.lines("Bees 4", "Hives 5", "Jars")
    document = booklet.document
    write_names(document, {"there": (0, 50.0)})
    boxes = [find_box(document, 0, words) for words in ("4", "5", "Jars")]
    write_links(document, 0, [link_object(box, go_to("there")) for box in boxes])
    assert _entries(booklet) == []


@pytest.mark.parametrize(
    ("words", "is_number"), [("7", True), ("A-3", True), ("12-4", True), ("page 7", False), ("", False)]
)
def test_page_numbers(words: str, is_number: bool) -> None:
    assert is_page_number(words) is is_number
