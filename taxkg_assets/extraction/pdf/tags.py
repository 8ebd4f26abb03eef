"""Structure tags of a page: the nested blocks that MuPDF collects, as flat text blocks and a list of tags.

MuPDF hangs each block of text below the structure elements that hold it. Here the nesting becomes data: every text
block keeps the number of its innermost tag, every tag the number of its parent and its path in the document's tree.
What the tags mean is decided in `authored`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# No real page comes near either; a tree beyond them is hostile or damaged.
MAX_DEPTH = 200
MAX_TAGS = 100_000
# Types of the PDF standard (ISO 32000-1, 14.8.4). A role map must not rename them; where it does, the maker's own word
# counts: some publications map their top headings (H1) to Div.
_HEADINGS = frozenset({"H", "H1", "H2", "H3", "H4", "H5", "H6"})


# Not frozen for the same reason as spans: a page has hundreds of them.
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
    flat: list[dict[str, Any]] = []
    owners: list[int] = []
    tags: list[Tag] = []
    stack: list[tuple[dict[str, Any], int]] = [(block, -1) for block in reversed(blocks)]
    while stack:
        block, parent = stack.pop()
        sort = block["type"]
        if sort == 0:
            flat.append(block)
            owners.append(parent)
        elif sort == 2:
            above = tags[parent].path if parent >= 0 else ()
            ix = len(tags)
            if len(above) >= MAX_DEPTH or ix >= MAX_TAGS:
                return None
            raw = block["raw"]
            tags.append(Tag(raw if raw in _HEADINGS else block["std"] or raw or "", parent, (*above, block["index"])))
            # Most elements hold one run of text and nothing else.
            stack += [(child, ix) for child in reversed(block["blocks"])]
    return flat, owners, tuple(tags)
