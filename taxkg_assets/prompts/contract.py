"""Types that stages and models exchange: a stage passes items and receives proposals with evidence to check.

A stage receives a `Proposer`, and does not know whether a model or a rule answers. This module calls no model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

POINTER = r"^.+:\d+-\d+$"
"""`element_id:start-end`: half-open characters in the text of a block."""
_MOST_DIGITS = 12


class Strict(BaseModel):
    """Plain data; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Block(Strict):
    """A text of a document that evidence may quote; the prompt states that the text is data and no instruction.

    Attributes:
        element_id: Element that contains the text.
        text: Text of the block.
        role: Role of the element; empty where the task does not need it.
        start: 0-based offset of `text` in the element's whole text; pointers count from the element's beginning.
    """

    element_id: str
    text: str
    role: str = ""
    start: int = Field(default=0, ge=0)


class Item(Strict):
    """One decision to make, with the text that the decision is about.

    Attributes:
        item_id: Id, unique among the items of one call.
        blocks: Text that evidence may quote.
    """

    item_id: str
    blocks: tuple[Block, ...] = ()


class Evidence(Strict):
    """A verbatim quote and its position.

    Attributes:
        pointer: `element_id:start-end`, half-open characters in the text of a block.
        quote: The characters at that position.
    """

    pointer: str = Field(pattern=POINTER)
    quote: str

    @field_validator("pointer")
    @classmethod
    def _is_countable(cls, pointer: str) -> str:
        """Refuse numbers that are larger than the length of any text."""
        if any(len(number) > _MOST_DIGITS for number in pointer.rpartition(":")[2].split("-")):
            raise ValueError("offset beyond the maximum length of a text")
        return pointer


class Claim(Strict):
    """A sentence of a model.

    Attributes:
        text: The sentence.
        evidence: Quotes that support the sentence.
    """

    text: str
    evidence: tuple[Evidence, ...]


class EvidenceCheck(Protocol):
    """Interface of the evidence check over the blocks of one item."""

    def find(self, evidence: Evidence) -> Evidence | None:
        """Locate a quote.

        Args:
            evidence: Quote with the position that a model gave.

        Returns:
            The evidence with the quote's actual position; None if it is not verbatim in the blocks.
        """

    def locate(self, evidence: Evidence) -> Evidence | None:
        """Locate a quote that is long enough to prove something.

        Args:
            evidence: Quote with the position that a model gave.

        Returns:
            The evidence with the quote's actual position; None if the quote is not verbatim in the blocks or too short.
        """

    def mentions(self, words: str) -> bool:
        """Return whether words occur consecutively in the blocks.

        Args:
            words: Words to find.
        """

    def is_valid_name(self, name: str, *, kind: str) -> bool:
        """Return whether a name is valid for its kind: "1a" is a valid box, "dividends" is not.

        Args:
            name: Name of an entity.
            kind: Kind of the entity, such as `box` or `form`; `document_tasks.Entity` lists all.
        """

    def supports(self, claim: str, evidence: Sequence[Evidence]) -> bool:
        """Return whether located quotes entail a sentence.

        Args:
            claim: Sentence of a model.
            evidence: Located quotes.
        """

    def is_about(self, question: str, evidence: Sequence[Evidence]) -> bool:
        """Return whether a text is a question that the quotes answer.

        Args:
            question: Question of a model.
            evidence: Located quotes.
        """


class Proposal(Strict):
    """Proposal for one item.

    Attributes:
        item_id: Id of the item.
        confidence: Probability that the proposal is right, 0 to 1.
        evidence: Quotes that support the proposal.
    """

    item_id: str
    confidence: float = Field(ge=0, le=1)
    evidence: tuple[Evidence, ...]

    def needs_evidence(self) -> bool:
        """Return whether the proposal states something about the text that a quote must support."""
        return True

    def find_validation_error(self, item: Any) -> str:
        """Return why a proposal is invalid for its item.

        Args:
            item: Item of the proposal.

        Returns:
            One sentence; empty if the proposal is valid.
        """
        return ""

    def with_verified_evidence(self, check: EvidenceCheck) -> Self | None:
        """Verify the evidence of the proposal.

        Args:
            check: Check against the item's blocks.

        Returns:
            The proposal with the actual positions of its quotes; None if a quote is not verbatim or too short, or if a
            proposal that needs a quote has none.
        """
        if not self.needs_evidence() and not self.evidence:
            return self
        located_quotes = [check.locate(evidence) for evidence in self.evidence]
        verified_quotes = tuple(evidence for evidence in located_quotes if evidence is not None)
        if not verified_quotes or len(verified_quotes) < len(located_quotes):
            return None
        return self.model_copy(update={"evidence": verified_quotes})


AnyItem = TypeVar("AnyItem", bound=Item)
AnyProposal = TypeVar("AnyProposal", bound=Proposal)


@dataclass(frozen=True, slots=True)
class Task(Generic[AnyItem, AnyProposal]):
    """One kind of decision, named like its prompt file and its rule.

    Attributes:
        name: Name of the task.
        item: Type of the items.
        proposal: Type of the proposals.
        output_tokens: Tokens reserved for the proposal of one item.
        batch: Items of one call; 0 for the setting `llm_batch`.
    """

    name: str
    item: type[AnyItem]
    proposal: type[AnyProposal]
    output_tokens: int = 150
    batch: int = 0

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the response to a batch: an object with the list `proposals`."""
        proposal_schema = self.proposal.model_json_schema()
        definitions = proposal_schema.pop("$defs", {})
        proposals = {"type": "array", "items": proposal_schema}
        response_schema = {"type": "object", "properties": {"proposals": proposals}, "required": ["proposals"]}
        definition: dict[str, Any] = _strip_descriptions({**response_schema, "additionalProperties": False})
        return {**definition, "$defs": _strip_descriptions(definitions)} if definitions else definition


def _strip_descriptions(schema: Any) -> Any:
    """Return a schema without titles and descriptions, which a model does not need."""
    if isinstance(schema, list):
        return [_strip_descriptions(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    noise = {"title", "description"}
    return {k: _strip_descriptions(v) for k, v in schema.items() if not (k in noise and isinstance(v, str))}


@dataclass(frozen=True, slots=True)
class ProposalOutcome(Generic[AnyProposal]):
    """Outcome for one item: a checked proposal and its origin, or no proposal.

    Attributes:
        item_id: Id of the item.
        proposal: Checked proposal; None if no valid one was made.
        created_by: `rule` if a rule made the proposal, `llm` if a model did.
        model: Name of the model or rule.
        call_id: Row of `llm_calls` with the model's response; empty for a proposal of a rule.
        failure: Why the model's proposal was refused, so that a rule's is used; empty otherwise.
    """

    item_id: str
    proposal: AnyProposal | None
    created_by: Literal["rule", "llm"]
    model: str
    call_id: str = ""
    failure: str = ""


class ProposerError(Exception):
    """No model can be called, because of the budget, the access or an outage.

    Paid responses are stored: the next run uses them.
    """


class Proposer(Protocol):
    """Source of proposals: a rule, or a model behind a cache."""

    @property
    def fingerprint(self) -> str:
        """Return the digest of everything that determines the proposals: model, prompts, settings."""

    def propose(
        self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem]
    ) -> tuple[ProposalOutcome[AnyProposal], ...]:
        """Return one checked proposal per item.

        Args:
            task: Task that states what to decide and the types of items and proposals.
            items: Items with unique ids.

        Returns:
            One outcome per item, in the order of the items.

        Raises:
            ProposerError: No model can be called.
        """
