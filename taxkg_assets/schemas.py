"""Every table's schema, one class per table, in pipeline order.

The leaf that everything may import: what a column means is said here once, and the Dagster UI, the documentation
and the contract checks read it from here. Only Delta-safe types: no unsigned integers, no categories, no enums, no
fixed-size arrays, no nanoseconds.

Conventions: `_id` is a reference, `_ix` a 0-based order, `page` a 1-based PDF page, `start`/`end` half-open character
offsets, `_pt` PDF points with the origin at the top left of the page, `_at` a UTC time.
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar, cast

import dataframely as dy
import numpy as np
import polars as pl

Table = TypeVar("Table", bound=dy.Schema)
# How dataframely names the rules of a column that ask for nothing but finite and present values.
_KEPT_BY_WHOLE_FRAMES = ("nullability", "nan", "inf")
RERANKERS = ("late", "cross")
ROLES = (
    "DocTitle",
    "SectionHeader",
    "SubsectionHeader",
    "BoxHeader",
    "BodyText",
    "ListBlock",
    "TableBlock",
    "Callout",
    "FormField",
    "PageArtifact",
)
LAW_STRENGTHS = ("corrupt", "incomplete")
LAW_OUTCOMES = ("passed", "flagged", "withheld")
DOC_TYPES = ("form", "filer_instructions", "recipient_instructions", "publication", "statute", "other")
PERSPECTIVES = ("face", "filer", "recipient", "publication", "statute", "other")
READING_SOURCES = ("tags", "layout", "both")
PAGE_SOURCES = ("tags", "template", "layout")
FIELD_KINDS = ("text", "checkbox", "choice", "signature")
FIELD_SOURCES = ("template", "layout")
ANCHOR_KINDS = ("box", "box_group", "section", "subsection", "runin", "part", "line", "column", "statute_section")
REFERENCE_KINDS = (
    "box",
    "line",
    "section",
    "form",
    "publication",
    "irc_section",
    "regulation",
    "notice_or_ruling",
    "url",
    "statute_section",
)
LINK_KINDS = ("section", "index", "contents", "table", "document", "url")
RELATIONS = ("references", "includes", "excludes", "defines", "applies_if", "qualifies", "requires", "portion_of")
NODE_LEVELS = ("document", "anchor", "paragraph", "sentence", "table", "external")
PLAIN_RELATIONS = tuple(f"references_{kind}" for kind in REFERENCE_KINDS)
SEMANTIC_RELATIONS = RELATIONS[1:]
STRUCTURAL_RELATIONS = (
    "parent_of",
    "follows",
    "part_of_group",
    "same_field",
    "same_field_other_revision",
    "same_concept",
    "supersedes",
)
EDGE_RELATIONS = (*STRUCTURAL_RELATIONS, *PLAIN_RELATIONS, *SEMANTIC_RELATIONS, "external_ref")
CHANGE_NATURES = (
    "structure",
    "amounts",
    "dates",
    "references",
    "wording",
    "years",
    "edition",
    "pages",
    "editorial",
    "moved",
)
_REVISION_KIND = (
    "^((box|line|code|section) (added|removed|renamed|renumbered)|(text|row) (added|removed|changed)|moved)$"
)
CHUNK_LEVELS = ("document", "page", "section", "paragraph", "table")
CHUNK_STATUSES = ("accepted", "refine", "rejected")
REVIEW_DECISIONS = ("accepted", "rejected")
POLARITIES = ("positive", "negative")
CREATED_BY = ("structural", "regex", "rule", "llm")
REGISTERS = ("plain", "lay", "terse", "professional", "scenario")
ASKED_BY = ("rule", "llm", "written")
PAIR_KINDS = ("hierarchical", "cross_reference", "same_field", "semantic", "definition", "table", "scenario")
SPLITS = ("train", "dev")
NEGATIVE_SOURCES = ("bm25", "dense", "sibling_box", "other_form", "other_year", "negated")
QUERY_TYPES = (
    "exact_anchor",
    "concept",
    "procedural",
    "scenario",
    "comparative",
    "edge_case",
    "table_value",
    "unanswerable",
)


@cache
def dtypes(schema: type[dy.Schema]) -> pl.Schema:
    """Give a table's columns with their types; worked out once a process, every document needs them."""
    return empty(schema).schema


@cache
def empty(schema: type[Table]) -> dy.DataFrame[Table]:
    """Give a table without rows; worked out once a process, as most documents lack some tables."""
    return schema.create_empty()


def validated(frame: pl.DataFrame, schema: type[Table]) -> dy.DataFrame[Table]:
    """Validate a frame as `schema.validate` does, and fail as it does, in a quarter of the time.

    All rules are asked in one selection, whose expressions are worked out once a process; only a frame that breaks one
    is given to dataframely, which plans the query anew each time and tells which rows are at fault.
    """
    if frame.schema == dtypes(schema):
        if not frame.height:
            return empty(schema)
        laws = _laws_of(schema, is_whole=_is_whole(frame, schema))
        if not laws or all(frame.select(laws).row(0)):
            return cast("dy.DataFrame[Table]", frame)
    return schema.validate(frame)


@cache
def _laws_of(schema: type[dy.Schema], *, is_whole: bool) -> list[pl.Expr]:
    """Give a table's rules, each as one truth about all rows; as in dataframely a rule that meets a null passes.

    Four of five rules ask for one column that no value is missing or no number infinite: a whole frame keeps them.
    """
    rules = schema._validation_rules(with_cast=False)
    return [
        rule.expr.all().alias(name)
        for name, rule in rules.items()
        if not (is_whole and "|" in name and name.endswith(_KEPT_BY_WHOLE_FRAMES))
    ]


def _is_whole(frame: pl.DataFrame, schema: type[dy.Schema]) -> bool:
    """Decide whether no value is missing that has to be there, and every number is finite."""
    columns = schema.columns()
    return all(_holds_all(series, may_miss=columns[series.name].nullable) for series in frame.get_columns())


def _holds_all(series: pl.Series, *, may_miss: bool = False) -> bool:
    if series.null_count():
        if not may_miss:
            return False
        if not (series.dtype.is_nested() or series.dtype.is_float()):
            return True
        series = series.drop_nulls()
    if isinstance(series.dtype, pl.List):
        return _holds_all(series.explode(empty_as_null=False))
    if isinstance(series.dtype, pl.Struct):
        return all(map(_holds_all, series.struct.unnest().get_columns()))
    return not series.dtype.is_float() or bool(np.isfinite(series.to_numpy()).all())


def _one_of(values: tuple[str, ...]) -> str:
    """A pattern, not a callable check: patterns let a schema make samples of itself."""
    return f"^({'|'.join(values)})$"


def _text(description: str, *, nullable: bool = False) -> dy.String:
    return dy.String(nullable=nullable, description=description)


def _key(description: str) -> dy.String:
    return dy.String(primary_key=True, min_length=1, description=description)


def _page(description: str = "1-based PDF page", *, nullable: bool = False) -> dy.Int32:
    return dy.Int32(min=1, nullable=nullable, description=description)


def _pt(description: str) -> dy.Float64:
    return dy.Float64(description=description)


def _frac(description: str) -> dy.Float64:
    return dy.Float64(min=0.0, max=1.0, description=description)


def _corners() -> dict[str, dy.Column]:
    return {"x0_pt": dy.Float64(), "y0_pt": dy.Float64(), "x1_pt": dy.Float64(), "y1_pt": dy.Float64()}


def _bbox(description: str = "rectangle on the page, points from the top left") -> dy.Struct:
    return dy.Struct(_corners(), description=description)


def _placed_boxes(description: str) -> dy.List:
    return dy.List(dy.Struct({"page": dy.Int32(), **_corners()}), description=description)


def _reading_source() -> dy.String:
    text = "what tells it: the publisher's structure tags, the layout of the page, or both, which agree"
    return dy.String(regex=_one_of(READING_SOURCES), description=text)


def _strings(description: str) -> dy.List:
    return dy.List(dy.String(), description=description)


# ---------------------------------------------------------------------------------------------------- sources


class Documents(dy.Schema):
    """One PDF (or .txt statute) that was admitted: it opened, it was read, and its tables keep the laws."""

    document_id = _key("file name without extension; `<irs name>--<revision>` for fetched files")
    irs_name = _text("the IRS's own file stem, e.g. f1099div; empty where there is none")
    form = _text("form or publication the document is about, e.g. 1099-DIV; several joined by ' and '; may be empty")
    doc_type = dy.String(regex=_one_of(DOC_TYPES), description=" | ".join(DOC_TYPES))
    revision = _text("revision as YYYY-MM or YYYY; empty where the document states none")
    tax_year = dy.Int32(nullable=True, description="tax year the document speaks of; null for continuous use")
    is_draft = dy.Bool(description="the pages say that this is a draft, not for filing")
    title = _text("title as printed on the first page")
    tier = dy.Int32(min=1, max=3, description="weight: whose chunks a person looks at first, 1 before 2 before 3")
    produced_on = dy.String(
        regex=r"^(\d{4}-\d\d-\d\d)?$", description="day on which the file says it was made, or empty"
    )
    sha256 = dy.String(regex=r"^[0-9a-f]{64}$", description="SHA-256 of the file's bytes")
    page_count = dy.Int32(min=1, description="pages")
    source_uri = _text("where the bytes came from")
    source_root = _text("folder (or file) given as a source that this document belongs to")
    code_version = _text("version of the extraction code and rules that read it")
    warnings = _strings("repairs and oddities met while reading, e.g. a rebuilt cross-reference table")
    image_only_pages = dy.List(dy.Int32(), description="pages without any text: scanned or blank")
    hidden_texts = dy.List(
        dy.Struct(
            {"page": dy.Int32(), "kind": dy.String(), "text": dy.String(), "is_order": dy.Bool(), **_corners()},
        ),
        description="text that nobody can see, left out of all tables, and text that gives orders to programs",
    )
    page_sources = dy.List(
        dy.Struct(
            {
                "page": dy.Int32(min=1),
                "source": dy.String(regex=_one_of(PAGE_SOURCES)),
                "reason": dy.String(),
            }
        ),
        description="what each page was read by: tags, template or layout; the reason where its tags are not trusted",
    )
    page_url = _text("official web page of the product; null where it is none of the IRS's", nullable=True)
    pdf_url = _text("official address of the PDF of this revision", nullable=True)
    fetched_at = dy.Datetime(time_unit="us", time_zone="UTC", description="when these bytes were first seen")


class Quarantine(dy.Schema):
    """A document that could not be processed: rows of an older, sound version stay in the other tables."""

    document_id = _key("file name without extension")
    sha256 = _text("SHA-256 of the offending bytes; a digest of the reason where the file stays out unread")
    source_uri = _text("where the bytes came from")
    stage = _text("stage that refused: open, spans, elements, …, or limits")
    reason = _text("what was wrong, one sentence")
    remedy = _text("what to do about it, one sentence")
    is_law = dy.Bool(description="withheld because a law was broken (as opposed to an unreadable file)")
    code_version = _text("version of the extraction code and rules that refused it")
    first_seen_at = dy.Datetime(time_unit="us", time_zone="UTC", description="when these bytes were first refused")


class DocumentQuality(dy.Schema):
    """One document and one law about documents: kept, broken but served with a flag, or broken and withheld."""

    document_id = _key("document")
    law = _key("name of the law")
    strength = dy.String(
        regex=_one_of(LAW_STRENGTHS),
        description="what a broken law does: corrupt withholds the document, incomplete flags it",
    )
    outcome = dy.String(regex=_one_of(LAW_OUTCOMES), description=" | ".join(LAW_OUTCOMES))
    rows = dy.Int32(min=0, description="rows that break the law")
    message = _text("what was found, one sentence; empty where the law was kept")
    examples = _strings("the first rows that break the law")
    remedy = _text("what to do about it, one sentence; empty where the law was kept")

    @dy.rule()
    def a_kept_law_has_no_rows(cls) -> pl.Expr:
        return (pl.col("outcome") == "passed") == (pl.col("rows") == 0)

    @dy.rule()
    def only_a_corrupt_document_is_withheld(cls) -> pl.Expr:
        return (pl.col("outcome") == "passed") | (
            (pl.col("outcome") == "withheld") == (pl.col("strength") == "corrupt")
        )


# ------------------------------------------------------------------------------------------------- extraction


class Spans(dy.Schema):
    """One run of text in one font, with its place on the page."""

    document_id = _key("document")
    page = dy.Int32(primary_key=True, min=1, description="1-based PDF page")
    span_ix = dy.Int32(primary_key=True, min=0, description="order on the page as stored in the PDF")
    text = _text("text as extracted")
    font = _text("font name")
    size_pt = _pt("font size")
    is_bold = dy.Bool(description="bold by font flags or font name")
    is_italic = dy.Bool(description="italic by font flags or font name")
    color = dy.Int32(description="text colour as 0xRRGGBB")
    x0_pt = _pt("left")
    y0_pt = _pt("top")
    x1_pt = _pt("right")
    y1_pt = _pt("bottom")


class Elements(dy.Schema):
    """One block of a page (heading, paragraph fragment, list item, table region, form field) with role and order."""

    element_id = _key("`<document_id>:p<page>:e<element_ix>`, zero-padded")
    document_id = _text("document")
    page = _page()
    element_ix = dy.Int32(min=0, description="reading order on the page")
    column_ix = dy.Int32(min=-1, description="0-based text column; -1 spans several columns")
    role = dy.String(regex=_one_of(ROLES), description=" | ".join(ROLES))
    role_confidence = _frac("confidence of the role")
    text = _text("text with lines joined and hyphenation undone")
    bbox = _bbox()
    table_id = _text("table that the element lies in, if any", nullable=True)
    size_pt = _pt("dominant font size")
    is_bold = dy.Bool(description="the element's text is bold throughout")


class Tables(dy.Schema):
    """One table: every cell with the full path of its row and column headers."""

    table_id = _key("`<document_id>:p<page>:t<n>`, zero-padded")
    document_id = _text("document")
    page = _page()
    title = _text("caption or title as printed near the table; may be empty")
    markdown = _text("the table as Markdown with explicit headers")
    cells = dy.List(
        dy.Struct(
            {
                "row_ix": dy.Int32(),
                "col_ix": dy.Int32(),
                "row_path": dy.String(),
                "col_path": dy.String(),
                "text": dy.String(),
                "bbox": dy.Struct(_corners()),
            }
        ),
        description="body cells; a path joins spanning headers with ' > '",
    )
    bbox = _bbox()
    has_headers = dy.Bool(description="the table has a header row or column")
    publisher_id = _text("the publisher's own number of the table, the same over editions", nullable=True)


class Anchors(dy.Schema):
    """One structural anchor: a printed heading that owns the content after it."""

    anchor_id = _key("`<document_id>#p<page>.<n>-<key or slug>`, in reading order")
    document_id = _text("document")
    page = _page()
    kind = dy.String(regex=_one_of(ANCHOR_KINDS), description=" | ".join(ANCHOR_KINDS))
    key = _text("box_1a, boxes_14-16, line_3, step_4b, code_DD, sec_11-503, …; null for prose headings", nullable=True)
    heading = _text("heading as printed; of a run-in heading only the bold part")
    parent_anchor_id = _text("enclosing anchor; null at the top of the document", nullable=True)
    form = _text("form this anchor speaks of where the document covers several; may be empty")
    perspective = dy.String(regex=_one_of(PERSPECTIVES), description="whom the text around the anchor addresses")
    repeat_ix = dy.Int32(min=0, description="number of earlier anchors equal in form, key, parent, heading and page")
    element_id = _text("element that prints the heading")
    confidence = _frac("confidence that this is a heading of this kind")
    source = _reading_source()
    bbox = _bbox()
    publisher_id = _text("the publisher's own number of the section, the same over editions", nullable=True)
    official_url = _text("the section on the publisher's web page", nullable=True)


class Faces(dy.Schema):
    """One box printed on a form's face; the copies of a form count once."""

    document_id = _key("document")
    form = _text("form, e.g. 1099-DIV")
    revision = _text("revision of the form")
    box_key = _key("box_1a, box_12a, …")
    label = _text("label as printed; empty only where nothing but the key is printed")
    is_unlabelled = dy.Bool(description="the face prints the key without a label")
    page = _page("page of the copy that was read")
    bbox = _bbox("the box's cell on that page")
    field_names = _strings("AcroForm field names inside the box")
    confidence = _frac("confidence that this is a box of the form")


class Fields(dy.Schema):
    """One fillable field of a form, with what its template says of it and the words printed for it."""

    document_id = _key("document")
    page = dy.Int32(primary_key=True, min=1, description="1-based PDF page")
    field_ix = dy.Int32(
        primary_key=True, min=0, description="place among the fields of the page, as they are filled in"
    )
    name = _text("full name of the form field: the path of its names; the box's key where the face has no form fields")
    kind = dy.String(regex=_one_of(FIELD_KINDS), description=" | ".join(FIELD_KINDS))
    copy = _text("copy of the form that holds it: A, B, 1, …; empty where there are no copies")
    part = _text("part of the form: I, II, …; empty where the form has none")
    section = _text("heading that its line stands under, as printed; may be empty")
    key = _text("box_1b, line_8b, step_4b; empty for fields without a number, such as a name")
    column = _text("letter of its column in a table, without brackets; may be empty")
    row = _text("row of its table where rows are counted: 3, ii; may be empty")
    label = _text("words printed for its line, box or column; the spoken ones where print is in pieces; may be empty")
    spoken = _text("what the field says of itself to be heard, as stored; may be empty")
    formula = _text("how the amount is figured, as stated; empty where it is not")
    source = dy.String(regex=_one_of(FIELD_SOURCES), description="what told the key: " + " | ".join(FIELD_SOURCES))
    anchor_id = _text("anchor of its line, box or column; null where none is printed", nullable=True)
    bbox = _bbox("rectangle to be filled in, points from the top left")


class Sections(dy.Schema):
    """One content element (paragraph, list item, callout, table caption), whole across breaks, and its owner."""

    element_id = _key("id of the element where it begins")
    anchor_id = _text("innermost anchor that owns it, run-ins included; null before the first heading", nullable=True)
    document_id = _text("document")
    page = _page("page where it begins")
    paragraph_ix = dy.Int32(min=0, description="reading order in the document")
    role = dy.String(regex=_one_of(ROLES), description="role of the element where it begins")
    table_id = _text("table that this row captions or stands for, if any", nullable=True)
    text = _text("text with lines joined and hyphenation undone; without a run-in heading's own words")
    source = _reading_source()
    element_ids = _strings("all elements joined into this one, in order")
    pieces = dy.List(
        dy.Struct({"start": dy.Int32(), "end": dy.Int32(), "page": dy.Int32(), **_corners()}),
        description="ranges of `text` and the rectangle each stands in, one per printed line",
    )
    publisher_id = _text("the publisher's own number of the paragraph, the same over editions", nullable=True)


class Links(dy.Schema):
    """One link as the publisher set it: its words, its rectangles, and what it leads to."""

    document_id = _key("document")
    page = dy.Int32(primary_key=True, min=1, description="1-based PDF page where it begins")
    link_ix = dy.Int32(primary_key=True, min=0, description="order on the page")
    bboxes = _placed_boxes("its rectangles: one in each line that it runs over")
    element_id = _text("content element, or heading, that prints it; null where none does", nullable=True)
    start = dy.Int32(min=0, nullable=True, description="first character of its words in the element's text")
    end = dy.Int32(min=1, nullable=True, description="one past the last character")
    text = _text("the words that its rectangles cover")
    kind = dy.String(regex=_one_of(LINK_KINDS), description=" | ".join(LINK_KINDS))
    term = _text("term of the index, or entry of the contents, that it belongs to; null in running text", nullable=True)
    subterm = _text("terms of the index below that, joined with ', '; may be empty", nullable=True)
    target_page = _page("page that it leads to; null outside the document", nullable=True)
    target_y_pt = dy.Float64(nullable=True, description="height of the point there, from the top of the page")
    target_publisher_id = _text("the publisher's own number of the target", nullable=True)
    target_anchor_id = _text("heading that begins at the point, or that owns what does; null if unsure", nullable=True)
    target_element_id = _text("element that begins at the point, or has a line there; null if unsure", nullable=True)
    target_table_id = _text("table whose caption begins at the point", nullable=True)
    target_irs_name = _text("the IRS's own file stem of the document that it leads to", nullable=True)
    url = _text("address of the web or of mail; null inside the document", nullable=True)


class References(dy.Schema):
    """One place where the text points at something; lists and ranges give one row per target."""

    document_id = _text("document")
    page = _page("page of the evidence")
    element_id = _key("content element that speaks")
    anchor_id = _text("innermost anchor that owns the element", nullable=True)
    start = dy.Int32(primary_key=True, min=0, description="first character of the evidence in the element's text")
    end = dy.Int32(min=1, description="one past the last character")
    mention_start = dy.Int32(primary_key=True, min=0, description="first character of the mention itself")
    mention_end = dy.Int32(min=1, description="one past the mention's last character")
    kind = dy.String(primary_key=True, regex=_one_of(REFERENCE_KINDS), description=" | ".join(REFERENCE_KINDS))
    target = _key("normalised target: box_1b, Pub. 550, Form 1099-R, IRC 1202, a heading as printed, …")
    target_form = _text("form that the target box or line is on; empty for the own form", nullable=True)
    evidence = _text("sentence or clause that points, a verbatim slice of the element's text")
    is_self = dy.Bool(description="a mention of the own box or form")
    relation = dy.String(regex=_one_of(RELATIONS), description=" | ".join(RELATIONS))
    polarity = dy.String(regex=_one_of(POLARITIES), description="negative where the sentence negates or forbids")
    confidence = _frac("confidence of kind, target and relation together")
    rule_id = _text("rule that decided the relation")
    created_by = dy.String(regex=_one_of(CREATED_BY), description=" | ".join(CREATED_BY))
    resolved_by = dy.String(
        nullable=True, regex=_one_of(("link",)), description="link: the publisher's link says where it leads"
    )
    target_anchor_id = _text("heading that the link leads to", nullable=True)
    target_element_id = _text("element that the link leads to", nullable=True)
    target_table_id = _text("table that the link leads to", nullable=True)
    target_publisher_id = _text("the publisher's own number of the link's target", nullable=True)
    target_url = _text("address that the link leads to", nullable=True)

    @dy.rule()
    def end_is_after_start(cls) -> pl.Expr:
        return cls.end.col > cls.start.col

    @dy.rule()
    def mention_lies_in_evidence(cls) -> pl.Expr:
        return (cls.mention_start.col >= cls.start.col) & (cls.mention_end.col <= cls.end.col)


# ------------------------------------------------------------------------------------------------------ graph


class Registry(dy.Schema):
    """One box of one form revision."""

    document_id = _key("document whose face prints the box")
    form = _text("form, e.g. 1099-DIV")
    revision = _text("revision of the form")
    box_key = _key("box_1a, …")
    canonical_id = _text("`<form>/<revision>/<box_key>`: the field's identity within one form revision")
    label = _text("label as printed on the face; empty only where the face prints none")
    aliases = _strings("other names: abbreviations, headings in the instructions, defined terms")
    group_id = _text("group that the box belongs to (2 for 2a–2f, 14–16), if any", nullable=True)
    history = _strings("identities of the field on the form's older faces, the next older first")
    source = _text("where the row comes from, `<document_id>:p<page>`")
    confidence = _frac("confidence carried over from the face")


class Nodes(dy.Schema):
    """One document, anchor, paragraph, sentence of a dense one, table or external thing that the graph speaks of."""

    node_id = _key("document_id, anchor_id, element_id, table_id, `<element_id>:s<start>` or `ext:<kind>:<target>`")
    document_id = _text("document; null for external nodes", nullable=True)
    perspective = dy.String(nullable=True, regex=_one_of(PERSPECTIVES), description=" | ".join(PERSPECTIVES))
    level = dy.String(regex=_one_of(NODE_LEVELS), description=" | ".join(NODE_LEVELS))
    parent_id = _text("node above it in its document's tree", nullable=True)
    anchor_key = _text("key of the innermost keyed anchor, e.g. box_1a", nullable=True)
    canonical_id = _text("registry identity where the node belongs to a box", nullable=True)
    heading_path = _text("document title and headings down to the node, joined with ' > '")
    text = _text("text of the node; a heading's own words for an anchor")
    concepts = _strings("registry labels, aliases and defined terms that the text uses")
    page = _page("page where it begins; null for external nodes", nullable=True)
    bboxes = _placed_boxes("rectangles it covers; empty for external nodes")
    ordinal = dy.Int32(min=0, description="reading order in the document")


class Edges(dy.Schema):
    """One typed relation between two nodes, with the place that says so."""

    source_id = _key("node that speaks")
    target_id = _key("node spoken of")
    relation = dy.String(primary_key=True, regex=_one_of(EDGE_RELATIONS), description=" | ".join(EDGE_RELATIONS))
    start = dy.Int32(primary_key=True, min=0, description="first character of the evidence; 0 for structural edges")
    end = dy.Int32(min=0, description="one past the last character; 0 for structural edges")
    element_id = _text("content element that holds the evidence; null for structural edges", nullable=True)
    polarity = dy.String(regex=_one_of(POLARITIES), description="negative where the text negates or forbids")
    confidence = _frac("confidence of the relation")
    evidence = _text("verbatim slice of the element's text; empty for structural edges")
    page = _page("page of the evidence; null for structural edges", nullable=True)
    created_by = dy.String(regex=_one_of(CREATED_BY), description=" | ".join(CREATED_BY))
    rule_id = _text("rule that made the edge")


class Revisions(dy.Schema):
    """One change between two consecutive revisions of a form, its instructions or a publication."""

    irs_name = _text("the IRS's own file stem of both documents, e.g. f1099nec")
    form = _text("form or publication, e.g. 1099-NEC")
    from_revision = _text("older revision")
    to_revision = _text("newer revision; the same where two builds of one revision differ")
    from_document_id = _key("older document")
    to_document_id = _key("newer document")
    change_ix = dy.Int32(primary_key=True, min=0, description="order of the report: boxes, then as the newer one reads")
    kind = dy.String(regex=_REVISION_KIND, description="box added, removed, renamed, renumbered; text changed; …")
    key = _text("box, line or code that it falls under, e.g. box_1a; empty for prose")
    from_key = _text("its key in the older revision where it was renumbered; else empty")
    heading_path = _text("headings down to the place, joined with ' > '")
    perspective = dy.String(regex=_one_of(PERSPECTIVES), description=" | ".join(PERSPECTIVES))
    before = _text("older wording, verbatim; its pieces (lines, cells) one a line; empty where added")
    after = _text("newer wording, verbatim; empty where removed")
    words = dy.List(
        dy.Struct(
            {
                "before_start": dy.Int32(),
                "before_end": dy.Int32(),
                "after_start": dy.Int32(),
                "after_end": dy.Int32(),
                "nature": dy.String(),
            }
        ),
        description="stretches of `before` and `after` that differ, and what each is about",
    )
    nature = dy.String(regex=_one_of(CHANGE_NATURES), description=" | ".join(CHANGE_NATURES))
    is_routine = dy.Bool(description="nobody has to act on it: years rolled on, page numbers, editing, moved text")
    before_places = _placed_boxes("rectangles of the older words")
    after_places = _placed_boxes("rectangles of the newer words")
    evidence = _text("`<element, heading, table or box>:<start>-<end>` of the words, older → newer")


# --------------------------------------------------------------------------------------------------- chunking


class Chunks(dy.Schema):
    """One retrieval unit: verbatim text, the context it needs to be understood, and its place."""

    chunk_id = _key("`<level>:<first node id>` with a number where a node is split")
    document_id = _text("document")
    chunk_ix = dy.Int32(min=0, description="reading order in the document")
    anchor_id = _text("innermost anchor that owns the text; null before the first heading", nullable=True)
    anchor_key = _text("key of the innermost keyed anchor, e.g. box_1a", nullable=True)
    heading_path = _text("document title and headings down to the anchor, joined with ' > '")
    form = _text("form the text speaks of: the anchor's, else the document's; may be empty")
    perspective = dy.String(regex=_one_of(PERSPECTIVES), description=" | ".join(PERSPECTIVES))
    node_ids = _strings("nodes whose text the chunk holds, in order")
    parent_id = _text("node that is handed over in its stead when more context is wanted", nullable=True)
    level = dy.String(regex=_one_of(CHUNK_LEVELS), description=" | ".join(CHUNK_LEVELS))
    text = _text("verbatim text")
    context = _text("context prefix: document, form, revision, perspective, heading path")
    token_count = dy.Int32(min=0, description="tokens of the text, estimated from its words and their lengths")
    page = _page("page where it begins")
    bboxes = _placed_boxes("rectangles of the text")
    status = dy.String(regex=_one_of(CHUNK_STATUSES), description=" | ".join(CHUNK_STATUSES))
    quality = _frac("quality score of the chunker")
    reason = _text("why it is not accepted, or who decided that it is; empty for structural units")
    tags = _strings("subjects of a unit that was cut by meaning")
    entities = _strings("boxes, forms, laws, amounts, dates that such a unit names")
    boundary_confidence = _frac("confidence of the boundary that it begins at; 1 for structural units")
    refinements = dy.Int32(min=0, description="cycles of refinement that its document went through; 2 were forced")
    created_by = dy.String(regex=_one_of(CREATED_BY), description=" | ".join(CREATED_BY))


class Reviews(dy.Schema):
    """One person's decision on a chunk that the validation did not accept; it holds while the text is the same."""

    chunk_id = _key("chunk that was decided on")
    text_hash = _key("SHA-256 of its text, shortened")
    document_id = _text("document")
    decision = dy.String(regex=_one_of(REVIEW_DECISIONS), description=" | ".join(REVIEW_DECISIONS))
    reason = _text("in the reviewer's words; may be empty")
    decided_at = dy.Datetime(time_unit="us", time_zone="UTC", description="when it was decided")


# --------------------------------------------------------------------------------------------------- training


class ScenarioQueries(dy.Schema):
    """One question that somebody might ask, and the passage that answers it."""

    query_id = _key("`<generator>:<hash of question and passage>`; of a written question its own id")
    query = _text("the question")
    node_id = _text("paragraph or table that answers it")
    chunk_id = _text("passage that holds the answer")
    also = _strings("other passages that answer it as well, as its writer says")
    document_id = _text("document of the passage")
    family = _text("form family of the document; a split never cuts through one")
    register = dy.String(regex=_one_of(REGISTERS), description=" | ".join(REGISTERS))
    generator = _text("rule that made the question, `model`, or `written`")
    evidence = _text("words of the passage that the question was made from; empty for a written one")
    round_trip_rank = dy.Int32(min=1, description="rank of the own passage by the better of both")
    lexical_rank = dy.Int32(min=1, description="rank by BM25 alone")
    dense_rank = dy.Int32(min=1, description="rank by the encoder alone")
    overlaps = _text("evaluation question that it repeats, and why no pair is made of it; empty for nearly all")
    created_by = dy.String(regex=_one_of(ASKED_BY), description=" | ".join(ASKED_BY))


class Pairs(dy.Schema):
    """One question or short text and the passage that belongs to it, as a model learns them."""

    pair_id = _key("`<kind>:<hash of both texts>`")
    kind = dy.String(regex=_one_of(PAIR_KINDS), description=" | ".join(PAIR_KINDS))
    query = _text("short side: a question, a heading, a sentence that points, a term")
    passage = _text("long side as the index embeds it: context, then text")
    query_node_id = _text("node that the short side is from; null where it is a question", nullable=True)
    passage_node_id = _text("node that the long side is from")
    chunk_id = _text("passage")
    also = _strings("other passages that belong to the short side as well: never negatives of it")
    document_id = _text("document of the passage")
    query_family = _text("form family that the short side is from")
    family = _text("form family of the passage's document; a split never cuts through one")
    split = dy.String(regex=_one_of(SPLITS), description=" | ".join(SPLITS))
    relation = _text("relation of the edge that made the pair; empty where none did")
    polarity = dy.String(regex=_one_of(POLARITIES), description="negative where the sentence negates or forbids")
    weight = _frac("what the pair counts in training: the confidence of what made it, shared among its twins")
    source = _text("edge (`source>relation>target@start`), question or rule that made the pair")
    twin_group = _text("passages that say the same in other years and places: id of the first of them")
    is_sound = dy.Bool(nullable=True, description="the judge's verdict; null outside the judged sample")
    judged_by = _text("rules or a model's name; empty outside the judged sample")
    judgement = _text("the judge's reason; empty outside the judged sample")


class HardNegatives(dy.Schema):
    """One passage that looks as if it belonged to a pair's short side, and does not."""

    pair_id = _key("pair")
    rank = dy.Int32(primary_key=True, min=0, description="0-based order, the hardest first")
    node_id = _text("paragraph or table of the passage")
    chunk_id = _text("passage")
    document_id = _text("document of the passage")
    family = _text("form family of the document")
    passage = _text("the passage as the index embeds it")
    source = dy.String(regex=_one_of(NEGATIVE_SOURCES), description=" | ".join(NEGATIVE_SOURCES))
    score = dy.Float64(description="cosine of the short side and this passage")
    positive_score = dy.Float64(description="cosine of the short side and the pair's own passage")
    likeness = dy.Float64(description="cosine of this passage and the pair's own")
    distance = dy.Int32(nullable=True, min=1, description="steps in the graph from the pair's passage; null beyond 3")
    reason = _text("edge or rule that names it, e.g. the `excludes` that negates it; empty for a search result")
    is_false = dy.Bool(nullable=True, description="the judge: it answers after all; null outside the judged sample")
    judged_by = _text("rules or a model's name; empty outside the judged sample")
    judgement = _text("the judge's reason; empty outside the judged sample")


class Model(dy.Schema):
    """One trained encoder, measured against its base on form families that it has not seen."""

    name = _key("`encoder-` and the beginning of its hash")
    path = _text("folder, relative to the home")
    base = _text("model that it was tuned from")
    base_hash = _text("SHA-256 of the base's weights, shortened")
    sha256 = _text("SHA-256 of the weights")
    settings = _text("JSON object: how it was trained")
    pairs = dy.Int32(min=1, description="pairs it learned from")
    steps = dy.Int32(min=0, description="steps of training, to the end or to the early stop")
    alpha = _frac("share of the tuned weights in the mixture with the base")
    dev_questions = dy.Int32(min=1, description="development questions")
    base_score = _frac("nDCG@10 of the base on the development questions")
    own_score = _frac("nDCG@10 of this model on the same")
    gain = dy.Float64(description="mean difference")
    gain_low = dy.Float64(nullable=True, description="lower end of its interval, by families; null if there is but one")
    gain_high = dy.Float64(nullable=True, description="upper end")
    gain_by_kind = _text("JSON object: gain by kind of question")
    is_chosen = dy.Bool(description="in use from the next build on; otherwise the base is kept")
    reason = _text("why it was chosen or not")


class Reranker(dy.Schema):
    """One model that looks at the best passages a second time, measured in the pipeline against doing without."""

    name = _key("`late` or `cross`, and the beginning of its hash")
    kind = dy.String(regex=_one_of(RERANKERS), description=" | ".join(RERANKERS))
    path = _text("folder, relative to the home; empty where it is the base, or a model by name")
    base = _text("model that it is, or was tuned from")
    sha256 = _text("SHA-256 of the weights; empty for a model by name")
    settings = _text("JSON object: how it was trained")
    depth = dy.Int32(min=1, description="passages that it looks at")
    weight = dy.Float64(min=0, description="what its score counts beside the ranker's")
    dev_questions = dy.Int32(min=1, description="development questions")
    base_score = _frac("nDCG@10 of the pipeline without it")
    own_score = _frac("nDCG@10 of the pipeline with it")
    gain = dy.Float64(description="mean difference")
    gain_low = dy.Float64(nullable=True, description="lower end of its interval, by families; null if there is but one")
    gain_high = dy.Float64(nullable=True, description="upper end")
    gain_by_kind = _text("JSON object: gain by kind of question")
    is_chosen = dy.Bool(description="in use from the next build on")
    reason = _text("why it was chosen or not")


# -------------------------------------------------------------------------------------------------- retrieval


class Summaries(dy.Schema):
    """A document or a page in a few sentences."""

    unit_id = _key("`document:<document_id>` or `page:<document_id>:p<page>`, zero-padded")
    document_id = _text("document")
    level = dy.String(regex="^(document|page)$", description="document | page")
    page = _page("the page; of a document, the first one with text")
    text = _text("sentences: verbatim by rule, in own words and checked by a model")
    evidence = _strings("`element_id:start-end` of each quote that a sentence rests on")
    created_by = dy.String(regex=_one_of(CREATED_BY), description=" | ".join(CREATED_BY))


class Embeddings(dy.Schema):
    """One vector of one text by one model."""

    model_hash = _key("SHA-256 of the model's weights, shortened")
    text_hash = _key("SHA-256 of the embedded text (context and text)")
    vector = dy.List(dy.Float32(), description="unit-length vector")


class Index(dy.Schema):
    """One built version of the search index (a folder of LanceDB tables)."""

    index_version = _key("content hash of everything that went into the index")
    path = _text("folder of the index, relative to the home")
    model_name = _text("encoder")
    model_hash = _text("SHA-256 of the encoder's weights, shortened")
    dimension = dy.Int32(min=1, description="length of the vectors")
    row_count = dy.Int32(min=0, description="rows of the index")
    rows_by_level = _text("JSON object: rows per level")
    self_check_recall = _frac("recall@10 against brute force; a hit is at most as far as the k-th exact one")
    input_versions = _text("JSON object: table name to content hash")
    settings = _text("JSON object: settings that shaped the index")


class Release(dy.Schema):
    """One release: what readers serve. The row with the highest `release_ix` that is not rolled back is current."""

    release_ix = dy.Int32(primary_key=True, min=0, description="0, 1, 2, …")
    index_version = _text("index that this release serves")
    index_path = _text("folder of the index, relative to the home")
    table_versions = _text("JSON object: Delta table name to version number")
    model_name = _text("encoder")
    model_hash = _text("SHA-256 of the encoder's weights, shortened")
    metrics = _text("JSON object: figures of the evaluation that let it pass")
    is_rolled_back = dy.Bool(description="withdrawn by a rollback")
    released_at = dy.Datetime(time_unit="us", time_zone="UTC", description="when it became visible")


# -------------------------------------------------------------------------------------------------------- llm


class LlmCalls(dy.Schema):
    """One call of a language model, kept as it came back: equal calls are answered from here."""

    call_id = _key("content hash of task, prompt, model, input and limits")
    task = _text("task, named like its prompt file")
    prompt_hash = _text("SHA-256 of the prompt file, shortened")
    provider = _text("bedrock, openai, …")
    model = _text("model id")
    item_count = dy.Int32(min=1, description="items asked about in the call")
    max_tokens = dy.Int32(min=1, description="room that the answer was given")
    input = _text("what was sent besides the prompt: items as JSON between marks")
    output = _text("what came back, word for word")
    stop = _text("complete, truncated or refused")
    input_tokens = dy.Int32(min=0, description="tokens sent, as the provider counts")
    output_tokens = dy.Int32(min=0, description="tokens returned, as the provider counts")
    cost_usd = dy.Float64(nullable=True, min=0.0, description="US dollars by the price list; null without a price")
    latency_ms = dy.Int32(min=0, description="time the call took, waits included")
    called_at = dy.Datetime(time_unit="us", time_zone="UTC", description="when it came back")


# ------------------------------------------------------------------------------------------------- evaluation

_PASSAGE = {"document": dy.String(), "page": dy.Int32(nullable=True), "quote": dy.String()}


class EvalQueries(dy.Schema):
    """One evaluation question with its gold passages and near misses resolved on this corpus."""

    query_set = _key("name of the set: file name without extension, and the folder it came from")
    query_id = _key("id within the set")
    query = _text("the question")
    type = dy.String(regex=_one_of(QUERY_TYPES), description=" | ".join(QUERY_TYPES))
    gold = dy.List(dy.Struct({**_PASSAGE, "grade": dy.Int32()}), description="passages that answer it")
    near_miss = dy.List(dy.Struct({**_PASSAGE, "why": dy.String()}), description="tempting wrong passages")
    coverage = dy.Float64(nullable=True, min=0.0, max=1.0, description="share of grade ≥ 2 passages required")
    is_resolved = dy.Bool(description="every gold passage stands in this corpus; only such rows are scored")
    note = _text("why a question is not resolved")


class EvalRuns(dy.Schema):
    """One ranked result of one system for one question."""

    system = _key("bm25, dense, hybrid, full, …")
    query_set = _key("query set")
    query_id = _key("question")
    rank = dy.Int32(primary_key=True, min=0, description="1-based rank; 0 holds an abstention without results")
    document_id = _text("document", nullable=True)
    page = _page("page", nullable=True)
    chunk_id = _text("chunk", nullable=True)
    text = _text("text that a language model would be handed")
    score = dy.Float64(nullable=True, description="score of the system")
    is_abstained = dy.Bool(description="the system preferred silence")
    confidence = _frac("relevance of the answer, 0 to 1")


class EvalReport(dy.Schema):
    """One figure of the evaluation with its interval."""

    system = _key("system")
    query_set = _key("query set")
    slice = _key("all, or a query type")
    metric = _key("recall@5, mrr, …")
    value = dy.Float64(nullable=True, description="mean over the questions of the slice; null where none counts")
    low = dy.Float64(nullable=True, description="lower end of the 95 % bootstrap interval, clustered by document")
    high = dy.Float64(nullable=True, description="upper end")
    n = dy.Int32(min=0, description="questions behind the figure")
    n_dropped = dy.Int32(min=0, description="questions of the slice that could not be scored")
    p_value = dy.Float64(nullable=True, description="paired randomisation test against the strongest baseline")


class Metrics(dy.Schema):
    """One figure of the whole pipeline: how much there is, how good it is, and how long it took."""

    metric = _key("chunks, sufficiency@3, semantic accept, time of boundary detection, …")
    slice = _key("all, a query set, or a document that was cut by meaning")
    value = dy.Float64(nullable=True, description="the figure; null for times, which stand in the last two columns")
    unit = _text("count, tokens, share or time")
    k = dy.Int32(nullable=True, min=1, description="results that a share of retrieval looks at")
    n = dy.Int32(min=0, description="chunks, questions or documents behind the figure")
    note = _text("what to know about it; may be empty")
    began_at = dy.Datetime(time_unit="us", time_zone="UTC", nullable=True, description="when the work began")
    ended_at = dy.Datetime(
        time_unit="us", time_zone="UTC", nullable=True, description="its beginning and the time spent on it"
    )


# ---------------------------------------------------------------------------------------------------- service


class QueryLog(dy.Schema):
    """One question that was asked of a server whose log is on, and what it found."""

    entry_id = _key("random id, given to the asker with the answer")
    kind = _text("search or ask")
    question = _text("the question as it was asked")
    filters = _text("JSON object: filters given outright")
    route = _text("JSON object: what was inferred from the question")
    mode = _text("answer, general or silence; empty for a search")
    confidence = dy.Float64(nullable=True, min=0.0, max=1.0, description="relevance of the answer; null for a search")
    documents = _strings("documents of the passages, best first")
    release_ix = dy.Int32(min=0, description="release that was asked")
    latency_ms = dy.Float64(min=0.0, description="time to answer")
    asked_at = dy.Datetime(time_unit="us", time_zone="UTC", description="when it was asked")


class Feedback(dy.Schema):
    """One judgement of an answer by the person who asked."""

    feedback_id = _key("random id")
    entry_id = _text("question of `query_log` that it judges")
    is_helpful = dy.Bool(description="the answer helped")
    comment = _text("what the asker adds; may be empty")
    given_at = dy.Datetime(time_unit="us", time_zone="UTC", description="when it was given")
