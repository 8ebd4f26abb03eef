"""An answer in the documents' own words: which sentences of the first passages speak to the question.

A passage gathers what was found under one heading, its neighbour boxes among it, and a sentence alone does not tell
what it is about. So a sentence of another form than the one asked for is left out, and one of another box, line or code
(where none is asked for: than the one that was hit) as well, unless it names what is asked for; the others are judged
with their headings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from taxkg_assets.retrieval.facts import PassageFacts
from taxkg_assets.retrieval.lexical import find_terms
from taxkg_assets.retrieval.rerank import OTHER_FORM, score_form, score_overlap
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.retrieval.router import Route, covers_key, find_kind
from taxkg_assets.retrieval.search import Searcher
from taxkg_assets.rules.loader import load_family
from taxkg_assets.rules.sentences import find_sentence_parts


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage in the order of reading.

    Attributes: row: row of the index that it stands in. passage: number of its passage, from 0. heading: terms of the
                heading above it. is_hit: it stands in the very chunk that was found, not in what was gathered around.
                is_foreign: it is of another form, box, line or code.
    """

    text: str
    row: int
    passage: int
    terms: frozenset[str]
    heading: frozenset[str]
    is_hit: bool
    is_foreign: bool


def excerpt_answer(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> str:
    """Pick the sentences that speak to the question and add something, in order of passage and place, with [n]."""
    limits = load_family("guardrail")["answer"]
    found = find_sentences(results[: limits["passages"]], searcher.passages, route=ranking.route)
    sentences = [sentence for sentence in found if not sentence.is_foreign] or found
    if not sentences:
        return f"{results[0].text} [1]"
    by_terms = np.array([score_overlap(ranking.wanted, own.terms | own.heading) for own in sentences])
    rank_share = np.array([1.0 / (1 + sentence.passage) for sentence in sentences])
    is_hit = np.array([float(sentence.is_hit) for sentence in sentences])
    early, weights = limits["early"], limits["worth"]
    first = early["terms"] * by_terms + early["rank"] * rank_share + early["hit"] * is_hit
    order = np.argsort(-first, kind="stable")[: limits["candidates"]]
    vectors = searcher.encoder.encode_sentences([sentences[place].text for place in order])
    value = (
        weights["cosine"] * searcher.encoder.scale.read(vectors @ searcher.encoder.encode_query(question))
        + weights["terms"] * by_terms[order]
        + weights["rank"] * rank_share[order]
        + weights["hit"] * is_hit[order]
    )
    worth = dict(zip(order.tolist(), value.tolist(), strict=True))
    chosen: list[int] = []
    held: frozenset[str] = frozenset()
    top = max(worth.values())
    while len(chosen) < limits["sentences"] and worth:
        gain = {place: own * _share_new(sentences[place].terms, held) for place, own in worth.items()}
        best = max(gain, key=lambda place: (gain[place], -place))
        if chosen and worth[best] < limits["least_share"] * top:
            break
        chosen.append(best)
        held |= sentences[best].terms
        del worth[best]
    return "\n".join(f"{sentences[place].text} [{sentences[place].passage + 1}]" for place in sorted(chosen))


def _share_new(terms: frozenset[str], held: frozenset[str]) -> float:
    lost: float = load_family("guardrail")["answer"]["new_words"]
    return 1 - lost + lost * len(terms - held) / max(1, len(terms))


def find_sentences(results: Sequence[Result], facts: PassageFacts, *, route: Route) -> list[Sentence]:
    """The whole sentences of some passages, each once.

    Args: route: what the question asks for.
    """
    limits = load_family("guardrail")["answer"]
    columns, number_of = facts.columns, facts.row_of_chunk
    found: list[Sentence] = []
    seen: set[tuple[str, bool]] = set()
    for passage, result in enumerate(results):
        hit = number_of[result.chunk_id]
        for row in (number_of[chunk] for chunk in result.via["chunk_ids"]):
            heading = frozenset(find_terms(columns["heading_path"][row].rpartition(" > ")[2]))
            is_of_other_form = score_form(facts.forms[facts.form_number[row]], route) == OTHER_FORM
            is_of_other_key = _is_of_other_key(row, hit, facts, keys=route.keys)
            for line in columns["text"][row].splitlines():
                for start, end in find_sentence_parts(line):
                    text = line[start:end]
                    if text[:1].islower():  # the rest of a sentence whose beginning stands elsewhere
                        continue
                    is_foreign = is_of_other_form or (is_of_other_key and not _names(text, route.keys))
                    # Two boxes may say the same words: what the wrong one says must not hide the right one's.
                    if (text, is_foreign) in seen:
                        continue
                    if not limits["least_words"] <= len(text.split()) <= limits["most_words"]:
                        continue
                    seen.add((text, is_foreign))
                    terms = frozenset(find_terms(text))
                    found.append(Sentence(text, row, passage, terms, heading, row == hit, is_foreign))
    return found


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
