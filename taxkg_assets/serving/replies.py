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

    document_id: str = Field(description="id of the paragraph's document")
    perspective: str = Field(description="audience of the passage: filer, recipient, …")
    page: int = Field(description="page of the PDF, from 1")
    heading_path: str = Field(description="headings above the paragraph, joined with ' > '")
    text: str = Field(description="text")
    node_id: str = Field(description="id of the paragraph, for `/v1/nodes` and `/v1/evidence`")
    bboxes: list[PlacedCorners] | None = Field(default=None, description="rectangles, one per printed line")


class BoxRow(_Row):
    """A box of one revision of a form."""

    document_id: str = Field(description="document id of the form")
    form: str = Field(description="form, e.g. 1099-DIV")
    revision: str = Field(description="revision, YYYY-MM or YYYY")
    box_key: str = Field(description="key of the box: box_1a, …")
    label: str = Field(description="printed label of the box")
    canonical_id: str = Field(
        default="", description="`<form>/<revision>/<box_key>`: id of the box within one revision"
    )
    aliases: list[str] = Field(default=[], description="other names that documents use for the box")
    history: list[str] = Field(default=[], description="ids of the box in older revisions, newest first")
    source: str = Field(default="", description="document and page of the box, `<document_id>:p<page>`")
    passages: list[BoxPassage] = Field(
        default=[], description="paragraphs about the box; empty unless one box was requested"
    )
    quality: list[Flag] = Field(default=[], description="quality flags of the documents involved")
    filer: str | None = Field(
        default=None, description="whether filer instructions explain the box; absent unless all boxes were requested"
    )
    recipient: str | None = Field(
        default=None,
        description="whether recipient instructions explain the box; absent unless all boxes were requested",
    )


class FormulaRow(_Row):
    """How a line is computed, as its label states it."""

    operation: str = Field(
        description="how the line is computed: sum, difference, product, smaller, larger, copy or unparsed"
    )
    operands: list[str] = Field(description="keys of the operands in order; a difference is the first minus all others")
    operand_parts: list[str] = Field(
        default=[], description="part of the form of each operand; empty for an operand without a part"
    )
    factor: float | None = Field(default=None, description="rate of a product")
    column: str = Field(
        default="", description="letter of the column whose amounts are added, if only one is; may be empty"
    )
    bound: str = Field(default="", description="bound of the result: at_least_zero or at_most_zero; empty for none")
    condition: str = Field(
        default="", description="condition under which the formula applies, as printed; may be empty"
    )
    evidence: str = Field(description="text that states the formula")
    problem: str = Field(default="", description="why the formula could not be parsed; empty for a parsed one")
    also_added_in: list[str] = Field(
        default=[], description="keys of other totals that also include at least one line of this total"
    )
    repeated_lines: list[str] = Field(
        default=[], description="keys of lines that are added more than once into a total"
    )


class FlowRow(_Row):
    """A statement that an amount goes from one line to another."""

    relation: str = Field(
        description="what is stated: flows_to (where the amount goes), from_form (where it comes from) or computed_from"
    )
    source_document_id: str | None = Field(
        description="id of the document that the amount comes from; null if not resolved"
    )
    source_form: str = Field(description="its form")
    source_part: str = Field(description="part of the line that the amount comes from; may be empty")
    source_key: str = Field(description="line, box or column that the amount comes from")
    source_code: str = Field(
        default="", description="code of the entry, if the statement is about one entry of a box; may be empty"
    )
    target_document_id: str | None = Field(
        description="id of the document that the amount goes to; null if not resolved"
    )
    target_form: str = Field(description="its form")
    target_part: str = Field(description="part of the line that the amount goes to; may be empty")
    target_key: str = Field(description="line, box or column that the amount goes to")
    target_code: str = Field(
        default="", description="code of the entry, if the statement is about one entry of a box; may be empty"
    )
    agreement: str = Field(description="whether both ends state the flow: agreed, one_side, contradicted or unresolved")
    evidence: str = Field(description="text that states the flow")
    document_id: str = Field(description="id of the document that states the flow")
    page: int = Field(description="page of the PDF, from 1")
    bbox: Corners | None = Field(default=None, description="rectangle of the line where the evidence begins")


class FieldRow(_Row):
    """A field to be filled in: a row of the table `fields`."""

    name: str = Field(description="full name of the field in the PDF; the key if the form has no fillable fields")
    key: str = Field(description="key of the field: line_5a, box_1a, …; empty for a field without a number")
    part: str = Field(description="part of the form: I, II, …; may be empty")
    column: str = Field(description="letter of the field's column; may be empty")
    row: str = Field(description="row number of the field in a table; may be empty")
    copy_name: str = Field(
        alias="copy", description="copy of the form that contains the field: A, B, 1, …; may be empty"
    )
    kind: str = Field(description="type of the field: text, checkbox, choice or signature")
    label: str = Field(description="printed label of the field; may be empty")
    page: int = Field(description="page of the PDF, from 1")
    bbox: Corners = Field(description="rectangle of the field")


class ExplainedPassage(_Row):
    """A passage below a heading that explains a line."""

    element_id: str = Field(description="id of the paragraph")
    page: int = Field(description="page of the PDF, from 1")
    text: str = Field(description="text")


class LineExplanation(_Row):
    """A heading of instructions that explains a line, with the passages below it."""

    node_id: str = Field(description="id of the heading, for `/v1/nodes` and `/v1/evidence`")
    relation: str = Field(
        description="relation to the line: same_field, or same_field_other_revision if it explains the line of "
        "another revision"
    )
    document_id: str = Field(description="id of the heading's document")
    page: int = Field(description="page of the PDF, from 1")
    heading: str = Field(description="text of the heading")
    perspective: str = Field(description="audience of the passage: filer, recipient, …")
    official_url: str | None = Field(default=None, description="URL of the section on the publisher's web page")
    bbox: Corners | None = Field(default=None, description="rectangle of the heading")
    passages: list[ExplainedPassage] = Field(description="first passages below the heading and its subheadings")


class LineRow(_Row):
    """A line, box or column of one revision of a form."""

    document_id: str = Field(description="document id of the form; empty if the library does not contain it")
    anchor_id: str | None = Field(default=None, description="anchor id of the line's heading, if any")
    canonical_id: str = Field(default="", description="`<form>/<words>`: id of the line, the same in every revision")
    form: str = Field(description="form or schedule, e.g. 8960")
    revision: str = Field(description="revision, YYYY-MM or YYYY; empty if the library does not contain the form")
    part: str = Field(description="part of the form: I, II, …; may be empty")
    key: str = Field(description="key of the line: line_5a, box_1a, column_d, …")
    kind: str = Field(description="what is numbered: box, line, column or step")
    section: str = Field(description="heading above the line; may be empty")
    label: str = Field(description="printed label of the line")
    column_letters: list[str] = Field(default=[], description="columns to fill in, if the line is a table row")
    field_count: int = Field(default=0, description="number of fields of the line, summed over all copies of the form")
    history: list[str] = Field(default=[], description="names of the line in older revisions, newest first")
    page: int = Field(description="page of the PDF, from 1; 0 if the library does not contain the form")
    bbox: Corners | None = Field(
        default=None, description="rectangle of the line's first field, or of its printed text"
    )
    formula: FormulaRow | None = Field(default=None, description="formula of the line; null if its label states none")
    flows_in: list[FlowRow] = Field(default=[], description="statements about the sources of the line's amount")
    flows_out: list[FlowRow] = Field(default=[], description="statements about the destinations of the line's amount")
    used_in: list[str] = Field(default=[], description="lines of the same document that are computed from this one")
    fields: list[FieldRow] = Field(default=[], description="fields of the line")
    explanations: list[LineExplanation] = Field(
        default=[], description="headings of instructions that explain the line"
    )
    quality: list[Flag] = Field(default=[], description="quality flags of the document")


class TraceStatement(_Row):
    """Where a document states that an amount goes from one line to another."""

    relation: str = Field(
        description="what is stated: flows_to (where the amount goes), from_form (where it comes from) or computed_from"
    )
    evidence: str = Field(description="text that states the flow")
    document_id: str = Field(description="id of the document that states the flow")
    page: int = Field(description="page of the PDF, from 1")
    bbox: Corners | None = Field(default=None, description="rectangle of the line where the evidence begins")
    is_same_year: bool = Field(
        description="whether both lines are of the statement's year; false if one is taken from the nearest revision"
    )
    agreement: str = Field(description="whether both ends state the flow: agreed, one_side, contradicted or unresolved")
    problem: str = Field(description="why a line could not be resolved; empty if both were")


class TraceStep(_Row):
    """A line that an amount goes to or comes from, with its statement and the further steps."""

    document_id: str | None = Field(description="document of the form; null if the library does not contain it")
    form: str = Field(description="form or schedule")
    revision: str = Field(description="revision, YYYY-MM or YYYY; empty if unknown")
    part: str = Field(description="part of the form; may be empty")
    key: str = Field(description="key of the line, box or column")
    column: str = Field(
        default="", description="letter of the column, if the statement is about one column; may be empty"
    )
    code: str = Field(
        default="", description="code of the entry, if the statement is about one entry of a box; may be empty"
    )
    label: str = Field(description="printed label of the line; may be empty")
    statement: TraceStatement = Field(description="statement of the flow, with its document and page")
    steps: list[TraceStep] = Field(description="further steps; empty for a line that occurs earlier in the trace")
    has_more: bool = Field(
        default=False, description="whether further steps are left out, because the trace has its maximum depth"
    )


class NamingLine(_Row):
    """A line whose label says that its amount is from a form, without saying from which line."""

    document_id: str = Field(description="document id of the line's form")
    form: str = Field(description="form or schedule of the line")
    revision: str = Field(description="revision, YYYY-MM or YYYY")
    part: str = Field(description="part of the form; may be empty")
    key: str = Field(description="key of the line, box or column")
    label: str = Field(description="printed label of the line")


class Trace(_Row):
    """The lines that the amount of a line goes to and comes from."""

    document_id: str = Field(description="id of the document that contains the line; empty if no document does")
    form: str = Field(description="form or schedule")
    revision: str = Field(description="revision, YYYY-MM or YYYY; empty if unknown")
    part: str = Field(description="part of the form; may be empty")
    key: str = Field(description="key of the line, box or column")
    code: str = Field(
        default="", description="code of the entry, if the statement is about one entry of a box; may be empty"
    )
    label: str = Field(description="printed label of the line; may be empty")
    into: list[TraceStep] = Field(description="steps to the destinations of the amount")
    out_of: list[TraceStep] = Field(description="steps to the sources of the amount")
    named_by: list[NamingLine] = Field(
        default=[],
        description="lines of other forms whose label names the traced form, but none of its lines; empty if the trace "
        "reaches another form",
    )


class RowValue(BaseModel):
    """One cell of a row."""

    column: str = Field(description="headers of the cell's column, joined with ' > '")
    value: str = Field(description="text of the cell")


class CellExplanation(BaseModel):
    """Why a cell was chosen."""

    table: str = Field(description="id of the table")
    header_match: float = Field(description="how well the cell's headers match the question; higher is better")


class CellRow(BaseModel):
    """A cell of a table."""

    model_config = ConfigDict(frozen=True)
    rank: int = Field(description="rank of the cell, from 1")
    score: float = Field(description="how well the cell's headers match the question; higher is better")
    document: str = Field(description="id of the table's document")
    form: str = Field(description="form of the document, e.g. 1099-DIV")
    revision: str = Field(description="revision of the document, YYYY-MM or YYYY")
    doc_type: str = Field(description="type of the document")
    page: int = Field(description="page of the PDF, from 1")
    bboxes: list[BoundingBox] = Field(description="rectangle of the cell")
    heading_path: str = Field(description="headings above the table, joined with ' > '")
    anchor_key: str | None = Field(description="key of the box, line or section that contains the table")
    text: str = Field(description="the cell with its headers, in words")
    node_id: str = Field(description="id of the table")
    chunk_id: str = Field(description="id of the chunk that contains the cell; empty if none does")
    official_url: str | None = Field(default=None, description="URL of the section on the publisher's web page")
    quality: list[Flag] = Field(description="quality flags of the document")
    via: CellExplanation
    title: str = Field(description="title of the table")
    row: str = Field(description="headers of the cell's row, joined with ' > '")
    column: str = Field(description="headers of the cell's column, joined with ' > '")
    value: str = Field(description="text of the cell")
    row_values: list[RowValue] = Field(description="all cells of the cell's row")


class ChangedWords(_Row):
    """A differing part of two wordings."""

    before_start: int = Field(description="offset of the first differing character in `before`, from 0")
    before_end: int = Field(description="offset after the last differing character in `before`")
    after_start: int = Field(description="offset of the first differing character in `after`, from 0")
    after_end: int = Field(description="offset after the last differing character in `after`")
    nature: str = Field(default="", description="kind of difference: amounts, dates, references or wording")


class ChangeRow(_Row):
    """One change between two revisions."""

    group: str = Field(
        description="section of the report: Boxes, Lines and codes, Amounts, Dates, Instructions or Routine"
    )
    kind: str = Field(description="kind of change, such as `box added`, `line renumbered` or `text changed`")
    key: str = Field(description="key of the changed box, line or code; empty for other text")
    previous_key: str = Field(description="key of a renumbered box or line in the older revision")
    heading_path: str = Field(description="headings above the change, joined with ' > '")
    before: str = Field(description="text in the older document; empty if the text was added")
    after: str = Field(description="text in the newer document; empty if the text was removed")
    words: list[ChangedWords] = Field(description="ranges of `before` and `after` that differ")
    nature: str = Field(
        description="nature of the change: structure, amounts, dates, references, wording, years, edition, pages, "
        "editorial or moved"
    )
    is_routine: bool = Field(description="whether the change needs no action: updated years, editing, moved text")
    from_document_id: str = Field(description="id of the older document")
    to_document_id: str = Field(description="id of the newer document")
    before_places: list[PlacedCorners] = Field(description="rectangles of the older text")
    after_places: list[PlacedCorners] = Field(description="rectangles of the newer text")


class NodeEdge(_Row):
    """A typed relation of a node to another, with its evidence."""

    direction: str = Field(description="direction of the relation: out, from this node; or in, to this node")
    relation: str = Field(description="type of the relation: includes, excludes, requires, same_field, …")
    other_id: str = Field(description="id of the node at the other end")
    polarity: str = Field(description="positive, or negative if the text negates or forbids")
    confidence: float = Field(description="probability that the relation is right, 0 to 1")
    evidence: str = Field(description="text that states the relation; may be empty")
    document_id: str = Field(default="", description="id of this node's document")
    page: int | None = Field(default=None, description="page of the evidence")


class NodeDetail(_Row):
    """A node of the graph in full."""

    node_id: str = Field(description="id of the node")
    document_id: str | None = Field(description="document id; null for an external node")
    level: str = Field(description="type of the node: document, anchor, paragraph, sentence, table or external")
    perspective: str | None = Field(default=None, description="audience of the node: filer, recipient, …")
    parent_id: str | None = Field(default=None, description="id of the node above it in the outline")
    heading_path: str = Field(description="headings above the node, joined with ' > '")
    text: str = Field(description="text")
    page: int | None = Field(description="first page of the node, from 1")
    bboxes: list[PlacedCorners] | None = Field(
        default=None, description="rectangles of the node, one per column and page of a passage"
    )
    edges: list[NodeEdge] = Field(default=[], description="relations, without the hierarchy of headings")


class Served(BaseModel):
    """What the server currently serves: release, models and documents."""

    status: str = Field(description="state of the server: ok, or stale if a newer release cannot be read")
    release: int = Field(description="number of the release")
    released_at: str = Field(description="when the release was made, ISO 8601 in UTC")
    model: str = Field(description="encoder of the index")
    documents: int = Field(description="number of documents")
    passages: int = Field(description="number of passages in the index")
    problem: str = Field(description="why a newer release is not served; empty if there is none")
