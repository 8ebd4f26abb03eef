"""Whether what was proposed stands in the text: quotes verbatim at their place, sentences no bolder than these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from taxkg_assets.llm.asked import find_flaw, speaks_to_a_program
from taxkg_assets.llm.claims import find_breach
from taxkg_assets.llm.wording import find_content, find_figures, find_stems, spell_alike
from taxkg_assets.prompts.contract import Block, Evidence
from taxkg_assets.rules.loader import load_family, load_rules
from taxkg_assets.rules.sentences import find_sentence_parts

_PART_OF_WORD = re.compile(r"[^\W_]+")


def is_telling(quote: str) -> bool:
    """Whether a quote holds enough words that carry meaning to show anything."""
    least: int = load_family("llm")["evidence"]["least_words"]
    return len(find_content(quote) | find_figures(quote)) >= least


def _tidy(text: str) -> str:
    return " ".join(text.split())


def _flatten(text: str) -> str:
    """A text as its words in small letters."""
    return " ".join(_PART_OF_WORD.findall(text.casefold()))


def _split(text: str) -> list[str]:
    return [text[start:end] for start, end in find_sentence_parts(text)]


def point(element_id: str, start: int, end: int) -> str:
    """A pointer to half-open characters of an element's text."""
    return f"{element_id}:{start}-{end}"


def cite(block: Block, start: int, end: int) -> Evidence:
    """Evidence for characters of a block, counted in the block."""
    place = point(block.element_id, block.start + start, block.start + end)
    return Evidence(pointer=place, quote=block.text[start:end])


def _find_places(quote: str, text: str) -> Iterator[int]:
    """Where a quote stands in a text, without overlaps."""
    place = text.find(quote)
    while place >= 0:
        yield place
        place = text.find(quote, place + len(quote))


class BlockEvidence:
    """The blocks of one item, as what evidence is checked against."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = tuple(blocks)

    def find(self, evidence: Evidence) -> Evidence | None:
        """The evidence with the place where its quote stands; None if the quote is not verbatim in its element.

        Models copy well and count badly: a verbatim quote at a wrong place is moved to the nearest right one.
        """
        element_id, _, span = evidence.pointer.rpartition(":")
        start = int(span.partition("-")[0])
        if not evidence.quote.strip():
            return None
        found = [
            (abs(block.start + place - start), cite(block, place, place + len(evidence.quote)))
            for block in self._blocks
            if block.element_id == element_id
            for place in _find_places(evidence.quote, block.text)
        ]
        return min(found, key=lambda pair: pair[0])[1] if found else None

    def locate(self, evidence: Evidence) -> Evidence | None:
        """The evidence in its place; None also where the quote shows nothing.

        A letter or a few stop words stand in every text; what a block or a sentence says as a whole may be short. A
        sentence that gives orders to programs is evidence of nothing.
        """
        found = self.find(evidence)
        if found is None or speaks_to_a_program(self._sentences_of(found)):
            return None
        if is_telling(found.quote):
            return found
        wholes = {_tidy(text) for block in self._blocks for text in (block.text, *_split(block.text))}
        return found if _tidy(found.quote) in wholes else None

    def mentions(self, words: str) -> bool:
        """Whether these words stand side by side in a block, whatever their case, spaces and hyphens."""
        wanted = _flatten(words)
        return bool(find_content(words) | find_figures(words)) and any(
            f" {wanted} " in f" {_flatten(block.text)} " for block in self._blocks
        )

    def is_named(self, name: str, *, kind: str) -> bool:
        """Whether a name looks as names of its kind do; one without a pattern takes a few telling words."""
        patterns = [rule.pattern for rule in load_rules("llm", "entities") if rule.id == kind]
        if patterns:
            return any(pattern.fullmatch(name) for pattern in patterns)
        return bool(find_content(name)) and len(name.split()) <= load_family("llm")["metadata"]["name_words"]

    def supports(self, claim: str, evidence: Sequence[Evidence]) -> bool:
        """Whether quotes say what a sentence says: its figures and nearly all its words, and their sentences the rest.

        What is denied, and under which conditions, is read from the whole sentences that the quotes stand in: a quote
        that begins after "do not" shows the opposite of its source.
        """
        sources = [self._sentences_of(row) for row in evidence]
        if _tidy(claim) in {_tidy(part) for source in sources for part in (source, *_split(source))} - {""}:
            return True
        quoted = spell_alike(" ".join(row.quote for row in evidence))
        words, held = find_stems(claim), find_stems(quoted)
        least = load_family("llm")["support"]["least_share"]
        return (
            find_figures(spell_alike(claim)) <= find_figures(quoted)
            and len(words & held) >= least * len(words)
            and not find_breach(claim, " ".join(dict.fromkeys(sources)))
        )

    def is_about(self, question: str, evidence: Sequence[Evidence]) -> bool:
        """Whether a question is one, and is about the sentences that the quotes stand in."""
        return not find_flaw(question, " ".join(dict.fromkeys(self._sentences_of(row) for row in evidence)))

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
