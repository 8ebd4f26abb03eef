"""Forms and parts that the words of a query name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from taxkg_assets.rules.forms import form_pattern

PARENT = re.compile(r"(?i)\(\s*form\s+(?P<parent>[^()]*?)\s*\)")
"""The return that a schedule is of: Schedule D (Form 1040)."""
_SCHEDULE = re.compile(r"(?i)\bschedule ([a-z]{1,3}(?:-\d{1,2})?|\d{1,4}(?:-[a-z])?)\b")
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")


def read_forms(query: str, forms: Iterable[str]) -> list[tuple[str, str]]:
    """Find the forms that a query may name, with the words that remain.

    If a query contains several names, the longest counts: `Schedule K-1`, not `Schedule K`. Several returns can have a
    schedule of one name. The query may name the return in parentheses, or between the schedule and the key.

    Args:
        query: Form and key: Schedule D (Form 1040) 7, 1065 Schedule K-1 box 1.
        forms: Names of forms to choose from.

    Returns:
        Form and remaining words, in the order of `forms`; several only if the query names a schedule without its
        return.
    """
    return_match = PARENT.search(query)
    open_words = PARENT.sub(" ", query).strip()
    matches = {form: match for form in forms if (match := form_pattern(form).search(open_words))}
    longest = max((len(PARENT.sub("", form)) for form in matches), default=0)
    candidates: list[tuple[bool, str, str]] = []
    for form, match in matches.items():
        form_return = PARENT.search(form)
        parent = form_return["parent"].lower() if form_return else ""
        if len(PARENT.sub("", form)) < longest or (return_match and return_match["parent"].lower() != parent):
            continue
        remaining = f"{open_words[: match.start()]} {open_words[match.end() :]}".strip()
        key_words = (
            re.sub(rf"(?i)^\(?(?:form\s+)?{re.escape(parent)}(?![\w-])\)?\s*", "", remaining) if parent else remaining
        )
        candidates.append((key_words != remaining, form, key_words))
    return [
        (form, remaining)
        for names_parent, form, remaining in candidates
        if names_parent == any(form_return[0] for form_return in candidates)
    ]


def name_schedule(query: str, forms: Iterable[str]) -> list[str]:
    """Return the full name of the schedule that a query names with its return: `1040 Schedule C 31`.

    Args:
        query: Form and key.
        forms: Names of forms, among them the returns.

    Returns:
        A list with the name, `Schedule C (Form 1040)`; empty if the query lacks a schedule or a return.
    """
    schedule = _SCHEDULE.search(query)
    if schedule is None:
        return []
    if return_match := PARENT.search(query):
        return [f"Schedule {schedule[1].upper()} (Form {return_match['parent'].upper()})"]
    other_words = re.sub(r"(?i)^\W*(?:form\s+)?", "", f"{query[: schedule.start()]} {query[schedule.end() :]}")
    returns = [form for form in forms if not form.startswith("Schedule") and form_pattern(form).match(other_words)]
    return [f"Schedule {schedule[1].upper()} (Form {max(returns, key=len)})"] if returns else []


def spell_part(part: str) -> list[str]:
    """Return the Roman and the Arabic numeral of a part: `III` and `3`.

    Args:
        part: Part as in a query, in either spelling.

    Returns:
        Both spellings, the Roman one first; only the given one if it is not a number from 1 to 12.
    """
    upper = part.upper()
    if upper in _ROMAN:
        return [upper, str(_ROMAN.index(upper) + 1)]
    is_known = upper.isdigit() and 0 < int(upper) <= len(_ROMAN)
    return [_ROMAN[int(upper) - 1], upper] if is_known else [upper]
