"""Answer units: statements with the context that they need, in pieces that name their passage and element.

`context` finds the context of a sentence; `statement_scores` chooses the statements that answer a question.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.retrieval.answering.context import (
    SentenceRef,
    depends_on_previous,
    drop_orphaned_rests,
    fill_gaps,
    fill_list,
    fill_paragraph,
    fill_section,
    find_announced_table,
    find_exception,
    find_intros,
    look_back,
)
from taxkg_assets.retrieval.answering.statements import Statement
from taxkg_assets.retrieval.answering.table_rows import find_captions, find_headers, read_row
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.index.lines import Line
from taxkg_assets.retrieval.index.passage_context import PassageContext
from taxkg_assets.retrieval.query.router import find_listed_codes
from taxkg_assets.rules.models.answers import load_answers

Role = Literal["label", "lead_in", "sentence", "item", "row", "cell", "note"]


class Piece(BaseModel):
    """A piece of a unit: a quote, or a note of the program.

    Attributes:
        role: `label` is the heading above the unit; `lead_in` introduces the list of the items after it; `sentence` and
            `item` are quoted text; `row` is a table row with its headers; `cell` is a value with the headers of its row
            and column; `note` is added by the program.
        text: Text of the piece.
        chunk_id: Id of the passage that contains it; empty if unknown.
        node_id: Id of the element that contains it; empty if unknown.
        bboxes: Page rectangles, if the caller requested them.
    """

    model_config = ConfigDict(frozen=True)
    role: Role
    text: str
    chunk_id: str = ""
    node_id: str = ""
    bboxes: list[BoundingBox] = []


class Unit(BaseModel):
    """A statement of a passage with the context that it needs.

    Attributes:
        rank: Rank of the passage.
        label: Heading above the statement.
        pieces: Pieces in reading order.
    """

    model_config = ConfigDict(frozen=True)
    rank: int
    label: str
    pieces: list[Piece]

    @property
    def text(self) -> str:
        """Return the text of the unit without citations."""
        return "\n".join(self.lines)

    @property
    def lines(self) -> list[str]:
        """Return the text line by line; a row of a table, and an item of a longer list, has a line of its own."""
        max_inline_items = load_answers().lists.inline_items
        is_long = sum(piece.role == "item" for piece in self.pieces) > max_inline_items
        lines, is_row = [""], False
        for piece in self.pieces:
            begins_line = bool(lines[-1]) and (
                (is_long and piece.role in ("item", "note")) or (piece.role == "row" and is_row)
            )
            is_row = piece.role == "row"
            if begins_line or (is_long and lines[-1].startswith("• ") and piece.role != "item"):
                lines.append("")
            separator = " " if lines[-1] else ""
            label_end = ": " if piece.role == "label" else ""
            lines[-1] = (
                f"{lines[-1].rstrip()}{separator}{piece.text.rstrip('. ') + label_end if label_end else piece.text}"
            )
        return [line.strip() for line in lines if line.strip()]

    def quote(self) -> str:
        """Return the lines, each with the rank of the passage in brackets."""
        return "\n".join(f"{line} [{self.rank}]" for line in self.lines)


@dataclass(slots=True)
class Draft:
    """A unit under construction: the sentences of one context that belong together.

    Attributes:
        context: Lines around the sentences.
        passage: Index of the passage among the results.
        refs: The sentences.
        score: Score of the statement, the highest one if drafts were merged.
    """

    context: PassageContext
    passage: int
    refs: set[SentenceRef]
    score: float

    @property
    def words(self) -> int:
        """Return the number of words."""
        return sum(
            len(self.context.lines[line_ix].read_sentence(sentence_ix).split()) for line_ix, sentence_ix in self.refs
        )

    @property
    def terms(self) -> frozenset[str]:
        """Return the search terms of all sentences."""
        sentences = (self.context.lines[line_ix].read_sentence(sentence_ix) for line_ix, sentence_ix in self.refs)
        return frozenset(find_terms(" ".join(sentences)))

    def joins(self, other: Draft) -> bool:
        """Return whether two drafts belong together: they share a sentence, or the introduction of a list.

        Args:
            other: The other draft.
        """
        if self.context is not other.context or self.passage != other.passage:
            return False
        if self.refs & other.refs:
            return True
        return bool(self._find_list_intros() & other._find_list_intros())

    def contains(self, statement: Statement) -> bool:
        """Return whether a statement is part of the draft.

        Args:
            statement: The statement.
        """
        is_same_passage = self.context is statement.context and self.passage == statement.passage
        return is_same_passage and (statement.line_ix, statement.sentence_ix) in self.refs

    def _find_list_intros(self) -> set[tuple[int, ...]]:
        """Return the introducing lines of each list that a sentence of the draft is in."""
        lines = self.context.lines
        return {lines[line_ix].intro_ixs for line_ix, _ in self.refs if lines[line_ix].intro_ixs}


def draft_unit(
    statement: Statement,
    *,
    score: float,
    with_paragraph: bool = True,
    codes: Collection[str] = frozenset(),
    with_table: bool = True,
) -> Draft:
    """Draft a unit: a statement with the context that it needs.

    Args:
        statement: The statement.
        score: Score of the statement.
        with_paragraph: Whether to add the rest of a short paragraph. The section of a statement that explains a key of
            the question is added in any case.
        codes: Codes of the question; items about other codes are left out of its list. Empty to keep all.
        with_table: Whether to add the table that the statement announces.

    Returns:
        The draft.
    """
    context = statement.context
    statement_ref = (statement.line_ix, statement.sentence_ix)
    intros = find_intros(context, statement_ref)
    refs = {statement_ref, *intros}
    if with_paragraph:
        refs |= fill_paragraph(context, statement_ref)
    if statement.explained_keys:
        refs |= fill_section(context, statement_ref, words=load_answers().section_words)
    refs |= {exception for ref in refs for exception in find_exception(context, ref)}
    depth = load_answers().look_back
    refs |= {earlier for ref in refs for earlier in look_back(context, ref, depth=depth)}
    refs |= {item for ref in refs - intros for item in fill_list(context, ref)}
    refs = drop_orphaned_rests(context, fill_gaps(context, refs))
    if with_table:
        refs |= find_announced_table(context, statement_ref)
    if codes:
        refs = {ref for ref in refs if ref == statement_ref or not _explains_other_code(context, ref, codes)}
    return Draft(context, statement.passage, refs, score)


def _explains_other_code(context: PassageContext, ref: SentenceRef, codes: Collection[str]) -> bool:
    """Return whether a line explains a code that the question does not name."""
    listed_codes = [f"code_{code}" for code in find_listed_codes(context.lines[ref[0]].text)]
    return bool(listed_codes) and listed_codes[0] not in codes


def merge_drafts(drafts: Iterable[Draft]) -> list[Draft]:
    """Merge drafts that share a sentence or the introduction of a list.

    Args:
        drafts: Drafts in the order in which they were chosen.

    Returns:
        Drafts in the same order; a merged draft has the position of the last of its parts.
    """
    merged: list[Draft] = []
    for draft in drafts:
        for other in [other for other in merged if other.joins(draft)]:
            merged.remove(other)
            draft = Draft(
                draft.context,
                draft.passage,
                fill_gaps(draft.context, draft.refs | other.refs),
                max(draft.score, other.score),
            )
        merged.append(draft)
    return merged


def finish_unit(draft: Draft, *, rank: int, edition: str = "") -> Unit:
    """Convert a draft to a unit: pieces in reading order, after a label if the words need one.

    Args:
        draft: The draft.
        rank: Rank of the passage.
        edition: Form and edition for the label; empty for none.

    Returns:
        The unit.
    """
    context, refs = draft.context, sorted(draft.refs)
    first_line = context.lines[refs[0][0]]
    heading = context.heading(first_line.row)
    pieces = list(_quote_sentences(context, refs))
    text = " ".join(piece.text for piece in pieces)
    needs_heading = bool(edition) or _needs_heading(context, refs[0])
    has_heading = bool(heading) and heading.rstrip(". ") not in text and needs_heading
    denial = context.denial(first_line.row).rstrip(". ")
    label_parts = [denial if denial not in text else "", heading.rstrip(". ") if has_heading else "", edition]
    if label := ", ".join(part for part in label_parts if part):
        pieces.insert(0, Piece(role="label", text=label, chunk_id=context.chunk(first_line)))
    return Unit(rank=rank, label=heading, pieces=pieces)


def _quote_sentences(context: PassageContext, refs: Sequence[SentenceRef]) -> Iterator[Piece]:
    """Yield the pieces of some sentences; after the last item of a list, how many of its items are left out."""
    lines = context.lines
    intro_ixs = {intro_ix for line_ix, _ in refs for intro_ix in lines[line_ix].intro_ixs}
    for ix, (line_ix, sentence_ix) in enumerate(refs):
        line = lines[line_ix]
        previous_line = lines[refs[ix - 1][0]] if ix else None
        next_line = lines[refs[ix + 1][0]] if ix + 1 < len(refs) else None
        role: Role = "item" if line.is_item else "sentence"
        if line_ix in intro_ixs and sentence_ix == len(line.sentences) - 1:
            role = "lead_in"
        text = line.read_sentence(sentence_ix)
        if line.is_table:
            role, text = "row", _read_table_row(context, line, previous_line=previous_line)
        yield Piece(role=role, text=text, chunk_id=context.chunk(line), node_id=context.node(line))
        is_last_item = next_line is None or next_line.intro_ixs[: len(line.intro_ixs)] != line.intro_ixs
        if line.intro_ixs and is_last_item and (note := _describe_missing(context, line, refs)):
            yield Piece(role="note", text=note)


def _read_table_row(context: PassageContext, line: Line, *, previous_line: Line | None) -> str:
    """Return a row with its headers, or a note of a table; the first quoted row of a table has the caption before it.

    Words of the caption that end the quote before the table are not repeated.
    """
    lines = context.lines_by_row[line.row]
    captions, headers = find_captions(lines), find_headers(lines, line)
    if headers is None:
        captions = captions[:1] if line.text not in captions[:1] else []
    row = read_row(headers, line.text) if headers is not None else line.text
    captions = [caption for caption in captions if headers is None or caption not in headers]
    is_first_row = previous_line is None or not previous_line.is_table or previous_line.row != line.row
    announced_title = (
        previous_line.text.rstrip(". ") if previous_line is not None and not previous_line.is_table else ""
    )
    caption = f"{captions[-1]} " if captions and is_first_row else ""
    caption = caption.removeprefix(f"{announced_title} ").strip()
    return " — ".join(part for part in (caption, row) if part)


def _describe_missing(context: PassageContext, line: Line, refs: Sequence[SentenceRef]) -> str:
    """Return a note of how many items of a list are left out, or that the list may continue after the context."""
    shown_ixs, items = {line_ix for line_ix, _ in refs}, context.items_of(line)
    missing_count = sum(item.line_ix not in shown_ixs for item in items)
    if items[-1].line_ix == len(context.lines) - 1 and context.is_cut:
        return "(more in this list)"
    return f"({missing_count} more in this list)" if missing_count else ""


def _needs_heading(context: PassageContext, first_ref: SentenceRef) -> bool:
    """Return whether a quote needs its heading: it explains a box or line, is excluded by it, or begins mid-thought."""
    line = context.lines[first_ref[0]]
    key = context.facts.columns["anchor_key"][line.row]
    heading = context.heading(line.row)
    is_exclusion = load_answers().denials.matches(heading)
    return bool(key) or is_exclusion or line.is_item or (depends_on_previous(context, first_ref) and first_ref[1] == 0)
