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
    """Find the forms that a query may name, with the words that remain; the longest name in it is meant.

    Schedules of several returns have one name: the return is named in parentheses, before the key, or not at all.

    Args:
        query: Form and key: Schedule D (Form 1040) 7, 1065 Schedule K-1 box 1.
        forms: Names of forms to choose from.

    Returns:
        Form and remaining words, in the order of the forms; several only for schedules of one name whose return the
        query does not name.
    """
    stated = PARENT.search(query)
    rest = PARENT.sub(" ", query).strip()
    matches = {form: match for form in forms if (match := form_pattern(form).search(rest))}
    longest = max((len(PARENT.sub("", form)) for form in matches), default=0)
    found: list[tuple[bool, str, str]] = []
    for form, match in matches.items():
        own = PARENT.search(form)
        parent = own["parent"].lower() if own else ""
        if len(PARENT.sub("", form)) < longest or (stated and stated["parent"].lower() != parent):
            continue
        left = f"{rest[: match.start()]} {rest[match.end() :]}".strip()
        bare = re.sub(rf"(?i)^\(?(?:form\s+)?{re.escape(parent)}(?![\w-])\)?\s*", "", left) if parent else left
        found.append((bare != left, form, bare))
    return [(form, left) for names_parent, form, left in found if names_parent == any(own[0] for own in found)]


def name_schedule(query: str, forms: Iterable[str]) -> list[str]:
    """Name the schedule of a query in full if the query names its return, too: `1040 Schedule C 31`.

    Args:
        query: Form and key.
        forms: Names of forms, among them the returns.

    Returns:
        One name, such as Schedule C (Form 1040); empty if the query names no schedule or no return.
    """
    schedule = _SCHEDULE.search(query)
    if schedule is None:
        return []
    if stated := PARENT.search(query):
        return [f"Schedule {schedule[1].upper()} (Form {stated['parent'].upper()})"]
    left = re.sub(r"(?i)^\W*(?:form\s+)?", "", f"{query[: schedule.start()]} {query[schedule.end() :]}")
    parents = [form for form in forms if not form.startswith("Schedule") and form_pattern(form).match(left)]
    return [f"Schedule {schedule[1].upper()} (Form {max(parents, key=len)})"] if parents else []


def spell_part(part: str) -> list[str]:
    """Return the ways in which a form may count a part, its Roman numeral first: 3 and III are one.

    Args:
        part: Part as in a query.

    Returns:
        Both spellings; only that of the query where it is no small number.
    """
    upper = part.upper()
    if upper in _ROMAN:
        return [upper, str(_ROMAN.index(upper) + 1)]
    is_known = upper.isdigit() and 0 < int(upper) <= len(_ROMAN)
    return [_ROMAN[int(upper) - 1], upper] if is_known else [upper]
