"""Lines of passages as text: list marks, headings run in, and the sentences of a line."""

from __future__ import annotations

from collections.abc import Iterator

from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.rules.sentences import find_sentences

CELLS = "|"


def find_mark(text: str) -> str:
    """Return the kind of list mark at the beginning of a line; empty for none.

    Args:
        text: Text of the line.
    """
    return next((rule.id for rule in load_answers().marks if rule.pattern.match(text)), "")


def is_short_item(text: str) -> bool:
    """Return whether an item is quoted with all of its sentences.

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
    """Return whether a line is the heading.

    Args:
        text: Text of the line.
        heading: The heading.
    """
    return text.rstrip(". ") == heading.rstrip(". ")


def starts_with_heading(text: str, heading: str) -> bool:
    """Return whether a line begins with the heading, run in.

    Args:
        text: Text of the line.
        heading: The heading; may be empty.
    """
    return bool(heading) and text.startswith(heading)


def split_line(text: str, *, heading: str) -> Iterator[tuple[int, int]]:
    """Split a line into sentences; a heading before the first one, or a short label, stays with it.

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
