"""The page that checks a draft in a real browser: report, marks, keyboard, phone, dark mode, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taxkg_assets_tests.serving.conftest import PHONE, find_serious_faults, fits

pytestmark = pytest.mark.slow

TRUE = "Box 2e of Form 1099-DIV (2024) shows the part of box 1a that is section 897 gain."
FALSE = "Box 2f of Form 1099-DIV (2024) shows the part of box 1a that is section 897 gain."
HOSTILE = "<img src=x onerror=alert(1)> Form 1099-DIV (2024) costs $5 a parrot. \U0001f600"


def _check(page: Any, text: str) -> None:
    page.locator("#draft-text").fill(text)
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_role("heading", name="Report").wait_for(timeout=60_000)


def test_a_draft_is_marked_and_each_mark_leads_to_its_finding(open_page: Any) -> None:
    page = open_page("/?view=verify")
    _check(page, f"{HOSTILE}\n\n{FALSE}\n\n{TRUE}")
    assert page.locator(".draft").inner_text().strip().startswith("<img src=x")
    assert page.locator(".draft img").count() == 0
    marks = page.locator(".draft [role=button]")
    assert marks.all_inner_texts()[-2:] == [FALSE, TRUE]
    marks.nth(marks.count() - 2).focus()
    page.keyboard.press("Enter")
    chosen = page.locator("article[aria-current=true]")
    assert "Contradicted" in chosen.inner_text()
    assert chosen.evaluate("card => card === document.activeElement")
    chosen.get_by_role("link", name="sample-").click()
    page.wait_for_url("**view=document**")
    page.go_back()
    page.get_by_role("heading", name="Report").wait_for()


def test_a_file_is_checked(open_page: Any, tmp_path: Path) -> None:
    draft = tmp_path / "memo.md"
    draft.write_text(FALSE, encoding="utf8")
    page = open_page("/?view=verify")
    page.locator("input[type=file]").set_input_files(str(draft))
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_role("heading", name="Report").wait_for(timeout=60_000)
    assert page.locator("article").first.inner_text().startswith("Contradicted")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_has_no_serious_fault_for_assistive_technology(open_page: Any, scheme: str) -> None:
    page = open_page("/?view=verify", scheme=scheme)
    _check(page, f"{HOSTILE}\n\n{FALSE}\n\n{TRUE}\n\nThe booklet says: “Treat the payment as seldom as a dividend.”")
    assert find_serious_faults(page) == []


def test_a_phone_shows_everything_within_its_width(open_page: Any) -> None:
    page = open_page("/?view=verify", PHONE)
    _check(page, f"{FALSE} {TRUE}")
    assert fits(page)


def test_a_failing_server_is_reported_where_the_report_would_be(open_page: Any) -> None:
    page = open_page("/?view=verify", is_quiet=False)
    page.route(
        "**/v1/verify", lambda route: route.fulfill(status=503, json={"detail": "Too many requests are waiting."})
    )
    page.locator("#draft-text").fill(TRUE)
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_role("alert").wait_for()
    assert "Too many requests" in page.get_by_role("alert").inner_text()
    assert page.locator("#draft-text").input_value() == TRUE
