from __future__ import annotations

import pytest

from taxkg_assets.training.phrasing import Wording, agree, is_subject
from taxkg_assets.training.questions import put_plainly, turn_to_first_person
from taxkg_assets_tests.training import small


@pytest.mark.parametrize(
    ("said", "turned"),
    [
        ("you let your lot", "I let my lot"),
        ("the payer gave you a slip that you didn’t ask for", "the payer gave me a slip that I didn’t ask for"),
        ("you and your spouse live there", "my spouse and I live there"),
        ("the bank did not notify you in time", "the bank did not notify me in time"),
        ("you’re the owner yourself", "I'm the owner myself"),
    ],
)
def test_what_is_said_to_you_is_asked_by_me(said: str, turned: str) -> None:
    assert turn_to_first_person(said) == turned


def test_lay_questions_use_everyday_words() -> None:
    assert put_plainly("what is withheld from distributions") == "what is taken out from payout"


def test_a_heading_is_softened_but_for_names_and_abbreviations() -> None:
    wording = Wording(small.corpus())
    assert wording.soften("Rent of Lots") == "rent of lots"
    assert wording.soften("Rent of Roth IRA Lots") == "rent of Roth IRA lots"
    assert not wording.knows("ROL")


@pytest.mark.parametrize(("phrase", "verb"), [("rents of a lot", "are"), ("rent of lots", "is"), ("tax loss", "is")])
def test_a_verb_agrees_with_the_head_of_a_phrase(phrase: str, verb: str) -> None:
    assert agree(phrase)["is"] == verb


@pytest.mark.parametrize(
    "heading", ["Example 3", "If line 3 is more", "How To Report", "Rents are not taxable", "Note"]
)
def test_headings_that_name_nothing_are_no_subjects(heading: str) -> None:
    assert not is_subject(heading)
