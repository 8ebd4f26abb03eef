"""The evidence check: quotes must be verbatim at their place, and sentences must follow from the sentences quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from taxkg_assets.llm.claims import find_unsupported_content
from taxkg_assets.llm.normalization import content_stems, find_figures, find_stems, normalize_spelling
from taxkg_assets.llm.question_validation import find_question_flaw, has_prompt_injection
from taxkg_assets.prompts.contract import Block, Evidence
from taxkg_assets.rules.models.llm import load_llm
from taxkg_assets.rules.sentences import find_sentence_parts

_LETTERS_OR_DIGITS = re.compile(r"[^\W_]+")


def has_enough_content(quote: str) -> bool:
    """Return whether a quote has enough content words to count as evidence.

    Args:
        quote: The quote.
    """
    min_words: int = load_llm().evidence.least_words
    return len(content_stems(quote) | find_figures(quote)) >= min_words


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _list_plain_words(text: str) -> str:
    """Return a text's words in lower case."""
    return " ".join(_LETTERS_OR_DIGITS.findall(text.casefold()))


def _split_sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in find_sentence_parts(text)]


def format_pointer(element_id: str, start: int, end: int) -> str:
    """Format an evidence pointer `element_id:start-end`.

    Args:
        element_id: The element.
        start: First character, 0-based.
        end: Exclusive end offset.
    """
    return f"{element_id}:{start}-{end}"


def cite(block: Block, start: int, end: int) -> Evidence:
    """Build the evidence for a character range of a block.

    Args:
        block: The block.
        start: First character, 0-based.
        end: Exclusive end offset.

    Returns:
        The evidence.
    """
    pointer = format_pointer(block.element_id, block.start + start, block.start + end)
    return Evidence(pointer=pointer, quote=block.text[start:end])


def _find_offsets(quote: str, text: str) -> Iterator[int]:
    """Yield the offsets of a quote in a text, without overlaps."""
    offset = text.find(quote)
    while offset >= 0:
        yield offset
        offset = text.find(quote, offset + len(quote))


class BlockEvidence:
    """The blocks of one item, against which proposed evidence is verified."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = tuple(blocks)

    def find(self, evidence: Evidence) -> Evidence | None:
        """Return the evidence with the exact position of its quote; None if the quote is not verbatim.

        Models copy text well but count offsets badly: a verbatim quote at a wrong position is moved to the nearest
        correct one.

        Args:
            evidence: Proposed evidence.
        """
        element_id, _, span = evidence.pointer.rpartition(":")
        start = int(span.partition("-")[0])
        if not evidence.quote.strip():
            return None
        places = (
            (block, offset)
            for block in self._blocks
            if block.element_id == element_id
            for offset in _find_offsets(evidence.quote, block.text)
        )
        nearest = min(places, key=lambda place: abs(place[0].start + place[1] - start), default=None)
        return cite(nearest[0], nearest[1], nearest[1] + len(evidence.quote)) if nearest is not None else None

    def locate(self, evidence: Evidence) -> Evidence | None:
        """Return the evidence with the exact position of its quote; None if it is not verbatim or proves nothing.

        A quote of a few stop words proves nothing, as they occur in every text, unless it is a whole block or sentence.
        A sentence with a prompt injection is never evidence.

        Args:
            evidence: Proposed evidence.
        """
        located = self.find(evidence)
        if located is None or has_prompt_injection(self._sentences_of(located)):
            return None
        if has_enough_content(located.quote):
            return located
        whole_texts = {_squeeze(text) for block in self._blocks for text in (block.text, *_split_sentences(block.text))}
        return located if _squeeze(located.quote) in whole_texts else None

    def mentions(self, phrase: str) -> bool:
        """Return whether a block contains these consecutive words, ignoring case, spaces and hyphens.

        Args:
            phrase: The words.
        """
        plain_words = _list_plain_words(phrase)
        return bool(content_stems(phrase) | find_figures(phrase)) and any(
            f" {plain_words} " in f" {_list_plain_words(block.text)} " for block in self._blocks
        )

    def is_valid_name(self, name: str, *, kind: str) -> bool:
        """Return whether a name fits the pattern of its kind; without a pattern, whether it is short and meaningful.

        Args:
            name: The name.
            kind: Kind of entity.
        """
        patterns = [rule.pattern for rule in load_llm().entities if rule.id == kind]
        if patterns:
            return any(pattern.fullmatch(name) for pattern in patterns)
        return bool(content_stems(name)) and len(name.split()) <= load_llm().metadata.name_words

    def supports(self, claim: str, evidence: Sequence[Evidence]) -> bool:
        """Return whether quotes entail a sentence.

        All figures and nearly all words must be in the quotes, the rest in their sentences. Negation and conditions are
        read from the whole sentences: a quote that begins after "do not" means the opposite of its source.

        Args:
            claim: The sentence.
            evidence: Located evidence.
        """
        sources = [self._sentences_of(quote) for quote in evidence]
        if _squeeze(claim) in {_squeeze(part) for source in sources for part in (source, *_split_sentences(source))} - {
            ""
        }:
            return True
        quoted = normalize_spelling(" ".join(quote.quote for quote in evidence))
        words, quoted_words = find_stems(claim), find_stems(quoted)
        least_share = load_llm().support.least_share
        return (
            find_figures(normalize_spelling(claim)) <= find_figures(quoted)
            and len(words & quoted_words) >= least_share * len(words)
            and not find_unsupported_content(claim, " ".join(dict.fromkeys(sources)))
        )

    def is_about(self, question: str, evidence: Sequence[Evidence]) -> bool:
        """Return whether a text is a valid question about the sentences that contain the quotes.

        Args:
            question: The question.
            evidence: Located evidence.
        """
        sources = dict.fromkeys(self._sentences_of(quote) for quote in evidence)
        return not find_question_flaw(question, " ".join(sources))

    def _sentences_of(self, evidence: Evidence) -> str:
        """Return the sentences that contain a located quote."""
        element_id, _, span = evidence.pointer.rpartition(":")
        start, end = (int(offset) for offset in span.split("-"))
        for block in self._blocks:
            # Offsets of a pointer count from the element, those of a quote from its block.
            quote_start, quote_end = start - block.start, end - block.start
            text = block.text[max(0, quote_start) : max(0, quote_end)]
            if block.element_id != element_id or text != evidence.quote:
                continue
            sentences = [
                (sentence_start, sentence_end)
                for sentence_start, sentence_end in find_sentence_parts(block.text)
                if sentence_start < quote_end and sentence_end > quote_start
            ]
            return block.text[sentences[0][0] : sentences[-1][1]] if sentences else evidence.quote
        return evidence.quote
