"""Claims: what a statement is about, and the values, keys and forms that it names."""

from __future__ import annotations

import pytest

from taxkg_assets.verification.claims import Subject, name_form
from taxkg_assets_tests.verification.words import claim_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("According to Pub. 999 (2031), fees count.", Subject(("Pub. 999",), 2031)),
        ("The 2031 Form 9999 instructions say so.", Subject(("9999",), 2031)),
        ("The Form 9999 instructions (Rev. July 2031) say so.", Subject(("9999",), 2031, 7)),
        ("On Form W-9 for 2031, the fee is due.", Subject(("W-9",), 2031)),
        ("The 2031 Instructions for Schedule Z send it to Form 9998.", Subject(("Schedule Z",), 2031)),
        ("The December 2031 SS-9 instructions say so.", Subject(("SS-9",), 2031, 12)),
        ("Fees are due.", Subject()),
    ],
)
def test_the_subject_is_read(text: str, expected: Subject) -> None:
    assert claim_of(text).subject == expected


def test_values_keys_and_other_forms_are_named() -> None:
    claim = claim_of("The 2031 Instructions for Form 9999 put $600 of box 3, code W, on line 5a of Form 9998.")
    named = {(value.kind, value.figure) for value in claim.values}
    assert named == {
        ("amount", "600"),
        ("box", "box_3"),
        ("code", "code_w"),
        ("line", "line_5a"),
        ("form", "9998"),
    }


def test_the_instructions_that_speak_are_no_value() -> None:
    claim = claim_of("The fee belongs in box 3 of Form 9998, say the 2031 Instructions for Forms 9998 and 9999.")
    assert [value.text for value in claim.values if value.kind == "form"] == ["Form 9998"]
    pointed = claim_of("The 2031 Form 9999 instructions refer to the Instructions for Form 9998.")
    assert [value.figure for value in pointed.values] == ["9998"]


def test_a_statement_that_names_nothing_is_not_checked() -> None:
    assert not claim_of("I like this very much.").is_checkable
    assert claim_of("The fee is $5.").is_checkable


def test_a_list_item_speaks_with_its_lead_in() -> None:
    claim = claim_of("fees of the city", lead_in="On line 2 of Form 9999, do not include:")
    assert "line_2" in {value.figure for value in claim.values}
    assert any(clause.is_negative for clause in claim.wording.clauses)


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("Instructions for Form 9999-R", ("9999-R",)),
        ("Schedule Z (Form 9999)", ("Schedule Z",)),
        ("General Instructions for Forms W-8 and W-9", ("W-8", "W-9")),
        ("Pub. 999", ("Pub. 999",)),
    ],
)
def test_forms_have_short_names(target: str, names: tuple[str, ...]) -> None:
    assert name_form(target) == names


def test_a_table_is_cited_by_its_year() -> None:
    assert claim_of("By the 2031 Harbor Toll Table of Publication 99, a barge owes $5.").subject.year == 2031
