"""What counts as a change of words, and what each change is about."""

from __future__ import annotations

import pytest

from taxkg_assets.graph.revisions import NATURES
from taxkg_assets.graph.text_diff import (
    classify_nature,
    find_changes,
    find_masked_words,
    find_tokens,
    find_words,
    masked,
    read_wording,
)
from taxkg_assets.rules.models.revisions import load_revisions


def changed(before: str, after: str, *, years: int = 1) -> list[tuple[str, str, str]]:
    found = find_changes(read_wording(before), read_wording(after), years=years)
    return [(before[c.before_start : c.before_end], after[c.after_start : c.after_end], c.nature) for c in found]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("self-employment income", "selfemployment income"),
        ("Keep the employer’s copy", "Keep the employer's copy"),
        ("Total harbour dues . . . . . .", "Total harbour dues"),
        ("• Ask first", "Ask first"),
        ("see IRS.gov/ Form9999", "see IRS.gov/Form9999"),
        ("boxes 5–7", "boxes 5-7"),
        ("a rate of .05", "a rate of 0.05"),
        ("go to www.irs.gov/Boats", "go to irs.gov/Boats"),
    ],
)
def test_layout_and_typesetting_are_no_change(before: str, after: str) -> None:
    assert changed(before, after) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("for 2030 and later", "for 2031 and later", [("2030", "2031", "years")]),
        ("since 2030 only", "since 2033 only", [("2030", "2033", "dates")]),
        ("(Rev. March 2030)", "(Rev. July 2031)", [("March", "July", "edition"), ("2030", "2031", "years")]),
        ("see page 12 of it", "see page 14 of it", [("12", "14", "pages")]),
        ("file by March 17", "file by March 16", [("17", "16", "dates")]),
        ("up to $2,000 a boat", "up to $2,500 a boat", [("$2,000", "$2,500", "amounts")]),
        ("enter it in box 14 too", "enter it in box 14a too", [("14", "14a", "references")]),
        ("the first 5 digits", "the first five digits", [("5", "five", "editorial")]),
        ("Form 9, box 2, shows", "box 2 of Form 9 shows", None),
        ("the boat, and", "the boat; or", [(", and", "; or", "editorial")]),
        ("you may sail", "you must sail", [("may", "must", "wording")]),
        ("See the 2030 guide to tolls.", "See the guide to tolls.", [("2030", "", "wording")]),
        ("Pay it.", "Pay it: $40 from March 2031.", [("", ": $40 from March 2031", "amounts")]),
        ("It ends after 2030.", "It ends after 2040.", [("2030", "2040", "dates")]),
        ("It ends.", "It ends (see Notice 2031-4).", [("", "(see Notice 2031-4)", "references")]),
        ("Go to IRS.gov/Boats2030.", "Go to IRS.gov/Boats2031/May/12.", None),
        ("Add lines 4 and 18.", "Add lines 4, 18, and 19.", None),
    ],
)
def test_a_change_is_named_after_what_it_is_about(
    before: str, after: str, expected: list[tuple[str, str, str]] | None
) -> None:
    found = changed(before, after)
    if expected is not None:
        assert found == expected
    else:
        assert {nature for _, _, nature in found} == ({"editorial"} if "box" in before else {"references"})


def test_the_rules_stand_in_the_order_of_their_weight() -> None:
    order = [NATURES.index(rule.id) for rule in load_revisions().natures]
    assert order == sorted(order)


@pytest.mark.parametrize(
    ("text", "nature"),
    [
        ("For boats sold after 2030, the threshold rises from $600 to $2,000.", "amounts"),
        ("Pay the toll by May 3 each year.", "dates"),
        ("It holds for tax years 2029 through 2031.", "dates"),
        ("The law was enacted June 4, 2031, and says much about boats.", "wording"),
        ("Keep the 2030 worksheet on board.", "wording"),
        ("The Better Boats 2.0 Act says much of old boats.", "wording"),
        ("See 2031-2 I.R.B. 316, at IRS.gov/irb/2031-02_IRB.", "references"),
    ],
)
def test_a_whole_text_is_named_by_the_same_rules(text: str, nature: str) -> None:
    assert classify_nature("", text) == classify_nature(text, "") == nature


def test_a_year_rolled_on_next_to_a_new_amount_stays_routine() -> None:
    assert changed("For 2030, it is $300.", "For 2031, it is $310.") == [
        ("2030", "2031", "years"),
        ("$300", "$310", "amounts"),
    ]


def test_a_clause_rewritten_but_for_a_comma_reads_as_one_change() -> None:
    found = changed("Ask the harbour master, in person, first.", "Ask any two pilots, by letter, first.")
    assert [nature for _, _, nature in found] == ["wording"]


def test_years_match_each_other_and_signs_do_not_count() -> None:
    assert masked(find_tokens("In 2030, (boats)")) == masked(find_tokens("in 1999: boats")) == ("in", "<year>", "boats")


@pytest.mark.parametrize(
    "text", ["Add lines 2a . . . and 3 •• for 2024–25.", "$1,500.00 self‐employed — x", "|a|b {c}", ""]
)
def test_words_are_the_tokens_without_their_places(text: str) -> None:
    assert find_words(text) == [token.norm for token in find_tokens(text)]
    assert find_masked_words(text) == masked(find_tokens(text))
