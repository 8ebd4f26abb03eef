"""Document checks: each function returns the rows that fail one; `DOCUMENT_CHECKS` declares their severities.

A failed *corrupt* check holds the document back before its tables are written; a failed *incomplete* check flags it in
`document_quality`, and it is served. Accuracy floors are not here: they need labeled documents.
"""

from __future__ import annotations

import dataframely as dy
import numpy as np
import polars as pl

from taxkg_assets.extraction.box_checks import (
    find_boxes_without_face,
    find_invented_boxes,
    find_unexplained_boxes,
)
from taxkg_assets.extraction.document_check import CORRUPT, INCOMPLETE, REPORT, DocumentCheck, column_check
from taxkg_assets.extraction.page_checks import find_disputed_headings, find_distrusted_pages
from taxkg_assets.extraction.pdf.model import Source
from taxkg_assets.extraction.structure.blocks import CONTENT_ROLES
from taxkg_assets.extraction.table_checks import find_foreign_rows
from taxkg_assets.extraction.tables.tables import find_cells_without_path
from taxkg_assets.schemas import Anchors, Documents, Elements, References, Sections, Spans

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


def find_pages_without_elements(elements: dy.DataFrame[Elements], documents: dy.DataFrame[Documents]) -> pl.DataFrame:
    """Return pages that have no element, although their document does not list them as scanned or blank.

    Args:
        elements: Elements of all documents.
        documents: Documents with their page counts.
    """
    pages = documents.select(
        "document_id", "image_only_pages", page=pl.int_ranges(1, pl.col("page_count") + 1, dtype=pl.Int32)
    ).explode("page")
    text_pages = pages.filter(~pl.col("page").is_in(pl.col("image_only_pages")))
    return text_pages.join(elements, on=["document_id", "page"], how="anti").select("document_id", "page")


def find_orphan_anchors(anchors: dy.DataFrame[Anchors]) -> pl.DataFrame:
    """Return the anchors whose parent does not exist in their document, or that are their own ancestor.

    Args:
        anchors: Headings of one or more documents.
    """
    ids, parent_ids, document_ids = (
        anchors[name].to_list() for name in ("anchor_id", "parent_anchor_id", "document_id")
    )
    parents, document_of = dict(zip(ids, parent_ids, strict=True)), dict(zip(ids, document_ids, strict=True))
    orphan_ids = []
    for anchor_id, parent in parents.items():
        ancestors = {anchor_id}
        while parent is not None and parent in parents and parent not in ancestors:
            ancestors.add(parent)
            parent = parents[parent]
        parent_id = parents[anchor_id]
        is_foreign = parent_id is not None and document_of.get(parent_id) != document_of[anchor_id]
        if parent is not None or is_foreign:
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


_LOOK = "Check the pages; the rest of the document is not affected."

DOCUMENT_CHECKS: tuple[DocumentCheck, ...] = (
    # Checked while the document is read: `_refuse` in extract.py says `broken`, and the worker says the rest.
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
    # Checked on the published tables: the document is served, and its readers are notified.
    DocumentCheck(
        "boxes_are_explained",
        INCOMPLETE,
        "anchors",
        "boxes of the form have no heading in these instructions",
        "Look for the box in the document itself. `taxkg box` shows what was found of it.",
        find_unexplained_boxes,
        show=("form", "revision", "box_key"),
    ),
    DocumentCheck(
        "headings_name_printed_boxes",
        INCOMPLETE,
        "anchors",
        "headings mention boxes that the form does not print",
        _LOOK,
        find_invented_boxes,
        show=("form", "key", "heading"),
    ),
    DocumentCheck(
        "forms_show_their_boxes",
        INCOMPLETE,
        "faces",
        "headings mention boxes of this form, but no box was found on its pages",
        _LOOK,
        find_boxes_without_face,
        show=("boxes",),
    ),
    DocumentCheck(
        "pages_have_text",
        INCOMPLETE,
        "elements",
        "pages have no text, although they are neither scanned nor blank",
        "Read these pages in the PDF itself.",
        find_pages_without_elements,
        show=("page",),
    ),
    DocumentCheck(
        "cells_have_headers",
        INCOMPLETE,
        "tables",
        "cells of tables with headers have no header of their own",
        "Read the table on the page. `taxkg explain` names it.",
        find_cells_without_path,
        show=("table_id", "text"),
    ),
    column_check(
        "table_cells_have_headers",
        on="documents",
        where=pl.col("warnings").list.eval(pl.element().str.starts_with("Tables kept as text")).list.any(),
        show=("warnings",),
        broken="tables are served as plain text, because some cells have no header",
        remedy="Read the table on the page. `taxkg explain` names it.",
    ),
    DocumentCheck(
        "table_rows_are_their_own",
        INCOMPLETE,
        "tables",
        "rows of tables belong to another table, or are printed outside of their own",
        "Compare the table with the printed page. `taxkg explain` names it.",
        find_foreign_rows,
        show=("page", "table_id", "text"),
    ),
    column_check(
        "no_prompt_injection",
        on="documents",
        where=pl.col("hidden_texts").list.eval(pl.element().struct.field("is_order")).list.any(),
        show=(),
        broken="passages contain prompt injections or hidden text",
        remedy="Read them with `taxkg status`. Let no program follow them.",
    ),
    column_check(
        "totals_use_lines_once",
        on="formulas",
        where=pl.col("repeated_lines").list.len() > 0,
        show=("key", "repeated_lines"),
        broken="totals use a line more than once although the form does not say so",
        remedy="Compare the totals with the printed form. `taxkg form FORM` lists its lines.",
    ),
    DocumentCheck(
        "structure_tags_are_trusted",
        INCOMPLETE,
        "documents",
        "pages were read by their layout, because their structure tags contradict it",
        "Compare headings and paragraphs of these pages with the printed page.",
        find_distrusted_pages,
        show=("page", "reason"),
    ),
    DocumentCheck(
        "tags_and_layout_agree",
        INCOMPLETE,
        "anchors",
        "headings were found only in the structure tags, or only by the layout",
        "Compare the headings of the document with its printed pages.",
        find_disputed_headings,
        show=("page", "heading"),
    ),
)
"""All document checks, the most severe first."""
