"""Summaries of documents and pages, for searches over whole documents and for readers.

A proposer writes them: one that works by rule selects sentences of the document; the sentences of one that asks a
model are verified.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.prompts.contract import Block, ProposalOutcome, Proposer
from taxkg_assets.prompts.tasks import SUMMARIES, SummaryItem, SummaryProposal
from taxkg_assets.retrieval.index.facts import hash_bare_wording
from taxkg_assets.rules.models.levels import load_levels
from taxkg_assets.rules.models.ranking import load_ranking
from taxkg_assets.schemas import Anchors, Documents, Sections, Summaries

Row = Mapping[str, Any]
_RUNNING_TEXT_COLUMNS = ("document_id", "anchor_id", "element_id", "page", "role", "text", "title", "is_leading")
_HASH_SEED = 7


def build_summaries(
    documents: dy.DataFrame[Documents],
    sections: dy.DataFrame[Sections],
    *,
    anchors: dy.DataFrame[Anchors],
    proposer: Proposer,
    only: Collection[tuple[str]] | None = None,
) -> dy.DataFrame[Summaries]:
    """Summarize every page that has running text, and every document by the beginnings of its sections.

    Args:
        documents: Documents of the corpus.
        sections: Content elements of all documents; they also show which text several families print.
        anchors: Anchors of these documents.
        proposer: Selects or writes the sentences.
        only: Keys of the documents to summarize; None for all.

    Returns:
        One row per page and per document; a unit without any sentence has no row.

    Raises:
        ProposerError: No model can be called.
    """
    running_text = _find_running_text(documents, sections, anchors)
    if only is not None:
        running_text = running_text.filter(pl.col("document_id").is_in([document_id for (document_id,) in only]))
    rows: list[dict[str, Any]] = []
    for document_id, group in groupby(running_text.iter_rows(named=True), key=lambda row: row["document_id"]):
        # Each document has its own calls: they are the same whatever other documents there are.
        items = list(_items(document_id, list(group)))
        outcomes = proposer.propose(SUMMARIES, [item for item, _ in items])
        rows += [
            _row(outcome, document_page=(document_id, page))
            for outcome, (_, page) in zip(outcomes, items, strict=True)
            if outcome.proposal is not None and outcome.proposal.sentences
        ]
    frame = pl.DataFrame(rows, schema=Summaries.create_empty().schema)
    return Summaries.validate(frame.sort(Summaries.primary_key()))


def digest_running_text(
    documents: dy.DataFrame[Documents], sections: dy.DataFrame[Sections], anchors: dy.DataFrame[Anchors]
) -> dict[str, str]:
    """Compute a digest of the text that each document's summary is made from, to detect changes.

    Args:
        documents: Documents of the corpus.
        sections: Content elements of all documents, as running text excludes what several families print.
        anchors: Anchors of these documents.

    Returns:
        Digest by document; a document without running text has none.
    """
    running_text = _find_running_text(documents, sections, anchors)
    hashed = running_text.select("document_id", row=running_text.hash_rows(seed=_HASH_SEED))
    by_document = hashed.group_by("document_id", maintain_order=True).agg("row")
    names, rows = by_document.get_columns()
    return {name: hashlib.sha256(row.to_numpy().tobytes()).hexdigest() for name, row in zip(names, rows, strict=True)}


def _find_running_text(
    documents: dy.DataFrame[Documents], sections: dy.DataFrame[Sections], anchors: dy.DataFrame[Anchors]
) -> pl.DataFrame:
    """Return running text in reading order, without text that documents of several families print."""
    leading_kinds = load_levels().summaries.leads
    leading_anchors = anchors.filter(pl.col("kind").is_in(leading_kinds))["anchor_id"]
    min_families = load_ranking().boilerplate_families
    family = pl.when(pl.col("irs_name") == "").then("document_id").otherwise("irs_name").alias("family")
    document_columns = documents.select("document_id", "title", family)
    running_text = (
        sections.select("document_id", "anchor_id", "element_id", "table_id", "paragraph_ix", "page", "role", "text")
        .join(document_columns, on="document_id", maintain_order="left")
        .filter(
            pl.col("text") != "",
            pl.col("table_id").is_null(),
            pl.col("family").n_unique().over(hash_bare_wording()) < min_families,
        )
        .sort("document_id", "paragraph_ix")
    )
    is_leading = pl.col("anchor_id").is_in(leading_anchors.implode()).fill_null(False)
    return running_text.with_columns(is_leading=is_leading).select(_RUNNING_TEXT_COLUMNS)


def _items(document_id: str, rows: Sequence[Row]) -> Iterable[tuple[SummaryItem, int]]:
    """Yield one item for each page and one for the document, each with its first page."""
    sizes = load_levels().summaries
    by_page: dict[int, list[Row]] = {}
    first_by_anchor: dict[str | None, Row] = {}
    for row in rows:
        by_page.setdefault(row["page"], []).append(row)
        first_by_anchor.setdefault(row["anchor_id"], row)
    leading_rows, title = [row for row in first_by_anchor.values() if row["is_leading"]], rows[0]["title"]
    for page, page_rows in sorted(by_page.items()):
        item_id = f"page:{document_id}:p{page:04d}"
        yield _item(item_id, page_rows, title=title, sentences=sizes.page_sentences), page
    # A form with hardly any section is summarized by its boxes.
    candidates = leading_rows if len(leading_rows) >= sizes.document_sentences else list(first_by_anchor.values())
    step = max(1, -(-len(candidates) // sizes.blocks))
    yield (
        _item(f"document:{document_id}", candidates[::step], title=title, sentences=sizes.document_sentences),
        rows[0]["page"],
    )


def _item(item_id: str, rows: Sequence[Row], *, title: str, sentences: int) -> SummaryItem:
    most = load_levels().summaries.blocks
    blocks = tuple(Block(element_id=row["element_id"], text=row["text"], role=row["role"]) for row in rows[:most])
    return SummaryItem(item_id=item_id, blocks=blocks, title=title, sentences=sentences)


def _row(outcome: ProposalOutcome[SummaryProposal], *, document_page: tuple[str, int]) -> dict[str, Any]:
    assert outcome.proposal is not None
    claims = outcome.proposal.sentences
    return {
        "unit_id": outcome.item_id,
        "document_id": document_page[0],
        "level": outcome.item_id.split(":", 1)[0],
        "page": document_page[1],
        "text": " ".join(claim.text for claim in claims),
        "evidence": [evidence.pointer for claim in claims for evidence in claim.evidence],
        "created_by": outcome.created_by,
    }
