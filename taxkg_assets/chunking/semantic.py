"""Chunks by meaning, for documents with a weak layout: propose boundaries, validate, refine once, describe.

Each step is a task for a rule or a model, and its output is not trusted: text and places come from the micro-blocks
alone, and a chunk that is not accepted is never indexed.
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
        headings: Text of its first heading; empty without one.
        status: `accepted`, `refine` or `rejected`.
        action: Proposed refinement: `none`, `split`, `merge_previous` or `merge_next`.
        quality: Score of the validation, 0 to 1.
        reason: Reason of the validation.
        created_by: `rule`, or `llm` where a model decided any step.
        boundary_confidence: Confidence of the boundary at its beginning, 0 to 1.
        refinements: Number of refinement cycles.
        title: Heading that the unit belongs under.
        tags: Tags of the metadata step.
        entities: Names of the metadata step.
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
class _Read:
    """Micro-blocks with their roles, their similarity to the preceding ones, and possible boundaries."""

    blocks: tuple[MicroBlock, ...]
    is_heading: tuple[bool, ...]
    is_artifact: tuple[bool, ...]
    similarity: tuple[float, ...]
    is_boundary: tuple[bool, ...]
    confidence: tuple[float, ...]
    created_by: str


def find_weak_layouts(sections: dy.DataFrame[schemas.Sections], anchors: dy.DataFrame[schemas.Anchors]) -> set[str]:
    """Find the documents with a weak layout: hardly any headings, uncertain ones, or too few for the text.

    Args:
        sections: Rows with `document_id` and `text`.
        anchors: Rows with `document_id` and `confidence`.

    Returns:
        Ids of documents that have at least `routing.least_words` words and a weak layout.

    Source:
        Limits in rules/semantic.yaml, `routing`.
    """
    limits = load_semantic().routing
    words = sections.group_by("document_id").agg(pl.col("text").str.split(" ").list.len().sum().alias("words"))
    known = anchors.group_by("document_id").agg(pl.len().alias("anchors"), pl.col("confidence").mean())
    both = words.join(known, on="document_id", how="left").with_columns(
        pl.col("anchors").fill_null(0), pl.col("confidence").fill_null(0.0)
    )
    is_weak = (
        (pl.col("anchors") < limits.least_anchors)
        | (pl.col("confidence") < limits.least_confidence)
        | (pl.col("words") > limits.words_per_anchor * pl.col("anchors"))
    )
    return set(both.filter(is_weak, pl.col("words") >= limits.least_words)["document_id"])


def find_semantic_units(
    blocks: Sequence[MicroBlock], *, title: str, proposer: Proposer, encode: Encode
) -> list[SemanticUnit]:
    """Group one document's micro-blocks into units on one subject each, then validate and refine the units.

    Args:
        blocks: Micro-blocks of one document in reading order.
        title: Title of the document, the first part of every heading path.
        proposer: Decides each step.
        encode: Texts to unit vectors, one row per text.

    Returns:
        Units in reading order; each micro-block except page furniture is in one of them.

    Raises:
        ProposerError: No model can be called.
    """
    if not blocks:
        return []
    read = _find_boundaries(blocks, proposer=proposer, encode=encode)
    units = _assemble(read)
    units = _validate(units, title=title, proposer=proposer, encode=encode)
    rounds = 2 if score_accepted(units) < load_semantic().forced_accept else 1
    for _ in range(rounds):
        units = _refine(units, proposer=proposer, encode=encode)
        units = _validate(units, title=title, proposer=proposer, encode=encode)
    units = _enrich(units, title=title, proposer=proposer)
    return [replace(unit, refinements=rounds) for unit in units]


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


def _find_boundaries(blocks: Sequence[MicroBlock], *, proposer: Proposer, encode: Encode) -> _Read:
    parts = proposer.propose(STRUCTURE_ANALYSIS, [_structure_item(n, block) for n, block in enumerate(blocks)])
    known = [row.proposal.part if row.proposal is not None else "paragraph" for row in parts]
    roles = [HEADING_ROLE if part == "heading" else PLAIN_ROLE for part in known]
    similarity = _score_cohesion(blocks, encode=encode)
    items = [
        BoundaryItem(
            item_id=f"b{n}",
            blocks=(_to_block(block, role=roles[n]),),
            before=blocks[n - 1].text if n else "",
            role_before=roles[n - 1] if n else "",
            similarity=round(similarity[n], 3) if n else None,
            continues_paragraph=not block.begins_line,
        )
        for n, block in enumerate(blocks)
    ]
    outcomes = proposer.propose(BOUNDARY_DETECTION, items)
    return _Read(
        blocks=tuple(blocks),
        is_heading=tuple(part == "heading" for part in known),
        is_artifact=tuple(part == "artifact" for part in known),
        similarity=tuple(similarity),
        is_boundary=tuple(row.proposal is not None and row.proposal.is_boundary for row in outcomes),
        confidence=tuple(row.proposal.confidence if row.proposal is not None else 0.0 for row in outcomes),
        created_by="llm"
        if "llm" in {row.created_by for row in outcomes} | {row.created_by for row in parts}
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
    """Return the cosine of each block with the mean of the few before it; 1 for the first."""
    window = load_semantic().cohesion.window
    vectors = encode([block.text for block in blocks])
    scores = [1.0]
    for n in range(1, len(blocks)):
        mean = vectors[max(0, n - window) : n].mean(axis=0)
        scores.append(float(vectors[n] @ mean / max(1e-9, float(np.linalg.norm(mean)))))
    return scores


def _assemble(read: _Read) -> list[SemanticUnit]:
    """Begin a unit at each boundary once the last one is long enough; cut what is too long at its weakest point."""
    sizes = load_semantic().sizes
    groups: list[list[int]] = []
    for n, block in enumerate(read.blocks):
        if read.is_artifact[n]:
            continue
        group = groups[-1] if groups else []
        words = sum(read.blocks[m].words for m in group)
        only_headings = all(read.is_heading[m] for m in group)
        is_headed = n > 0 and block.anchor_id != read.blocks[n - 1].anchor_id
        begins = read.is_heading[n] or is_headed or (read.is_boundary[n] and words >= sizes.least_words)
        if group and (is_headed or not only_headings) and (begins or words + block.words > sizes.max_words):
            if begins or block.begins_line:
                groups.append([n])
                continue
            groups[-1:] = _cut_at_weakest(group, read)
            groups[-1].append(n)
        elif group:
            group.append(n)
        else:
            groups.append([n])
    return [_unit(group, read) for group in groups]


def _cut_at_weakest(group: list[int], read: _Read) -> list[list[int]]:
    """Cut a full group where its last paragraph begins, else where another subject does, else at its end."""
    inner = [n for n in group[1:] if read.blocks[n].begins_line and not read.is_heading[n - 1]]
    if inner:
        weakest = inner[-1]
    elif subjects := [n for n in group[1:] if read.is_boundary[n]]:
        weakest = min(subjects, key=lambda n: (read.similarity[n], n))
    else:
        return [group, []]
    return [[n for n in group if n < weakest], [n for n in group if n >= weakest]]


def _unit(group: Sequence[int], read: _Read) -> SemanticUnit:
    headings = [read.blocks[n].text for n in group if read.is_heading[n]]
    return SemanticUnit(
        blocks=tuple(read.blocks[n] for n in group),
        headings=tuple(headings[:1]),
        created_by=read.created_by,
        boundary_confidence=read.confidence[group[0]],
    )


# ------------------------------------------------------------------------------------- validation, refinement


def _validate(units: Sequence[SemanticUnit], *, title: str, proposer: Proposer, encode: Encode) -> list[SemanticUnit]:
    """Validate each unit in view of the adjacent text."""
    items = [
        QualityItem(
            item_id=f"u{n}",
            blocks=tuple(_to_block(block) for block in unit.blocks),
            heading_path=_path(title, unit),
            before=units[n - 1].blocks[-1].text if n else "",
            after=units[n + 1].blocks[0].text if n + 1 < len(units) else "",
            similarities=_score_adjacent(unit, encode=encode),
        )
        for n, unit in enumerate(units)
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
    """Return the similarity of each block of a unit to those before it; 1 where either has only a few words."""
    least = load_semantic().cohesion.least_words
    scores = _score_cohesion(unit.blocks, encode=encode)[1:]
    is_short = [min(a.words, b.words) < least for a, b in pairwise(unit.blocks)]
    return tuple(1.0 if short else round(score, 3) for short, score in zip(is_short, scores, strict=True))


def _refine(units: Sequence[SemanticUnit], *, proposer: Proposer, encode: Encode) -> list[SemanticUnit]:
    """Split units with several subjects and merge fragments with adjacent units; leave the rest alone."""
    to_split = [n for n, unit in enumerate(units) if unit.action == "split"]
    items = [
        RefinementItem(
            item_id=f"r{n}",
            blocks=tuple(_to_block(block) for block in units[n].blocks),
            reason=units[n].reason,
            similarities=_score_adjacent(units[n], encode=encode),
        )
        for n in to_split
    ]
    rows = dict(zip(to_split, proposer.propose(REFINEMENT, items), strict=True)) if items else {}
    split: list[SemanticUnit] = []
    for n, unit in enumerate(units):
        row = rows.get(n)
        cuts = row.proposal.split_before if row is not None and row.proposal is not None else ()
        edges = [0, *cuts, len(unit.blocks)]
        split += [replace(unit, blocks=unit.blocks[a:b]) for a, b in pairwise(edges)]
    return _merge(split)


def _merge(units: Sequence[SemanticUnit]) -> list[SemanticUnit]:
    """Merge fragments with the unit that their action names, where the two fit into one chunk."""
    most = load_semantic().sizes.max_words
    merged: list[SemanticUnit] = []
    wants_next = False
    for unit in units:
        last = merged[-1] if merged else None
        fits = last is not None and last.words + unit.words <= most
        if last is not None and fits and (wants_next or unit.action == "merge_previous"):
            merged[-1] = replace(last, blocks=last.blocks + unit.blocks, headings=last.headings or unit.headings)
        else:
            merged.append(unit)
        wants_next = unit.action == "merge_next"
    return merged


# --------------------------------------------------------------------------------------------------- metadata


def _enrich(units: Sequence[SemanticUnit], *, title: str, proposer: Proposer) -> list[SemanticUnit]:
    """Add a title, tags and entities to each unit."""
    items = [
        MetadataItem(
            item_id=f"m{n}",
            blocks=tuple(_to_block(block) for block in unit.blocks),
            heading_path=_path(title, unit),
        )
        for n, unit in enumerate(units)
    ]
    enriched: list[SemanticUnit] = []
    for unit, row in zip(units, proposer.propose(METADATA_ENRICHMENT, items), strict=True):
        proposal = row.proposal
        enriched.append(
            replace(
                unit,
                title=unit.headings[0] if unit.headings else enriched[-1].title if enriched else "",
                tags=proposal.tags if proposal is not None else (),
                entities=tuple(dict.fromkeys(e.name for e in proposal.entities)) if proposal is not None else (),
                created_by="llm" if row.created_by == "llm" else unit.created_by,
            )
        )
    return enriched


def _path(title: str, unit: SemanticUnit) -> str:
    return " > ".join(part for part in (title, *unit.headings) if part)
