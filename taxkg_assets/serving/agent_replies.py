"""What the tools return to agents: the gist first, short texts, one place each; ids lead to the rest.

A reply of the API contains every rectangle and every feature of a ranking. An agent pays for each character, so these
replies have what it quotes and cites: `passage` and `evidence` give the rest of a passage by its `node_id`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from taxkg_assets.retrieval.answering.answer import Answer
from taxkg_assets.retrieval.answering.units import Piece
from taxkg_assets.retrieval.results import Flag, Result
from taxkg_assets.serving.agent_schemas import (
    AnswerReply,
    BoxReply,
    BoxTextReply,
    CellReply,
    CellsReply,
    ChangeReply,
    ChangesReply,
    CitedReply,
    DocumentReply,
    DocumentsReply,
    FieldReply,
    FieldsReply,
    FlowReply,
    FullPassageReply,
    LineReply,
    PassageReply,
    PassagesReply,
    RelationReply,
    TraceReply,
    TraceStepReply,
)
from taxkg_assets.serving.filters import FilterError
from taxkg_assets.serving.formula_words import write_formula
from taxkg_assets.serving.known_names import list_names
from taxkg_assets.serving.library_replies import DocumentEntry, FormField
from taxkg_assets.serving.quotes import excerpt, find_quotes, find_regions
from taxkg_assets.serving.replies import (
    BoxRow,
    CellRow,
    ChangeRow,
    Corners,
    FlowRow,
    LineExplanation,
    LineRow,
    NodeDetail,
    PlacedCorners,
    Trace,
    TraceStatement,
    TraceStep,
)
from taxkg_assets.serving.trace import name_line

SHORT = 300
"""Most characters of a passage in a list."""

LONG = 1500
"""Most characters of a paragraph about a box."""

Field = TypeVar("Field", BoxRow, LineRow)
_CITATION = re.compile(r"\[(\d+)\]")


def cut(text: str, max_chars: int) -> str:
    """Truncate a text at a word boundary and append … where it was truncated.

    Args:
        text: Text; line breaks become spaces.
        max_chars: Maximum number of characters.
    """
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= max_chars else one_line[:max_chars].rsplit(" ", 1)[0] + " …"


def reply_answer(answer: Answer, *, k: int) -> AnswerReply:
    """Convert an answer and the passages that it cites to the reply of an agent tool.

    Args:
        answer: The answer.
        k: Number of nearest passages to return if the answer abstains.

    Returns:
        The reply.
    """
    cited_ranks = {int(number) for number in _CITATION.findall(answer.answer or "")}
    rows = [row for row in answer.results if row.rank in cited_ranks] or answer.results[:k]
    return AnswerReply(
        answer=answer.answer,
        abstained=answer.abstained,
        outcome=answer.outcome,
        confidence=answer.confidence,
        sources=[_cite(answer, row) for row in rows],
        cautions=_cautions(answer.quality),
    )


def reply_passages(results: Iterable[Result], *, is_full: bool) -> PassagesReply:
    """Convert ranked passages to the reply of an agent tool.

    Args:
        results: Passages, best first.
        is_full: Whether to return their whole text.

    Returns:
        The reply.
    """
    rows = []
    for row in results:
        source = _source(row) | ({"text": row.text} if is_full else {})
        is_cut = source["text"].split() != row.text.split()
        rows.append(PassageReply(**source, doc_type=row.doc_type, is_cut=is_cut, cautions=_cautions(row.quality)))
    return PassagesReply(passages=rows)


def reply_node(node: NodeDetail) -> FullPassageReply:
    """Convert a node of the graph to the reply of an agent tool.

    Args:
        node: The node with its relations.

    Returns:
        The reply.
    """
    return FullPassageReply(
        document=node.document_id or "",
        page=node.page,
        heading_path=node.heading_path,
        perspective=node.perspective or "",
        text=node.text,
        rectangles=[[box.page, *_corners(box)] for box in node.bboxes or ()],
        relations=[
            RelationReply(
                relation=edge.relation if edge.direction == "out" else f"← {edge.relation}",
                other=edge.other_id,
                evidence=cut(edge.evidence or "", SHORT),
            )
            for edge in node.edges
        ],
    )


def reply_box(rows: Sequence[BoxRow], *, revision: str) -> BoxReply:
    """Convert one revision of a box to the reply of an agent tool.

    Args:
        rows: The box in each revision, newest first.
        revision: Revision, its year, or document; the newest if empty.

    Returns:
        The reply.

    Raises:
        FilterError: There is no such revision; the message lists the existing ones.
    """
    row = choose_revision(rows, revision)
    return BoxReply(
        document=row.document_id,
        **{name: getattr(row, name) for name in ("form", "revision", "box_key", "label", "aliases")},
        texts=[
            BoxTextReply(
                reader=passage.perspective or "",
                document=passage.document_id,
                page=passage.page,
                text=cut(passage.text, LONG),
                node_id=passage.node_id,
            )
            for passage in row.passages
        ],
        revisions=_revisions(rows),
        cautions=_cautions(row.quality),
    )


def reply_line(rows: Sequence[LineRow], *, revision: str) -> LineReply:
    """Convert one revision of a line to the reply of an agent tool.

    Args:
        rows: The line in each revision, newest first.
        revision: Revision, its year, or document; the newest if empty.

    Returns:
        The reply.

    Raises:
        FilterError: There is no such revision; the message lists the existing ones.
    """
    row = choose_revision(rows, revision)
    of_letters = (printed.explanations for printed in rows if not row.document_id and printed.explanations)
    texts = row.explanations or next(of_letters, [])
    names = ("form", "revision", "part", "key", "kind", "section", "label", "used_in", "page")
    return LineReply(
        document=row.document_id,
        **{name: getattr(row, name) for name in names},
        formula=write_formula(row.formula),
        comes_from=[
            _flow(
                flow,
                form=flow.source_form,
                part=flow.source_part,
                key=flow.source_key,
                document=flow.source_document_id,
            )
            for flow in row.flows_in
        ],
        goes_to=[
            _flow(
                flow,
                form=flow.target_form,
                part=flow.target_part,
                key=flow.target_key,
                document=flow.target_document_id,
            )
            for flow in row.flows_out
        ],
        texts=_instructions(texts),
        rectangle=_corners(row.bbox) if row.bbox else [],
        revisions=_revisions(rows),
        cautions=_cautions(row.quality),
    )


def reply_trace(trace: Trace, *, depth: int, k: int) -> TraceReply:
    """Convert a trace to the reply of an agent tool: its statements, nearest to the line first.

    Args:
        trace: Trace of a line.
        depth: Maximum number of steps in each direction.
        k: Maximum number of statements.

    Returns:
        The reply.
    """
    steps: list[TraceStepReply] = []
    # Lines at one distance from the traced line, each with its next step and the direction of the amount.
    ring: list[tuple[Trace | TraceStep, TraceStep, bool]] = [(trace, step, True) for step in trace.into]
    ring += [(trace, step, False) for step in trace.out_of]
    for _ in range(depth):
        next_ring: list[tuple[Trace | TraceStep, TraceStep, bool]] = []
        for line, step, is_forward in ring:
            source, target = (line, step) if is_forward else (step, line)
            steps.append(_trace_step(source, target, step.statement))
            next_ring += [(step, next_step, is_forward) for next_step in step.steps]
        ring = next_ring
    is_cut = bool(ring) or len(steps) > k
    return TraceReply(line=name_line(trace), label=trace.label, steps=steps[:k], is_cut=is_cut)


def reply_cells(rows: Iterable[CellRow]) -> CellsReply:
    """Convert table cells to the reply of an agent tool.

    Args:
        rows: Cells as the look-up returns them.

    Returns:
        The reply.
    """
    names = ("title", "row", "column", "value", "document", "form", "revision", "page", "node_id")
    cells = [
        CellReply(
            **{name: getattr(row, name) for name in names},
            rectangle=[round(edge, 1) for edge in (box.x0, box.y0, box.x1, box.y1)],
        )
        for row in rows
        for box in row.bboxes[:1]
    ]
    return CellsReply(cells=cells)


def reply_changes(rows: Sequence[ChangeRow], *, k: int, documents: tuple[str, str]) -> ChangesReply:
    """Convert the changes between two revisions to the reply of an agent tool.

    Args:
        rows: The changes.
        k: Maximum number of changes to return.
        documents: Ids of the older and of the newer document.

    Returns:
        The reply.
    """
    names = ("group", "kind", "key", "heading_path", "nature", "is_routine")
    changes = [
        ChangeReply(
            **{name: getattr(row, name) for name in names},
            before=cut(row.before, SHORT),
            after=cut(row.after, SHORT),
            page_before=_first_page(row.before_places),
            page_after=_first_page(row.after_places),
        )
        for row in rows[:k]
    ]
    older, newer = documents
    return ChangesReply(older=older, newer=newer, total=len(rows), changes=changes)


def reply_documents(entries: Sequence[DocumentEntry], *, words: str, k: int) -> DocumentsReply:
    """List the documents whose description contains all given words.

    Args:
        entries: Documents of the release.
        words: Words of the title, form, year or id; all documents if empty.
        k: Maximum number of documents to return.

    Returns:
        The reply.
    """
    parts = words.lower().split()
    matching_entries = [
        entry
        for entry in entries
        if all(part in " ".join(map(str, entry.model_dump().values())).lower() for part in parts)
    ]
    names = ("document", "title", "form", "doc_type", "revision", "is_draft", "pages", "flags")
    rows = [
        DocumentReply(**{name: getattr(entry, name) for name in names}, pdf_url=entry.pdf_url or "")
        for entry in matching_entries[:k]
    ]
    return DocumentsReply(total=len(matching_entries), documents=rows)


def reply_fields(fields: Iterable[FormField], *, k: int) -> FieldsReply:
    """List the numbered fields of a form; a field repeated on several copies is listed once.

    Args:
        fields: Fields in the order they are filled in.
        k: Maximum number of fields to return.

    Returns:
        The reply.
    """
    fields_by_key: dict[tuple[str, str, str, str], list[FormField]] = {}
    for field in fields:
        if field.key:
            fields_by_key.setdefault((field.part, field.key, field.column, field.row), []).append(field)
    names = ("key", "label", "part", "section", "column", "row", "kind", "formula", "page")
    rows = [
        FieldReply(
            **{name: getattr(key_fields[0], name) for name in names},
            copies=sorted({field.copy_name for field in key_fields} - {""}),
            rectangle=[round(getattr(key_fields[0].bbox, corner), 1) for corner in ("x0", "y0", "x1", "y1")],
        )
        for key_fields in list(fields_by_key.values())[:k]
    ]
    return FieldsReply(total=len(fields_by_key), fields=rows)


def choose_revision(rows: Sequence[Field], revision: str) -> Field:
    """Select one revision of a box or line; the newest if none is requested.

    Args:
        rows: The box or line in each revision, newest first.
        revision: Revision, its year, or document; may be empty.

    Raises:
        FilterError: No row is of this revision; another revision would mislead. A line of a form that the library does
            not contain has no revision of its own and matches any.
    """
    printed = [row for row in rows if row.document_id] if revision else []
    for row in printed or rows:
        if not row.document_id or row.document_id == revision or row.revision.startswith(revision):
            return row
    raise FilterError(
        f"No revision {revision!r} of {rows[0].form} has this field. Revisions with it: {list_names(_revisions(rows))}."
    )


def _cite(answer: Answer, row: Result) -> CitedReply:
    """Return a passage with the rectangles of the words that the answer quotes, on the page where they begin."""
    regions = find_regions(answer, row.rank)
    source = _source(row, find_quotes(answer, row.rank)) | ({"page": regions[0].page} if regions else {})
    return CitedReply(
        **source,
        rectangles=[[box.page, *(round(edge, 1) for edge in (box.x0, box.y0, box.x1, box.y1))] for box in regions],
    )


def _source(row: Result, quotes: Sequence[Piece] = ()) -> dict[str, Any]:
    names = ("document", "form", "revision", "page", "heading_path", "node_id")
    text = excerpt(row, quotes, max_chars=SHORT)
    return {"number": row.rank, "text": text, **{name: getattr(row, name) for name in names}}


def _cautions(flags: Iterable[Flag]) -> list[str]:
    return list(dict.fromkeys(f"{flag.document}: {flag.message}" for flag in flags))


def _corners(box: Corners) -> list[float]:
    return [round(edge, 1) for edge in (box.x0_pt, box.y0_pt, box.x1_pt, box.y1_pt)]


def _revisions(rows: Sequence[BoxRow] | Sequence[LineRow]) -> list[str]:
    return list(dict.fromkeys(row.revision for row in rows if row.document_id))


def _flow(row: FlowRow, *, form: str, part: str, key: str, document: str | None) -> FlowReply:
    return FlowReply(
        line=f"{form}{f' Part {part}' if part else ''} {key.replace('_', ' ')}".rstrip(),
        document=document or "",
        evidence=row.evidence,
        stated_in=f"{row.document_id} p. {row.page}",
    )


def _instructions(explanations: Iterable[LineExplanation]) -> list[BoxTextReply]:
    """Return one text for each heading that explains a line."""
    return [
        BoxTextReply(
            reader=explanation.perspective,
            document=explanation.document_id,
            page=explanation.page,
            text=cut(" ".join([explanation.heading, *(passage.text for passage in explanation.passages)]), LONG),
            node_id=explanation.node_id,
        )
        for explanation in explanations
    ]


def _trace_step(source: Trace | TraceStep, target: Trace | TraceStep, statement: TraceStatement) -> TraceStepReply:
    return TraceStepReply(
        source=name_line(source),
        target=name_line(target),
        evidence=statement.evidence,
        stated_in=f"{statement.document_id} p. {statement.page}",
    )


def _first_page(places: Sequence[PlacedCorners]) -> int | None:
    return places[0].page if places else None
