"""Manuscripts: plain text with a light markup, read into blocks.

A block is a heading (`= `, `== `, `=== `), a list item (`- `, `1. `), a callout (`TIP: `, `CAUTION: `), a table
(`|| title`, `|= header cells`, `| cells`; ` > ` in a header cell joins a spanning header and the column's own) or a
paragraph, which may begin with a bold run-in heading. `{box_1a}` gives a heading its key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

HEADINGS = {"=": "section", "==": "subsection", "===": "minor"}
_KEY = re.compile(r"\s*\{([a-z]+_[0-9a-z-]+)\}")
_ITEM = re.compile(r"(-|\d+\.)\s+(.*)", re.DOTALL)
_RUN_IN = re.compile(r"\*\*(.+?)\*\*\s*(.*)", re.DOTALL)
_MARKUP = re.compile(r"\*\*|[*\[\]]")


@dataclass(slots=True)
class Block:
    """One heading, paragraph, list item, callout or table, and the page on which it begins once it is set."""

    kind: str
    text: str
    key: str | None = None
    marker: str = ""
    run_in: str | None = None
    is_wide: bool = False
    header: list[list[str]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    page: int = 0

    @property
    def plain(self) -> str:
        """The text as printed, without markup and without a run-in heading's own words."""
        return _MARKUP.sub("", self.text)


def _read_table(chunk: str) -> Block:
    lines = chunk.splitlines()
    title = lines[0].removeprefix("||").strip()
    block = Block("table", title.removeprefix("^ "), is_wide=title.startswith("^ "))
    for line in lines[1:]:
        cells = [cell.strip() for cell in line.lstrip("|=").split(" | ")]
        if line.startswith("|="):
            block.header = [cell.split(" > ") for cell in cells]
        else:
            block.rows.append(cells)
    return block


def read_block(chunk: str) -> Block:
    """Decide what one blank-line separated piece of a manuscript is."""
    if chunk.startswith("||"):
        return _read_table(chunk)
    text = " ".join(chunk.split())
    found = _KEY.search(text)
    key = found.group(1) if found else None
    text = _KEY.sub("", text, count=1)
    first, _, rest = text.partition(" ")
    if first in HEADINGS:
        return Block(HEADINGS[first], rest, key=key)
    if first in ("TIP:", "CAUTION:"):
        return Block(first[:-1].lower(), rest)
    if item := _ITEM.fullmatch(text):
        return Block("item", item.group(2), marker=item.group(1).replace("-", "•"))
    if run_in := _RUN_IN.fullmatch(text):
        return Block("paragraph", run_in.group(2), key=key, run_in=run_in.group(1))
    return Block("paragraph", text)


def read_manuscript(text: str) -> list[Block]:
    """One block per blank-line separated piece, in order."""
    return [read_block(chunk) for chunk in re.split(r"\n\s*\n", text.strip())]
