"""The reason of a verdict names words as the draft prints them, and says what keeps a passage from deciding."""

from __future__ import annotations

import pytest

from taxkg_assets.verification.comparison import add_similarity, compare
from taxkg_assets.verification.decision import Decision
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets.verification.reasons import explain_decision
from taxkg_assets.verification.verdicts import Verdict
from taxkg_assets_tests.verification.words import LANGUAGE, claim_of, passage_of


@pytest.mark.parametrize(
    ("statement", "passage", "reason"),
    [
        (
            "Form 9999 has a clerk issue (moored) boats.",
            "The clerk looks at boats.",
            "it does not mention “issue”, “moored”",
        ),
        (
            "Form 9999 frees a pier of not more than ten barges.",
            "A pier of not more than five barges is free.",
            "it does not state ten",
        ),
        (
            "Form 9999 says that barges pay the toll.",
            "Barges don’t pay the toll.",
            "one may deny what the other affirms",
        ),
    ],
)
def test_the_reason_names_what_keeps_a_passage_from_deciding(statement: str, passage: str, reason: str) -> None:
    claim, reader = claim_of(statement), PassageReader(LANGUAGE, {})
    row = add_similarity(claim, [compare(claim, passage_of(passage), reader=reader)], reader=reader)[0]
    said = explain_decision(Decision(Verdict.unclear, row), statement, language=LANGUAGE)
    assert said.startswith(f"The nearest passage does not decide: {reason}")
