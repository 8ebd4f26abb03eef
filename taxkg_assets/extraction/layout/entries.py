"""Entries of a table of contents or an index: each ends with page numbers, and its further lines are indented."""

from __future__ import annotations

from collections.abc import Sequence

from taxkg_assets.extraction.layout.lines import Line
from taxkg_assets.rules.models.roles import load_roles


def find_entries(lines: Sequence[Line]) -> frozenset[int]:
    """Find the entries of a table of contents or index among the lines of a column.

    Entries lie between lines that end with page numbers. Text around a table of contents, and a few numbers in running
    text, are excluded.

    Args:
        lines: Lines of the column from top to bottom.

    Returns:
        0-based indices of the entries in `lines`.
    """
    ending_ixs = [ix for ix, line in enumerate(lines) if line.text[-1].isdigit() and _ends_with_page(line.text)]
    limits = load_roles().entries
    entry_ixs: set[int] = set()
    while len(ending_ixs) >= limits.least:
        run_ixs = [ending_ixs[0]]
        for ix in ending_ixs[1:]:
            if ix - run_ixs[-1] > limits.most_lines:
                break
            run_ixs.append(ix)
        ending_ixs = ending_ixs[len(run_ixs) :]
        if len(run_ixs) >= limits.least and len(run_ixs) >= limits.ending_frac * (run_ixs[-1] - run_ixs[0] + 1):
            entry_ixs |= set(range(run_ixs[0] + 1, run_ixs[-1] + 1))
    return frozenset(entry_ixs)


def begins_entry(line: Line, entry_lines: Sequence[Line]) -> bool:
    """Return whether a line begins a new entry: the one above is complete, or its next line would be indented.

    Args:
        line: Printed line.
        entry_lines: Lines of the entry above, from top to bottom.

    Returns:
        True where the entry above is complete, or where a further line of that entry would be indented.
    """
    if _ends_with_page(entry_lines[-1].text) or load_roles().entry_ends.matches(entry_lines[-1].text):
        return True
    limits = load_roles().entries
    return bool(line.x0 < entry_lines[0].x0 + limits.indent_sizes * line.size)


def _ends_with_page(text: str) -> bool:
    """Decide whether a line ends with the number of a page, and not of a line, a box or a day."""
    return load_roles().page_numbers.matches(text) and not load_roles().counted_things.matches(text)
