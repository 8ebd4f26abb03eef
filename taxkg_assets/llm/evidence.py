"""Whether what was proposed stands in the text: quotes verbatim at their place, sentences no bolder than these."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taxkg_assets.llm.wording import find_content, find_figures, is_negative
from taxkg_assets.prompts.contract import Block, Evidence
from taxkg_assets.rules.loader import load_family


def point(element_id: str, start: int, end: int) -> str:
    """A pointer to half-open characters of an element's text."""
    return f"{element_id}:{start}-{end}"


def cite(block: Block, start: int, end: int) -> Evidence:
    """Evidence for characters of a block, counted in the block."""
    place = point(block.element_id, block.start + start, block.start + end)
    return Evidence(pointer=place, quote=block.text[start:end])


class BlockEvidence:
    """The blocks of one item, as what evidence is checked against."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = tuple(blocks)

    def locate(self, evidence: Evidence) -> Evidence | None:
        """The evidence with the place where its quote stands; None if the quote is not verbatim in its element.

        Models copy well and count badly: a verbatim quote at a wrong place is moved to the nearest right one.
        """
        element_id, _, place = evidence.pointer.rpartition(":")
        start = int(place.partition("-")[0])
        if not evidence.quote.strip():
            return None
        found = [
            (abs(block.start + match.start() - start), cite(block, match.start(), match.end()))
            for block in self._blocks
            if block.element_id == element_id
            for match in re.finditer(re.escape(evidence.quote), block.text)
        ]
        return min(found, key=lambda pair: pair[0])[1] if found else None

    def mentions(self, words: str) -> bool:
        """Whether the blocks use all of these words and figures, wherever."""
        wanted = find_content(words) | find_figures(words)
        held = (find_content(block.text) | find_figures(block.text) for block in self._blocks)
        return bool(wanted) and wanted <= frozenset().union(*held)

    def supports(self, claim: str, evidence: Sequence[Evidence]) -> bool:
        """Whether quotes say what a sentence says: its figures and keys, most of its words, the same polarity."""
        quoted = " ".join(row.quote for row in evidence)
        if claim.strip() and claim.split() == quoted.split():
            return True
        words, held = find_content(claim), find_content(quoted)
        limits = load_family("llm")["support"]
        return (
            bool(words)
            and find_figures(claim) <= find_figures(quoted)
            and len(words & held) >= limits["least_share"] * len(words)
            and is_negative(claim) == is_negative(quoted)
        )
