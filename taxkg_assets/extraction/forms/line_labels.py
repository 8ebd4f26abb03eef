"""The label of a numbered line: the words printed for it alone, without number, leader, amount or a note below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from taxkg_assets.extraction.forms.form_lines import FormLine
from taxkg_assets.extraction.forms.margin_labels import limits
from taxkg_assets.extraction.layout.lines import Line
from taxkg_assets.rules.models.form_lines import load_form_lines

_WORD = re.compile(r"\w+")


def find_label(
    unit: FormLine, text: str, *, spoken: str = "", others: Sequence[str] = (), leaders: Sequence[Line] = ()
) -> str:
    """Extract the label of a numbered unit: the beginning of its text, up to the leader dots.

    Args:
        unit: Unit of the form.
        text: All its words, joined.
        spoken: Label in the spoken text of its field; empty if there is none.
        others: Labels in the spoken texts of its other fields, which may say how its sentence continues.
        leaders: Rows of leader dots on its page: the label ends in the row that leads to the amount.

    Returns:
        A beginning of the text after the number; empty where only the number is printed.
    """
    start = _end_of_number(unit, text)
    label = text[start:]
    if spoken:
        ends = _find_ends(unit, text, start)
        end, similarity = _end_of_spoken(text[start:], spoken, [end - start for end in ends])
        if similarity >= limits().spoken_ratio:
            end = _past_open_end(text, start + end, ends)
            return _trimmed(text[start : _past_other_words(text, end, ends, others)])
    rows = _rows_to_leader(unit, leaders)
    if rows < len(unit.lines):
        label = text[start : _end_of_rows(unit, text, rows)]
    return _trimmed(label)


def _end_of_spoken(text: str, spoken: str, ends: Sequence[int]) -> tuple[int, float]:
    """Find the end that makes a text most like what is spoken; gives it and their similarity, from 0 to 1.

    Both are compared once, word by word; each end counts what they share before it.
    """
    printed = list(_WORD.finditer(text))
    want = [word.casefold() for word in _WORD.findall(spoken)]
    blocks = SequenceMatcher(None, [word[0].casefold() for word in printed], want, autojunk=False).get_matching_blocks()
    shared = {ix for block in blocks for ix in range(block.a, block.a + block.size)}
    best = (len(text), 0.0)
    for end in ends:
        count = sum(word.end() <= end for word in printed)
        similarity = 2 * sum(ix < count for ix in shared) / max(1, count + len(want))
        best = max(best, (end, similarity), key=lambda one: one[1])
    return best


def _end_of_number(unit: FormLine, text: str) -> int:
    """Find where the number that a line begins with ends in its text."""
    rules = load_form_lines()
    for rule in rules.column_numbers if unit.key.startswith("column_") else rules.number_starts:
        match = rule.pattern.match(text)
        if match is not None:
            return match.end()
    return 0


def _find_ends(unit: FormLine, text: str, start: int) -> list[int]:
    """Find where a label may end: at the end of a row, or of a sentence."""
    rows = [_end_of_rows(unit, text, count) for count in range(1, len(unit.lines) + 1)]
    sentences = [match.end() for rule in load_form_lines().titles for match in rule.pattern.finditer(text)]
    return sorted({end for end in (*rows, *sentences, len(text)) if end > start})


def _past_open_end(text: str, end: int, ends: Sequence[int]) -> int:
    """Move an end on while the words before it join to more: a field in the line parts them from the rest."""
    rules = load_form_lines().open_ends
    joins = (end, *(later for later in ends if later > end))
    return next((one for one in joins if not any(rule.pattern.search(text[:one].rstrip()) for rule in rules)), end)


def _past_other_words(text: str, end: int, ends: Sequence[int], others: Sequence[str]) -> int:
    """Move an end on to the first where the sentence that continues after it is what another field is spoken with."""
    if not text[end:].lstrip()[:1].islower():
        return end
    for later in (one for one in ends if one > end):
        words = [word.casefold() for word in _WORD.findall(text[end:later])]
        for said in ({word.casefold() for word in _WORD.findall(other)} for other in others):
            if len(words) > 1 and sum(word in said for word in words) > len(words) / 2:
                return later
    return end


def _end_of_rows(unit: FormLine, text: str, count: int) -> int:
    """Find where the first rows of a unit end in its text: joined rows keep all their letters."""
    letters = sum(len(_letters_of(line.text)) for line in unit.lines[:count])
    for end, letter in enumerate(text):
        if letters <= 0:
            while end < len(text) and not text[end].isspace():
                end += 1
            return end
        letters -= letter.isalnum()
    return len(text)


def _rows_to_leader(unit: FormLine, leaders: Sequence[Line]) -> int:
    """Count the rows up to the first that a leader continues from; all where there is none."""
    for ix, line in enumerate(unit.lines):
        if any(abs(dots.base - line.base) < limits().row_pt and dots.x0 >= line.x0 for dots in leaders):
            return ix + 1
    return len(unit.lines)


def _trimmed(label: str) -> str:
    for rule in load_form_lines().label_tails:
        label = rule.pattern.sub("", label)
    return label.strip()


def _letters_of(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
