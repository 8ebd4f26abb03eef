"""What a model does for a reader: words the answer from the passages, and has a second opinion of their relevance.

Nothing here is taken on trust: a sentence stands if its own quotes do, and a rule's proposal is never taken for a
model's. What a model says beyond that is as if it had not been asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from taxkg_assets.prompts.contract import Block, Claim, Proposer
from taxkg_assets.prompts.tasks import ANSWERS, RELEVANCE_GRADING, QuestionItem
from taxkg_assets.retrieval.results import Result
from taxkg_assets.rules.loader import load_family

_HEADING, _PASSAGE = "heading", "passage"
_CITATION = re.compile(r"\s*\[\d+\]")
"""Marks of citations are set by the program; those in a model's words are none."""


class Citation(BaseModel):
    """What a sentence of an answer rests on: a quote of a passage, or of the headings above it.

    Attributes: sentence_ix: line of the answer, notices aside. rank: the passage's.
    """

    model_config = ConfigDict(frozen=True)
    sentence_ix: int
    rank: int
    quote: str


@dataclass(frozen=True, slots=True)
class Worded:
    """An answer in a model's words, each sentence with the numbers of its passages."""

    text: str
    citations: tuple[Citation, ...]
    model: str


def word_answer(question: str, results: Sequence[Result], *, proposer: Proposer) -> Worded | None:
    """An answer in a model's words; None where it gives none, or no sentence of it holds."""
    (judged,) = proposer.propose(ANSWERS, [_ask_about(question, results)])
    if judged.created_by != "llm" or judged.proposal is None or not judged.proposal.sentences:
        return None
    said = [(_tidy(claim.text), claim) for claim in judged.proposal.sentences]
    lines: list[str] = []
    citations: list[Citation] = []
    for text, claim in ((text, claim) for text, claim in said if text):
        ranks = _ranks(claim)
        citations += [
            Citation(sentence_ix=len(lines), rank=_rank(evidence.pointer), quote=evidence.quote)
            for evidence in claim.evidence
        ]
        lines.append(f"{text} {''.join(f'[{rank}]' for rank in ranks)}")
    return Worded("\n".join(lines), tuple(citations), judged.model) if lines else None


def weigh_opinion(relevance: float, question: str, results: Sequence[Result], *, proposer: Proposer) -> float:
    """Relevance (0–10) between the guardrail's and a model's; the guardrail's alone where no model gives a grade."""
    if not results:
        return relevance
    (judged,) = proposer.propose(RELEVANCE_GRADING, [_ask_about(question, results)])
    if judged.created_by != "llm" or judged.proposal is None:
        return relevance
    share: float = load_family("llm")["reading"]["opinion_share"]
    return (1 - share) * relevance + share * judged.proposal.grade


def _ask_about(question: str, results: Sequence[Result]) -> QuestionItem:
    """The question over the first passages, each below the headings that it stands under."""
    shown = results[: load_family("llm")["reading"]["passages"]]
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
    """A sentence on one line, without marks of citations of its own."""
    return " ".join(_CITATION.sub("", text).split())
