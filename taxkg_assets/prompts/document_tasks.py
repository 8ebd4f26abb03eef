"""Items and proposals of the tasks that refine documents: references, chunks and their metadata."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field

from taxkg_assets.prompts.contract import Evidence, EvidenceCheck, Item, Proposal, Strict

MOST_TAGS = 8
MOST_ENTITIES = 16
"""Largest numbers for one chunk; whatever a model adds beyond them is left out."""
_POLARITY_OF = {"excludes": "negative", "includes": "positive", "portion_of": "positive", "defines": "positive"}
"""The relations that can have one polarity only."""
Relation = Literal["references", "includes", "excludes", "defines", "applies_if", "qualifies", "requires", "portion_of"]


class Candidate(Strict):
    """A possible target of a mention."""

    target: str
    kind: str
    description: str = ""


class ReferenceItem(Item):
    """A mention whose target is uncertain, in the first block. Relation and polarity are those of the rules."""

    mention: str
    mention_start: int = Field(ge=0)
    candidates: tuple[Candidate, ...]
    relation: Relation = "references"
    polarity: Literal["positive", "negative"] = "positive"


class ReferenceProposal(Proposal):
    """The candidate that a mention refers to, or none of them."""

    target: str | None
    relation: Relation
    polarity: Literal["positive", "negative"]

    def needs_evidence(self) -> bool:
        """Return whether a target is proposed; only then is evidence needed."""
        return self.target is not None

    def find_validation_error(self, item: ReferenceItem) -> str:
        """Return an error for a target that is not a candidate, or a polarity that the relation cannot have.

        Args:
            item: Item of the proposal.

        Returns:
            The error in words; empty for none.
        """
        if self.target is None:
            return ""
        if self.target not in {candidate.target for candidate in item.candidates}:
            return f"{self.target!r} is not a candidate"
        polarity = _POLARITY_OF.get(self.relation, self.polarity)
        return "" if self.polarity == polarity else f"{self.relation} is {polarity}"


class BoundaryItem(Item):
    """A block in reading order, with the one before it and their similarity.

    Attributes:
        before: Text of the block before.
        role_before: Role of the block before.
        similarity: Cosine with the blocks before, -1 to 1; None for the first block.
        continues_paragraph: Whether it is in the same paragraph as the block before.
    """

    before: str
    role_before: str = ""
    similarity: float | None = None
    continues_paragraph: bool = False


class BoundaryProposal(Proposal):
    """Whether a new unit of meaning begins with the block; the evidence is the block's opening words."""

    is_boundary: bool
    reason: str

    def needs_evidence(self) -> bool:
        """Return whether a boundary is proposed; only then is evidence needed."""
        return self.is_boundary


class StructureItem(Item):
    """A block whose structural role is to be decided, with its typography."""

    words: int = Field(ge=0)
    is_bold: bool = False
    is_own_line: bool = False
    size_ratio: float = 1.0


class StructureProposal(Proposal):
    """The structural role of a block; `level` is the depth of a heading, 0 for everything else."""

    part: Literal["heading", "paragraph", "list_item", "table_row", "note", "artifact"]
    level: int = Field(ge=0, le=6)

    def find_validation_error(self, item: StructureItem) -> str:
        """Return an error for a heading without a level, or a level without a heading.

        Args:
            item: Item of the proposal.

        Returns:
            The error in words; empty for none.
        """
        return "" if (self.part == "heading") == (self.level > 0) else "a heading has a level, and nothing else has"


class Entity(Strict):
    """A named entity in a passage."""

    name: str
    kind: Literal["box", "line", "form", "publication", "law", "amount", "date", "term", "organization"]
    evidence: Evidence


class MetadataItem(Item):
    """A chunk to describe by a title, tags and entities."""

    heading_path: str = ""


class MetadataProposal(Proposal):
    """Title, tags and entities of a chunk; only those that occur in it are kept, each once and not too many."""

    title: str
    tags: tuple[str, ...]
    entities: tuple[Entity, ...]

    def with_verified_evidence(self, check: EvidenceCheck) -> Self | None:
        """Verify the evidence, and keep the title, tags and entities that occur in the chunk.

        A title that does not occur in it is replaced by the first quote.

        Args:
            check: Finds the place of a quote in the item's text.

        Returns:
            The proposal with what was verified; None where its evidence was not.
        """
        base = super().with_verified_evidence(check)
        if base is None:
            return None
        # Building the dictionaries in reverse keeps the first of equal entities and tags.
        named = {(entity.kind, entity.name): entity for entity in reversed(self.entities)}
        located = [(entity, check.find(entity.evidence)) for entity in reversed(named.values())]
        kept = tuple(
            entity.model_copy(update={"evidence": at})
            for entity, at in located
            if at is not None and entity.name in at.quote and check.is_valid_name(entity.name, kind=entity.kind)
        )
        tags = {tag.casefold(): tag for tag in reversed(self.tags) if check.mentions(tag)}
        title = self.title if check.mentions(self.title) else base.evidence[0].quote
        return base.model_copy(
            update={
                "entities": kept[:MOST_ENTITIES],
                "tags": tuple(reversed(tags.values()))[:MOST_TAGS],
                "title": title,
            }
        )


class QualityItem(Item):
    """A chunk to evaluate, with the adjacent text."""

    heading_path: str = ""
    before: str = ""
    after: str = ""
    similarities: tuple[float, ...] = ()


class QualityProposal(Proposal):
    """Whether a chunk is accepted, and if not, what to do with it."""

    verdict: Literal["ACCEPT", "REFINE", "REJECT"]
    score: float = Field(ge=0, le=1)
    action: Literal["none", "split", "merge_previous", "merge_next"]
    # It is stored in the table `chunks`, which must not contain words of a model.
    reason: Literal["complete", "fragment", "too short", "too long", "several subjects", "furniture", "unreadable"]

    def find_validation_error(self, item: QualityItem) -> str:
        """Return an error for a refinement without an action, or a split of a single block.

        Args:
            item: Item of the proposal.

        Returns:
            The error in words; empty for none.
        """
        is_alone = len(item.blocks) < 2 and not item.before and not item.after
        if self.verdict == "REFINE" and self.action == "none" and not is_alone:
            return "REFINE names no action"
        return "a chunk of one block cannot be split" if self.action == "split" and len(item.blocks) < 2 else ""


class RefinementItem(Item):
    """A chunk to split, with the similarities of its adjacent blocks."""

    reason: str = ""
    similarities: tuple[float, ...] = ()


class RefinementProposal(Proposal):
    """The blocks (0-based) at which a new chunk begins."""

    split_before: tuple[int, ...]

    def needs_evidence(self) -> bool:
        """Return whether the chunk is split; only then is evidence needed."""
        return bool(self.split_before)

    def find_validation_error(self, item: RefinementItem) -> str:
        """Return an error for blocks that do not exist or are not in ascending order.

        Args:
            item: Item of the proposal.

        Returns:
            The error in words; empty for none.
        """
        are_valid = all(0 < n < len(item.blocks) for n in self.split_before)
        return "" if are_valid and list(self.split_before) == sorted(set(self.split_before)) else "no such blocks"
