"""Text without control characters: text of a file could otherwise control the terminal that displays it."""

from __future__ import annotations

_SPACES = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)
_TURNS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_PLAIN: dict[int, str | None] = {**dict.fromkeys(_SPACES, " "), **dict.fromkeys(_TURNS)}


def strip_control_characters(text: str) -> str:
    """Replace control characters by blanks, and remove marks of text direction.

    Args:
        text: Text of a file.

    Returns:
        Text without control characters.
    """
    # Nearly all text is printable as it is, and checking that is much faster than cleaning it.
    return text if text.isprintable() else text.translate(_PLAIN)
