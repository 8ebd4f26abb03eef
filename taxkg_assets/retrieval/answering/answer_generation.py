"""Answer generation and relevance grading by a language model.

Of the model's output only sentences whose quotes are verified are kept. A proposer may also work by rule; its proposals
are ignored here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from taxkg_assets.prompts.contract import Block, Proposer
from taxkg_assets.prompts.tasks import ANSWERS, RELEVANCE_GRADING, QuestionItem
from taxkg_assets.retrieval.results import Result
from taxkg_assets.rules.models.llm import load_llm

_HEADING, _PASSAGE = "heading", "passage"
_CITATION = re.compile(r"\s*\[\d+\]")
"""A citation mark in a model's sentence; it is removed, as the program sets the marks."""


class Citation(BaseModel):
    """Evidence for a sentence of an answer: a quote from a passage, or from the headings above the passage.

    Attributes:
        sentence_ix: Index of the sentence in the answer, without notices.
        rank: Rank of the passage.
        quote: Quoted text.
    """

    model_config = ConfigDict(frozen=True)
    sentence_ix: int
    rank: int
    quote: str


@dataclass(frozen=True, slots=True)
class GeneratedAnswer:
    """An answer that a model wrote: one sentence per line, each with the ranks of its passages in brackets."""

    text: str
    citations: tuple[Citation, ...]
    model: str


def generate_answer(question: str, results: Sequence[Result], *, proposer: Proposer) -> GeneratedAnswer | None:
    """Generate an answer from passages with a language model, keeping only sentences whose quotes are verified.

    Args:
        question: Words of the user.
        results: Passages, best first.
        proposer: The model.

    Returns:
        The answer; None where the model gives none, or none of its sentences is verified.

    Raises:
        ProposerError: The model cannot be called.
    """
    (outcome,) = proposer.propose(ANSWERS, [_make_item(question, results)])
    if outcome.created_by != "llm" or outcome.proposal is None:
        return None
    lines: list[str] = []
    citations: list[Citation] = []
    for claim in outcome.proposal.sentences:
        text = _clean_sentence(claim.text)
        if not text:
            continue
        citations += [
            Citation(sentence_ix=len(lines), rank=_read_rank(evidence.pointer), quote=evidence.quote)
            for evidence in claim.evidence
        ]
        ranks = sorted({_read_rank(evidence.pointer) for evidence in claim.evidence})
        lines.append(f"{text} {''.join(f'[{rank}]' for rank in ranks)}")
    return GeneratedAnswer("\n".join(lines), tuple(citations), outcome.model) if lines else None


def blend_relevance(relevance: float, question: str, results: Sequence[Result], *, proposer: Proposer) -> float:
    """Combine the guardrail's relevance of an answer with the grade of a language model.

    Args:
        relevance: Grade of the guardrail, 0 to 10.
        question: Words of the user.
        results: Passages, best first.
        proposer: The model.

    Returns:
        Relevance from 0 to 10: the weighted mean of both, or the guardrail's where no model gives a grade.

    Raises:
        ProposerError: The model cannot be called.
    """
    if not results:
        return relevance
    (outcome,) = proposer.propose(RELEVANCE_GRADING, [_make_item(question, results)])
    if outcome.created_by != "llm" or outcome.proposal is None:
        return relevance
    model_share: float = load_llm().reading.opinion_share
    return (1 - model_share) * relevance + model_share * outcome.proposal.grade


def _make_item(question: str, results: Sequence[Result]) -> QuestionItem:
    """Return the question with the first passages as blocks, each after the block of its headings."""
    read_results = results[: load_llm().reading.passages]
    blocks = [
        Block(element_id=f"{name}-{result.rank}", text=text, role=name)
        for result in read_results
        for name, text in ((_HEADING, result.heading_path), (_PASSAGE, result.text))
        if text
    ]
    return QuestionItem(item_id="question", question=question, blocks=tuple(blocks))


def _read_rank(pointer: str) -> int:
    """Return the rank of the passage that a pointer to its text names: 3 for "passage-3:0-40"."""
    return int(pointer.rpartition(":")[0].rpartition("-")[2])


def _clean_sentence(text: str) -> str:
    """Return a sentence on one line, without the model's own citation marks."""
    return " ".join(_CITATION.sub("", text).split())
