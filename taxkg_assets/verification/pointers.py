"""Text that says where to read on (sentences, asides, the printed index), and sentences that turn to another case."""

from __future__ import annotations

from collections.abc import Sequence

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.values import fold

_LONGEST_POINTER = 40


def is_pointer(text: str) -> bool:
    """Return whether a sentence only refers the reader elsewhere ("see …").

    Args:
        text: The sentence.

    Source:
        rules/verification.yaml, `pointers`.
    """
    pattern = load_verification().pointers.read_on.pattern
    return len(text.split()) <= _LONGEST_POINTER and pattern.search(fold(text)) is not None


def refers(text: str) -> bool:
    """Return whether a statement itself refers the reader elsewhere, so that such a sentence may support it.

    Args:
        text: The statement.

    Source:
        rules/verification.yaml, `pointers`.
    """
    return load_verification().pointers.refers.pattern.search(fold(text)) is not None


def is_contrast(text: str) -> bool:
    """Return whether a sentence begins a contrast with the one before it.

    Args:
        text: The sentence.

    Source:
        rules/verification.yaml, `pointers`.
    """
    return load_verification().pointers.contrast.pattern.search(fold(text)) is not None


def is_past(text: str) -> bool:
    """Return whether a text describes earlier rules.

    Args:
        text: Words of a passage.

    Source:
        rules/verification.yaml, `times`.
    """
    return load_verification().times.matches(fold(text))


def find_asides(text: str) -> Sequence[tuple[int, int]]:
    """Find the parts of a passage that refer the reader elsewhere.

    Args:
        text: Words of the passage, folded.

    Returns:
        Start and end of each part, in characters.
    """
    return [match.span() for match in load_verification().pointers.aside.pattern.finditer(text)]


def is_index(heading_path: str) -> bool:
    """Return whether text is part of an index or a table of contents.

    Args:
        heading_path: Headings above it, joined with ` > `.
    """
    pattern = load_verification().pointers.index.pattern
    return pattern.search(heading_path) is not None
