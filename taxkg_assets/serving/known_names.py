"""Names that an error message offers where a name does not exist: the similar ones, else the first of all."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MOST_NAMES = 20
"""Names in a message: a library of hundreds of documents would fill a screen, and an agent's context."""

SIMILARITY = 0.8
"""Least ratio of `difflib` from which on a name is similar: one or two typing errors in a document id."""


def list_names(known: Iterable[str | None], *, wanted: str = "", most: int = MOST_NAMES) -> str:
    """Format existing names for an error message, those similar to the unknown name first.

    Args:
        known: Names that exist; empty and repeated ones are left out.
        wanted: The name that does not exist; names that contain it, or are spelled like it, are listed alone.
        most: Maximum number of names.

    Returns:
        Names in their given order, separated by commas, with the number of further ones; "none" without a name.
    """
    names = list(dict.fromkeys(name for name in known if name))
    query = wanted.strip().lower()
    similar = [name for name in names if query and query in name.lower()]
    if query and not similar:
        spelled = get_close_matches(query, [name.lower() for name in names], n=most, cutoff=SIMILARITY)
        similar = [name for name in names if name.lower() in spelled]
    shown = similar or names
    if not shown:
        return "none"
    more = len(names) - len(shown[:most])
    return ", ".join(shown[:most]) + (f", and {more} more" if more else "")
