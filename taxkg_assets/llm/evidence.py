"""Whether what was proposed stands in the text: quotes verbatim at their place, sentences no bolder than these."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taxkg_assets.llm.wording import (
    find_content,
    find_figures,
    find_keys,
    is_limited,
    is_negative,
    score_coverage,
    split_clauses,
)
from taxkg_assets.prompts.contract import Block, Evidence
from taxkg_assets.rules.loader import load_family
from taxkg_assets.rules.sentences import find_sentence_parts


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
        """Whether quotes say what a sentence says: its figures and keys, nearly all its words, the same denials.

        What is denied, and under which conditions, is read from the whole sentences that the quotes stand in: a quote
        that begins after "do not" shows the opposite of its source.
        """
        quoted = " ".join(row.quote for row in evidence)
        source = " ".join(self._sentences_of(row) for row in evidence)
        if claim.strip() and claim.split() == source.split():
            return True
        words, held = find_content(claim), find_content(quoted)
        limits = load_family("llm")["support"]
        return (
            bool(words)
            and find_figures(claim) <= find_figures(quoted)
            and find_keys(claim) <= find_keys(source)
            and len(words & held) >= limits["least_share"] * len(words)
            and (is_limited(claim) or not is_limited(source))
            and _denies_alike(claim, source)
        )

    def _sentences_of(self, evidence: Evidence) -> str:
        """The sentences of the source that a located quote stands in."""
        element_id, _, place = evidence.pointer.rpartition(":")
        start, end = (int(part) for part in place.split("-"))
        for block in self._blocks:
            first, last = start - block.start, end - block.start
            if block.element_id != element_id or block.text[max(0, first) : max(0, last)] != evidence.quote:
                continue
            touched = [(a, b) for a, b in find_sentence_parts(block.text) if a < last and b > first]
            return block.text[touched[0][0] : touched[-1][1]] if touched else evidence.quote
        return evidence.quote


def _denies_alike(claim: str, source: str) -> bool:
    """Whether each clause of a sentence denies what its source denies and says what it says.

    The clause that is most like it does the same, and no word is taken over that the source uses to the contrary only.
    """
    clauses = [(find_content(clause), is_negative(clause)) for clause in split_clauses(source)]
    for clause in split_clauses(claim):
        wanted = find_content(clause)
        shares = [score_coverage(wanted, held) for held, _ in clauses]
        nearest = {denied for share, (_, denied) in zip(shares, clauses, strict=True) if share == max(shares)}
        denies = is_negative(clause)
        alike = frozenset().union(*(held for held, denied in clauses if denied == denies))
        contrary = frozenset().union(*(held for held, denied in clauses if denied != denies))
        if denies not in nearest or wanted & (contrary - alike):
            return False
    return bool(clauses)
