"""The reason of a verdict names words as the draft prints them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from taxkg_assets.verification.decision import Decision
from taxkg_assets.verification.reasons import explain_decision
from taxkg_assets.verification.verdicts import Verdict
from taxkg_assets_tests.verification.words import LANGUAGE


def test_a_missing_word_is_named_as_printed() -> None:
    statement = "The clerk issued (moored) boats."
    stems = [stem for word in ("issued", "moored") for stem in LANGUAGE.find_terms(word)]
    row: Any = SimpleNamespace(differences=(), unmatched=(), missing=(*stems, "unseen"))
    said = explain_decision(Decision(Verdict.unclear, row), statement, language=LANGUAGE)
    assert said == "The nearest passage does not decide: it does not mention “issued”, “moored”, “unseen”."
