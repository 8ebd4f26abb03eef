"""What a stage and a model agree on: items go in, proposals come out, each with evidence that a program checks.

Stages see only this: they are handed a `Proposer` and do not know whether a model or a rule stands behind it. Nothing
here calls anybody.
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
    """Plain data; a field that nobody asked for is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Block(Strict):
    """A piece of document text that evidence may point into. It is data, whatever it says.

    Attributes: start: where `text` begins in the element's whole text; pointers count from the element's beginning.
    """

    element_id: str
    text: str
    role: str = ""
    start: int = Field(default=0, ge=0)


class Item(Strict):
    """One thing to be decided. `item_id` is unique within what is proposed together."""

    item_id: str
    blocks: tuple[Block, ...] = ()


class Evidence(Strict):
    """A verbatim quote and the place where it stands."""

    pointer: str = Field(pattern=POINTER)
    quote: str

    @field_validator("pointer")
    @classmethod
    def _is_countable(cls, pointer: str) -> str:
        """Refuse places that no text can have, which Python would not even read as numbers."""
        if any(len(number) > _MOST_DIGITS for number in pointer.rpartition(":")[2].split("-")):
            raise ValueError("no text is that long")
        return pointer


class Claim(Strict):
    """A sentence in a model's words, and what it rests on."""

    text: str
    evidence: tuple[Evidence, ...]


class EvidenceCheck(Protocol):
    """Decides whether evidence holds in the blocks of one item."""

    def find(self, evidence: Evidence) -> Evidence | None:
        """The evidence with the place where its quote stands; None if the quote is not verbatim there."""

    def locate(self, evidence: Evidence) -> Evidence | None:
        """The same; None also for a quote that says too little to show anything."""

    def mentions(self, words: str) -> bool:
        """Whether these words stand side by side in the blocks."""

    def is_named(self, name: str, *, kind: str) -> bool:
        """Whether a name is one of a box, a form, an amount …, as documents print them."""

    def supports(self, claim: str, evidence: Sequence[Evidence]) -> bool:
        """Whether located quotes say what a sentence says."""

    def is_about(self, question: str, evidence: Sequence[Evidence]) -> bool:
        """Whether a question is one, and is about what is quoted."""


class Proposal(Strict):
    """What is proposed for one item."""

    item_id: str
    confidence: float = Field(ge=0, le=1)
    evidence: tuple[Evidence, ...]

    def is_claim(self) -> bool:
        """Whether this says something of a document that must be shown there; 'nothing found' need not be."""
        return True

    def find_fault(self, item: Any) -> str:
        """What is impossible about this proposal for its item; empty if nothing is."""
        return ""

    def with_verified_evidence(self, check: EvidenceCheck) -> Self | None:
        """This proposal with its evidence located; None where a quote is not verbatim or is missing."""
        if not self.is_claim() and not self.evidence:
            return self
        located = [check.locate(evidence) for evidence in self.evidence]
        kept = tuple(evidence for evidence in located if evidence is not None)
        return self.model_copy(update={"evidence": kept}) if kept and len(kept) == len(located) else None


AnyItem = TypeVar("AnyItem", bound=Item)
AnyProposal = TypeVar("AnyProposal", bound=Proposal)


@dataclass(frozen=True, slots=True)
class Task(Generic[AnyItem, AnyProposal]):
    """One kind of question. Its name is that of its prompt file and of its rule.

    Attributes: output_tokens: room for the proposal of one item.
                batch: items asked in one call; the setting `llm_batch` where it is 0.
    """

    name: str
    item: type[AnyItem]
    proposal: type[AnyProposal]
    output_tokens: int = 150
    batch: int = 0

    def schema(self) -> dict[str, Any]:
        """JSON schema of an answer to a batch: an object with the list `proposals`."""
        inner = self.proposal.model_json_schema()
        definitions = inner.pop("$defs", {})
        listed = {"type": "array", "items": inner}
        whole = {"type": "object", "properties": {"proposals": listed}, "required": ["proposals"]}
        found: dict[str, Any] = _bare({**whole, "additionalProperties": False})
        return {**found, "$defs": _bare(definitions)} if definitions else found


def _bare(schema: Any) -> Any:
    """A schema without the titles and Python's remarks, which say nothing to a model."""
    if isinstance(schema, list):
        return [_bare(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    noise = {"title", "description"}
    return {k: _bare(v) for k, v in schema.items() if not (k in noise and isinstance(v, str))}


@dataclass(frozen=True, slots=True)
class Judged(Generic[AnyProposal]):
    """What came of one item: a checked proposal and who made it, or none.

    Attributes: call_id: the row of `llm_calls` that it comes from; empty for a rule's.
                failure: why the model's proposal was not taken; the proposal is then a rule's.
    """

    item_id: str
    proposal: AnyProposal | None
    created_by: Literal["rule", "llm"]
    model: str
    call_id: str = ""
    failure: str = ""


class ProposerError(Exception):
    """No model can be asked at all: budget, access, outage. What was paid for is kept; the next run goes on there."""


class Proposer(Protocol):
    """Whoever proposes: a rule, or a model behind a cache."""

    @property
    def fingerprint(self) -> str:
        """Digest of all that decides what is proposed: who is asked, by which prompts; for what is made from it."""

    def propose(self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem]) -> tuple[Judged[AnyProposal], ...]:
        """One outcome per item, in the items' order. Raises ProposerError when nobody can be asked."""
