"""The label of a numbered line: the words printed for it alone, without number, leader, amount or a note below."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
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
        unit: Numbered line, box or column.
        text: All words of the unit, joined.
        spoken: Label in the spoken text of the unit's field; empty if there is none.
        others: Labels in the spoken texts of the unit's other fields, which may continue the sentence of the label.
        leaders: Rows of leader dots on the page: the label ends in the row that leads to the amount.

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
        label = text[start : _ends_of_rows(unit.lines[:rows], text)[-1]]
    return _trimmed(label)


def _end_of_spoken(text: str, spoken: str, ends: Sequence[int]) -> tuple[int, float]:
    """Find the end of the label that is most similar to a spoken text; return the end and the similarity, from 0 to 1.

    The texts are compared once, word by word; for each end, the common words before that end are counted.
    """
    printed_words = list(_WORD.finditer(text))
    spoken_words = [word.casefold() for word in _WORD.findall(spoken)]
    blocks = SequenceMatcher(
        None, [word[0].casefold() for word in printed_words], spoken_words, autojunk=False
    ).get_matching_blocks()
    common_ixs = [ix for block in blocks for ix in range(block.a, block.a + block.size)]
    word_ends = [word.end() for word in printed_words]
    best_end = (len(text), 0.0)
    for end in ends:
        count = bisect_right(word_ends, end)
        similarity = 2 * bisect_left(common_ixs, count) / max(1, count + len(spoken_words))
        best_end = max(best_end, (end, similarity), key=lambda scored_end: scored_end[1])
    return best_end


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
    row_ends = _ends_of_rows(unit.lines, text)
    sentence_ends = [match.end() for rule in load_form_lines().titles for match in rule.pattern.finditer(text)]
    return sorted({end for end in (*row_ends, *sentence_ends, len(text)) if end > start})


def _past_open_end(text: str, end: int, ends: Sequence[int]) -> int:
    """Move an end to the first place where the words before are complete: a field in the line interrupts the text."""
    rules = load_form_lines().open_ends
    possible_ends = (end, *(later_end for later_end in ends if later_end > end))
    return next(
        (
            possible_end
            for possible_end in possible_ends
            if not any(rule.pattern.search(text[:possible_end].rstrip()) for rule in rules)
        ),
        end,
    )


def _past_other_words(text: str, end: int, ends: Sequence[int], others: Sequence[str]) -> int:
    """Move an end past the words that continue the sentence and are in the spoken text of another field."""
    if not text[end:].lstrip()[:1].islower():
        return end
    for later_end in (possible_end for possible_end in ends if possible_end > end):
        words = [word.casefold() for word in _WORD.findall(text[end:later_end])]
        for other_words in ({word.casefold() for word in _WORD.findall(other)} for other in others):
            if len(words) > 1 and sum(word in other_words for word in words) > len(words) / 2:
                return later_end
    return end


def _ends_of_rows(lines: Sequence[Line], text: str) -> list[int]:
    """Find where each row of a unit ends in its text, by counting their letters."""
    letter_ixs = [ix for ix, letter in enumerate(text) if letter.isalnum()]
    ends: list[int] = []
    letter_count = 0
    for line in lines:
        letter_count += len(_letters_of(line.text))
        if letter_count > len(letter_ixs):
            ends.append(len(text))
            continue
        end = letter_ixs[letter_count - 1] + 1 if letter_count else 0
        while end < len(text) and not text[end].isspace():
            end += 1
        ends.append(end)
    return ends


def _rows_to_leader(unit: FormLine, leaders: Sequence[Line]) -> int:
    """Count the rows up to the first one with a leader; all rows where none has a leader."""
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
