"""Answer generation and relevance grading by a model.

The output is not trusted: a sentence is kept if its own quotes are verified, and a rule's proposal is never taken for a
model's. Everything else that a model returns is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from taxkg_assets.prompts.contract import Block, Claim, Proposer
from taxkg_assets.prompts.tasks import ANSWERS, RELEVANCE_GRADING, QuestionItem
from taxkg_assets.retrieval.results import Result
from taxkg_assets.rules.models.llm import load_llm

_HEADING, _PASSAGE = "heading", "passage"
_CITATION = re.compile(r"\s*\[\d+\]")
"""Citation marks are set by the program; those in a model's words are removed."""


class Citation(BaseModel):
    """Evidence for a sentence of an answer: a quote of a passage, or of the headings above it.

    Attributes:
        sentence_ix: Line of the answer, notices aside.
        rank: Number of the passage.
        quote: Verbatim words.
    """

    model_config = ConfigDict(frozen=True)
    sentence_ix: int
    rank: int
    quote: str


@dataclass(frozen=True, slots=True)
class GeneratedAnswer:
    """An answer in a model's words, each sentence with the numbers of its passages."""

    text: str
    citations: tuple[Citation, ...]
    model: str


def generate_answer(question: str, results: Sequence[Result], *, proposer: Proposer) -> GeneratedAnswer | None:
    """Generate an answer from passages with a language model, keeping only the sentences that its quotes support.

    Args:
        question: Words of the user.
        results: Passages, best first.
        proposer: The model.

    Returns:
        The answer; None where the model gives none, or no sentence of it is verified.

    Raises:
        ProposerError: The model cannot be called.
    """
    (judged,) = proposer.propose(ANSWERS, [_make_item(question, results)])
    if judged.created_by != "llm" or judged.proposal is None or not judged.proposal.sentences:
        return None
    sentences = [(_tidy(claim.text), claim) for claim in judged.proposal.sentences]
    lines: list[str] = []
    citations: list[Citation] = []
    for text, claim in ((text, claim) for text, claim in sentences if text):
        ranks = _ranks(claim)
        citations += [
            Citation(sentence_ix=len(lines), rank=_rank(evidence.pointer), quote=evidence.quote)
            for evidence in claim.evidence
        ]
        lines.append(f"{text} {''.join(f'[{rank}]' for rank in ranks)}")
    return GeneratedAnswer("\n".join(lines), tuple(citations), judged.model) if lines else None


def blend_relevance(relevance: float, question: str, results: Sequence[Result], *, proposer: Proposer) -> float:
    """Combine the guardrail's relevance of an answer with the grade that a language model gives it.

    Args:
        relevance: Grade of the guardrail, 0 to 10.
        question: Words of the user.
        results: Passages, best first.
        proposer: The model.

    Returns:
        Relevance from 0 to 10; the guardrail's alone where no model gives a grade.

    Raises:
        ProposerError: The model cannot be called.
    """
    if not results:
        return relevance
    (judged,) = proposer.propose(RELEVANCE_GRADING, [_make_item(question, results)])
    if judged.created_by != "llm" or judged.proposal is None:
        return relevance
    share: float = load_llm().reading.opinion_share
    return (1 - share) * relevance + share * judged.proposal.grade


def _make_item(question: str, results: Sequence[Result]) -> QuestionItem:
    """Return the question with the first passages, each below its headings."""
    shown = results[: load_llm().reading.passages]
    blocks = [
        Block(element_id=f"{name}-{result.rank}", text=text, role=name)
        for result in shown
        for name, text in ((_HEADING, result.heading_path), (_PASSAGE, result.text))
        if text
    ]
    return QuestionItem(item_id="question", question=question, blocks=tuple(blocks))


def _rank(pointer: str) -> int:
    return int(pointer.rpartition(":")[0].rpartition("-")[2])


def _ranks(claim: Claim) -> list[int]:
    return sorted({_rank(evidence.pointer) for evidence in claim.evidence})


def _tidy(text: str) -> str:
    """Return a sentence on one line, without citation marks of its own."""
    return " ".join(_CITATION.sub("", text).split())
