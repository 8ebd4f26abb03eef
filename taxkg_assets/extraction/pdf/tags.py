"""Structure tags of a page: the nested blocks that MuPDF collects, as flat text blocks and a list of tags.

MuPDF returns text blocks inside nested blocks, one for each structure element. Here the nesting becomes data: every
text block gets the number of its innermost tag, every tag the number of its parent and its path in the document's
tree. The package `authored` decides what the tags mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# No real page comes near these limits; a larger tree is hostile or damaged.
MAX_DEPTH = 200
MAX_TAGS = 100_000
# Types of the PDF standard (ISO 32000-1, 14.8.4). A role map must not rename them; if one does, the name before the
# mapping counts: some publications map their top headings (H1) to Div.
_HEADINGS = frozenset({"H", "H1", "H2", "H3", "H4", "H5", "H6"})


# Not frozen: a page has hundreds of tags, and a frozen one takes three times as long to make.
@dataclass(slots=True)
class Tag:
    """One structure element with content on a page.

    Attributes:
        kind: Standard type (P, H2, LI, TD, …), after the role map of the document.
        parent_ix: Index of the enclosing tag; −1 at the top.
        path: Child numbers from the root, equal on every page that the element continues on.
    """

    kind: str
    parent_ix: int
    path: tuple[int, ...]


def flatten_tags(blocks: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[int], tuple[Tag, ...]] | None:
    """Flatten nested blocks of a page into text blocks in tag order.

    Args:
        blocks: `blocks` of a text page's dictionary, read with TEXT_COLLECT_STRUCTURE.

    Returns:
        The text blocks, the innermost tag of each (−1 for none), and the tags; None for a tree that is too deep or too
        large to be real.
    """
    text_blocks: list[dict[str, Any]] = []
    owners: list[int] = []
    tags: list[Tag] = []
    stack: list[tuple[dict[str, Any], int]] = [(block, -1) for block in reversed(blocks)]
    while stack:
        block, parent_ix = stack.pop()
        block_type = block["type"]
        if block_type == 0:
            text_blocks.append(block)
            owners.append(parent_ix)
        elif block_type == 2:
            parent_path = tags[parent_ix].path if parent_ix >= 0 else ()
            ix = len(tags)
            if len(parent_path) >= MAX_DEPTH or ix >= MAX_TAGS:
                return None
            raw_kind = block["raw"]
            tags.append(
                Tag(
                    raw_kind if raw_kind in _HEADINGS else block["std"] or raw_kind or "",
                    parent_ix,
                    (*parent_path, block["index"]),
                )
            )
            # Most elements contain one run of text and nothing else.
            stack += [(child, ix) for child in reversed(block["blocks"])]
    return text_blocks, owners, tuple(tags)
