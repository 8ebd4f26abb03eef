"""The explorer in a real browser: headless Chromium, real clicks, wide and on a phone."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets_tests.serving.conftest import PHONE

pytestmark = pytest.mark.slow

QUESTION = "What is reported in box 1a?"
NONSENSE = "How do I bake bread?"


def _ask(page: Any, question: str) -> None:
    page.get_by_label("Question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()


def test_a_question_leads_to_the_rectangle_on_the_page(open_page: Any) -> None:
    page = open_page("/")
    _ask(page, QUESTION)
    page.get_by_role("heading", name="Answer").wait_for()
    assert "q=What+is+reported" in page.url
    page.locator(".cite").first.click()
    mark, sheet = page.locator(".mark").first, page.locator(".sheet img")
    sheet.wait_for()
    mark.wait_for()
    inside, outside = mark.bounding_box(), sheet.bounding_box()
    assert outside["x"] <= inside["x"]
    assert inside["x"] + inside["width"] <= outside["x"] + outside["width"]
    assert page.locator(".passage[aria-current=true]").count() == 1


def test_a_passage_shows_the_quoted_words_marked(open_page: Any) -> None:
    page = open_page(f"/?q={QUESTION}")
    page.get_by_role("heading", name="Answer").wait_for()
    cited = int(page.locator(".cite").first.inner_text())
    card = page.locator(f"#passage-{cited}")
    mark = card.locator("mark").first
    marked_words = mark.inner_text()
    assert marked_words.strip() in page.get_by_label("Answer", exact=True).inner_text()
    inside, shown = mark.bounding_box(), card.locator(".text").bounding_box()
    assert shown["y"] <= inside["y"] < shown["y"] + shown["height"], "the quote is within the closed card"
    for button in card.get_by_role("button", name="Show all").all():
        button.click()
        assert card.locator("mark").first.inner_text() == marked_words


def test_back_leads_to_the_question_before(open_page: Any) -> None:
    page = open_page("/")
    _ask(page, QUESTION)
    page.get_by_role("heading", name="Answer").wait_for()
    _ask(page, NONSENSE)
    page.get_by_role("heading", name="No reliable answer found").wait_for()
    page.go_back()
    page.get_by_role("heading", name="Answer").wait_for()
    assert page.get_by_label("Question").input_value() == QUESTION
    page.go_back()
    page.get_by_role("heading", name="Ask tax forms").wait_for()


def test_a_late_reply_does_not_replace_a_newer_one(open_page: Any) -> None:
    page = open_page("/")

    waiting: list[Any] = []

    def hold_first(route: Any) -> None:
        if QUESTION in (route.request.post_data or ""):
            waiting.append(route)
        else:
            route.continue_()

    page.route("**/v1/ask", hold_first)
    with page.expect_request("**/v1/ask"):
        _ask(page, QUESTION)
    _ask(page, NONSENSE)
    page.get_by_role("heading", name="No reliable answer found").wait_for()
    waiting.pop().continue_()
    page.wait_for_timeout(2500)
    assert page.get_by_role("heading", name="Answer", exact=True).count() == 0
    assert page.get_by_label("Question").input_value() == NONSENSE


def test_a_form_and_a_year_keep_the_answer(open_page: Any) -> None:
    page = open_page("/")
    page.get_by_label("Form", exact=True).fill("1099-DIV")
    page.get_by_label("Year").fill("2024")
    _ask(page, QUESTION)
    page.get_by_role("heading", name="Answer").wait_for()
    assert "form=1099-DIV" in page.url
    page.reload()
    page.get_by_role("heading", name="Answer").wait_for()
    assert page.get_by_label("Year").input_value() == "2024"


def test_silence_does_not_look_like_an_answer(open_page: Any) -> None:
    page = open_page(f"/?q={NONSENSE}")
    page.get_by_role("heading", name="No reliable answer found").wait_for()
    assert page.locator("meter").count() == 0
    assert not page.locator(".passage").first.is_visible(), "the nearest passages are folded away"


def test_silence_about_a_form_says_that_the_library_lacks_it(open_page: Any) -> None:
    page = open_page("/?q=Who must file Form 8832?")
    page.get_by_text("The library has no document about Form 8832.").wait_for()


def test_a_corrected_word_is_a_note_above_the_answer(open_page: Any) -> None:
    page = open_page("/?q=What is reported in box 1a as ordinary divdends?")
    page.get_by_role("heading", name="Answer").wait_for()
    assert "Searched for" in page.locator(".answer p").first.inner_text()
    assert page.locator(".answer p.note").first.is_visible()


def test_on_a_phone_the_answer_is_what_is_seen(open_page: Any) -> None:
    page = open_page("/", PHONE)
    _ask(page, QUESTION)
    heading = page.get_by_role("heading", name="Answer")
    heading.wait_for()
    page.wait_for_timeout(800)
    assert 0 <= heading.bounding_box()["y"] < PHONE["height"]
    page.get_by_role("button", name="Show on page").first.click()
    dialog = page.get_by_role("dialog", name="Page")
    dialog.locator(".mark").first.wait_for()
    page.get_by_role("button", name="Close").click()
    assert dialog.count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_field_of_a_form_leads_to_what_is_stated_about_it(open_page: Any) -> None:
    page = open_page("/?view=forms")
    page.get_by_role("link", name="2024-01").first.click()
    page.get_by_role("button", name="Box 2a").first.click()
    page.get_by_role("heading", name="For the filer").wait_for()
    page.locator(".field-hit[aria-pressed=true]").first.wait_for()
    other = page.locator(".field-hit[aria-label^='box 1b']").first
    other.click()
    page.get_by_role("heading", name="Box 1b").wait_for()
    assert "field=" in page.url


def test_changes_show_the_words_that_differ(open_page: Any) -> None:
    page = open_page("/?view=changes&name=f1099div")
    page.locator("del").first.wait_for()
    assert page.locator("ins").count() > 0
    few = page.locator("article").count()
    page.get_by_label("Routine changes too").check()
    page.locator("article").nth(few).wait_for()


def test_a_document_is_read_page_by_page(open_page: Any) -> None:
    page = open_page("/?view=documents")
    page.get_by_label("Filter").fill("instructions 1099-DIV")
    page.locator("tbody a").first.click()
    page.get_by_role("button", name="Next page").click()
    page.wait_for_url("**page=2**")
    page.get_by_text("Text and tables of page 2").click()
    page.locator("details .text").first.wait_for()


def test_a_server_that_fails_can_be_queried_again(open_page: Any) -> None:
    page = open_page("/", is_quiet=False)
    page.get_by_role("heading", name="Ask tax forms").wait_for()
    page.route("**/v1/ask", lambda route: route.abort())
    _ask(page, QUESTION)
    page.get_by_role("alert").get_by_text("cannot be reached").wait_for()
    page.unroute("**/v1/ask")
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("heading", name="Answer").wait_for()


def test_text_of_a_question_is_text(open_page: Any) -> None:
    page = open_page("/?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%20box%201a")
    page.locator(".answer").wait_for()
    assert page.locator("#view img[src='x']").count() == 0


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (f"/?q={QUESTION}&year=soon", "“soon” is no year"),
        ("/?view=changes&name=nothing", "no two revisions of “nothing”"),
    ],
)
def test_what_an_address_asks_in_vain_is_said_and_not_replaced(open_page: Any, address: str, said: str) -> None:
    page = open_page(address)
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert said in alert.inner_text()


def test_a_blank_question_is_none(open_page: Any) -> None:
    open_page("/?q=%20").get_by_role("heading", name="Ask tax forms").wait_for()
