"""What the tools return to agents, field by field: a client reads these descriptions as the tools' output schemas."""

from __future__ import annotations

from pydantic import BaseModel, Field


class SourceReply(BaseModel):
    """A passage with its place."""

    number: int = Field(description="number of the citation in the answer, as in [n]")
    document: str = Field(description="document id")
    form: str = Field(description="form or publication number, e.g. 1099-DIV; empty if unknown")
    revision: str = Field(description="revision, YYYY-MM or YYYY; empty if unknown")
    page: int = Field(description="page of the PDF, from 1")
    heading_path: str = Field(description="headings above the passage, joined with ' > '")
    text: str = Field(description="the part of the passage that matches or is quoted; … marks where text is left out")
    node_id: str = Field(description="id for the tools `passage` and `evidence`")


class CitedReply(SourceReply):
    """A passage that an answer cites, or the nearest one where it abstains."""

    rectangles: list[list[int | float]] = Field(
        description="places of the quoted words: [page, x0, y0, x1, y1], in points from the top left; empty if unknown"
    )


class AnswerReply(BaseModel):
    """An answer with citations [n], general guidance with its notice, or abstention."""

    answer: str | None = Field(description="the answer; null if the library does not answer the question")
    abstained: bool = Field(description="whether the library does not answer the question")
    outcome: str = Field(description="answer, guidance (general guidance only) or abstention")
    confidence: float = Field(description="estimated chance that the answer contains what is needed, 0 to 1")
    sources: list[CitedReply] = Field(description="cited passages; without an answer, the nearest passages")
    cautions: list[str] = Field(description="quality flags of the cited documents")


class PassageReply(SourceReply):
    """A ranked passage."""

    doc_type: str = Field(
        description="document type: form, filer_instructions, recipient_instructions, publication, statute, other"
    )
    is_cut: bool = Field(description="whether `text` is only a part; the tool `passage` returns the whole text")
    cautions: list[str] = Field(description="quality flags of the document")


class PassagesReply(BaseModel):
    """Ranked passages, best first."""

    passages: list[PassageReply] = Field(description="the passages, best first")


class RelationReply(BaseModel):
    """A relation of a passage to another passage."""

    relation: str = Field(
        description="type of the relation: includes, excludes, requires, same_field, …; begins with ← if it leads from "
        "the other node to this passage"
    )
    other: str = Field(description="id of the node at the other end")
    evidence: str = Field(description="text that states the relation; may be empty")


class FullPassageReply(BaseModel):
    """A passage in full."""

    document: str = Field(description="document id; empty for an external node")
    page: int | None = Field(description="page of the PDF, from 1")
    heading_path: str = Field(description="headings above the passage, joined with ' > '")
    perspective: str = Field(description="audience of the passage: filer, recipient, …")
    text: str = Field(description="full text of the passage")
    rectangles: list[list[int | float]] = Field(
        description="places of the passage: [page, x0, y0, x1, y1], in points from the top left"
    )
    relations: list[RelationReply] = Field(
        description="relations of the passage: includes, excludes, requires, refers_to, …"
    )


class BoxTextReply(BaseModel):
    """A paragraph about a box."""

    reader: str = Field(description="who the paragraph is for: filer or recipient")
    document: str = Field(description="id of the paragraph's document")
    page: int = Field(description="page of the PDF, from 1")
    text: str = Field(description="text of the paragraph, truncated with … if it is long")
    node_id: str = Field(description="id for the tools `passage` and `evidence`")


class BoxReply(BaseModel):
    """A box of one revision of a form."""

    document: str = Field(description="document id of the form")
    form: str = Field(description="form, e.g. 1099-DIV")
    revision: str = Field(description="revision, YYYY-MM or YYYY")
    box_key: str = Field(description="key of the box: box_1a, …")
    label: str = Field(description="printed label of the box")
    aliases: list[str] = Field(description="other names that documents use for the box")
    texts: list[BoxTextReply] = Field(description="instructions for filers and recipients")
    revisions: list[str] = Field(description="all revisions with this box, newest first")
    cautions: list[str] = Field(description="quality flags of the documents involved")


class FlowReply(BaseModel):
    """A statement that an amount goes from one line to another."""

    line: str = Field(description="the line at the other end: form, part and key")
    document: str = Field(description="document of the line at the other end; empty if the library does not contain it")
    evidence: str = Field(description="text that states the flow")
    stated_in: str = Field(description="document and page that state the flow")


class LineReply(BaseModel):
    """A line, box or column of one revision of a form."""

    document: str = Field(description="document id of the form; empty if the library does not contain it")
    form: str = Field(description="form or schedule")
    revision: str = Field(description="revision, YYYY-MM or YYYY; empty if the library does not contain the form")
    part: str = Field(description="part of the form; may be empty")
    key: str = Field(description="key of the line: line_5a, box_1a, …")
    kind: str = Field(description="what is numbered: box, line, column or step")
    section: str = Field(description="heading above the line; may be empty")
    label: str = Field(description="printed label of the line")
    formula: str = Field(description="formula of the line in its label; empty if the label states none")
    used_in: list[str] = Field(description="lines of the form that are computed from this one")
    comes_from: list[FlowReply] = Field(description="flows from the lines that the amount comes from")
    goes_to: list[FlowReply] = Field(description="flows to the lines that the amount goes to")
    texts: list[BoxTextReply] = Field(description="instructions for the line; for a box, use the tool `box`")
    page: int = Field(description="page of the PDF, from 1")
    rectangle: list[float] = Field(
        description="rectangle of the first field: x0, y0, x1, y1, in points from the top left"
    )
    revisions: list[str] = Field(description="all revisions with this line, newest first")
    cautions: list[str] = Field(description="quality flags of the document")


class TraceStepReply(BaseModel):
    """One step of a trace: a statement that an amount goes from one line to another."""

    source: str = Field(description="line that the amount comes from")
    target: str = Field(description="line that the amount goes to")
    evidence: str = Field(description="text that states the flow")
    stated_in: str = Field(description="document and page that state the flow")


class TraceReply(BaseModel):
    """The lines that an amount comes from and goes to."""

    line: str = Field(description="the traced line")
    label: str = Field(description="printed label of the line")
    steps: list[TraceStepReply] = Field(description="steps of the trace, those next to the line first")
    is_cut: bool = Field(description="whether further steps were cut off; raise `depth` or `k` to get them")


class CellReply(BaseModel):
    """A cell of a table."""

    title: str = Field(description="title of the table")
    row: str = Field(description="headers of the cell's row, joined with ' > '")
    column: str = Field(description="headers of the cell's column, joined with ' > '")
    value: str = Field(description="text of the cell")
    document: str = Field(description="document id")
    form: str = Field(description="form or publication number, e.g. 1099-DIV; empty if unknown")
    revision: str = Field(description="revision, YYYY-MM or YYYY; empty if unknown")
    page: int = Field(description="page of the PDF, from 1")
    rectangle: list[float] = Field(description="rectangle of the cell: x0, y0, x1, y1, in points from the top left")
    node_id: str = Field(description="id of the table, for the tool `evidence`")


class CellsReply(BaseModel):
    """Cells of tables; empty if none fits."""

    cells: list[CellReply] = Field(description="the cells, best first")


class ChangeReply(BaseModel):
    """One change between two revisions."""

    group: str = Field(
        description="section of the report: Boxes, Lines and codes, Amounts, Dates, Instructions or Routine"
    )
    kind: str = Field(description="kind of change, such as `box added`, `line renumbered` or `text changed`")
    key: str = Field(description="key of the changed box, line or code; empty for other text")
    heading_path: str = Field(description="headings above the change, joined with ' > '")
    before: str = Field(
        description="text in the older document, truncated with … if it is long; empty if the text was added"
    )
    after: str = Field(
        description="text in the newer document, truncated with … if it is long; empty if the text was removed"
    )
    nature: str = Field(
        description="nature of the change: structure, amounts, dates, references, wording, years, edition, pages, "
        "editorial or moved"
    )
    is_routine: bool = Field(description="whether the change needs no action")
    page_before: int | None = Field(description="page in the older document")
    page_after: int | None = Field(description="page in the newer document")


class ChangesReply(BaseModel):
    """What changed between two revisions."""

    older: str = Field(description="id of the older document")
    newer: str = Field(description="id of the newer document")
    total: int = Field(description="total number of changes, also beyond `k`")
    changes: list[ChangeReply] = Field(description="the changes: changed boxes first, routine changes last")


class DocumentReply(BaseModel):
    """A searchable document."""

    document: str = Field(description="document id")
    title: str = Field(description="title of the document")
    form: str = Field(
        description="number of the form or publication that the document is about, e.g. 1099-DIV; empty if unknown"
    )
    doc_type: str = Field(
        description="document type: form, filer_instructions, recipient_instructions, publication, statute, other"
    )
    revision: str = Field(description="revision, YYYY-MM or YYYY; empty if unknown")
    is_draft: bool = Field(description="whether the document is a draft")
    pages: int = Field(description="number of pages")
    pdf_url: str = Field(description="official address of the PDF; empty if unknown")
    flags: int = Field(description="number of document checks that the document fails")


class DocumentsReply(BaseModel):
    """Documents of the library."""

    total: int = Field(description="total number of matching documents, also beyond `k`")
    documents: list[DocumentReply] = Field(description="the documents, by form, newest revision first")


class FieldReply(BaseModel):
    """One numbered field of a form."""

    key: str = Field(description="key of the field: box_1b, line_8b, …")
    label: str = Field(description="printed label of the field")
    part: str = Field(description="part of the form; may be empty")
    section: str = Field(description="heading above the field; may be empty")
    column: str = Field(description="column of a table; may be empty")
    row: str = Field(description="row of a table; may be empty")
    copies: list[str] = Field(description="copies of the form that print the field: A, B, 1, …")
    kind: str = Field(description="type of the field: text, checkbox, choice or signature")
    formula: str = Field(description="formula of the field in its label; may be empty")
    page: int = Field(description="page of the first copy, from 1")
    rectangle: list[float] = Field(description="rectangle on that page: x0, y0, x1, y1, in points from the top left")


class FieldsReply(BaseModel):
    """Numbered fields of a form."""

    total: int = Field(description="total number of fields, also beyond `k`")
    fields: list[FieldReply] = Field(description="the fields, in the order in which they are filled in")
