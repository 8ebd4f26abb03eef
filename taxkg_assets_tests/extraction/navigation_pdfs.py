"""Invented documents with links, names and bookmarks, valid and hostile, written object by object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from taxkg_assets_tests.extraction.typeset import Booklet

EDITION = "en_US_2031"
HEIGHT = 792.0
Box = tuple[float, float, float, float]


def new_object(document: Any, text: str) -> int:
    """Add an object and give its number."""
    number = int(document.get_new_xref())
    document.update_object(number, text)
    return number


def write_names(document: Any, names: Mapping[str, tuple[int, float]]) -> None:
    """Name places: a page, 0-based, and a height from its top."""
    pairs = [
        f"({name}) <</D[{document.page_xref(ix)} 0 R/XYZ null {HEIGHT - y} null]>>" for name, (ix, y) in names.items()
    ]
    set_tree(document, f"<</Names[{' '.join(pairs)}]>>")


def set_tree(document: Any, node: str) -> int:
    """Make an object the root of the tree of names."""
    number = new_object(document, node)
    document.xref_set_key(document.pdf_catalog(), "Names", f"<</Dests {number} 0 R>>")
    return number


def link_object(box: Box, action: str, *, title: str = "") -> str:
    """Write a link annotation; `box` from the page's top left."""
    x0, y0, x1, y1 = box
    contents = f"/Contents({title})" if title else ""
    return f"<</Type/Annot/Subtype/Link{action}{contents}/Rect[{x0} {HEIGHT - y1} {x1} {HEIGHT - y0}]/Border[0 0 0]>>"


def go_to(name: str) -> str:
    """Write the action that leads to a named place."""
    return f"/A<</S/GoTo/D({name})>>"


def open_address(url: str) -> str:
    """Write the action that opens an address."""
    return f"/A<</S/URI/URI({url})>>"


def write_links(document: Any, page_ix: int, links: Sequence[str]) -> None:
    """Give a page its link annotations."""
    numbers = [new_object(document, link) for link in links]
    document.xref_set_key(document.page_xref(page_ix), "Annots", f"[{' '.join(f'{n} 0 R' for n in numbers)}]")


def find_box(document: Any, page_ix: int, words: str, *, which: int = 0) -> Box:
    """Find where words are printed, as high as their type."""
    found = document[page_ix].search_for(words)[which]
    return found.x0, found.y0 + 3.0, found.x1, found.y1 - 1.0


def make_booklet() -> Booklet:
    """A booklet of two pages: prose that points, and the headings that it points at."""
    booklet = Booklet()
    booklet.set(("Instructions for Form 9077", "b"), size=18)
    booklet.set(("Department of the Treasury Internal Revenue Service", ""), size=8)
    booklet.set(("General Rules", "b"), size=14, gap=14)
    booklet.lines(
        "A keeper of bees reports the yield of each hive. See Late",
        "Harvest for what is taken after the frost, and more at",
        "IRS.gov/Hives for the list of flowers that count as wild.",
        gap=4,
    )
    booklet.turn()
    booklet.set(("Early Harvest", "b"), size=14, gap=14)
    booklet.lines(
        "Honey that is taken before the frost is of the first kind",
        "and is weighed on the day when it is taken.",
        gap=4,
    )
    booklet.set(("Late Harvest", "b"), size=14, gap=14)
    booklet.lines(
        "Honey that is taken after the frost is of the second kind",
        "and is weighed in the week when it is taken.",
        gap=4,
    )
    return booklet


def find_top(document: Any, page_ix: int, words: str) -> float:
    """Height of the point that names a heading: the top of its letters, below that of its line's box."""
    for block in document[page_ix].get_text("dict")["blocks"]:
        for line in block.get("lines", ()):
            if "".join(span["text"] for span in line["spans"]).startswith(words):
                return float(line["bbox"][1] + 0.4 * line["spans"][0]["size"])
    raise AssertionError(words)


def make_linked_booklet() -> Booklet:
    """The booklet with named headings, a link that runs over a line's end, an address and bookmarks."""
    booklet = make_booklet()
    document = booklet.document
    write_names(
        document,
        {
            f"{EDITION}_publink100077": (1, find_top(document, 1, "Early")),
            f"{EDITION}_publink100078": (1, find_top(document, 1, "Late")),
            "lastpage": (1, 700.0),
        },
    )
    late = go_to(f"{EDITION}_publink100078")
    write_links(
        document,
        0,
        [
            link_object(find_box(document, 0, "IRS.gov/Hives"), open_address("https://www.irs.gov/hives")),
            link_object(find_box(document, 0, "Harvest"), late, title="Late Harvest"),
            link_object(find_box(document, 0, "Late"), late, title="Late Harvest"),
        ],
    )
    return booklet
