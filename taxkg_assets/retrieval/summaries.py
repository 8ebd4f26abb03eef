"""Documents and pages in a few sentences: what a search over whole documents looks at, and what a reader sees first.

A proposer words them: by rule they are sentences of the document as they stand, by a model they are checked sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import groupby
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.prompts.contract import Block, Judged, Proposer
from taxkg_assets.prompts.tasks import SUMMARIES, SummaryItem, SummaryProposal
from taxkg_assets.retrieval.facts import bare_wording
from taxkg_assets.rules.loader import load_family
from taxkg_assets.schemas import Anchors, Documents, Sections, Summaries

Row = Mapping[str, Any]
_READ = ("document_id", "anchor_id", "element_id", "page", "role", "text")


def build_summaries(
    documents: dy.DataFrame[Documents],
    sections: dy.DataFrame[Sections],
    *,
    anchors: dy.DataFrame[Anchors],
    proposer: Proposer,
) -> dy.DataFrame[Summaries]:
    """Sum up every page that has running text, and every document by what its sections begin with.

    Returns: one row per page and per document; a unit of which nothing could be said has no row.
    """
    kinds = load_family("levels")["summaries"]["leads"]
    leading = set(anchors.filter(pl.col("kind").is_in(kinds))["anchor_id"])
    titles = dict(documents.select("document_id", "title").iter_rows())
    ordered = _find_telling(documents, sections).sort("document_id", "paragraph_ix").select(_READ)
    rows: list[dict[str, Any]] = []
    for document_id, group in groupby(ordered.iter_rows(named=True), key=lambda row: row["document_id"]):
        # A document is asked about by itself: the same calls are made whatever other documents there are.
        found = list(_items(document_id, list(group), title=titles[document_id], leading=leading))
        said = proposer.propose(SUMMARIES, [item for item, _ in found])
        rows += [
            _row(judged, place=(document_id, page))
            for judged, (_, page) in zip(said, found, strict=True)
            if judged.proposal is not None and judged.proposal.sentences
        ]
    frame = pl.DataFrame(rows, schema=Summaries.create_empty().schema)
    return Summaries.validate(frame.sort(Summaries.primary_key()))


def _find_telling(documents: dy.DataFrame[Documents], sections: dy.DataFrame[Sections]) -> pl.DataFrame:
    """Running text, without what the documents of several families print alike."""
    least = load_family("ranking")["boilerplate_families"]
    family = pl.when(pl.col("irs_name") == "").then("document_id").otherwise("irs_name").alias("family")
    named = sections.join(documents.select("document_id", family), on="document_id", maintain_order="left")
    return named.filter(
        pl.col("text") != "", pl.col("table_id").is_null(), pl.col("family").n_unique().over(bare_wording()) < least
    )


def _items(
    document_id: str, rows: Sequence[Row], *, title: str, leading: Set[str]
) -> Iterable[tuple[SummaryItem, int]]:
    sizes = load_family("levels")["summaries"]
    by_page: dict[int, list[Row]] = {}
    firsts: dict[str | None, Row] = {}
    for row in rows:
        by_page.setdefault(row["page"], []).append(row)
        firsts.setdefault(row["anchor_id"], row)
    leads = [row for anchor_id, row in firsts.items() if anchor_id in leading]
    for page, own in sorted(by_page.items()):
        item_id = f"page:{document_id}:p{page:04d}"
        yield _item(item_id, own, title=title, sentences=sizes["page_sentences"]), page
    # A form with hardly a section is summed up by its boxes.
    spread = leads if len(leads) >= sizes["document_sentences"] else list(firsts.values())
    step = max(1, -(-len(spread) // sizes["blocks"]))
    yield (
        _item(f"document:{document_id}", spread[::step], title=title, sentences=sizes["document_sentences"]),
        rows[0]["page"],
    )


def _item(item_id: str, rows: Sequence[Row], *, title: str, sentences: int) -> SummaryItem:
    most = load_family("levels")["summaries"]["blocks"]
    blocks = tuple(Block(element_id=row["element_id"], text=row["text"], role=row["role"]) for row in rows[:most])
    return SummaryItem(item_id=item_id, blocks=blocks, title=title, sentences=sentences)


def _row(judged: Judged[SummaryProposal], *, place: tuple[str, int]) -> dict[str, Any]:
    assert judged.proposal is not None
    claims = judged.proposal.sentences
    return {
        "unit_id": judged.item_id,
        "document_id": place[0],
        "level": judged.item_id.split(":", 1)[0],
        "page": place[1],
        "text": " ".join(claim.text for claim in claims),
        "evidence": [evidence.pointer for claim in claims for evidence in claim.evidence],
        "created_by": judged.created_by,
    }
