"""Answers with the number of its passage behind each sentence, or silence.

Sentences of the passages as they stand; in a model's words, where there is one and its sentences hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from taxkg_assets.retrieval import guardrail
from taxkg_assets.retrieval.lexical import find_terms
from taxkg_assets.retrieval.rerank import score_overlap
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.retrieval.search import Searcher, tidy_query
from taxkg_assets.retrieval.wording import Citation, weigh_opinion, word_answer
from taxkg_assets.rules.loader import load_family
from taxkg_assets.rules.sentences import find_sentence_parts
from taxkg_assets.settings import Settings


class Answer(BaseModel):
    """What `ask` gives back: an answer with citations [n], guidance with its notice, or silence.

    Sentences by rule are verbatim; what those in a model's words rest on stands in `citations`.
    """

    model_config = ConfigDict(frozen=True)
    answer: str | None
    confidence: float
    abstained: bool
    mode: str
    results: list[Result]
    created_by: Literal["rule", "llm"] = "rule"
    model: str = ""
    citations: list[Citation] = []


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a passage with its place in the order of reading."""

    text: str
    passage: int
    position: int
    terms: frozenset[str]


def ask(
    searcher: Searcher,
    question: str,
    *,
    settings: Settings,
    k: int = 10,
    document: str | None = None,
    level: str = "auto",
    is_worded: bool = True,
) -> Answer:
    """Answer a question from the index in the words of its passages or of the searcher's model, or say nothing.

    Args:    document: answer from this document alone. level: size of a passage.
             is_worded: without it the passages are ranked and graded, and no sentence is picked (`answer` is None).
    Returns: confidence is the calibrated relevance as a share of 1; `results` is filled in every mode.
    """
    question = tidy_query(question)
    ranking = searcher.rank(question, document=document)
    results = searcher.assemble(ranking, k=k, level=level)
    relevance = score_results(searcher, question, ranking, results=results)
    model = searcher.proposer
    if model is not None and settings.llm_grading and settings.guardrail:
        relevance = weigh_opinion(relevance, question, results, proposer=model)
    mode = guardrail.find_mode(
        relevance,
        answer_at=settings.answer_relevance,
        guide_at=settings.guidance_relevance,
        is_on=settings.guardrail,
    )
    text, worded = None, None
    if is_worded and results and mode != guardrail.SILENCE:
        if model is not None and settings.llm_answers:
            worded = word_answer(question, results, proposer=model)
        text = worded.text if worded else _compose(searcher, question, ranking, results=results)
        notices = load_family("guardrail")["notices"]
        if mode == guardrail.GENERAL:
            text = f"{notices['general']}\n{text}"
        if foreign := searcher.facts.find_foreign_places(ranking.route, results[0].document):
            text = f"{notices['place'].format(asked=', '.join(foreign))}\n{text}"
    return Answer(
        answer=text,
        confidence=round(relevance / 10, 4),
        abstained=not results or mode == guardrail.SILENCE,
        mode=mode if results else guardrail.SILENCE,
        results=results,
        created_by="llm" if worded else "rule",
        model=worded.model if worded else "",
        citations=list(worded.citations) if worded else [],
    )


def score_results(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> float:
    """Grade from 0 to 10 how likely it is that the passages answer the question they were ranked for."""
    return guardrail.score_relevance(find_evidence(searcher, question, ranking, results=results))


def find_evidence(
    searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]
) -> dict[str, float]:
    """What speaks for and against an answer from these passages."""
    deepest = max(load_family("guardrail")["passages"].values())
    terms = [frozenset(find_terms(f"{row.heading_path} {row.text}")) for row in results[:deepest]]
    return guardrail.find_evidence(
        question, ranking, results=results, facts=searcher.facts, catalog=searcher.catalog, terms=terms
    )


def _compose(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> str:
    """Pick the sentences that speak to the question and add something, in order of passage and place."""
    limits = load_family("guardrail")["answer"]
    sentences = _find_sentences(results[: limits["passages"]])
    if not sentences:
        return f"{results[0].text} [1]"
    by_terms = np.array([score_overlap(ranking.wanted, sentence.terms) for sentence in sentences])
    rank_share = np.array([1.0 / (1 + sentence.passage) for sentence in sentences])
    early, weights = limits["early"], limits["worth"]
    first = early["terms"] * by_terms + early["rank"] * rank_share
    order = np.argsort(-first, kind="stable")[: limits["candidates"]]
    vectors = searcher.encoder.encode_sentences([sentences[row].text for row in order])
    cosines = vectors @ searcher.encoder.encode_query(question)
    value = weights["cosine"] * cosines + weights["terms"] * by_terms[order] + weights["rank"] * rank_share[order]
    worth = dict(zip(order.tolist(), value.tolist(), strict=True))
    chosen: list[int] = []
    held: frozenset[str] = frozenset()
    top = max(worth.values())
    while len(chosen) < limits["sentences"] and worth:
        gain = {row: own * _share_new(sentences[row].terms, held) for row, own in worth.items()}
        best = max(gain, key=lambda row: (gain[row], -row))
        if chosen and worth[best] < limits["least_share"] * top:
            break
        chosen.append(best)
        held |= sentences[best].terms
        del worth[best]
    return "\n".join(f"{sentences[row].text} [{sentences[row].passage + 1}]" for row in sorted(chosen))


def _share_new(terms: frozenset[str], held: frozenset[str]) -> float:
    lost: float = load_family("guardrail")["answer"]["new_words"]
    return 1 - lost + lost * len(terms - held) / max(1, len(terms))


def _find_sentences(results: Sequence[Result]) -> list[_Sentence]:
    limits = load_family("guardrail")["answer"]
    found: list[_Sentence] = []
    seen: set[str] = set()
    for passage, result in enumerate(results):
        lines = result.text.splitlines()
        parts = [line[start:end] for line in lines for start, end in find_sentence_parts(line)]
        for position, text in enumerate(parts):
            if text[:1].islower():  # the rest of a sentence whose beginning stands elsewhere
                continue
            if limits["least_words"] <= len(text.split()) <= limits["most_words"] and text not in seen:
                seen.add(text)
                found.append(_Sentence(text, passage, position, frozenset(find_terms(text))))
    return found
