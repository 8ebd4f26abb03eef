"""Views of the explorer in a real browser: form, trace, comparison, document; on a phone; for assistive technology."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets_tests.serving.conftest import PHONE, SIZES, find_serious_faults, fits

pytestmark = pytest.mark.slow

FORM = "sample-f1099div--2024-01"
NEWER = "sample-f1099div--2026-01"
BOOKLET = "sample-i1099div--2024-01"
VIEWS = {
    "start": "/",
    "answer": "/?q=What is reported in box 1a?",
    "abstention": "/?q=How do I bake bread?",
    "documents": "/?view=documents",
    "document": f"/?view=document&document={BOOKLET}&page=2&open=text",
    "forms": "/?view=forms",
    "form": f"/?view=form&document={FORM}&field=|box_1b|",
    "trace": "/?view=trace&form=1099-DIV&key=1a&year=2024",
    "changes": "/?view=changes&name=f1099div",
    "compare": f"/?view=compare&left={FORM}&leftField=|box_2a|&right={NEWER}&rightField=|box_2a|",
    "verify": "/?view=verify",
    "api": "/docs",
}
FIRST_VIEW_MS = 200
FIRST_VIEW_BYTES = 150_000


def _settle(page: Any) -> None:
    page.wait_for_load_state("networkidle")
    page.get_by_text("Loading …").wait_for(state="hidden")


@pytest.mark.parametrize("size", SIZES)
def test_a_field_leads_to_its_texts_its_flow_and_its_year(open_page: Any, size: str) -> None:
    page = open_page("/?view=forms", SIZES[size])
    page.get_by_role("link", name="2024-01").first.click()
    page.locator(".field-hit[aria-label^='box 1a']").first.click()
    detail = page.get_by_role("region", name="Chosen field")
    detail.get_by_role("heading", name="Box 1a").wait_for()
    filer = detail.get_by_role("heading", name="For the filer")
    recipient = detail.get_by_role("heading", name="For the recipient")
    filer.wait_for()
    one, other = filer.bounding_box(), recipient.bounding_box()
    if size == "wide":
        assert abs(one["y"] - other["y"]) < 5, "side by side"
        assert one["x"] < other["x"]
    detail.get_by_role("heading", name="History").wait_for()
    assert page.locator(".field-hit[aria-pressed=true]").count() >= 1
    assert fits(page)
    detail.get_by_role("link", name="Trace this amount").click()
    page.locator("svg.graph .node.start").wait_for()
    assert "year=2024" in page.url
    page.go_back()
    page.get_by_label("Revision").select_option(NEWER)
    page.wait_for_url(f"**document={NEWER}**")
    page.get_by_role("heading", name="Box 1a").wait_for()


def test_a_rectangle_of_a_field_is_shown_on_its_page(open_page: Any) -> None:
    page = open_page(VIEWS["form"])
    page.get_by_role("link", name="pt", exact=False).first.click()
    page.wait_for_url("**box=**")
    mark, sheet = page.locator(".mark.exact").first, page.locator(".sheet img")
    mark.wait_for()
    inside, outside = mark.bounding_box(), sheet.bounding_box()
    assert outside["x"] <= inside["x"] <= outside["x"] + outside["width"]
    assert outside["y"] <= inside["y"] <= outside["y"] + outside["height"]
    page.go_back()
    page.get_by_role("heading", name="Box 1b").wait_for()


def test_the_history_of_a_field_marks_the_words_that_differ(open_page: Any) -> None:
    page = open_page(f"/?view=compare&left={FORM}&leftField=|box_1b|&right={FORM}&rightField=|box_1a|")
    table = page.locator("table.compare")
    table.wait_for()
    assert table.locator("del").count() > 0
    assert table.locator("ins").count() > 0
    left = "Right"
    page.get_by_role("group", name=left).get_by_label("Form and revision").select_option(NEWER)
    page.wait_for_url(f"**right={NEWER}**")
    page.get_by_role("link", name="2026-01, box 1a").wait_for()


def test_a_trace_is_walked_with_the_keyboard(open_page: Any) -> None:
    page = open_page(VIEWS["trace"])
    edge = page.locator("svg.graph .edge").first
    edge.wait_for()
    edge.focus()
    page.keyboard.press("Enter")
    panel = page.get_by_role("region", name="Chosen part of the graph")
    panel.locator("blockquote").wait_for()
    assert panel.locator("blockquote").inner_text().strip()
    panel.get_by_role("link", name="page").first.click()
    page.wait_for_url("**view=document**")
    page.locator(".mark.exact").first.wait_for()
    page.go_back()
    node = page.locator("svg.graph .node.start")
    node.focus()
    page.keyboard.press(" ")
    page.get_by_role("region", name="Chosen part of the graph").get_by_role("link", name="Open on its form").click()
    page.get_by_role("heading", name="Box 1a").wait_for()


def test_a_trace_of_no_line_says_what_there_is(open_page: Any) -> None:
    page = open_page("/?view=trace", is_quiet=False)
    page.locator("main").get_by_label("Form", exact=True).fill("1099-DIV")
    page.get_by_label("Box or line").fill("99")
    page.get_by_role("button", name="Trace", exact=True).click()
    page.get_by_role("alert").get_by_text("Lines: 1a").wait_for()


def test_a_trace_says_that_it_has_a_limit(open_page: Any) -> None:
    def leave_out(route: Any) -> None:
        reply = route.fetch()
        traced = reply.json()
        traced["into"][0]["has_more"] = True
        route.fulfill(response=reply, json=traced)

    page = open_page("/?view=trace")
    page.route("**/v1/trace?**", leave_out)
    page.locator("main").get_by_label("Form", exact=True).fill("1099-DIV")
    page.get_by_label("Box or line").fill("1a")
    page.get_by_label("Steps").select_option("1")
    page.get_by_role("button", name="Trace", exact=True).click()
    page.get_by_text("Only 1 step in each direction is shown").wait_for()
    page.get_by_role("link", name="Show up to 2 steps").click()
    page.get_by_text("Only 2 steps in each direction are shown").wait_for()


def test_a_document_without_a_revision_has_none_in_the_list(open_page: Any) -> None:
    page = open_page("/?view=documents&filter=sample-statute-title-7")
    row = page.locator("table.documents tbody tr")
    row.wait_for()
    assert row.locator("td").nth(2).inner_text() == ""


def test_one_revision_is_compared_by_two_fields(open_page: Any) -> None:
    page = open_page(f"/?view=compare&left={FORM}&right={FORM}")
    page.locator("table.compare").wait_for()
    names = page.locator("table.compare thead a").all_inner_texts()
    assert len(set(names)) == 2


@pytest.mark.parametrize(("question", "is_named"), [("Where do I report box 1a?", False), ("my box 1a?", True)])
def test_the_reader_is_shown_only_where_the_question_names_one(open_page: Any, question: str, is_named: bool) -> None:
    page = open_page(f"/?q={question}")
    page.get_by_text("Read as:").wait_for()
    assert page.get_by_text("text for the recipient").count() == is_named


def test_a_trace_without_a_box_asks_for_one(open_page: Any) -> None:
    page = open_page("/?view=trace&form=1099-DIV")
    page.get_by_text("Name a form and a box or line").wait_for()


def test_a_trace_can_be_started_from_a_line_of_each_form(open_page: Any) -> None:
    page = open_page("/?view=trace")
    page.get_by_role("link", name="Form 1099-DIV, box 1a").click()
    page.locator("svg.graph .node.start").wait_for()


def test_a_question_leads_to_the_box_that_it_names(open_page: Any) -> None:
    page = open_page("/?q=What is reported in box 1a of Form 1099-DIV?")
    page.get_by_role("heading", name="Answer").wait_for()
    page.locator(".badge").get_by_role("link", name="Box 1a").click()
    page.wait_for_url("**view=form**")
    page.get_by_role("heading", name="Box 1a").wait_for()


def test_a_field_that_a_revision_does_not_have_is_said(open_page: Any) -> None:
    page = open_page(f"/?view=form&document={FORM}&field=|box_99|")
    page.get_by_text("This revision has no box 99.").wait_for()
    page.get_by_role("heading", name="Box 1a").wait_for()


def test_a_form_without_a_document_is_its_newest_revision(open_page: Any) -> None:
    page = open_page("/?view=form&form=1099-div")
    page.get_by_label("Revision").wait_for()
    assert page.get_by_label("Revision").input_value() == NEWER


def test_an_unknown_form_is_not_found(open_page: Any) -> None:
    page = open_page("/?view=form&form=1099-XX")
    page.get_by_role("heading", name="Not found").wait_for()
    page.get_by_role("alert").get_by_text("No form “1099-XX”").wait_for()


def test_an_unknown_view_is_not_found(open_page: Any) -> None:
    page = open_page("/?view=nothing")
    page.get_by_role("heading", name="Not found").wait_for()
    page.get_by_role("alert").get_by_text("no view “nothing”").wait_for()


def test_a_comparison_is_stacked_on_a_phone(open_page: Any) -> None:
    page = open_page(f"/?view=compare&left={FORM}&leftField=|box_1b|&right={FORM}&rightField=|box_1a|", PHONE)
    row = page.locator("table.compare tbody tr:not(.same)").first
    row.wait_for()
    left, right = (row.locator(f"[data-side={side}]").bounding_box() for side in ("Left", "Right"))
    assert left["y"] + left["height"] <= right["y"] + 1
    assert fits(page)


@pytest.mark.parametrize("size", SIZES)
def test_changes_stand_side_by_side(open_page: Any, size: str) -> None:
    page = open_page(VIEWS["changes"], SIZES[size])
    card = page.locator("article").filter(has=page.locator("del")).filter(has=page.locator("ins")).first
    card.wait_for()
    before, after = card.locator("del").first.bounding_box(), card.locator("ins").first.bounding_box()
    assert before["x"] < after["x"] if size == "wide" else before["y"] < after["y"]
    assert fits(page)


def test_a_cell_of_a_table_shows_its_headers_and_its_place(open_page: Any) -> None:
    page = open_page(f"/?view=document&document={BOOKLET}&page=1")
    for _ in range(8):
        _settle(page)
        page.get_by_text("Text and tables of page").click()
        page.locator("details[open] .paragraph").first.wait_for()
        if page.locator("figure.cells td[tabindex]").count():
            break
        page.get_by_role("button", name="Next page").click()
    cell = page.locator("figure.cells td[tabindex='0']").first
    cell.focus()
    page.locator("figure.cells [role=status]").first.get_by_text("Value:").wait_for()
    page.locator(".mark.exact").wait_for()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.tagName") == "TD"
    assert page.locator("figure.cells td[aria-selected]").count() == 1


def test_an_answer_says_why_a_passage_is_here_in_words(open_page: Any) -> None:
    page = open_page("/?q=Which box shows section 897 gain?")
    page.get_by_role("heading", name="Answer").wait_for()
    why = page.locator(".passage").first.get_by_text("Why this passage")
    why.wait_for()
    assert not page.locator(".passage").get_by_text("#", exact=False).count()
    assert "897" in why.inner_text()


def test_show_all_is_there_only_where_a_passage_is_folded(open_page: Any) -> None:
    page = open_page(VIEWS["answer"])
    page.locator(".passage").first.wait_for()
    _settle(page)
    page.wait_for_timeout(500)
    shown = page.evaluate(
        """[...document.querySelectorAll(".passage")].map(card => {
          const text = card.querySelector(".text");
          const more = [...card.querySelectorAll("button")].find(own => own.textContent === "Show all");
          const isFolded = text.scrollHeight > text.clientHeight + 4 || Boolean(text.querySelector(".gap"));
          return [isFolded, Boolean(more?.offsetParent)];
        })"""
    )
    assert any(is_folded for is_folded, _ in shown)
    assert all(is_folded == is_offered for is_folded, is_offered in shown)


def test_each_citation_marks_its_own_words(open_page: Any) -> None:
    page = open_page("/?q=What is reported in box 1a?")
    page.get_by_role("heading", name="Answer").wait_for()
    places = set()
    for cite in page.locator(".cite").all():
        cite.click()
        page.locator(".mark.exact").first.wait_for()
        places.add(str(page.locator(".mark.exact").first.bounding_box()))
    assert len(places) == page.locator(".cite").count()


def test_a_slow_server_is_waited_for_and_a_failing_one_retried(open_page: Any) -> None:
    page = open_page("/", is_quiet=False)
    page.get_by_role("heading", name="Ask tax forms").wait_for()

    waiting: list[Any] = []
    page.route("**/v1/ask", lambda route: waiting.append(route))
    page.get_by_label("Question").fill("What is reported in box 1a?")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_text("Still searching").wait_for()
    busy = {"detail": "Too many requests are waiting. Try again.", "code": "not_available"}
    waiting.pop().fulfill(status=503, json=busy)
    page.get_by_role("alert").get_by_text("Too many requests").wait_for()
    page.unroute("**/v1/ask")
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("heading", name="Answer").wait_for()


def test_a_page_that_cannot_be_drawn_says_so(open_page: Any) -> None:
    page = open_page("/", is_quiet=False)
    page.route(
        "**/pages/*.png*", lambda route: route.fulfill(status=503, json={"detail": "Not now.", "code": "not_available"})
    )
    page.goto(page.url.rstrip("/") + VIEWS["form"])
    page.locator(".sheet").get_by_text("Not now.").wait_for()
    page.unroute("**/pages/*.png*")
    page.locator(".sheet").get_by_role("button", name="Try again").click()
    page.locator(".sheet img").wait_for()


def test_the_first_view_is_small_and_fast(open_page: Any) -> None:
    page = open_page("/")
    page.get_by_role("heading", name="Ask tax forms").wait_for()
    page.reload()
    _settle(page)
    timing = page.evaluate(
        """() => {
        const files = performance.getEntriesByType("resource");
        const [first] = performance.getEntriesByType("navigation");
        return {
          painted: performance.getEntriesByName("first-contentful-paint")[0].startTime,
          bytes: [first, ...files].reduce((sum, own) => sum + own.decodedBodySize, 0),
        };
        }"""
    )
    assert timing["bytes"] < FIRST_VIEW_BYTES
    assert timing["painted"] < FIRST_VIEW_MS * 5, "a busy machine takes longer; the figure is in docs/serving.md"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_no_serious_fault_for_assistive_technology(open_page: Any, view: str, scheme: str) -> None:
    page = open_page(VIEWS[view], scheme=scheme)
    _settle(page)
    assert find_serious_faults(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_error_leads_to_the_documents_and_is_accessible(open_page: Any, scheme: str) -> None:
    page = open_page("/?view=document&document=nowhere", is_quiet=False, scheme=scheme)
    page.get_by_role("alert").get_by_text("no document 'nowhere'").wait_for()
    assert find_serious_faults(page) == []
    page.get_by_role("link", name="See the documents").click()
    page.get_by_role("heading", name="Documents").wait_for()


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_fits_a_phone(open_page: Any, view: str) -> None:
    page = open_page(VIEWS[view], PHONE)
    _settle(page)
    assert fits(page)
    assert page.locator("h1").count() == 1
