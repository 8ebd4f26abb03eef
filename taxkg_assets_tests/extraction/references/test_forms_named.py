"""Forms, schedules and sections of the code as forms and booklets name them: variants, options, lists and titles."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from taxkg_assets.extraction.references.mentions import Headings, find_mentions
from taxkg_assets.extraction.references.worksheet_lines import drop_own_name
from taxkg_assets.rules.models.relations import load_relations
from tools.rule_switch import every_rule


@pytest.fixture(scope="module", autouse=True)
def _with_every_rule() -> Iterator[None]:
    """Rules with little support are off, but their reading is tested."""
    with every_rule():
        yield


def _targets(text: str) -> list[str]:
    return [mention.target for mention in find_mentions(text, headings=Headings({}))]


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("Sail with Form 9999-ES (NR), not in port.", ["Form 9999-ES (NR)"]),
        ("Use Form 9999-ES (or Form 9999-ES (NR) if you row).", ["Form 9999-ES", "Form 9999-ES (NR)"]),
        ("See the Form 9999 and 9999-Z instructions.", [f"Instructions for Form 9999{end}" for end in ("", "-Z")]),
        ("Credits from Forms: a 9999 b 9998", ["Form 9999", "Form 9998"]),
        ("71 Credits from Form: a 9999 b Reserved c 9998", ["Form 9999", "Form 9998"]),
        ("Check if any from Form(s): 1 9999 2 9998 3", ["Form 9999", "Form 9998"]),
        ("Attach Schedule Z or Z-EZ.", ["Schedule Z", "Schedule Z-EZ"]),
        (
            "from Schedule K-1 (Form 9999), Schedule K-1 (Form 9998-S), or Schedule K-1 (Form 9997)",
            ["Schedule K-1 (Form 9999)", "Schedule K-1 (Form 9998-S)", "Schedule K-1 (Form 9997)"],
        ),
        ("Schedule A, B, or C (Form 9999)", [f"Schedule {name} (Form 9999)" for name in "ABC"]),
        ("See your Form 9999 or Form 9999Z instructions.", [f"Instructions for Form 9999{end}" for end in ("", "Z")]),
    ],
)
def test_forms_and_schedules_are_named_in_full(text: str, targets: list[str]) -> None:
    assert _targets(text) == targets


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("j Section 999(m)(5) boat tax", ["IRC 999(m)(5)"]),
        ("20 Section 998 installment from Form 9999", ["IRC 998", "Form 9999"]),
        ("Is it a Section 998(a) inclusion?", ["IRC 998(a)"]),
        ("the basis under Section 998 of the Internal Revenue Code", ["IRC 998"]),
    ],
)
def test_sections_of_the_code_may_have_a_capital(text: str, targets: list[str]) -> None:
    assert _targets(text) == targets


@pytest.mark.parametrize(
    "text", ["The boats are listed in Section 2.", "Is it a Section 8 voucher?", "a Section 8 voucher"]
)
def test_a_section_of_a_form_is_no_section_of_the_code(text: str) -> None:
    assert not [target for target in _targets(text) if target.startswith("IRC")]


def test_a_heading_that_names_a_section_of_the_code_is_no_mention_of_it() -> None:
    assert "IRC 998" not in _targets("See Section 998 Boats Sold Abroad, later.")


def test_a_line_behind_the_title_of_a_form_is_on_the_form() -> None:
    for title in (
        "Rental of Boats and Rafts",
        "U.S. Boat Return",
        "Boats (Including Rafts) of Pilots",
        "Boats (Rafts)",
    ):
        (*_, line) = find_mentions(f"Form 9999, {title}, line 7.", headings=Headings({}))
        assert (line.target, line.target_form) == ("line_7", "9999")
    (*_, other) = find_mentions("Form 9999, Schedule Z, line 3.", headings=Headings({}))
    assert other.target_form == "Schedule Z (Form 9999)"


@pytest.mark.parametrize(
    ("text", "role", "count"),
    [
        ("Worksheet 9-9. Boats You Rent Out", "TableBlock", 0),
        ("Worksheet 2 (continued)", "TableBlock", 0),
        ("Worksheet A (See instructions.)", "TableBlock", 0),
        ("Table 1 for Line 2 Above", "TableBlock", 1),
        ("Filled-in Worksheet 7-1.", "TableBlock", 0),
        ("Use Worksheet 7-1.", "TableBlock", 1),
        ("Worksheet 9-9 (continued) shows boats.", "TableBlock", 1),
        ("Boat Limit Worksheet—Schedule Z, Part I", "TableBlock", 2),
        ("Worksheet 9-9 shows boats.", "TableBlock", 1),
        ("Worksheet 9-9. Boats You Rent Out", "BodyText", 1),
    ],
)
def test_the_title_of_a_table_does_not_point_at_the_table(text: str, role: str, count: int) -> None:
    mentions = find_mentions(text, headings=Headings({}))
    assert len(drop_own_name(mentions, text, role=role)) == count


@pytest.mark.parametrize(
    ("text", "is_kept_out"),
    [
        ("any other fee (other than fees reported on @)", True),
        ("boats other than those shown on @", True),
        ("Fees other than interest are reported on @.", False),
    ],
)
def test_what_is_other_than_the_amounts_of_a_line_is_kept_out(text: str, is_kept_out: bool) -> None:
    (rule,) = [rule for rule in load_relations().cues if rule.id == "exception"]
    assert (rule.pattern.search(text) is not None) == is_kept_out
