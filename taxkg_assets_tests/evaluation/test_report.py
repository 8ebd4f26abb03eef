"""The report says what the tables say, escapes what documents say, and needs nothing else."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest

from taxkg_assets.evaluation.ablation import Step, score_ablation
from taxkg_assets.evaluation.abstention import score_abstention
from taxkg_assets.evaluation.eval_report import build_eval_report
from taxkg_assets.evaluation.plots import LINE_HEIGHT, ROW_HEIGHT, SHARES, Mark, find_gain_axis, render_intervals
from taxkg_assets.evaluation.report import RenderedReport, render_report
from taxkg_assets.rules.floors import Floor
from taxkg_assets_tests.evaluation.corpus import BOOK, FEE, FORM, LAW, RENT, documents, queries, question, runs

SCRIPT = "<script>alert('a|b')</script>"


def rendered() -> RenderedReport:
    queried = queries(
        question("a", (FORM, RENT)),
        question("b", (BOOK, RENT), type="procedural"),
        question("c", ("gone--2020", FEE), query=SCRIPT),
    )
    ran = runs(
        ("bm25", "a", 1, LAW, FEE),
        ("bm25", "b", 1, BOOK, RENT),
        ("full", "a", 1, FORM, RENT),
        ("full", "b", 1, BOOK, RENT),
    )
    floor = Floor(
        id="half", gate="eval_report", metric="mrr", floor=0.5, bound="min", measured=None, n=None, source="", date=""
    )
    return render_report(
        build_eval_report(queried, ran, documents=documents()),
        ablation=score_ablation(queried, ran, documents=documents(), steps=[Step("everything", "bm25", "full")]),
        abstention=score_abstention(queried, ran, system="full"),
        eval_queries=queried,
        floors=[floor],
        unmeasured={"tuned model": "not trained"},
    )


class _Reader(HTMLParser):
    """Collects the cells of every row, and checks that what opens is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += f" {data}"


def test_page_is_well_formed_and_self_contained() -> None:
    page = rendered().html
    reader = _Reader()
    reader.feed(page.removeprefix("<!doctype html>"))
    assert reader.open == []
    assert reader.addresses == []
    assert not re.search(r"https?:|@import|url\(", page)
    for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        ElementTree.fromstring(svg)
    assert page.count("<svg") == 6
    assert "<main>" in page
    assert page.count('class="scroll"') == page.count('class="scroll" tabindex="0" role="group"') > 0


def test_both_forms_hold_the_figures() -> None:
    reader = _Reader()
    reader.feed(rendered().html)
    full = next(row for row in reader.rows if row and row[0].strip() == "full")
    # Order of columns: System, recall@5, recall@2000tok, mrr, …
    assert full[3].split()[0] == f"{(1 + 1) / 2:.3f}"
    assert "| bm25 | 0.500" in rendered().markdown
    assert re.search(r"\| half \| town \| mrr must be at least 0.5 \| 1.0000 \| 2 \| kept \|", rendered().markdown)
    assert "3 questions, of which 2 are scored" in rendered().markdown


def test_text_of_documents_is_data() -> None:
    assert "<script" not in rendered().html
    assert "&lt;script&gt;" in rendered().html
    assert "a\\|b" in rendered().markdown
    assert "<script" not in rendered().markdown.replace("\\<", "")


def test_dots_stand_at_their_values() -> None:
    svg = render_intervals([Mark("x", 0.5, 0.25, 1.0, "half")], SHARES, title="t")
    root = ElementTree.fromstring(svg)
    dot = next(node for node in root.iter("circle"))
    whisker = next(node for node in root.iter("line") if node.get("class") == "whisker plain")
    left, right = SHARES.place(0.0), SHARES.place(1.0)
    assert float(dot.get("cx", "")) == pytest.approx((left + right) / 2, abs=0.06)
    assert float(whisker.get("x1", "")) == pytest.approx(left + (right - left) / 4, abs=0.06)
    assert float(whisker.get("x2", "")) == pytest.approx(right, abs=0.06)


def test_long_labels_are_wrapped_within_their_column() -> None:
    marks = [Mark("everything after the retrievers", 0.5, None, None, ""), Mark("short", 0.5, None, None, "")]
    root = ElementTree.fromstring(render_intervals(marks, SHARES, title="t"))
    long, short = (node for node in root.iter("text") if node.get("class") == "label plain")
    assert [span.text for span in long] == ["everything after", "the retrievers"]
    assert [span.text for span in short] == ["short"]
    assert float(short.get("y", "")) - float(long.get("y", "")) == ROW_HEIGHT + LINE_HEIGHT


def test_gain_axis_holds_every_interval() -> None:
    axis = find_gain_axis([Mark("x", 0.1, -0.23, 0.15, ""), Mark("y", 0.0, None, None, "")])
    assert axis.zero == 0.0
    assert [axis.lower, axis.upper] == pytest.approx([-0.3, 0.3])
