"""What readers browse: the printed index of a document."""

from __future__ import annotations

from typing import Any, cast

import polars as pl
import pytest

from taxkg_assets.serving.library import list_index_terms
from taxkg_assets.serving.library_replies import IndexPlace
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.show import PageNotFoundError

LINKS = [
    {"kind": "index", "term": "Gifts", "subterm": "", "text": "12,", "target_page": 14},
    {"kind": "section", "term": None, "subterm": None, "text": "Gifts", "target_page": 14},
    {"kind": "index", "term": "Gifts", "subterm": "Spouses", "text": "13", "target_page": 15},
    {"kind": "index", "term": "Gifts", "subterm": "", "text": "20", "target_page": None},
]


class Library:
    """A release of one document with links."""

    def __init__(self, *, has_links: bool = True) -> None:
        self.has_links = has_links

    def holds(self, name: str) -> bool:
        return self.has_links or name != "links"

    def table(self, _: str) -> pl.DataFrame:
        return pl.DataFrame({"document_id": ["p1"], "page_count": [30]})

    def read_documents(self, _: str, documents: list[str]) -> pl.DataFrame:
        rows = [{"document_id": "p1", "page": 29, "link_ix": place, **row} for place, row in enumerate(LINKS)]
        return pl.DataFrame(rows).filter(pl.col("document_id").is_in(documents))


def read(document: str, **given: Any) -> list[tuple[str, str, list[IndexPlace]]]:
    released = cast(Released, Library(**given))
    return [(own.term, own.subterm, own.places) for own in list_index_terms(released, document)]


def test_the_printed_index_is_listed_by_term_with_its_pages() -> None:
    assert read("p1") == [
        ("Gifts", "", [IndexPlace(label="12", page=14), IndexPlace(label="20", page=None)]),
        ("Gifts", "Spouses", [IndexPlace(label="13", page=15)]),
    ]


def test_a_release_without_links_has_no_index_and_no_document_is_no_answer() -> None:
    assert read("p1", has_links=False) == []
    with pytest.raises(PageNotFoundError, match="Documents: p1"):
        read("p2")
