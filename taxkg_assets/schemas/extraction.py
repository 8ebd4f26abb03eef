"""Tables of the extraction: text with its place on the page, and the structure of a document."""

from __future__ import annotations

import dataframely as dy
import polars as pl

from taxkg_assets.schemas.columns import (
    bbox_column,
    corner_columns,
    extraction_source_column,
    fraction_column,
    key_column,
    one_of,
    page_column,
    placed_boxes_column,
    points_column,
    strings_column,
    text_column,
)
from taxkg_assets.schemas.values import (
    ANCHOR_KINDS,
    CREATED_BY,
    FIELD_KINDS,
    FIELD_SOURCES,
    LINK_KINDS,
    PERSPECTIVES,
    POLARITIES,
    REFERENCE_KINDS,
    RELATIONS,
    ROLES,
)


class Spans(dy.Schema):
    """One run of text in one font, with its position on the page."""

    document_id = key_column("document")
    page = dy.Int32(primary_key=True, min=1, description="1-based PDF page")
    span_ix = dy.Int32(
        primary_key=True, min=0, description="position of the span on its page in the PDF's own (content stream) order"
    )
    text = text_column("text as extracted")
    font = text_column("font name")
    size_pt = points_column("font size")
    is_bold = dy.Bool(description="whether the span is bold, by font flags or font name")
    is_italic = dy.Bool(description="whether the span is italic, by font flags or font name")
    color = dy.Int32(description="text color as 0xRRGGBB")
    x0_pt = points_column("left")
    y0_pt = points_column("top")
    x1_pt = points_column("right")
    y1_pt = points_column("bottom")


class Elements(dy.Schema):
    """One block of a page (heading, paragraph fragment, list item, table region, form field) with role and order."""

    element_id = key_column("`<document_id>:p<page>:e<element_ix>`, zero-padded")
    document_id = text_column("document")
    page = page_column()
    element_ix = dy.Int32(min=0, description="reading order on the page")
    column_ix = dy.Int32(min=-1, description="0-based text column; -1 spans several columns")
    role = dy.String(regex=one_of(ROLES), description=" | ".join(ROLES))
    role_confidence = fraction_column("confidence of the role")
    text = text_column("text with lines joined and hyphenation undone")
    bbox = bbox_column()
    table_id = text_column("table that contains the element, if any", nullable=True)
    size_pt = points_column("dominant font size")
    is_bold = dy.Bool(description="whether the element's text is bold throughout")


class Tables(dy.Schema):
    """One table: every cell with the full path of its row and column headers."""

    table_id = key_column("`<document_id>:p<page>:t<n>`, zero-padded")
    document_id = text_column("document")
    page = page_column()
    title = text_column("caption or title as printed near the table; may be empty")
    markdown = text_column("the table as Markdown with explicit headers")
    cells = dy.List(
        dy.Struct(
            {
                "row_ix": dy.Int32(),
                "col_ix": dy.Int32(),
                "row_path": dy.String(),
                "col_path": dy.String(),
                "text": dy.String(),
                "bbox": dy.Struct(corner_columns()),
            }
        ),
        description="body cells; a path joins spanning headers with ' > '",
    )
    bbox = bbox_column()
    has_headers = dy.Bool(description="whether the table has a header row or column")
    publisher_id = text_column("the publisher's own number of the table, the same over editions", nullable=True)


class Anchors(dy.Schema):
    """One structural anchor: a printed heading that owns the content after it."""

    anchor_id = key_column("`<document_id>#p<page>.<n>-<key or slug>`, in reading order")
    document_id = text_column("document")
    page = page_column()
    kind = dy.String(regex=one_of(ANCHOR_KINDS), description=" | ".join(ANCHOR_KINDS))
    key = text_column(
        "box_1a, boxes_14-16, line_3, step_4b, code_DD, sec_11-503, …; null for prose headings", nullable=True
    )
    heading = text_column("heading as printed; of a run-in heading only the bold part")
    parent_anchor_id = text_column("enclosing anchor; null at the top of the document", nullable=True)
    form = text_column("form this anchor is about where the document covers several; may be empty")
    perspective = dy.String(regex=one_of(PERSPECTIVES), description="audience of the text around the anchor")
    repeat_ix = dy.Int32(
        min=0, description="0-based number among anchors with the same form, key, parent, heading and page"
    )
    element_id = text_column("element that prints the heading")
    confidence = fraction_column("confidence that this is a heading of this kind")
    source = extraction_source_column()
    bbox = bbox_column()
    publisher_id = text_column("the publisher's own number of the section, the same over editions", nullable=True)
    official_url = text_column("the section on the publisher's web page", nullable=True)


class Faces(dy.Schema):
    """One box printed on a form; repeated copies of the form count once."""

    document_id = key_column("document")
    form = text_column("form, e.g. 1099-DIV")
    revision = text_column("revision of the form")
    box_key = key_column("box_1a, box_12a, …")
    label = text_column("label as printed; empty only where nothing but the key is printed")
    is_unlabelled = dy.Bool(description="whether the form prints the key without a label")
    page = page_column("page of the copy that was read")
    bbox = bbox_column("the box's cell on that page")
    field_names = strings_column("AcroForm field names inside the box")
    confidence = fraction_column("confidence that this is a box of the form")


class Fields(dy.Schema):
    """One fillable field of a form, with the information from its template and the text printed for it."""

    document_id = key_column("document")
    page = dy.Int32(primary_key=True, min=1, description="1-based PDF page")
    field_ix = dy.Int32(
        primary_key=True,
        min=0,
        description="position among the fields of the page, in the order in which they are filled in",
    )
    name = text_column(
        "full name of the form field: the path of its names; the box's key where the face has no form fields"
    )
    kind = dy.String(regex=one_of(FIELD_KINDS), description=" | ".join(FIELD_KINDS))
    copy = text_column("copy of the form that contains the field: A, B, 1, …; empty where there are no copies")
    part = text_column("part of the form: I, II, …; empty where the form has none")
    section = text_column("heading above its line, as printed; may be empty")
    key = text_column("box_1b, line_8b, step_4b; empty for fields without a number, such as a name")
    column = text_column("letter of its column in a table, without brackets; may be empty")
    row = text_column("row of its table where rows are counted: 3, ii; may be empty")
    label = text_column(
        "words printed for its line, box or column, or its accessible description if these are in pieces; may be empty"
    )
    spoken = text_column("the accessible description of the field, as stored; may be empty")
    formula = text_column("how the amount is figured, as stated; empty where it is not")
    source = dy.String(regex=one_of(FIELD_SOURCES), description="source of the key: " + " | ".join(FIELD_SOURCES))
    anchor_id = text_column("anchor of the field's line, box or column; null where none is printed", nullable=True)
    bbox = bbox_column("rectangle to be filled in, points from the top left")


class Sections(dy.Schema):
    """One content element (paragraph, list item, callout, table caption) with its owner, joined across page breaks."""

    element_id = key_column("id of the first element")
    anchor_id = text_column(
        "innermost anchor that owns the element, run-ins included; null before the first heading", nullable=True
    )
    document_id = text_column("document")
    page = page_column("first page")
    paragraph_ix = dy.Int32(min=0, description="reading order in the document")
    role = dy.String(regex=one_of(ROLES), description="role of the first element")
    table_id = text_column("table that this row captions or replaces, if any", nullable=True)
    text = text_column("text with lines joined and hyphenation undone; without a run-in heading's own words")
    source = extraction_source_column()
    element_ids = strings_column("all elements joined into this one, in order")
    pieces = dy.List(
        dy.Struct({"start": dy.Int32(), "end": dy.Int32(), "page": dy.Int32(), **corner_columns()}),
        description="character ranges of `text` with their rectangles, one per printed line",
    )
    publisher_id = text_column("the publisher's own number of the paragraph, the same over editions", nullable=True)


class Links(dy.Schema):
    """One link set by the publisher: its words, its rectangles and its target."""

    document_id = key_column("document")
    page = dy.Int32(primary_key=True, min=1, description="1-based PDF page of the first rectangle")
    link_ix = dy.Int32(primary_key=True, min=0, description="position among the links of the page, from 0")
    bboxes = placed_boxes_column("rectangles, one in each printed line of the link")
    element_id = text_column("content element, or heading, that prints the link; null where none does", nullable=True)
    start = dy.Int32(min=0, nullable=True, description="0-based offset of the link's words in `sections.text`")
    end = dy.Int32(min=1, nullable=True, description="offset after the last character of the link's words")
    text = text_column("the words that the link's rectangles cover")
    kind = dy.String(regex=one_of(LINK_KINDS), description=" | ".join(LINK_KINDS))
    term = text_column(
        "term of the index, or entry of the contents, that the link belongs to; null in running text", nullable=True
    )
    subterm = text_column("terms of the index below that, joined with ', '; may be empty", nullable=True)
    target_page = page_column("page of the target; null outside the document", nullable=True)
    target_y_pt = dy.Float64(nullable=True, description="height of the target on that page, in points from the top")
    target_publisher_id = text_column("the publisher's own number of the target", nullable=True)
    target_anchor_id = text_column(
        "heading that begins at the point, or that owns what does; null if unsure", nullable=True
    )
    target_element_id = text_column(
        "element that begins at the point, or has a line there; null if unsure", nullable=True
    )
    target_table_id = text_column("table whose caption begins at the point", nullable=True)
    target_irs_name = text_column("the IRS's file stem of the target document", nullable=True)
    url = text_column("address of the web or of mail; null inside the document", nullable=True)


class References(dy.Schema):
    """One reference in the text; lists and ranges give one row per target."""

    document_id = text_column("document")
    page = page_column("page of the evidence")
    element_id = key_column("content element of `sections` that contains the reference")
    anchor_id = text_column("innermost anchor that owns the element", nullable=True)
    start = dy.Int32(primary_key=True, min=0, description="0-based offset of the evidence in `sections.text`")
    end = dy.Int32(min=1, description="offset after the last character of the evidence")
    mention_start = dy.Int32(
        primary_key=True, min=0, description="0-based offset of the mention itself in `sections.text`"
    )
    mention_end = dy.Int32(min=1, description="offset after the last character of the mention")
    kind = dy.String(primary_key=True, regex=one_of(REFERENCE_KINDS), description=" | ".join(REFERENCE_KINDS))
    target = key_column(
        "normalized target: box_1b, Pub. 550, Form 1099-R, IRC 1202, a heading or address as printed, …"
    )
    target_form = text_column(
        "form that the target box or line is on; empty for the document's own form", nullable=True
    )
    evidence = text_column("sentence or clause that contains the reference, a verbatim slice of `sections.text`")
    is_self = dy.Bool(description="whether the text mentions the box or form that it is about")
    relation = dy.String(regex=one_of(RELATIONS), description=" | ".join(RELATIONS))
    polarity = dy.String(
        regex=one_of(POLARITIES), description="positive, or negative if the sentence negates or forbids"
    )
    confidence = fraction_column("confidence of kind, target and relation together")
    rule_id = text_column("rule that decided the relation")
    created_by = dy.String(regex=one_of(CREATED_BY), description=" | ".join(CREATED_BY))
    resolved_by = dy.String(
        nullable=True,
        regex=one_of(("link",)),
        description="origin of the target: rule or llm; link if the publisher's link gives it",
    )
    target_anchor_id = text_column("heading that the link leads to", nullable=True)
    target_element_id = text_column("element that the link leads to", nullable=True)
    target_table_id = text_column("table that the link leads to", nullable=True)
    target_publisher_id = text_column("the publisher's own number of the link's target", nullable=True)
    target_url = text_column("address that the link leads to", nullable=True)

    @dy.rule()
    def end_is_after_start(cls) -> pl.Expr:
        """Require that `end` is after `start`."""
        return cls.end.col > cls.start.col

    @dy.rule()
    def mention_is_in_evidence(cls) -> pl.Expr:
        """Require that the mention is within the evidence."""
        return (cls.mention_start.col >= cls.start.col) & (cls.mention_end.col <= cls.end.col)
