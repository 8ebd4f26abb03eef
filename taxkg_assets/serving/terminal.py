"""The console of the command line: no text can control the terminal through it, wherever it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Terminal(Console):
    """A console that replaces control characters in text, so that documents cannot style the terminal."""

    def __init__(self, **options: Any) -> None:
        super().__init__(emoji=False, **options)  # a text with ":key:" is meant as written; the table of emoji is large

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render an object with U+FFFD in place of each control character of its text.

        Args:
            renderable: Object to print.
            options: Width and colors; the console's own by default.

        Yields:
            Segments to print.
        """
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=_CONTROL.sub("\ufffd", segment.text))


def escape_controls(text: str) -> str:
    """Escape control characters in JSON so that a terminal can print it.

    Args:
        text: JSON.

    Returns:
        JSON that a terminal can print.
    """
    return _CONTROL.sub(lambda control: f"\\u{ord(control[0]):04x}", text)
