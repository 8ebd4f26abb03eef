"""Lines of a passage as a reader sees them: prose, an item of a list, a heading, a row of a table; and their sentences.

Marks of lists are data (rules/answers.yaml). Not here: which lines a line depends on (`passage_context`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.rules.sentences import find_sentences

CELLS = "|"


@dataclass(frozen=True, slots=True)
class Line:
    """One printed paragraph, item, heading or table row.

    Attributes:
        place: Index within its context.
        row: Row of the index.
        text: Text of the line.
        mark: Kind of its list mark; empty for prose.
        leads: Indices of the lines that introduce it, outermost first.
        is_heading: Whether it is the heading of its passage.
        is_table: Whether it is a line of a table.
        heading: Heading of its passage.
        is_whole: Whether it is read as one sentence.
    """

    place: int
    row: int
    text: str
    mark: str = ""
    leads: tuple[int, ...] = ()
    is_heading: bool = False
    is_table: bool = False
    heading: str = ""
    is_whole: bool = False

    @property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Return the character ranges of its sentences, computed on first access as most lines are never split."""
        return ((0, len(self.text)),) if self.is_whole else _split_once(self.text, self.heading)

    def read_sentence(self, sentence: int) -> str:
        """Return one sentence of the line.

        Args:
            sentence: 0-based number of the sentence in the line.
        """
        start, end = self.sentences[sentence]
        return self.text[start:end]

    @property
    def is_item(self) -> bool:
        """Return whether it is an item of a list."""
        return bool(self.mark)

    @property
    def opens_list(self) -> bool:
        """Return whether the line introduces a list: it ends in a colon or a dash."""
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


def starts_list(text: str) -> bool:
    """Return whether an item is the first of a numbered list.

    Args:
        text: Text of the item.
    """
    return any(rule.pattern.match(text) for rule in load_answers().first_marks)


def is_same(text: str, heading: str) -> bool:
    """Return whether a line only repeats the heading.

    Args:
        text: Text of the line.
        heading: The heading.
    """
    return text.rstrip(". ") == heading.rstrip(". ")


def starts_with_heading(text: str, heading: str) -> bool:
    """Return whether a line begins with its heading as a run-in heading.

    Args:
        text: Text of the line.
        heading: The heading; may be empty.
    """
    return bool(heading) and text.startswith(heading)


@lru_cache(maxsize=10_000)
def _split_once(text: str, heading: str) -> tuple[tuple[int, int], ...]:
    return tuple(split_line(text, heading=heading))


def split_line(text: str, *, heading: str) -> Iterator[tuple[int, int]]:
    """Split a line into sentences, keeping a run-in heading or short label with the first one.

    Args:
        text: Text of the line.
        heading: Heading of its passage.

    Yields:
        Half-open ranges of characters, 0-based.
    """
    least = load_answers().least_words
    if CELLS in text:
        yield 0, len(text)
        return
    parts = find_sentences(text)
    while len(parts) > 1:
        start, end = parts[0]
        if len(text[start:end].split()) >= least and not is_same(text[start:end], heading):
            break
        parts[:2] = [(start, parts[1][1])]
        if start + len(heading) < end:
            break
    yield from parts
