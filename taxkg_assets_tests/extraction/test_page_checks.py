"""How pages were read, and the laws about it: tags that are not trusted, headings that only one reading sees."""

from __future__ import annotations

from typing import Any

import dataframely as dy
import polars as pl
import pytest

from taxkg_assets.extraction.authored.trust import TOO_LITTLE_TEXT
from taxkg_assets.extraction.page_checks import find_disputed_headings, find_distrusted_pages
from taxkg_assets.extraction.page_sources import PageSource, find_page_sources
from taxkg_assets.extraction.pdf.model import Page, Source
from taxkg_assets.extraction.pdf.tags import Tag
from taxkg_assets.rules.loader import load_family
from taxkg_assets.schemas import Anchors, Documents

DISTRUST = "Structure tags cover only 12% of the text."


def _page(number: int, **columns: Any) -> Page:
    return Page(number, 600.0, 800.0, (), **columns)


def _read(page: int, source: str = "tags", reason: str = "") -> dict[str, Any]:
    return {"page": page, "source": source, "reason": reason}


def _documents(*pages: dict[str, Any]) -> dy.DataFrame[Documents]:
    return Documents.sample(overrides=[{"document_id": "d", "page_sources": list(pages)}])


def _anchors(*sources: str, kind: str = "section", page: int = 1) -> dy.DataFrame[Anchors]:
    rows = [
        {
            "anchor_id": f"d#{ix:03}",
            "document_id": "d",
            "page": page,
            "kind": kind,
            "source": source,
            "heading": f"H{ix}",
        }
        for ix, source in enumerate(sources)
    ]
    return Anchors.sample(overrides=rows)


def test_each_page_says_what_it_was_read_by() -> None:
    tagged, face = _page(1, tags=(Tag("P", -1, (0,)),)), _page(2)
    distrusted, both = _page(3, distrust=DISTRUST), _page(4, tags=(Tag("P", -1, (0,)),))
    found = find_page_sources(Source("d", (tagged, face, distrusted, both)), template_pages={2, 4})
    assert found == (
        PageSource(1, "tags"),
        PageSource(2, "template"),
        PageSource(3, "layout", DISTRUST),
        PageSource(4, "tags"),
    )


@pytest.mark.parametrize(
    ("distrusted", "trusted", "plain", "flagged"),
    [(1, 2, 0, [3]), (1, 4, 0, []), (2, 0, 50, [1, 2]), (0, 3, 3, [])],
)
def test_a_large_share_of_distrusted_pages_flags_a_document(
    distrusted: int, trusted: int, plain: int, flagged: list[int]
) -> None:
    kinds = [("tags", "")] * trusted + [("layout", DISTRUST)] * distrusted + [("layout", "")] * plain
    documents = _documents(*(_read(ix, *kind) for ix, kind in enumerate(kinds, start=1)))
    found = find_distrusted_pages(documents)
    assert found["page"].to_list() == flagged
    assert set(found["reason"]) <= {DISTRUST}


def test_a_page_with_too_little_text_is_no_sign_of_bad_tags() -> None:
    documents = _documents(_read(1), _read(2, "layout", TOO_LITTLE_TEXT), _read(3, "template"))
    assert find_distrusted_pages(documents).is_empty()


@pytest.mark.parametrize(
    ("agreed", "disputed", "flagged"),
    [(0.9, 0.1, False), (0.1, 0.9, True)],
)
def test_headings_that_one_reading_sees_flag_a_document_where_they_are_many(
    agreed: float, disputed: float, flagged: bool
) -> None:
    anchors = _anchors(*["both"] * round(20 * agreed), *["tags"] * round(20 * disputed))
    found = find_disputed_headings(anchors, _documents(_read(1)))
    assert found["heading"].to_list() == ([f"H{ix}" for ix in range(2, 20)] if flagged else [])


def test_few_headings_judge_no_document() -> None:
    least = load_family("document_checks")["tags_and_layout_agree"]["least_headings"]
    assert find_disputed_headings(_anchors(*["tags"] * (least - 1)), _documents(_read(1))).is_empty()
    assert find_disputed_headings(_anchors(*["tags"] * least), _documents(_read(1))).height == least


@pytest.mark.parametrize(("kind", "source"), [("runin", "tags"), ("line", "tags"), ("section", "layout")])
def test_only_own_line_headings_of_tagged_pages_are_judged(kind: str, source: str) -> None:
    read_by = "layout" if source == "layout" else "tags"
    anchors = _anchors(*[source] * 30, kind=kind)
    assert find_disputed_headings(anchors, _documents(_read(1, read_by))).is_empty()


def test_a_page_whose_tags_name_no_heading_does_not_count() -> None:
    silent = _anchors(*["layout"] * 30)
    assert find_disputed_headings(silent, _documents(_read(1))).is_empty()
    named = _anchors("tags", *["layout"] * 29)
    assert find_disputed_headings(named, _documents(_read(1))).height == 30


def test_both_laws_find_nothing_in_a_document_without_pages() -> None:
    assert find_distrusted_pages(_documents()).is_empty()
    assert find_disputed_headings(_anchors("tags"), _documents()).columns == ["document_id", "page", "heading"]
    assert isinstance(find_distrusted_pages(Documents.create_empty()), pl.DataFrame)
