"""Portions of a text have the pages of the whole text, and a text without a certain cut is not cut."""

from __future__ import annotations

from typing import Any

import pymupdf
import pytest

from taxkg_assets.extraction.pdf import text_paging
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.extraction.pdf.text_paging import open_text_parts

LINES = [
    line
    for ix in range(120)
    for line in (
        f"§ {ix} Levy of a duty on the keeping of owls.",
        "\xa0\xa0a. " + "Every keeper shall pay the duty within sixty days of the hatching, " * (ix % 5),
        "",
        f"(Law {ix})",
    )
]


def _open(data: bytes) -> Any:
    return pymupdf.open(stream=data, filetype="txt")


def _lines_of_page(page: Any) -> list[tuple[str, float]]:
    content = page.get_text("dict")
    return [
        (span["text"], round(span["bbox"][1]))
        for block in content["blocks"]
        for line in block["lines"]
        for span in line["spans"]
    ]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_portions_have_the_pages_of_the_whole(monkeypatch: pytest.MonkeyPatch, line_end: str) -> None:
    monkeypatch.setattr(text_paging, "_PORTION_LINES", 100)
    data = line_end.join(LINES).encode()
    portions = list(open_text_parts(data, open_text=_open))
    assert len(portions) > 3
    found = [_lines_of_page(document[ix]) for document, count in portions for ix in range(count)]
    assert found == [_lines_of_page(page) for page in _open(data)]


def test_a_source_numbers_the_pages_of_all_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    data = "\n".join(LINES).encode()
    whole = read_source(data, document_id="owls", is_text=True)
    monkeypatch.setattr(text_paging, "_PORTION_LINES", 100)
    source = read_source(data, document_id="owls", is_text=True)
    assert [page.page for page in source.pages] == list(range(1, len(whole.pages) + 1))
    assert [[s.text for s in p.spans] for p in source.pages] == [[s.text for s in p.spans] for p in whole.pages]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param("\n".join(["never a line's beginning " * 2_000] * 40).encode(), id="no page begins with a line"),
        pytest.param("\n".join(LINES).encode("utf-16"), id="not UTF-8"),
    ],
)
def test_a_text_without_a_certain_cut_stays_whole(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(text_paging, "_PORTION_LINES", 20)
    assert len(list(open_text_parts(data, open_text=_open))) == 1
