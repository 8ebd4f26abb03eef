"""Headers over columns that repeat: nothing is drawn that says how far each reaches, but the columns tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from taxkg_assets.extraction.tables.header_blocks import HeaderBlock

# Headers on one line have tops this near to each other.
_SAME_LINE_PT = 2.0


def spread_over_repeats(blocks: Sequence[HeaderBlock], *, column_count: int) -> list[HeaderBlock]:
    """Extend group headers over all columns of their group, where the headers below them repeat from group to group.

    An example is `Owners` and `Tenants` on one line, over the columns `Rent | Fees | Rent | Fees`.

    Args:
        blocks: Header cells.
        column_count: Number of columns of the table.

    Returns:
        Header cells in the same order, with the columns that they apply to.
    """
    leaves = _find_leaves(blocks, column_count=column_count)
    lines: list[list[HeaderBlock]] = []
    for block in sorted(blocks, key=lambda block: (block.y0, block.first)):
        if lines and block.y0 - lines[-1][0].y0 <= _SAME_LINE_PT:
            lines[-1].append(block)
        else:
            lines.append([block])
    new_blocks: dict[int, HeaderBlock] = {}
    for line in lines:
        group_headers = [block for block in line if leaves[block.first] is not block]
        for first in (
            range(1, column_count - 2 * len(group_headers) + 1) if len(group_headers) == len(line) >= 2 else ()
        ):
            names = [leaf.text if leaf is not None else "" for leaf in leaves[first:]]
            width, left_over = divmod(len(names), len(line))
            if left_over or names != names[:width] * len(line) or not all(names) or len(set(names)) < 2:
                continue
            spans = [(first + ix * width, first + (ix + 1) * width - 1) for ix in range(len(line))]
            if all(low <= block.first <= block.last <= high for block, (low, high) in zip(line, spans, strict=True)):
                new_blocks |= {
                    id(block): replace(block, first=group_start, last=group_end)
                    for block, (group_start, group_end) in zip(line, spans, strict=True)
                }
    return [new_blocks.get(id(block), block) for block in blocks]


def _find_leaves(blocks: Sequence[HeaderBlock], *, column_count: int) -> list[HeaderBlock | None]:
    """Find the lowest header of each column that counts for that column alone."""
    leaves: list[HeaderBlock | None] = [None] * column_count
    for block in sorted(blocks, key=lambda block: block.y0):
        if block.first == block.last:
            leaves[block.first] = block
    return leaves
