"""The sentences of passages, each with what tells whether it can speak to a question.

A passage gathers what was found under one heading, its neighbour boxes among it, and a sentence alone does not tell
what it is about. So a sentence of another form than the one asked for is foreign, and one of another box, line or code
(where none is asked for: than the one that was hit) as well, unless it names what is asked for; the others keep the
heading that is printed before them, and know which key asked for they open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from taxkg_assets.retrieval.facts import PassageFacts
from taxkg_assets.retrieval.lexical import find_terms
from taxkg_assets.retrieval.rerank import OTHER_FORM, score_form
from taxkg_assets.retrieval.results import Result
from taxkg_assets.retrieval.router import Route, covers_key, find_kind, find_listed_codes
from taxkg_assets.rules.loader import load_family, load_rules
from taxkg_assets.rules.sentences import find_sentence_parts

_NO_LETTERS = re.compile(r"[\W\d_]+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage in the order of reading.

    Attributes: row: row of the index that it stands in. passage: number of its passage, from 0. heading: terms of the
                heading above it. is_hit: it stands in the very chunk that was found, not in what was gathered around.
                is_foreign: it is of another form, box, line or code. opens: keys asked for that it explains first.
                is_pointer: it sends the reader elsewhere. is_fragment: an item or the lead of a list, no whole
                sentence. is_figures: it is a row of figures, or of cells.
    """

    text: str
    row: int
    passage: int
    terms: frozenset[str]
    heading: frozenset[str]
    is_hit: bool
    is_foreign: bool
    opens: tuple[str, ...]
    is_pointer: bool
    is_fragment: bool
    is_figures: bool


def find_sentences(results: Sequence[Result], facts: PassageFacts, *, route: Route) -> list[Sentence]:
    """The whole sentences of some passages, each once.

    Args: route: what the question asks for.
    """
    number_of = facts.row_of_chunk
    found: list[Sentence] = []
    seen: set[tuple[str, bool]] = set()
    for passage, result in enumerate(results):
        hit = number_of[result.chunk_id]
        for row in (number_of[chunk] for chunk in result.via["chunk_ids"]):
            for own in _read_row(row, facts, route=route, passage=passage, hit=hit):
                # Two boxes may say the same words: what the wrong one says must not hide the right one's.
                if (own.text, own.is_foreign) not in seen:
                    seen.add((own.text, own.is_foreign))
                    found.append(own)
    return found


def _read_row(row: int, facts: PassageFacts, *, route: Route, passage: int, hit: int) -> Iterator[Sentence]:
    limits, columns = load_family("answers"), facts.columns
    heading = columns["heading_path"][row].rpartition(" > ")[2]
    is_of_other_form = score_form(facts.forms[facts.form_number[row]], route) == OTHER_FORM
    is_of_other_key = _is_of_other_key(row, hit, facts, keys=route.keys)
    asks_for_code = any(key.startswith("code_") for key in route.keys)
    opened = _find_opened(row, facts, keys=route.keys)
    for text in _split_text(columns["text"][row], heading=heading):
        codes = {f"code_{code}" for code in find_listed_codes(text)}
        listed = tuple(key for key in route.keys if key in codes)
        words = text.split()
        if text[:1].islower():  # the rest of a sentence whose beginning stands elsewhere
            continue
        if not listed and not limits["least_words"] <= len(words) <= limits["most_words"]:
            continue
        yield Sentence(
            text=text,
            row=row,
            passage=passage,
            terms=frozenset(find_terms(text)),
            heading=frozenset(find_terms(heading)),
            is_hit=row == hit,
            is_foreign=is_of_other_form
            or (asks_for_code and bool(codes) and not listed)
            or (is_of_other_key and not listed and not _names(text, route.keys)),
            opens=listed or opened,
            is_pointer=any(rule.pattern.search(text) for rule in load_rules("answers", "pointers")),
            is_fragment=not text.rstrip(")”\"’' ").endswith((".", "?", "!")),
            is_figures="|" in text
            or sum(_NO_LETTERS.fullmatch(word) is not None for word in words) > limits["most_figures"] * len(words),
        )
        opened = ()


def _split_text(text: str, *, heading: str) -> Iterator[str]:
    """Sentences; a heading that is printed in the line before its first sentence, or a short label, stays with it."""
    least = load_family("answers")["least_words"]
    for line in text.splitlines():
        parts = find_sentence_parts(line)
        if len(parts) > 1:
            start, end = parts[0]
            if len(line[start:end].split()) < least or _is_same(line[start:end], heading):
                parts[:2] = [(start, parts[1][1])]
        for start, end in parts:
            if not _is_same(line[start:end], heading):
                yield line[start:end]


def _is_same(text: str, heading: str) -> bool:
    return text.rstrip(". ") == heading.rstrip(". ")


def _find_opened(row: int, facts: PassageFacts, *, keys: Sequence[str]) -> tuple[str, ...]:
    """The keys asked for whose text begins with this row."""
    if not facts.opens_anchor[row]:
        return ()
    return tuple(key for key in keys if covers_key(facts.columns["anchor_key"][row], (key,)))


def _is_of_other_key(row: int, hit: int, facts: PassageFacts, *, keys: Sequence[str]) -> bool:
    """Whether a row is of another box, line or code than the one asked for, or than the one that was hit."""
    own = facts.columns["anchor_key"][row]
    kind = find_kind(own)
    if not kind or covers_key(own, keys):
        return False
    is_gathered = bool(facts.anchor_number[row] != facts.anchor_number[hit])
    return is_gathered or any(find_kind(key) == kind for key in keys)


def _names(sentence: str, keys: Sequence[str]) -> bool:
    """Whether a sentence speaks of a box, line or code asked for: "amounts of box 2a", "boxes 1a and 2a"."""
    words = sentence.casefold().replace("(", " ").replace(")", " ").replace(",", " ").rstrip(".").split()
    return any(
        value.casefold() in words and any(word.startswith(kind) for word in words)
        for kind, _, value in (key.partition("_") for key in keys)
    )
