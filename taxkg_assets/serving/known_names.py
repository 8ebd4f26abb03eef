"""Names that an error message offers where a name does not exist: the similar ones, else the first of all."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MOST_NAMES = 20
"""Names in a message: a library of hundreds of documents would fill a screen, and an agent's context."""

SIMILARITY = 0.8
"""Least ratio of `difflib` from which on a name is similar: one or two typing errors in a document id."""


def list_names(existing_names: Iterable[str | None], *, unknown_name: str = "", max_names: int = MOST_NAMES) -> str:
    """Format existing names for the message that a name does not exist.

    If some names are similar to the unknown one, only these are listed.

    Args:
        existing_names: Names that exist; empty and repeated ones are left out.
        unknown_name: The name that does not exist. A name is similar if it contains the unknown one, or else if it
            differs from it by a typing error.
        max_names: Maximum number of names to list.

    Returns:
        Names in the given order: `f1040--2023, f1040--2024, and 12 more`; `none` if there is no name.
    """
    names = list(dict.fromkeys(name for name in existing_names if name))
    query = unknown_name.strip().lower()
    similar = [name for name in names if query and query in name.lower()]
    if query and not similar:
        close_matches = get_close_matches(query, [name.lower() for name in names], n=max_names, cutoff=SIMILARITY)
        similar = [name for name in names if name.lower() in close_matches]
    listed_names = similar or names
    if not listed_names:
        return "none"
    further_count = len(names) - len(listed_names[:max_names])
    return ", ".join(listed_names[:max_names]) + (f", and {further_count} more" if further_count else "")
