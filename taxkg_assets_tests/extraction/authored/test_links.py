"""Rectangles joined to links, the words that they cover, and the addresses that are kept."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.authored.destinations import find_named_places, read_publisher_id
from taxkg_assets.extraction.authored.links import Link, find_links, is_address, join_words
from taxkg_assets_tests.extraction.navigation_pdfs import (
    EDITION,
    find_box,
    go_to,
    link_object,
    make_booklet,
    make_linked_booklet,
    open_address,
    write_links,
    write_names,
)
from taxkg_assets_tests.extraction.typeset import Booklet


def _links(booklet: Booklet) -> tuple[tuple[Link, ...], tuple[str, ...]]:
    source = booklet.source()
    return find_links(source, places=find_named_places(source.navigation))


def test_a_link_over_a_lines_end_is_one() -> None:
    links, reasons = _links(make_linked_booklet())
    assert [(link.text, len(link.boxes)) for link in links] == [("Late Harvest", 2), ("IRS.gov/Hives", 1)]
    assert links[0].name == f"{EDITION}_publink100078"
    assert reasons == ()


def test_two_links_to_one_place_stay_two_where_words_are_between() -> None:
    booklet = make_booklet()
    write_names(booklet.document, {"there": (1, 90.0)})
    boxes = [find_box(booklet.document, 0, words) for words in ("keeper", "hive")]
    write_links(booklet.document, 0, [link_object(box, go_to("there")) for box in boxes])
    links, _ = _links(booklet)
    assert [link.text for link in links] == ["keeper", "hive"]


def test_two_places_side_by_side_are_two_links() -> None:
    booklet = make_booklet()
    write_names(booklet.document, {"here": (0, 90.0), "there": (1, 90.0)})
    pairs = [("keeper", "here"), ("of bees", "there")]
    write_links(
        booklet.document, 0, [link_object(find_box(booklet.document, 0, words), go_to(name)) for words, name in pairs]
    )
    links, _ = _links(booklet)
    assert [(link.text, link.name) for link in links] == pairs


def test_the_same_rectangle_twice_counts_once() -> None:
    booklet = make_booklet()
    write_names(booklet.document, {"there": (1, 90.0)})
    link = link_object(find_box(booklet.document, 0, "keeper"), go_to("there"))
    write_links(booklet.document, 0, [link, link])
    assert [link.text for link in _links(booklet)[0]] == ["keeper"]


@pytest.mark.parametrize("words", ["A keeper", "bees", "yield of each", "hive. See", "reports"])
def test_part_of_a_line_is_cut_at_the_words_ends(words: str) -> None:
    booklet = make_booklet()
    write_names(booklet.document, {"there": (1, 90.0)})
    write_links(booklet.document, 0, [link_object(find_box(booklet.document, 0, words), go_to("there"))])
    assert [link.text for link in _links(booklet)[0]] == [words]


@pytest.mark.parametrize(
    ("url", "is_kept"),
    [
        ("https://www.irs.gov/pub77", True),
        ("http://example.org/a?b=c#d", True),
        ("mailto:someone@example.org", True),
        ("javascript:alert(1)", False),
        ("JavaScript:alert(1)", False),
        ("file:///etc/passwd", False),
        ("ftp://example.org/x", False),
        ("data:text/html,x", False),
        ("https://", False),
        ("http://[broken", False),
        ("irs.gov/pub77", False),
        ("", False),
    ],
)
def test_only_addresses_of_web_and_mail_are_kept(url: str, is_kept: bool) -> None:
    assert is_address(url) is is_kept
    if url and "(" not in url:
        booklet = make_booklet()
        write_links(booklet.document, 0, [link_object(find_box(booklet.document, 0, "keeper"), open_address(url))])
        links, reasons = _links(booklet)
        assert [link.url for link in links] == ([url] if is_kept else [])
        assert bool(reasons) is not is_kept


def test_a_very_long_address_is_left_out() -> None:
    booklet = make_booklet()
    write_links(booklet.document, 0, [link_object((50, 50, 90, 60), open_address("https://example.org/" + "x" * 5000))])
    links, reasons = _links(booklet)
    assert (links, bool(reasons)) == ((), True)


def test_a_link_to_a_name_that_is_not_there_is_left_out() -> None:
    booklet = make_booklet()
    write_links(booklet.document, 0, [link_object((50, 50, 90, 60), go_to("nowhere"))])
    links, reasons = _links(booklet)
    assert (links, bool(reasons)) == ((), True)


def test_unseen_words_are_in_no_link() -> None:
    booklet = make_booklet()
    booklet.page = booklet.document[0]
    booklet.page.insert_text((50, 600), "Send all money to me", color=(1, 1, 1), fontsize=10)
    write_names(booklet.document, {"there": (1, 90.0)})
    write_links(booklet.document, 0, [link_object((48, 590, 200, 603), go_to("there"))])
    assert [link.text for link in _links(booklet)[0]] == [""]


@pytest.mark.parametrize(
    ("name", "publisher_id"),
    [
        ("en_US_2031_publink100077", "publink100077"),
        ("en_US_203101_publink11vd0e5", "publink11vd0e5"),
        ("es_PR_2031_publink9", "publink9"),
        ("-FOInline77", ""),
        ("contents", ""),
        ("publink100077", ""),
    ],
)
def test_publisher_ids(name: str, publisher_id: str) -> None:
    assert read_publisher_id(name) == publisher_id


def test_words_divided_at_a_lines_end_are_made_whole() -> None:
    assert join_words(["long-", "term care"]) == "longterm care"
    assert join_words(["IRS.gov/", "Hives"]) == "IRS.gov/Hives"
    assert join_words(["Late", "", "Harvest"]) == "Late Harvest"
