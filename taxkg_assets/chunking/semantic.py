"""Chunks by meaning, for documents with a weak layout: propose boundaries, validate, refine, describe.

A rule or a model decides each step. Text and rectangles come from the micro-blocks only, whatever a model returns, and
a chunk that is not accepted is never indexed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import dataframely as dy
import numpy as np
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.chunking.micro_blocks import MicroBlock
from taxkg_assets.prompts.contract import Block, Proposer
from taxkg_assets.prompts.document_tasks import (
    BoundaryItem,
    MetadataItem,
    QualityItem,
    QualityProposal,
    RefinementItem,
    StructureItem,
)
from taxkg_assets.prompts.tasks import (
    BOUNDARY_DETECTION,
    METADATA_ENRICHMENT,
    QUALITY_VALIDATION,
    REFINEMENT,
    STRUCTURE_ANALYSIS,
)
from taxkg_assets.rules.models.semantic import load_semantic

Encode = Callable[[Sequence[str]], np.ndarray]
"""Texts to unit vectors: float array of shape (texts, dimensions)."""

HEADING_ROLE, PLAIN_ROLE = "SectionHeader", "BodyText"
_STATUS = {"ACCEPT": "accepted", "REFINE": "refine", "REJECT": "rejected"}


@dataclass(frozen=True, slots=True)
class SemanticUnit:
    """Consecutive micro-blocks on one subject, with the outcome of each step of semantic chunking.

    Attributes:
        blocks: Micro-blocks in reading order.
        headings: Text of the first heading in the unit; empty without one.
        status: `accepted`, `refine` or `rejected`.
        action: Proposed refinement: `none`, `split`, `merge_previous` or `merge_next`.
        quality: Score of the validation, 0 to 1.
        reason: Reason of the validation.
        created_by: `rule`, or `llm` if a model decided any step.
        boundary_confidence: Confidence of the boundary at the beginning of the unit, 0 to 1.
        refinements: Number of refinement cycles.
        title: Heading of the unit, in the unit or before it.
        tags: Tags from the metadata step.
        entities: Names of entities from the metadata step.
    """

    blocks: tuple[MicroBlock, ...]
    headings: tuple[str, ...] = ()
    status: str = "refine"
    action: str = "none"
    quality: float = 0.0
    reason: str = ""
    created_by: str = "rule"
    boundary_confidence: float = 1.0
    refinements: int = 0
    title: str = ""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()

    @property
    def words(self) -> int:
        """Return the number of words."""
        return sum(block.words for block in self.blocks)


@dataclass(frozen=True, slots=True)
class _MarkedBlocks:
    """Micro-blocks with their roles, their similarities, and the boundaries between them; one value per block.

    Attributes:
        blocks: Micro-blocks in reading order.
        is_heading: Whether each block is a heading.
        is_artifact: Whether each block is a header or footer of the page.
        similarity: Cosine of each block with the blocks before.
        is_boundary: Whether a unit may begin at each block.
        confidence: Confidence of that decision.
        created_by: `rule`, or `llm` if a model decided anything.
    """

    blocks: tuple[MicroBlock, ...]
    is_heading: tuple[bool, ...]
    is_artifact: tuple[bool, ...]
    similarity: tuple[float, ...]
    is_boundary: tuple[bool, ...]
    confidence: tuple[float, ...]
    created_by: str


def find_weak_layouts(sections: dy.DataFrame[schemas.Sections], anchors: dy.DataFrame[schemas.Anchors]) -> set[str]:
    """Find the documents with a weak layout: too few headings for the text, or uncertain ones.

    Args:
        sections: Rows with `document_id` and `text`.
        anchors: Rows with `document_id` and `confidence`.

    Returns:
        Ids of documents that have at least `routing.least_words` words and a weak layout.

    Source:
        Limits in rules/semantic.yaml, `routing`.
    """
    limits = load_semantic().routing
    word_counts = sections.group_by("document_id").agg(pl.col("text").str.split(" ").list.len().sum().alias("words"))
    anchor_stats = anchors.group_by("document_id").agg(pl.len().alias("anchors"), pl.col("confidence").mean())
    document_stats = word_counts.join(anchor_stats, on="document_id", how="left").with_columns(
        pl.col("anchors").fill_null(0), pl.col("confidence").fill_null(0.0)
    )
    is_weak = (
        (pl.col("anchors") < limits.least_anchors)
        | (pl.col("confidence") < limits.least_confidence)
        | (pl.col("words") > limits.words_per_anchor * pl.col("anchors"))
    )
    return set(document_stats.filter(is_weak, pl.col("words") >= limits.least_words)["document_id"])


def find_semantic_units(
    blocks: Sequence[MicroBlock], *, title: str, proposer: Proposer, encode: Encode
) -> list[SemanticUnit]:
    """Group one document's micro-blocks into units on one subject each, then validate and refine the units.

    Args:
        blocks: Micro-blocks of one document in reading order.
        title: Title of the document, the first part of every heading path.
        proposer: Rules or model that decide each step.
        encode: Function from texts to unit vectors, one row per text.

    Returns:
        Units in reading order; each micro-block except page furniture is in one unit.

    Raises:
        ProposerError: No model can be called.
    """
    if not blocks:
        return []
    marked_blocks = _find_boundaries(blocks, proposer=proposer, encode=encode)
    units = _assemble(marked_blocks)
    units = _validate(units, title=title, proposer=proposer, encode=encode)
    round_count = 2 if score_accepted(units) < load_semantic().forced_accept else 1
    for _ in range(round_count):
        units = _refine(units, proposer=proposer, encode=encode)
        units = _validate(units, title=title, proposer=proposer, encode=encode)
    units = _enrich(units, title=title, proposer=proposer)
    return [replace(unit, refinements=round_count) for unit in units]


def score_accepted(units: Sequence[SemanticUnit]) -> float:
    """Return the share of units that are accepted, 0 to 1; 0 without units.

    Args:
        units: Units of a document.
    """
    return sum(unit.status == "accepted" for unit in units) / max(1, len(units))


def score_boundary_confidence(units: Sequence[SemanticUnit]) -> float:
    """Return the mean confidence of the boundaries at which units begin, 0 to 1; 0 without units.

    Args:
        units: Units of a document.
    """
    return sum(unit.boundary_confidence for unit in units) / max(1, len(units))


# ------------------------------------------------------------------------------------------------- boundaries


def _find_boundaries(blocks: Sequence[MicroBlock], *, proposer: Proposer, encode: Encode) -> _MarkedBlocks:
    structure_outcomes = proposer.propose(
        STRUCTURE_ANALYSIS, [_structure_item(ix, block) for ix, block in enumerate(blocks)]
    )
    block_parts = [row.proposal.part if row.proposal is not None else "paragraph" for row in structure_outcomes]
    roles = [HEADING_ROLE if part == "heading" else PLAIN_ROLE for part in block_parts]
    similarity = _score_cohesion(blocks, encode=encode)
    items = [
        BoundaryItem(
            item_id=f"b{ix}",
            blocks=(_to_block(block, role=roles[ix]),),
            before=blocks[ix - 1].text if ix else "",
            role_before=roles[ix - 1] if ix else "",
            similarity=round(similarity[ix], 3) if ix else None,
            continues_paragraph=not block.begins_line,
        )
        for ix, block in enumerate(blocks)
    ]
    boundary_outcomes = proposer.propose(BOUNDARY_DETECTION, items)
    return _MarkedBlocks(
        blocks=tuple(blocks),
        is_heading=tuple(part == "heading" for part in block_parts),
        is_artifact=tuple(part == "artifact" for part in block_parts),
        similarity=tuple(similarity),
        is_boundary=tuple(row.proposal is not None and row.proposal.is_boundary for row in boundary_outcomes),
        confidence=tuple(row.proposal.confidence if row.proposal is not None else 0.0 for row in boundary_outcomes),
        created_by="llm"
        if "llm" in {row.created_by for row in boundary_outcomes} | {row.created_by for row in structure_outcomes}
        else "rule",
    )


def _structure_item(number: int, block: MicroBlock) -> StructureItem:
    return StructureItem(
        item_id=f"s{number}",
        blocks=(_to_block(block, role=block.role),),
        words=block.words,
        is_own_line=block.is_own_line,
    )


def _to_block(block: MicroBlock, *, role: str = "") -> Block:
    return Block(element_id=block.element_id, text=block.text, role=role, start=block.start)


def _score_cohesion(blocks: Sequence[MicroBlock], *, encode: Encode) -> list[float]:
    """Return the cosine of each block with the mean of the few blocks before; 1 for the first block."""
    window = load_semantic().cohesion.window
    vectors = encode([block.text for block in blocks])
    scores = [1.0]
    for ix in range(1, len(blocks)):
        mean = vectors[max(0, ix - window) : ix].mean(axis=0)
        scores.append(float(vectors[ix] @ mean / max(1e-9, float(np.linalg.norm(mean)))))
    return scores


def _assemble(marked_blocks: _MarkedBlocks) -> list[SemanticUnit]:
    """Group blocks into units: a unit ends at a boundary if it is long enough, or where it would be too long."""
    sizes = load_semantic().sizes
    groups: list[list[int]] = []
    for ix, block in enumerate(marked_blocks.blocks):
        if marked_blocks.is_artifact[ix]:
            continue
        group = groups[-1] if groups else []
        words = sum(marked_blocks.blocks[m].words for m in group)
        has_only_headings = all(marked_blocks.is_heading[m] for m in group)
        has_new_heading = ix > 0 and block.anchor_id != marked_blocks.blocks[ix - 1].anchor_id
        begins_unit = (
            marked_blocks.is_heading[ix]
            or has_new_heading
            or (marked_blocks.is_boundary[ix] and words >= sizes.least_words)
        )
        is_full = words + block.words > sizes.max_words
        # A heading stays with the text below it; headings alone are cut where they would be too long.
        may_end = has_new_heading or not has_only_headings or (is_full and marked_blocks.is_heading[ix])
        if group and may_end and (begins_unit or is_full):
            if begins_unit or block.begins_line:
                groups.append([ix])
                continue
            groups[-1:] = _cut_at_weakest(group, marked_blocks)
            groups[-1].append(ix)
        elif group:
            group.append(ix)
        else:
            groups.append([ix])
    return [_make_unit(group, marked_blocks) for group in groups]


def _cut_at_weakest(group: list[int], marked_blocks: _MarkedBlocks) -> list[list[int]]:
    """Split a full group where its last paragraph begins, or else at a boundary of subjects, or else at its end."""
    paragraph_ixs = [
        ix for ix in group[1:] if marked_blocks.blocks[ix].begins_line and not marked_blocks.is_heading[ix - 1]
    ]
    if paragraph_ixs:
        cut_ix = paragraph_ixs[-1]
    elif boundary_ixs := [ix for ix in group[1:] if marked_blocks.is_boundary[ix]]:
        cut_ix = min(boundary_ixs, key=lambda ix: (marked_blocks.similarity[ix], ix))
    else:
        return [group, []]
    return [[ix for ix in group if ix < cut_ix], [ix for ix in group if ix >= cut_ix]]


def _make_unit(group: Sequence[int], marked_blocks: _MarkedBlocks) -> SemanticUnit:
    headings = [marked_blocks.blocks[ix].text for ix in group if marked_blocks.is_heading[ix]]
    return SemanticUnit(
        blocks=tuple(marked_blocks.blocks[ix] for ix in group),
        headings=tuple(headings[:1]),
        created_by=marked_blocks.created_by,
        boundary_confidence=marked_blocks.confidence[group[0]],
    )


# ------------------------------------------------------------------------------------- validation, refinement


def _validate(units: Sequence[SemanticUnit], *, title: str, proposer: Proposer, encode: Encode) -> list[SemanticUnit]:
    """Validate each unit in view of the adjacent text."""
    items = [
        QualityItem(
            item_id=f"u{ix}",
            blocks=tuple(_to_block(block) for block in unit.blocks),
            heading_path=_path(title, unit),
            before=units[ix - 1].blocks[-1].text if ix else "",
            after=units[ix + 1].blocks[0].text if ix + 1 < len(units) else "",
            similarities=_score_adjacent(unit, encode=encode),
        )
        for ix, unit in enumerate(units)
    ]
    rows = proposer.propose(QUALITY_VALIDATION, items)
    return [_with_verdict(unit, row.proposal) for unit, row in zip(units, rows, strict=True)]


def _with_verdict(unit: SemanticUnit, proposal: QualityProposal | None) -> SemanticUnit:
    if proposal is None:
        return replace(unit, status="refine", action="none", quality=0.0, reason="could not be judged")
    return replace(
        unit, status=_STATUS[proposal.verdict], action=proposal.action, quality=proposal.score, reason=proposal.reason
    )


def _score_adjacent(unit: SemanticUnit, *, encode: Encode) -> tuple[float, ...]:
    """Return the similarity of each block of a unit to the blocks before; 1 next to a block of a few words."""
    least_words = load_semantic().cohesion.least_words
    scores = _score_cohesion(unit.blocks, encode=encode)[1:]
    are_short = [min(text.words, next_text.words) < least_words for text, next_text in pairwise(unit.blocks)]
    return tuple(1.0 if short else round(score, 3) for short, score in zip(are_short, scores, strict=True))


def _refine(units: Sequence[SemanticUnit], *, proposer: Proposer, encode: Encode) -> list[SemanticUnit]:
    """Split units with several subjects, and merge fragments with adjacent units."""
    split_ixs = [ix for ix, unit in enumerate(units) if unit.action == "split"]
    items = [
        RefinementItem(
            item_id=f"r{ix}",
            blocks=tuple(_to_block(block) for block in units[ix].blocks),
            reason=units[ix].reason,
            similarities=_score_adjacent(units[ix], encode=encode),
        )
        for ix in split_ixs
    ]
    rows = dict(zip(split_ixs, proposer.propose(REFINEMENT, items), strict=True)) if items else {}
    split_units: list[SemanticUnit] = []
    for ix, unit in enumerate(units):
        row = rows.get(ix)
        cuts = row.proposal.split_before if row is not None and row.proposal is not None else ()
        edges = [0, *cuts, len(unit.blocks)]
        split_units += [replace(unit, blocks=unit.blocks[a:b]) for a, b in pairwise(edges)]
    return _merge(split_units)


def _merge(units: Sequence[SemanticUnit]) -> list[SemanticUnit]:
    """Merge each fragment with the next or previous unit, as its action states, if the two fit into one chunk."""
    max_words = load_semantic().sizes.max_words
    merged_units: list[SemanticUnit] = []
    wants_next = False
    for unit in units:
        last_unit = merged_units[-1] if merged_units else None
        fits = last_unit is not None and last_unit.words + unit.words <= max_words
        if last_unit is not None and fits and (wants_next or unit.action == "merge_previous"):
            merged_units[-1] = replace(
                last_unit, blocks=last_unit.blocks + unit.blocks, headings=last_unit.headings or unit.headings
            )
        else:
            merged_units.append(unit)
        wants_next = unit.action == "merge_next"
    return merged_units


# --------------------------------------------------------------------------------------------------- metadata


def _enrich(units: Sequence[SemanticUnit], *, title: str, proposer: Proposer) -> list[SemanticUnit]:
    """Add a title, tags and entities to each unit."""
    items = [
        MetadataItem(
            item_id=f"m{ix}",
            blocks=tuple(_to_block(block) for block in unit.blocks),
            heading_path=_path(title, unit),
        )
        for ix, unit in enumerate(units)
    ]
    enriched_units: list[SemanticUnit] = []
    for unit, row in zip(units, proposer.propose(METADATA_ENRICHMENT, items), strict=True):
        proposal = row.proposal
        previous_title = enriched_units[-1].title if enriched_units else ""
        entities = [] if proposal is None else [entity.name for entity in proposal.entities]
        enriched_units.append(
            replace(
                unit,
                title=unit.headings[0] if unit.headings else previous_title,
                tags=proposal.tags if proposal is not None else (),
                entities=tuple(dict.fromkeys(entities)),
                created_by="llm" if row.created_by == "llm" else unit.created_by,
            )
        )
    return enriched_units


def _path(title: str, unit: SemanticUnit) -> str:
    return " > ".join(part for part in (title, *unit.headings) if part)
