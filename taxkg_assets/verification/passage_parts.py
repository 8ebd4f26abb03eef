"""Parts of a long passage that are compared with a statement on their own: a long sentence says several things."""

from __future__ import annotations

from itertools import pairwise

from taxkg_assets.verification.clause_words import split_clauses

_LONG = 18  # words of a passage that is also read in parts
_LEAST = 6  # words of a part
_MOST = 10  # parts of one passage


def split_passage(text: str) -> list[str]:
    """Split a long passage into parts of one or two consecutive clauses.

    Args:
        text: Words of a passage.

    Returns:
        Parts of at least six words; none for a short text.
    """
    if len(text.split()) < _LONG:
        return []
    parts = [part.strip(" ,;:.") for part in split_clauses(text)]
    pairs = [f"{one}, {other}" for one, other in pairwise(parts)]
    return [own for own in dict.fromkeys([*parts, *pairs]) if len(own.split()) >= _LEAST][:_MOST]
