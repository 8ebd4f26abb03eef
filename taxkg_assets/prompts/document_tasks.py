"""Items and proposals of the tasks that refine documents: references, chunks and their metadata."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field

from taxkg_assets.prompts.contract import Evidence, EvidenceCheck, Item, Proposal, Strict

MOST_TAGS = 8
"""Most tags of one chunk; further ones are left out."""
MOST_ENTITIES = 16
"""Most entities of one chunk; further ones are left out."""
_POLARITY_OF = {"excludes": "negative", "includes": "positive", "portion_of": "positive", "defines": "positive"}
"""Polarity of the relations that can have only one."""
Relation = Literal["references", "includes", "excludes", "defines", "applies_if", "qualifies", "requires", "portion_of"]


class Candidate(Strict):
    """A possible target of a mention.

    Attributes:
        target: Id of the node.
        kind: Kind of the target, such as `box` or `section`.
        description: Words that describe the target.
    """

    target: str
    kind: str
    description: str = ""


class ReferenceItem(Item):
    """A mention in the first block whose target is uncertain.

    Attributes:
        mention: Words of the mention.
        mention_start: First character of the mention in the block.
        candidates: Possible targets.
        relation: Relation that the rules found.
        polarity: `negative` if the rules found that the sentence excludes or negates the target.
    """

    mention: str
    mention_start: int = Field(ge=0)
    candidates: tuple[Candidate, ...]
    relation: Relation = "references"
    polarity: Literal["positive", "negative"] = "positive"


class ReferenceProposal(Proposal):
    """The candidate that a mention refers to.

    Attributes:
        target: Id of the candidate; None if no candidate fits.
        relation: Relation of the text to the target.
        polarity: `negative` if the sentence excludes or negates the target.
    """

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
    """A block in reading order, with the block before and their similarity.

    Attributes:
        before: Text of the block before.
        role_before: Role of the block before.
        similarity: Cosine with the blocks before, -1 to 1; None for the first block.
        continues_paragraph: Whether the two blocks are in the same paragraph.
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
    """A block whose structural role is to be decided, with its typography.

    Attributes:
        words: Number of words.
        is_bold: Whether the block is bold.
        is_own_line: Whether the block is one line alone.
        size_ratio: Type size of the block divided by that of the text.
    """

    words: int = Field(ge=0)
    is_bold: bool = False
    is_own_line: bool = False
    size_ratio: float = 1.0


class StructureProposal(Proposal):
    """The structural role of a block.

    Attributes:
        part: Role; `artifact` is a header or footer of the page.
        level: Level of a heading, from 1; 0 for any other role.
    """

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
    """A named entity in a passage.

    Attributes:
        name: Name as printed.
        kind: Kind of entity.
        evidence: Quote that contains the name.
    """

    name: str
    kind: Literal["box", "line", "form", "publication", "law", "amount", "date", "term", "organization"]
    evidence: Evidence


class MetadataItem(Item):
    """A chunk to describe by a title, tags and entities.

    Attributes:
        heading_path: Headings above the chunk, joined with ` > `.
    """

    heading_path: str = ""


class MetadataProposal(Proposal):
    """Title, tags and entities of a chunk; of tags and entities, only those that occur in the chunk are kept."""

    title: str
    tags: tuple[str, ...]
    entities: tuple[Entity, ...]

    def with_verified_evidence(self, check: EvidenceCheck) -> Self | None:
        """Verify the evidence, and keep the title, tags and entities that occur in the chunk.

        A title that does not occur in the chunk is replaced by the first quote.

        Args:
            check: Check against the item's blocks.

        Returns:
            The proposal with the title, tags and entities that were verified; None if its evidence is not valid.
        """
        verified_base = super().with_verified_evidence(check)
        if verified_base is None:
            return None
        # Building the dictionaries in reverse keeps the first of equal entities and tags.
        entity_by_name = {(entity.kind, entity.name): entity for entity in reversed(self.entities)}
        located_entities = [(entity, check.find(entity.evidence)) for entity in reversed(entity_by_name.values())]
        verified_entities = tuple(
            entity.model_copy(update={"evidence": located_evidence})
            for entity, located_evidence in located_entities
            if located_evidence is not None
            and entity.name in located_evidence.quote
            and check.is_valid_name(entity.name, kind=entity.kind)
        )
        tags = {tag.casefold(): tag for tag in reversed(self.tags) if check.mentions(tag)}
        title = self.title if check.mentions(self.title) else verified_base.evidence[0].quote
        return verified_base.model_copy(
            update={
                "entities": verified_entities[:MOST_ENTITIES],
                "tags": tuple(reversed(tags.values()))[:MOST_TAGS],
                "title": title,
            }
        )


class QualityItem(Item):
    """A chunk to evaluate.

    Attributes:
        heading_path: Headings above the chunk, joined with ` > `.
        before: Text before the chunk.
        after: Text after the chunk.
        similarities: Cosine of each block with the next one.
    """

    heading_path: str = ""
    before: str = ""
    after: str = ""
    similarities: tuple[float, ...] = ()


class QualityProposal(Proposal):
    """Whether a chunk is accepted, and how to improve one that is not.

    Attributes:
        verdict: `ACCEPT`; `REFINE` to apply `action`; `REJECT` for text that should not be found.
        score: Quality, 0 to 1.
        action: Change that a `REFINE` proposes.
        reason: What is wrong with the chunk; `complete` for nothing.
    """

    verdict: Literal["ACCEPT", "REFINE", "REJECT"]
    score: float = Field(ge=0, le=1)
    action: Literal["none", "split", "merge_previous", "merge_next"]
    # One of fixed words, because the table `chunks` must not contain words of a model.
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
    """A chunk to split.

    Attributes:
        reason: Why the chunk is to be split.
        similarities: Cosine of each block with the next one.
    """

    reason: str = ""
    similarities: tuple[float, ...] = ()


class RefinementProposal(Proposal):
    """Where to split a chunk.

    Attributes:
        split_before: 0-based numbers of the blocks that begin a new chunk.
    """

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
