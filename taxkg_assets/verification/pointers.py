"""Text that only says where to read on: sentences, asides, and the printed index."""

from __future__ import annotations

from collections.abc import Sequence

from taxkg_assets.rules.loader import load_rules
from taxkg_assets.verification.values import fold

_LONGEST_POINTER = 30


def is_pointer(text: str) -> bool:
    """Return whether a sentence only says where to read on.

    Args:
        text: The sentence.

    Source:
        rules/verification.yaml, `pointers`.
    """
    pattern = load_rules("verification", "pointers")[0].pattern
    return len(text.split()) <= _LONGEST_POINTER and pattern.search(fold(text)) is not None


def find_asides(text: str) -> Sequence[tuple[int, int]]:
    """Find where a passage says where to read on: start and end of each place.

    Args:
        text: Words of the passage, folded.
    """
    return [match.span() for match in load_rules("verification", "pointers")[1].pattern.finditer(text)]


def is_index(heading_path: str) -> bool:
    """Return whether text is part of an index or a table of contents.

    Args:
        heading_path: Headings above it, joined with ` > `.
    """
    pattern = load_rules("verification", "pointers")[2].pattern
    return pattern.search(heading_path) is not None
