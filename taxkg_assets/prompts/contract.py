"""Contract between a stage and a model: items go in, proposals come out, each with evidence that a program checks.

Stages see only this: they receive a `Proposer` and do not know whether it is a model or a rule. Nothing here calls a
model.
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
    """A text of a document that evidence may quote; it is data, never an instruction.

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
    """One decision to make, with the text it is about.

    Attributes:
        item_id: Name that is unique among the items of one call.
        blocks: Text that evidence may quote.
    """

    item_id: str
    blocks: tuple[Block, ...] = ()


class Evidence(Strict):
    """A verbatim quote and its position.

    Attributes:
        pointer: `element_id:start-end`, half-open characters in the text of a block.
        quote: The characters at that place.
    """

    pointer: str = Field(pattern=POINTER)
    quote: str

    @field_validator("pointer")
    @classmethod
    def _is_countable(cls, pointer: str) -> str:
        """Refuse numbers beyond the length of any text, which Python would not even parse."""
        if any(len(number) > _MOST_DIGITS for number in pointer.rpartition(":")[2].split("-")):
            raise ValueError("offset beyond the maximum length of a text")
        return pointer


class Claim(Strict):
    """A sentence in a model's words, and the evidence for it."""

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
            As `find`, but None also for a quote that is too short.
        """

    def mentions(self, words: str) -> bool:
        """Return whether words occur consecutively in the blocks.

        Args:
            words: Words to find.
        """

    def is_valid_name(self, name: str, *, kind: str) -> bool:
        """Return whether a name is a valid one of its kind (box, form, amount, …).

        Args:
            name: Name of an entity.
            kind: Kind of the entity, see `tasks.Entity`.
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
            question: Text of a model.
            evidence: Located quotes.
        """


class Proposal(Strict):
    """Proposal for one item.

    Attributes:
        item_id: Item that it is for.
        confidence: Probability that it is right, 0 to 1.
        evidence: Quotes that support it.
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
            item: Item of the same id.

        Returns:
            One sentence; empty if it is valid.
        """
        return ""

    def with_verified_evidence(self, check: EvidenceCheck) -> Self | None:
        """Verify the evidence of the proposal.

        Args:
            check: Check over the item's blocks.

        Returns:
            The proposal with its evidence located; None if a quote is not verbatim, or needed evidence is missing.
        """
        if not self.evidence:
            return None if self.needs_evidence() else self
        located = tuple(check.locate(evidence) for evidence in self.evidence)
        verified = tuple(evidence for evidence in located if evidence is not None)
        return self.model_copy(update={"evidence": verified}) if len(verified) == len(located) else None


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
        inner = self.proposal.model_json_schema()
        definitions = inner.pop("$defs", {})
        listed = {"type": "array", "items": inner}
        whole = {"type": "object", "properties": {"proposals": listed}, "required": ["proposals"]}
        definition: dict[str, Any] = _bare({**whole, "additionalProperties": False})
        return {**definition, "$defs": _bare(definitions)} if definitions else definition


def _bare(schema: Any) -> Any:
    """Return a schema without titles and Python's descriptions, which say nothing to a model."""
    if isinstance(schema, list):
        return [_bare(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    noise = {"title", "description"}
    return {k: _bare(v) for k, v in schema.items() if not (k in noise and isinstance(v, str))}


@dataclass(frozen=True, slots=True)
class ProposalOutcome(Generic[AnyProposal]):
    """Outcome for one item: a checked proposal and its origin, or none.

    Attributes:
        item_id: The item.
        proposal: Checked proposal; None where there is none.
        created_by: `rule` or `llm`.
        model: Name of the model or rule.
        call_id: Row of `llm_calls` that it comes from; empty for a rule's.
        failure: Why the model's proposal was refused; the proposal is then a rule's.
    """

    item_id: str
    proposal: AnyProposal | None
    created_by: Literal["rule", "llm"]
    model: str
    call_id: str = ""
    failure: str = ""


class ProposerError(Exception):
    """No model can be called: budget, access or outage.

    Paid responses are stored, so that the next run resumes there.
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
            task: Kind of the decision.
            items: Items with unique ids.

        Returns:
            One outcome per item, in the order of the items.

        Raises:
            ProposerError: No model can be called.
        """
