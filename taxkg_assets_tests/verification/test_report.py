"""Reports: worst first, escaped, the draft marked, HTML and Markdown alike."""

from __future__ import annotations

import re
from typing import Any

import pytest

from taxkg_assets.verification.report import render_markdown, render_page, summarize
from taxkg_assets.verification.verdicts import ComparedValue, Evidence, Finding, Report, Verdict, order_findings

DRAFT = "Fees are <b>$5</b>. Rent is $7. “Pay it all at once”."


def _finding(words: str, verdict: Verdict, **given: Any) -> Finding:
    start = DRAFT.index(words)
    values: dict[str, Any] = {"kind": "statement", "reason": "Because.", "score": 0.9}
    return Finding(text=words, start=start, end=start + len(words), verdict=verdict, **{**values, **given})


EVIDENCE = Evidence(
    text="Fees are <i>$6</i> | in May.",
    heading_path="Title > Fees",
    document="d",
    form="9999",
    revision="2031",
    page=3,
    rectangles=[],
    node_id="n",
    official_url="https://example.gov/f9999.pdf#page=3",
)


@pytest.fixture
def report() -> Report:
    findings = order_findings(
        [
            _finding("Rent is $7.", Verdict.supported),
            _finding("Pay it all at once", Verdict.not_found, kind="quotation"),
            _finding(
                "Fees are <b>$5</b>.",
                Verdict.contradicted,
                evidence=EVIDENCE,
                compared=[ComparedValue(kind="amount", stated="$5", found="$6", is_equal=False)],
            ),
        ]
    )
    counts = {verdict: sum(own.verdict is verdict for own in findings) for verdict in Verdict}
    return Report(name="memo <1>", release=4, findings=findings, skipped=2, counts=counts)


def test_the_worst_comes_first(report: Report) -> None:
    assert [own.verdict for own in report.findings] == [Verdict.contradicted, Verdict.not_found, Verdict.supported]
    assert not report.is_fine
    assert [own.is_fault for own in report.findings] == [True, True, False]
    assert "2 must be changed" in summarize(report)


def test_a_statement_that_is_not_found_is_no_fault_but_not_confirmed() -> None:
    finding = _finding("Rent is $7.", Verdict.not_found)
    report = Report(name="m", release=1, findings=[finding], skipped=0, counts={})
    assert report.is_fine
    assert not report.is_confirmed


def test_the_page_marks_the_draft_and_escapes_every_text(report: Report) -> None:
    page = render_page(report, DRAFT)
    assert "<b>" not in page
    assert "<i>" not in page
    assert "memo &lt;1&gt;" in page
    draft = re.search(r'<div class="draft">(.*?)</div>', page, re.DOTALL)
    assert draft is not None
    assert re.sub(r"<[^>]+>", "", draft[1]).replace("&lt;", "<").replace("&gt;", ">") == DRAFT
    assert page.count('href="#f') == 3
    assert not re.search(r'(?:src|href)="(?!#|https://example\.gov)', page)


def test_markdown_says_the_same(report: Report) -> None:
    text = render_markdown(report)
    assert text.index("Contradicted:") < text.index("Not found:") < text.index("Supported:")
    assert "| $5 | $6 | differs |" in text
    assert "\\<i\\>" in text
    assert "[official document](https://example.gov/f9999.pdf#page=3)" in text


@pytest.mark.parametrize(("skipped", "words"), [(1, "1 sentence without"), (2, "2 sentences without")])
def test_numbers_and_nouns_agree(report: Report, skipped: int, words: str) -> None:
    assert words in summarize(report.model_copy(update={"skipped": skipped}))
    assert summarize(report).startswith("3 findings, ")
