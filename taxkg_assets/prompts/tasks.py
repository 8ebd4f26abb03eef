"""Typed tasks: for each the item that is sent and the proposal that is expected. Prompts are in `<task>.md`."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field

from taxkg_assets.prompts.contract import Claim, EvidenceCheck, Item, Proposal, Task
from taxkg_assets.prompts.document_tasks import (
    BoundaryItem,
    BoundaryProposal,
    MetadataItem,
    MetadataProposal,
    QualityItem,
    QualityProposal,
    ReferenceItem,
    ReferenceProposal,
    RefinementItem,
    RefinementProposal,
    StructureItem,
    StructureProposal,
)

CLAIMED_GRADE = 7
"""From this relevance (0–10) a passage counts as an answer, which must be shown in it."""

MOST_QUESTIONS = 3
"""Largest number for one passage; whatever a model adds beyond it is left out."""


class PassageItem(Item):
    """A passage with its headings."""

    heading_path: str = ""


class ScenarioProposal(Proposal):
    """Questions that users might ask and the passage answers, with evidence."""

    questions: tuple[str, ...]

    def needs_evidence(self) -> bool:
        """Return whether there are questions; only then is evidence needed."""
        return bool(self.questions)

    def with_verified_evidence(self, check: EvidenceCheck) -> Self | None:
        """Verify the evidence and keep the questions about verified quotes; None if no question is left.

        Args:
            check: Finds the place of a quote in the item's text.

        Returns:
            The proposal with what was verified.
        """
        base = super().with_verified_evidence(check)
        if base is None or not self.questions:
            return base
        kept = [question for question in dict.fromkeys(self.questions) if check.is_about(question, base.evidence)]
        return base.model_copy(update={"questions": tuple(kept[:MOST_QUESTIONS])}) if kept else None


class QuestionItem(Item):
    """A question, and passages as blocks where the task has any."""

    question: str


class PairProposal(Proposal):
    """Whether the passage answers the question."""

    is_valid: bool
    reason: str

    def needs_evidence(self) -> bool:
        """Return whether the verdict is that the passage answers the query; only then is evidence needed."""
        return self.is_valid


class NegativeItem(QuestionItem):
    """A question, its answering passage, and as block a supposed hard negative."""

    positive: str


class NegativeProposal(Proposal):
    """Whether the supposed negative answers the question after all."""

    is_false_negative: bool
    reason: str

    def needs_evidence(self) -> bool:
        """Return whether the verdict is that the passage answers the question; only then is evidence needed."""
        return self.is_false_negative


class HydeItem(QuestionItem):
    """A question to search for; `vocabulary` are words of the corpus related to its words."""

    vocabulary: tuple[str, ...] = ()


class HydeProposal(Proposal):
    """A hypothetical passage of an instruction, and search terms. It is used as a query and never shown."""

    passage: str
    terms: tuple[str, ...]

    def needs_evidence(self) -> bool:
        """Return False: a hypothetical passage describes no document, so that no quote could support it."""
        return False


class GradeProposal(Proposal):
    """A relevance grade of the blocks for a question, 0 to 10."""

    grade: float = Field(ge=0, le=10)

    def needs_evidence(self) -> bool:
        """Return whether the grade is high enough to need evidence, from `CLAIMED_GRADE` up."""
        return self.grade >= CLAIMED_GRADE


class SummaryItem(Item):
    """The text of a page or document."""

    title: str = ""
    sentences: int = Field(default=3, ge=1)


class _ClaimsProposal(Proposal):
    """Sentences that are kept one by one, each if its own evidence holds."""

    sentences: tuple[Claim, ...]

    def with_verified_evidence(self, check: EvidenceCheck) -> Self | None:
        """Keep the sentences that their own evidence supports; None where a claim has none left."""
        supported = []
        for claim in self.sentences:
            located = [check.locate(evidence) for evidence in claim.evidence]
            verified = tuple(evidence for evidence in located if evidence is not None)
            if verified and len(verified) == len(located) and check.supports(claim.text, verified):
                supported.append(claim.model_copy(update={"evidence": verified}))
        if self.needs_evidence() and not supported:
            return None
        evidence = tuple(quote for claim in supported for quote in claim.evidence)
        return self.model_copy(update={"sentences": tuple(supported), "evidence": evidence})


class SummaryProposal(_ClaimsProposal):
    """A summary of a page or document, sentence by sentence; empty if the text says nothing."""

    def needs_evidence(self) -> bool:
        """Return whether there are sentences; only then is evidence needed."""
        return bool(self.sentences)


class AnswerProposal(_ClaimsProposal):
    """An answer, sentence by sentence, or the finding that the passages contain none."""

    is_answerable: bool

    def needs_evidence(self) -> bool:
        """Return whether the question is answered; only then is evidence needed."""
        return self.is_answerable

    def find_validation_error(self, item: QuestionItem) -> str:
        """Return an error if `is_answerable` contradicts the sentences.

        Args:
            item: Item of the proposal.

        Returns:
            The error in words; empty for none.
        """
        return "" if self.is_answerable == bool(self.sentences) else "is_answerable and the sentences disagree"


AMBIGUOUS_REFERENCES = Task("ambiguous_references", ReferenceItem, ReferenceProposal)
BOUNDARY_DETECTION = Task("boundary_detection", BoundaryItem, BoundaryProposal, output_tokens=100)
STRUCTURE_ANALYSIS = Task("structure_analysis", StructureItem, StructureProposal, output_tokens=100)
METADATA_ENRICHMENT = Task("metadata_enrichment", MetadataItem, MetadataProposal, output_tokens=500)
QUALITY_VALIDATION = Task("quality_validation", QualityItem, QualityProposal)
REFINEMENT = Task("refinement", RefinementItem, RefinementProposal)
SCENARIO_QUERIES = Task("scenario_queries", PassageItem, ScenarioProposal, output_tokens=250)
PAIR_JUDGING = Task("pair_judging", QuestionItem, PairProposal)
NEGATIVE_JUDGING = Task("negative_judging", NegativeItem, NegativeProposal)
HYDE = Task("hyde", HydeItem, HydeProposal, output_tokens=300)
RELEVANCE_GRADING = Task("relevance_grading", QuestionItem, GradeProposal)
SUMMARIES = Task("summaries", SummaryItem, SummaryProposal, output_tokens=700, batch=4)
ANSWERS = Task("answers", QuestionItem, AnswerProposal, output_tokens=900, batch=1)

TASKS: dict[str, Task[Any, Any]] = {
    task.name: task
    for task in (
        AMBIGUOUS_REFERENCES,
        BOUNDARY_DETECTION,
        STRUCTURE_ANALYSIS,
        METADATA_ENRICHMENT,
        QUALITY_VALIDATION,
        REFINEMENT,
        SCENARIO_QUERIES,
        PAIR_JUDGING,
        NEGATIVE_JUDGING,
        HYDE,
        RELEVANCE_GRADING,
        SUMMARIES,
        ANSWERS,
    )
}
