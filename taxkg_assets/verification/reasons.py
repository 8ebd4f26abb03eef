"""Why a verdict was given, in one sentence, and the values that were compared."""

from __future__ import annotations

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.clause_words import find_words
from taxkg_assets.verification.comparison import Comparison
from taxkg_assets.verification.counts import find_lacking_counts
from taxkg_assets.verification.decision import Decision
from taxkg_assets.verification.language import Language
from taxkg_assets.verification.verdicts import ComparedValue, Verdict

_MOST_WORDS = 6
_ALL = 0.95  # weighted share of a statement's words in a passage
_WORDS = frozenset({"polarity", "contrary", "bound"})
_NONE_SAYS_SO = "No passage says so; the nearest one is shown."
_FORCE, _DEADLINE = "force", "deadline"  # doubts
_PUNCTUATION = ".,;:!?()[]“”\"'"


def explain_decision(decision: Decision, statement: str, *, language: Language) -> str:
    """Explain in words why a statement has its verdict.

    Args:
        decision: The decision.
        statement: The statement as the draft prints it.
        language: Functions that read words.

    Returns:
        One or two sentences.
    """
    row = decision.comparison
    if decision.verdict is Verdict.supported:
        return "The passage says the same."
    if decision.verdict is Verdict.contradicted:
        return "The passage says otherwise: " + _list_differences(decision) + "."
    if row is None:
        return "No passage of the documents that the statement names is near."
    if decision.verdict is Verdict.unclear:
        return "The nearest passage does not decide: " + _say_missing(row, statement, language=language) + "."
    found = "; ".join(
        f"{difference.found} where the draft has {difference.stated}"
        for difference in row.differences
        if difference.kind not in _WORDS and difference.found
    )
    return f"No passage says so; the nearest one states {found}." if found else _NONE_SAYS_SO


def list_compared(decision: Decision) -> list[ComparedValue]:
    """Return the values of a statement with what the passage states.

    Args:
        decision: The decision.
    """
    row = decision.comparison
    if row is None:
        return []
    other = [
        ComparedValue(kind=own.kind, stated=own.stated, found=own.found, is_equal=False)
        for own in (decision.differences or row.differences)
    ]
    different = {own.stated for own in other}
    equal = [
        ComparedValue(kind=own.kind, stated=own.text, found=there, is_equal=True)
        for own, there in row.matched
        if own.text not in different
    ]
    gone = [ComparedValue(kind=own.kind, stated=own.text, found="", is_equal=False) for own in row.unmatched]
    return [*other, *gone, *equal]


def _list_differences(decision: Decision) -> str:
    parts = []
    for difference in decision.differences:
        if difference.kind == "polarity":
            parts.append("one denies what the other affirms")
        elif difference.kind == "contrary":
            parts.append(f"“{difference.stated}” in the draft, “{difference.found}” in the passage")
        else:
            parts.append(f"{difference.stated} in the draft, {difference.found} in the passage")
    return "; ".join(parts)


def _say_missing(row: Comparison, statement: str, *, language: Language) -> str:
    if row.differences:
        return "; ".join(
            f"{difference.stated} in the draft, {difference.found} in the passage" for difference in row.differences
        )
    lacking = [value.text for value in row.unmatched] or find_lacking_counts(statement, row.passage.spoken)
    if lacking:
        return "it does not state " + ", ".join(lacking)
    if other_case := _say_other_case(row):
        return other_case
    missing_words = [word for stem in row.missing if (word := _print_stem(stem, statement, language=language))]
    if missing_words:
        return "it does not mention " + ", ".join(f"“{word}”" for word in missing_words[:_MOST_WORDS])
    if row.coverage >= _ALL:
        return "it has the same words, but may be about another case; compare them"
    return "it is on the same subject, but says neither this nor the opposite for sure"


def _say_other_case(row: Comparison) -> str:
    """Return why a passage with the words of a statement may say something else; empty for no known reason."""
    if row.is_heading:
        return "it is a heading, which only names its subject"
    if row.is_of_other_year:
        return "it is about another year"
    if row.is_of_others:
        return "one of the two says “only”, the other does not"
    if row.is_excepted:
        return "it names this as an exception"
    if _FORCE in row.doubts:
        return "one says that it must be, the other that it may be"
    if _DEADLINE in row.doubts:
        return "one says until, the other after that time"
    if row.agreement < load_verification().thresholds.agreement or row.is_turned:
        return "one may deny what the other affirms; compare them"
    return ""


def _print_stem(stem: str, statement: str, *, language: Language) -> str:
    """Return the word of a statement that has a stem, as printed; empty for a stem that only the passage has."""
    printed_words = (word.strip(_PUNCTUATION) for word in statement.split())
    return next((word for word in printed_words if stem in find_words(word, language=language)), "")
