"""One hostile document over all outlets: its words are shown as they stand, and do nothing.

The graph page and the evaluation report have tests of their own, as they need graphs and runs.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pymupdf
from markdown_it import MarkdownIt

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.defs.ingest.worker import read_document
from taxkg_assets.defs.ingest.worker_replies import Job, Refused
from taxkg_assets.defs.wiring.verdicts import shortened, table_metadata
from taxkg_assets.evaluation.page import Heading, Paragraph, render_html, render_markdown
from taxkg_assets.extraction.extract import extract
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.graph.change_page import render_change_page
from taxkg_assets.graph.change_report import build_change_report, render_change_markdown, render_changes_overview
from taxkg_assets.retrieval.results import Result
from taxkg_assets.serving import render, render_answers
from taxkg_assets.serving.replies import BoxRow, CellExplanation, CellRow
from taxkg_assets.serving.terminal import Terminal, escape_controls
from taxkg_assets.sources.scan import name_of
from taxkg_assets_tests.defs.hostile import valid_pdf
from taxkg_assets_tests.graph.papers import Paper, changes_between
from taxkg_assets_tests.retrieval.explanations import explanation

WORDS = "Pay [bold red]now[/] [link=http://x]here[/link] <script>alert(1)</script> <img src=x onerror=alert(2)> "
WORDS += "| **strong** | [a](http://x) ![b](http://y) `c` ~~d~~"
ORDERS = "\x1b[31m\x1b]0;owned\x07\x9b2J\u202egnp\u2066"
EVIL = WORDS + ORDERS
NAME = f"<img src=x onerror=alert(3)> [bold] {ORDERS}"
SPEAKS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
OWN_COLORS = re.compile(r"\x1b\[[0-9;]*m")


def hostile_pdf() -> bytes:
    """Words on the page, a title, a field, and letters of the page that a font calls control characters."""
    with pymupdf.open("pdf", valid_pdf()) as document:
        page = document[0]
        page.insert_text((72, 130), "Ladders", fontsize=10)
        for row, start in enumerate(range(0, len(WORDS), 60)):
            page.insert_text((72, 150 + 14 * row), WORDS[start : start + 60], fontsize=10)
        page.insert_htmlbox((72, 300, 500, 400), "The ladder reaches the quay at low water.")
        field = pymupdf.Widget()
        field.field_type, field.rect = pymupdf.PDF_WIDGET_TYPE_TEXT, pymupdf.Rect(72, 420, 300, 440)
        field.field_name, field.field_label = "box", "label"
        page.add_widget(field)
        document.set_metadata({"title": "ab", "author": "ab"})
        data = bytes(document.tobytes(expand=255))
    reported = "FEFF" + ORDERS.encode("utf-16-be").hex()
    data = re.sub(rb"/(Title|Author|TU)\s*\((?:ab|label)\)", rb"/\1<%s>" % reported.encode(), data)
    return re.sub(rb"(<[0-9a-f]{4}> <[0-9a-f]{4}>) <0061>", rb"\1 <001b>", data)


def shown(call: Any, *arguments: Any, **named: Any) -> str:
    """What a color terminal gets, our own colors aside."""
    out = Terminal(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=400)
    call(*arguments, out=out, **named)
    assert isinstance(out.file, io.StringIO)
    return OWN_COLORS.sub("", out.file.getvalue())


def test_the_reading_lets_no_control_character_into_a_table() -> None:
    data = hostile_pdf()
    source = read_source(data, document_id="hostile")
    assert "\x1b" in pymupdf.open("pdf", data).metadata["title"], "the file does hold them"
    assert not SPEAKS.search(str(source.metadata))
    assert not any(SPEAKS.search(f"{w.name}{w.label}{w.value}") for p in source.pages for w in p.widgets)
    read = extract(data, document_id="hostile")
    texts = json.dumps([frame.to_dicts() for frame in read.frames.values()], ensure_ascii=False, default=str)
    assert "[bold red]now" in texts
    assert not SPEAKS.search(texts)


def test_a_refusal_says_nothing_to_the_terminal(tmp_path: Path) -> None:
    name, path = name_of(Path(f"{NAME}.pdf")), str(tmp_path / "x.pdf")
    job = Job(name, path, "", path, str(tmp_path), False, code_version="1", max_pages=9, folder=str(tmp_path))
    refused = read_document(job)
    assert isinstance(refused, Refused)
    row = {**asdict(refused), "document_id": name, "reason": EVIL}
    printed = shown(render.print_quarantine, [row])
    assert not SPEAKS.search(printed)
    assert "[bold red]now[/]" in printed
    assert "<script>alert(1)</script>" in printed


def test_a_passage_is_printed_as_it_is() -> None:
    found = Result(
        **{"rank": 1, "score": 1.0, "document": NAME, "form": EVIL, "revision": "", "doc_type": "form", "page": 1},
        **{"bboxes": [], "heading_path": EVIL, "anchor_key": None, "text": EVIL, "node_id": "n", "chunk_id": "c"},
        via=explanation("c"),
    )
    row = {"document_id": NAME, "page": 1, "kind": "white", "is_order": True, "text": EVIL}
    box = BoxRow(document_id=NAME, form=EVIL, revision=EVIL, box_key=EVIL, label=EVIL, filer=EVIL, recipient="")
    cell = CellRow(
        **{"rank": 1, "score": 1.0, "document": NAME, "form": EVIL, "revision": "", "doc_type": "form", "page": 1},
        **{"heading_path": EVIL, "anchor_key": None, "text": EVIL, "node_id": "n", "chunk_id": "c", "quality": []},
        **{"title": EVIL, "value": EVIL, "row": EVIL, "column": EVIL, "row_values": []},
        bboxes=[BoundingBox(page=1, x0=1, y0=1, x1=1, y1=1)],
        via=CellExplanation(table="n", header_match=1.0),
    )
    printed = [
        shown(render_answers.print_passages, [found]),
        shown(render.print_hidden_texts, [row]),
        shown(render_answers.print_forms, [box]),
    ]
    printed.append(shown(render_answers.print_cells, EVIL, [cell]))
    for text in printed:
        assert not SPEAKS.search(text)
        assert "[bold red]now[/]" in " ".join(text.split())
    assert "\x1b" not in escape_controls(json.dumps(EVIL, ensure_ascii=False))
    assert json.loads(escape_controls(json.dumps(EVIL, ensure_ascii=False))) == EVIL


def test_the_table_of_the_ui_holds_texts_and_no_markup() -> None:
    shown_rows = table_metadata(shortened(pl.DataFrame({"document_id": [NAME], "text": [EVIL]}))).records
    assert all(isinstance(value, str) for row in shown_rows for value in row.data.values()), (
        "plain cells, never Markdown"
    )


class Tags(HTMLParser):
    """Names of the tags and attributes that a page really has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(name for name, _ in attrs)}


def test_reports_show_the_words_and_do_nothing() -> None:
    before = Paper("f9--2030", "2030").box("1", "Dues").heading("Tolls").text("Each boat pays.")
    after = Paper("f9--2031", "2031").box("1", f"Dues {WORDS}").heading(f"Tolls {WORDS}").text("Each boat pays.", WORDS)
    report = build_change_report(changes_between(before, after), before=before.document, after=after.document)
    blocks = [Heading(WORDS), Paragraph(WORDS)]
    markdown = [render_change_markdown(report), render_changes_overview([report]), render_markdown(blocks)]
    for text in markdown:
        assert "alert(1)" in text
        assert not {"html_inline", "html_block", "link_open", "image", "code_inline"} & set(token_types(text))
    for page in (render_change_page(report), render_html(blocks, title=WORDS)):
        assert "alert(1)" in page
        assert not {"script", "img", "onerror", "src"} & Tags(page).found


def token_types(markdown: str) -> list[str]:
    """What a reader of Markdown makes of a text, inside paragraphs and cells too."""
    parsed = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(markdown)
    return [inner.type for token in parsed for inner in (token, *(token.children or ()))]
