"""What look-ups return, in the command line as over HTTP: the columns of the tables that they read, described."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.retrieval.results import Flag


class _Row(BaseModel):
    """A row of a table: columns that a newer build adds are passed on."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Corners(_Row):
    """A rectangle on the page of its row, in points from the top left."""

    x0_pt: float = Field(description="left edge")
    y0_pt: float = Field(description="upper edge")
    x1_pt: float = Field(description="right edge")
    y1_pt: float = Field(description="lower edge")


class PlacedCorners(Corners):
    """A rectangle with its page number."""

    page: int = Field(description="page of the PDF, from 1")


class BoxPassage(_Row):
    """A paragraph about a box."""

    document_id: str = Field(description="document that prints the paragraph")
    perspective: str = Field(description="audience of the passage: filer, recipient, …")
    page: int = Field(description="page of the PDF, from 1")
    heading_path: str = Field(description="headings above the paragraph, joined with ' > '")
    text: str = Field(description="text")
    node_id: str = Field(description="id of the paragraph, for `/v1/nodes` and `/v1/evidence`")
    bboxes: list[PlacedCorners] | None = Field(default=None, description="rectangles, one per printed line")


class BoxRow(_Row):
    """A box of one revision of a form."""

    document_id: str = Field(description="document of the form")
    form: str = Field(description="form, e.g. 1099-DIV")
    revision: str = Field(description="revision, YYYY-MM or YYYY")
    box_key: str = Field(description="box_1a, …")
    label: str = Field(description="words printed for the box")
    canonical_id: str = Field(
        default="", description="`<form>/<revision>/<box_key>`: id of the box within one revision"
    )
    aliases: list[str] = Field(default=[], description="other names that documents use for the box")
    history: list[str] = Field(default=[], description="ids of the box in older revisions, newest first")
    source: str = Field(default="", description="where the box is printed, `<document_id>:p<page>`")
    passages: list[BoxPassage] = Field(default=[], description="paragraphs about the box; only if one box is named")
    quality: list[Flag] = Field(default=[], description="quality flags of the documents involved")
    filer: str | None = Field(
        default=None, description="whether filer instructions explain the box; only if all boxes are listed"
    )
    recipient: str | None = Field(
        default=None, description="whether recipient instructions explain the box; only if all boxes are listed"
    )


class FormulaRow(_Row):
    """How a line is computed, as its label states it."""

    operation: str = Field(description="sum, difference, product, smaller, larger, copy or unparsed")
    operands: list[str] = Field(description="keys in their order; a difference is the first minus all others")
    operand_parts: list[str] = Field(
        default=[], description="part of the form of each operand; empty for an operand without a part"
    )
    factor: float | None = Field(default=None, description="rate of a product")
    bound: str = Field(default="", description="at_least_zero, at_most_zero or empty")
    condition: str = Field(default="", description="condition, as printed; may be empty")
    evidence: str = Field(description="words that state the formula")
    problem: str = Field(default="", description="why the formula is not parsed; empty if it is")
    also_added_in: list[str] = Field(default=[], description="other totals that include a line of this formula")
    repeated_lines: list[str] = Field(default=[], description="lines that a total uses more than once")


class FlowRow(_Row):
    """A statement that an amount goes from one line to another."""

    relation: str = Field(description="flows_to, from_form or computed_from")
    source_document_id: str | None = Field(description="document that the amount comes from; null if not resolved")
    source_form: str = Field(description="its form")
    source_part: str = Field(description="its part; may be empty")
    source_key: str = Field(description="its line, box or column")
    source_code: str = Field(
        default="", description="code of the entry, where the statement is about one entry of a box; may be empty"
    )
    target_document_id: str | None = Field(description="document that the amount goes to; null if not resolved")
    target_form: str = Field(description="its form")
    target_part: str = Field(description="its part; may be empty")
    target_key: str = Field(description="its line, box or column")
    target_code: str = Field(
        default="", description="code of the entry, where the statement is about one entry of a box; may be empty"
    )
    agreement: str = Field(description="whether both ends state the flow: agreed, one_side, contradicted or unresolved")
    evidence: str = Field(description="words that state the flow")
    document_id: str = Field(description="document that states the flow")
    page: int = Field(description="page of the PDF, from 1")
    bbox: Corners | None = Field(default=None, description="where the evidence begins")


class FieldRow(_Row):
    """A field to be filled in: a row of the table `fields`."""

    name: str = Field(description="full name of the field in the PDF; the key where the form has no fillable fields")
    key: str = Field(description="line_5a, box_1a, …; empty for a field without a number")
    part: str = Field(description="part of the form: I, II, …; may be empty")
    column: str = Field(description="letter of the field's column; may be empty")
    row: str = Field(description="row of the field's table where rows are counted; may be empty")
    copy_name: str = Field(
        alias="copy", description="copy of the form that contains the field: A, B, 1, …; may be empty"
    )
    kind: str = Field(description="text, checkbox, choice or signature")
    label: str = Field(description="words printed for the field; may be empty")
    page: int = Field(description="page of the PDF, from 1")
    bbox: Corners = Field(description="rectangle to be filled in")


class ExplainedPassage(_Row):
    """A passage below a heading that explains a line."""

    element_id: str = Field(description="id of the node")
    page: int = Field(description="page of the PDF, from 1")
    text: str = Field(description="text")


class LineExplanation(_Row):
    """A heading of instructions that explains a line, with the passages below it."""

    node_id: str = Field(description="id of the heading, for `/v1/nodes` and `/v1/evidence`")
    relation: str = Field(description="same_field, or same_field_other_revision for a line of another revision")
    document_id: str = Field(description="document that prints the heading")
    page: int = Field(description="page of the PDF, from 1")
    heading: str = Field(description="words of the heading")
    perspective: str = Field(description="audience of the passage: filer, recipient, …")
    official_url: str | None = Field(default=None, description="the section on the publisher's web page")
    bbox: Corners | None = Field(default=None, description="rectangle of the heading")
    passages: list[ExplainedPassage] = Field(description="first passages below the heading, lower headings included")


class LineRow(_Row):
    """A line, box or column of one revision of a form."""

    document_id: str = Field(description="document of the form")
    anchor_id: str | None = Field(default=None, description="heading that prints the line, if any")
    canonical_id: str = Field(default="", description="`<form>/<words>`: id of the line, the same in every revision")
    form: str = Field(description="form or schedule, e.g. 8960")
    revision: str = Field(description="revision, YYYY-MM or YYYY")
    part: str = Field(description="part of the form: I, II, …; may be empty")
    key: str = Field(description="line_5a, box_1a, column_d, …")
    kind: str = Field(description="box, line, column or step")
    section: str = Field(description="heading above the line; may be empty")
    label: str = Field(description="words printed for the line")
    column_letters: list[str] = Field(
        default=[], description="columns in which a line that is a table row is filled in"
    )
    field_count: int = Field(default=0, description="number of fields of the line, all copies together")
    history: list[str] = Field(default=[], description="names of the line in older revisions, newest first")
    page: int = Field(description="page of the PDF, from 1")
    bbox: Corners | None = Field(default=None, description="first field of the line, or where the line is printed")
    formula: FormulaRow | None = Field(
        default=None, description="how the line is computed; null if its label does not state that"
    )
    flows_in: list[FlowRow] = Field(default=[], description="statements of where the line's amount comes from")
    flows_out: list[FlowRow] = Field(default=[], description="statements of where the line's amount goes")
    used_in: list[str] = Field(default=[], description="lines of the same document that are computed from this one")
    fields: list[FieldRow] = Field(default=[], description="fields of the line")
    explanations: list[LineExplanation] = Field(
        default=[], description="headings of instructions that explain the line"
    )
    quality: list[Flag] = Field(default=[], description="quality flags of the document")


class TraceStatement(_Row):
    """Where a document states that an amount goes from one line to another."""

    relation: str = Field(description="flows_to, from_form or computed_from")
    evidence: str = Field(description="words that state the flow")
    document_id: str = Field(description="document that states the flow")
    page: int = Field(description="page of the PDF, from 1")
    bbox: Corners | None = Field(default=None, description="where the evidence begins")
    is_same_year: bool = Field(
        description="whether both ends are of the year of the statement; else one is of the nearest revision"
    )
    agreement: str = Field(description="whether both ends state the flow: agreed, one_side, contradicted or unresolved")
    problem: str = Field(description="why an end is not resolved; empty if both ends are")


class TraceStep(_Row):
    """A line that an amount goes to or comes from, with its statement and the further steps."""

    document_id: str | None = Field(description="document of the form; null if the library does not contain it")
    form: str = Field(description="form or schedule")
    revision: str = Field(description="revision; may be empty")
    part: str = Field(description="part of the form; may be empty")
    key: str = Field(description="line, box or column")
    column: str = Field(
        default="", description="letter of the column, where the statement is about one column; may be empty"
    )
    code: str = Field(
        default="", description="code of the entry, where the statement is about one entry of a box; may be empty"
    )
    label: str = Field(description="words printed for the line; may be empty")
    statement: TraceStatement = Field(description="where the flow is stated")
    steps: list[TraceStep] = Field(description="further steps; none for a line that occurs earlier in the trace")


class Trace(_Row):
    """The lines that the amount of a line goes to and comes from."""

    document_id: str = Field(description="document that contains the line; empty if no document does")
    form: str = Field(description="form or schedule")
    revision: str = Field(description="revision; may be empty")
    part: str = Field(description="part of the form; may be empty")
    key: str = Field(description="line, box or column")
    code: str = Field(
        default="", description="code of the entry, where the statement is about one entry of a box; may be empty"
    )
    label: str = Field(description="words printed for the line; may be empty")
    into: list[TraceStep] = Field(description="steps to where the amount goes")
    out_of: list[TraceStep] = Field(description="steps to where the amount comes from")


class RowValue(BaseModel):
    """One cell of a row."""

    column: str = Field(description="headers of the cell's column, joined with ' > '")
    value: str = Field(description="text of the cell")


class CellExplanation(BaseModel):
    """Why a cell was chosen."""

    table: str = Field(description="id of the table")
    header_match: float = Field(description="how well the cell's headers match the question")


class CellRow(BaseModel):
    """A cell of a table."""

    model_config = ConfigDict(frozen=True)
    rank: int = Field(description="place among the cells found, from 1")
    score: float = Field(description="how well the cell's headers match the question")
    document: str = Field(description="document that prints the table")
    form: str = Field(description="form of the document, e.g. 1099-DIV")
    revision: str = Field(description="revision of the document, YYYY-MM or YYYY")
    doc_type: str = Field(description="type of the document")
    page: int = Field(description="page of the PDF, from 1")
    bboxes: list[BoundingBox] = Field(description="rectangle of the cell")
    heading_path: str = Field(description="headings above the table, joined with ' > '")
    anchor_key: str | None = Field(description="box, line or section that the table belongs to")
    text: str = Field(description="the cell with its headers, in words")
    node_id: str = Field(description="id of the table")
    chunk_id: str = Field(description="chunk that prints the cell; empty if none does")
    official_url: str | None = Field(default=None, description="the section on the publisher's web page")
    quality: list[Flag] = Field(description="quality flags of the document")
    via: CellExplanation
    title: str = Field(description="title of the table")
    row: str = Field(description="headers of the cell's row, joined with ' > '")
    column: str = Field(description="headers of the cell's column, joined with ' > '")
    value: str = Field(description="text of the cell")
    row_values: list[RowValue] = Field(description="all cells of the cell's row")


class ChangedWords(_Row):
    """A differing part of two wordings."""

    before_start: int = Field(description="0-based offset in `before`")
    before_end: int = Field(description="exclusive end offset in `before`")
    after_start: int = Field(description="0-based offset in `after`")
    after_end: int = Field(description="exclusive end offset in `after`")
    nature: str = Field(default="", description="subject of the difference: amounts, dates, wording, …")


class ChangeRow(_Row):
    """One change between two revisions."""

    group: str = Field(
        description="section of the report: Boxes, Lines and codes, Amounts, Dates, Instructions or Routine"
    )
    kind: str = Field(description="kind of change, such as `box added`, `line renumbered` or `text changed`")
    key: str = Field(description="box, line or code that the change falls under; empty for prose")
    previous_key: str = Field(description="key of a renumbered box or line in the older revision")
    heading_path: str = Field(description="headings above the change, joined with ' > '")
    before: str = Field(description="older wording; empty if added")
    after: str = Field(description="newer wording; empty if removed")
    words: list[ChangedWords] = Field(description="stretches of `before` and `after` that differ")
    nature: str = Field(description="what the change is about")
    is_routine: bool = Field(description="whether no action is needed: years rolled on, editing, moved text")
    from_document_id: str = Field(description="older document")
    to_document_id: str = Field(description="newer document")
    before_places: list[PlacedCorners] = Field(description="rectangles of the older words")
    after_places: list[PlacedCorners] = Field(description="rectangles of the newer words")


class NodeEdge(_Row):
    """A typed relation of a node to another, with its evidence."""

    direction: str = Field(description="out: from this node; in: to this node")
    relation: str = Field(description="includes, excludes, requires, same_field, …")
    other_id: str = Field(description="node at the other end")
    polarity: str = Field(description="positive or negative")
    confidence: float = Field(description="from 0 to 1")
    evidence: str = Field(description="words that state the relation; may be empty")
    document_id: str = Field(default="", description="document of this node")
    page: int | None = Field(default=None, description="page of the evidence")


class NodeDetail(_Row):
    """A node of the graph in full."""

    node_id: str = Field(description="id of the node")
    document_id: str | None = Field(description="document; null for an external node")
    level: str = Field(description="document, anchor, paragraph, sentence, table or external")
    perspective: str | None = Field(default=None, description="audience of the node: filer, recipient, …")
    parent_id: str | None = Field(default=None, description="parent node")
    heading_path: str = Field(description="headings above the node, joined with ' > '")
    text: str = Field(description="text")
    page: int | None = Field(description="first page")
    bboxes: list[PlacedCorners] | None = Field(default=None, description="rectangles")
    edges: list[NodeEdge] = Field(default=[], description="relations other than the hierarchy of headings")


class Served(BaseModel):
    """What the server currently serves: release, models and documents."""

    status: str = Field(description="ok; stale if a newer release cannot be read")
    release: int = Field(description="number of the release")
    released_at: str = Field(description="when the release was made, ISO 8601 in UTC")
    model: str = Field(description="encoder of the index")
    documents: int = Field(description="number of documents")
    passages: int = Field(description="number of passages in the index")
    problem: str = Field(description="why a newer release is not served; empty if there is none")
