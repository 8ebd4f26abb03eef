"""Printed lines of a passage (prose, an item of a list, a heading, a row of a table) and their sentences.

List marks are data (rules/answers.yaml). Not here: which lines introduce a line (`passage_context`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.rules.sentences import find_sentences

CELL_SEPARATOR = "|"
"""Separates the cells of a table row that is printed as text."""


@dataclass(frozen=True, slots=True)
class Line:
    """One printed paragraph, item, heading or table row.

    Attributes:
        line_ix: Index of the line in its `PassageContext.lines`.
        row: Row number of its passage in the index.
        text: Text of the line.
        mark: Kind of list mark that it begins with, such as a bullet; empty for prose.
        intro_ixs: Indices of the lines that introduce the list it is an item of, outermost list first.
        is_heading: Whether it is the heading of its passage.
        is_table: Whether it is a line of a table.
        heading: Heading of its passage.
        is_one_sentence: Whether it counts as one sentence, however many it has.
    """

    line_ix: int
    row: int
    text: str
    mark: str = ""
    intro_ixs: tuple[int, ...] = ()
    is_heading: bool = False
    is_table: bool = False
    heading: str = ""
    is_one_sentence: bool = False

    @property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Return the character ranges of the line's sentences; most lines never need them."""
        return ((0, len(self.text)),) if self.is_one_sentence else _find_sentences_once(self.text, self.heading)

    def read_sentence(self, sentence: int) -> str:
        """Return one sentence of the line.

        Args:
            sentence: 0-based number of the sentence in the line.
        """
        start, end = self.sentences[sentence]
        return self.text[start:end]

    @property
    def is_item(self) -> bool:
        """Return whether the line is an item of a list."""
        return bool(self.mark)

    @property
    def is_list_intro(self) -> bool:
        """Return whether the line introduces a list, as it ends in a colon or a dash."""
        return self.text.rstrip().endswith((":", "—"))


@lru_cache(maxsize=10_000)
def find_mark(text: str) -> str:
    """Return the kind of list mark at the beginning of a line; empty for none.

    Args:
        text: Text of the line.
    """
    return next((rule.id for rule in load_answers().marks if rule.pattern.match(text)), "")


def is_short_item(text: str) -> bool:
    """Return whether a list item is short enough to quote with all of its sentences.

    Args:
        text: Text of the item.
    """
    return bool(len(text.split()) <= load_answers().lists.item_words)


def is_first_item(text: str) -> bool:
    """Return whether the mark of an item is the first of a numbered list, such as "1." or "a.".

    Args:
        text: Text of the item.
    """
    return any(rule.pattern.match(text) for rule in load_answers().first_marks)


def repeats_heading(text: str, heading: str) -> bool:
    """Return whether a line only repeats the heading, except for periods and blanks at the end.

    Args:
        text: Text of the line.
        heading: The heading.
    """
    return text.rstrip(". ") == heading.rstrip(". ")


def starts_with_heading(text: str, heading: str) -> bool:
    """Return whether a line begins with the heading above it, printed again as a run-in heading.

    Args:
        text: Text of the line.
        heading: The heading; may be empty.
    """
    return bool(heading) and text.startswith(heading)


@lru_cache(maxsize=10_000)
def _find_sentences_once(text: str, heading: str) -> tuple[tuple[int, int], ...]:
    return tuple(split_line(text, heading=heading))


def split_line(text: str, *, heading: str) -> Iterator[tuple[int, int]]:
    """Split a line into sentences, keeping a run-in heading or short label with the first one.

    Args:
        text: Text of the line.
        heading: Heading of its passage.

    Yields:
        Half-open ranges of characters, 0-based.
    """
    min_words = load_answers().least_words
    if CELL_SEPARATOR in text:
        yield 0, len(text)
        return
    sentences = find_sentences(text)
    while len(sentences) > 1:
        start, end = sentences[0]
        if len(text[start:end].split()) >= min_words and not repeats_heading(text[start:end], heading):
            break
        sentences[:2] = [(start, sentences[1][1])]
        if start + len(heading) < end:
            break
    yield from sentences
