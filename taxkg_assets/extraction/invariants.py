"""Corrupt document checks: each function returns the rows that fail one, and `CORRUPT_CHECKS` lists the checks.

A document that fails one is held back before its tables are written. Checks that only flag a document are in
`incomplete_checks`: their limits do not change what is read. Gates compare with accuracy floors.
"""

from __future__ import annotations

import dataframely as dy
import numpy as np
import polars as pl

from taxkg_assets.extraction.document_check import CORRUPT, REPORT, DocumentCheck
from taxkg_assets.extraction.pdf.model import Source
from taxkg_assets.extraction.structure.blocks import CONTENT_ROLES
from taxkg_assets.schemas import Anchors, Elements, References, Sections, Spans

# A letter's foot may hang over the page's edge by this much.
_EDGE_PT = 12.0


def find_off_page_spans(spans: dy.DataFrame[Spans], source: Source) -> pl.DataFrame:
    """Return the spans that are outside their page.

    Args:
        spans: Spans of one document.
        source: The same document, with the sizes of its pages.
    """
    numbers = spans["page"].to_numpy()
    # No span is on a page that is not there.
    last_page = max((page.page for page in source.pages), default=0)
    sizes = np.full((max(last_page, numbers.max(initial=0)) + 1, 2), -np.inf)
    for page in source.pages:
        sizes[page.page] = page.width_pt, page.height_pt
    width, height = sizes[numbers].T
    x0, y0, x1, y1 = (spans[name].to_numpy() for name in ("x0_pt", "y0_pt", "x1_pt", "y1_pt"))
    is_inside = (x1 >= -_EDGE_PT) & (y1 >= -_EDGE_PT) & (x0 <= width + _EDGE_PT) & (y0 <= height + _EDGE_PT)
    return spans.select("document_id", "page", "span_ix", "text").filter(pl.Series(~is_inside))


def find_unread_pages(elements: dy.DataFrame[Elements], source: Source) -> pl.DataFrame:
    """Return the pages that contain text but no element.

    Args:
        elements: Elements of one document.
        source: The same document, with the text of its pages.
    """
    pages_with_elements = set(elements["page"].to_list())
    unread_pages = [
        page.page
        for page in source.pages
        if page.page not in pages_with_elements and any(span.text.strip() for span in page.spans)
    ]
    return pl.DataFrame(
        {"document_id": [source.document_id] * len(unread_pages), "page": pl.Series(unread_pages, dtype=pl.Int32)},
        schema={"document_id": pl.String, "page": pl.Int32},
    )


def find_orphan_anchors(anchors: dy.DataFrame[Anchors]) -> pl.DataFrame:
    """Return the anchors whose parent does not exist in their document, or that are their own ancestor.

    Args:
        anchors: Headings of one or more documents.
    """
    ids = anchors["anchor_id"].to_list()
    parent_of = dict(zip(ids, anchors["parent_anchor_id"].to_list(), strict=True))
    document_of = dict(zip(ids, anchors["document_id"].to_list(), strict=True))
    orphan_ids = []
    for anchor_id, parent_id in parent_of.items():
        chain = {anchor_id}
        ancestor_id = parent_id
        while ancestor_id is not None and ancestor_id in parent_of and ancestor_id not in chain:
            chain.add(ancestor_id)
            ancestor_id = parent_of[ancestor_id]
        # A chain of parents ends at a root, unless a parent is missing or the chain is a cycle.
        ends_at_root = ancestor_id is None
        is_foreign = parent_id is not None and document_of.get(parent_id) != document_of[anchor_id]
        if not ends_at_root or is_foreign:
            orphan_ids.append(anchor_id)
    return anchors.filter(pl.col("anchor_id").is_in(orphan_ids)).select("document_id", "anchor_id", "parent_anchor_id")


def find_duplicate_anchors(anchors: dy.DataFrame[Anchors]) -> pl.DataFrame:
    """Return the anchors that agree with another one in form, key, parent, heading, page and number of repetition.

    Args:
        anchors: Headings of one or more documents.
    """
    identifying_columns = ["document_id", "form", "key", "parent_anchor_id", "heading", "page", "repeat_ix"]
    return anchors.filter(anchors.select(identifying_columns).is_duplicated()).select("anchor_id", *identifying_columns)


def find_misowned_elements(elements: dy.DataFrame[Elements], sections: dy.DataFrame[Sections]) -> pl.DataFrame:
    """Return the content elements that are in no row of `sections`, or in more than one.

    Args:
        elements: Elements of one or more documents.
        sections: Sections of the same documents.
    """
    counts = sections.select(pl.col("element_ids").explode().alias("element_id")).group_by("element_id").len("owners")
    content = elements.filter(pl.col("role").is_in(CONTENT_ROLES))
    content_with_counts = content.join(counts, on="element_id", how="left").with_columns(pl.col("owners").fill_null(0))
    return content_with_counts.filter(pl.col("owners") != 1).select(
        "document_id", "page", "element_id", "role", "owners", "text"
    )


def find_strayed_sections(sections: dy.DataFrame[Sections], anchors: dy.DataFrame[Anchors]) -> pl.DataFrame:
    """Return the section rows whose owner is not an anchor of their document.

    Args:
        sections: Sections of one or more documents.
        anchors: Headings of the same documents.
    """
    owners = anchors.select("anchor_id", "document_id")
    owned_sections = sections.filter(pl.col("anchor_id").is_not_null())
    return owned_sections.join(owners, on=["anchor_id", "document_id"], how="anti").select(
        "document_id", "element_id", "anchor_id"
    )


def find_broken_pieces(sections: dy.DataFrame[Sections]) -> pl.DataFrame:
    """Return the section rows whose pieces do not cover the text from end to end, or have no rectangle.

    Args:
        sections: Sections of one or more documents.
    """
    counts = sections["pieces"].list.len().to_numpy()
    pieces = sections["pieces"].explode(empty_as_null=False).struct.unnest()
    start, end, x0, y0, x1, y1 = (
        pieces[name].to_numpy() for name in ("start", "end", "x0_pt", "y0_pt", "x1_pt", "y1_pt")
    )
    has_pieces = counts > 0
    last_pieces = np.cumsum(counts)[has_pieces] - 1
    previous_end = np.roll(end, 1)
    previous_end[last_pieces + 1 - counts[has_pieces]] = 0
    is_valid = (start == previous_end) & (end > start) & (x1 > x0) & (y1 > y0)
    is_broken = ~has_pieces
    is_broken[np.repeat(np.arange(len(counts)), counts)[~is_valid]] = True
    is_broken[has_pieces] |= end[last_pieces] != sections["text"].str.len_chars().to_numpy()[has_pieces]
    broken_rows = sections.select("document_id", "page", "element_id", "text").filter(pl.Series(is_broken))
    return broken_rows.sort("element_id") if broken_rows.height else broken_rows


def find_false_evidence(references: dy.DataFrame[References], sections: dy.DataFrame[Sections]) -> pl.DataFrame:
    """Return the references whose element does not exist or whose evidence differs from the text at its offsets.

    Args:
        references: References of one or more documents.
        sections: Sections of the same documents, whose texts the offsets count in.
    """
    references_with_text = references.join(
        sections.select("element_id", section_text="text"), on="element_id", how="left"
    )
    length = pl.col("end") - pl.col("start")
    is_verbatim = pl.col("section_text").str.slice(pl.col("start"), length) == pl.col("evidence")
    return references_with_text.filter(~(is_verbatim.fill_null(False) & (length > 0))).select(
        "document_id", "element_id", "start", "kind", "target", "evidence"
    )


CORRUPT_CHECKS: tuple[DocumentCheck, ...] = (
    # `_refuse` in extract.py checks some while the document is read, and the worker checks the others.
    DocumentCheck("spans_are_on_their_page", CORRUPT, "spans", "spans are outside their page", REPORT),
    DocumentCheck(
        "pages_are_read", CORRUPT, "elements", "pages contain text, but no element was read from them", REPORT
    ),
    DocumentCheck(
        "headings_form_a_tree",
        CORRUPT,
        "anchors",
        "headings have a missing or circular parent",
        REPORT,
        find_orphan_anchors,
    ),
    DocumentCheck(
        "headings_are_distinct",
        CORRUPT,
        "anchors",
        "headings are duplicates of another one",
        REPORT,
        find_duplicate_anchors,
    ),
    DocumentCheck(
        "elements_have_one_owner",
        CORRUPT,
        "sections",
        "elements belong to no heading, or to several",
        REPORT,
        find_misowned_elements,
    ),
    DocumentCheck(
        "sections_have_headings",
        CORRUPT,
        "sections",
        "sections refer to a heading that does not exist in the document",
        REPORT,
        find_strayed_sections,
    ),
    DocumentCheck(
        "pieces_cover_the_text",
        CORRUPT,
        "sections",
        "sections have text that is not mapped to rectangles",
        REPORT,
        find_broken_pieces,
    ),
    DocumentCheck(
        "evidence_is_verbatim",
        CORRUPT,
        "references",
        "references have evidence that differs from the text at its offsets",
        REPORT,
        find_false_evidence,
    ),
)
"""All corrupt checks of what is read, the most severe first."""
