"""Lines and boxes that a text names, each with the form that is named next to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.claims import find_keys_and_forms
from taxkg_assets.verification.language import Language
from taxkg_assets.verification.values import Value

_LINES = frozenset({"line", "box"})
_LIST = re.compile(r",? (?:and|or|through) |, ")


@dataclass(frozen=True, slots=True)
class End:
    """One end of a transfer: a line or box.

    Attributes:
        key: Line or box, such as `line_17`.
        form: Short name of its form; empty where the statement names none.
        text: As written, with the form.
        start: First character in the statement.
        end: Exclusive end offset.
    """

    key: str
    form: str
    text: str
    start: int
    end: int


def find_ends(text: str, *, language: Language) -> list[End]:
    """Find the lines and boxes in a text, each with the adjacent form.

    Args:
        text: A text, folded.
        language: Functions that read words.

    Returns:
        Ends in the order of the text.

    Source:
        rules/verification.yaml, `attachments`.
    """
    named = sorted(find_keys_and_forms(text, language=language), key=lambda own: own.start)
    keys = [own for own in named if own.kind in _LINES]
    forms = [own for own in named if own.kind == "form"]
    before = {key: own for key in keys if (own := _find_before(key, forms, text)) is not None}
    free = [own for own in forms if own not in before.values()]
    found: list[End] = []
    for key in keys:
        end = _attach(key, before.get(key), free, text)
        if found and not end.form and _LIST.fullmatch(text[found[-1].end : end.start]):  # `Form 9999, lines 5 and 7`
            end = replace(end, form=found[-1].form)
        found.append(end)
    return found


def _find_before(key: Value, forms: Sequence[Value], text: str) -> Value | None:
    """Find the form that a line is named after, as in `Form 9999, line 5`."""
    pattern = load_verification().attachments.before.pattern
    return next((own for own in forms if own.end <= key.start and pattern.fullmatch(text[own.end : key.start])), None)


def _attach(key: Value, form: Value | None, forms: Sequence[Value], text: str) -> End:
    pattern = load_verification().attachments.after.pattern
    for own in forms:
        if own.start >= key.end and pattern.fullmatch(text[key.end : own.start]):
            year = load_verification().years.after_title.pattern.match(text[own.end :])
            return End(
                key.figure, own.figure, text[key.start : own.end], key.start, own.end + (year.end() if year else 0)
            )
    if form is not None:
        return End(key.figure, form.figure, text[form.start : key.end], form.start, key.end)
    return End(key.figure, "", text[key.start : key.end], key.start, key.end)
