"""Answer units: statements with all that is needed to understand them, each piece with its place.

`context` finds what a sentence needs; `statement_scores` chooses the statements that answer a question.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.retrieval.answering.context import (
    Spot,
    drop_rests,
    fill_gaps,
    fill_list,
    fill_paragraph,
    fill_section,
    find_announced_table,
    find_exception,
    lead_in,
    leans_back,
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
    """Some words of a unit, verbatim except for notes.

    Attributes:
        role: label is the heading above it; lead_in opens the list of the items after it; cell is a value with the
            headers of its row and column; note is added by the program.
        text: Its words.
        chunk_id: Passage that contains it; empty if unknown.
        node_id: Element that contains it; empty if unknown.
        bboxes: Its rectangles, if the caller requested them.
    """

    model_config = ConfigDict(frozen=True)
    role: Role
    text: str
    chunk_id: str = ""
    node_id: str = ""
    bboxes: list[BoundingBox] = []


class Unit(BaseModel):
    """A statement of a passage with what is needed to understand it.

    Attributes:
        rank: Number of its passage.
        label: Heading above it.
        pieces: Its pieces in reading order.
    """

    model_config = ConfigDict(frozen=True)
    rank: int
    label: str
    pieces: list[Piece]

    @property
    def text(self) -> str:
        """Return the text without citation, one line for each row and for each item of a longer list."""
        return "\n".join(self.lines)

    @property
    def lines(self) -> list[str]:
        """Return its words, line by line."""
        most = load_answers().lists.inline_items
        is_long = sum(piece.role == "item" for piece in self.pieces) > most
        lines, is_row = [""], False
        for piece in self.pieces:
            begins = bool(lines[-1]) and (
                (is_long and piece.role in ("item", "note")) or (piece.role == "row" and is_row)
            )
            is_row = piece.role == "row"
            if begins or (is_long and lines[-1].startswith("• ") and piece.role != "item"):
                lines.append("")
            joint = " " if lines[-1] else ""
            ends = ": " if piece.role == "label" else ""
            lines[-1] = f"{lines[-1].rstrip()}{joint}{piece.text.rstrip('. ') + ends if ends else piece.text}"
        return [line.strip() for line in lines if line.strip()]

    def quote(self) -> str:
        """Return its lines, each with the number of its passage."""
        return "\n".join(f"{line} [{self.rank}]" for line in self.lines)


@dataclass(slots=True)
class Draft:
    """A unit under construction: the sentences of one context that belong together."""

    context: PassageContext
    passage: int
    spots: set[Spot]
    worth: float
    is_labeled: bool = False

    @property
    def words(self) -> int:
        """Return the number of its words."""
        return sum(len(self.context.lines[place].read_sentence(sentence).split()) for place, sentence in self.spots)

    @property
    def terms(self) -> frozenset[str]:
        """Return its search terms."""
        sentences = (self.context.lines[place].read_sentence(sentence) for place, sentence in self.spots)
        return frozenset(find_terms(" ".join(sentences)))

    def joins(self, other: Draft) -> bool:
        """Return whether two drafts should be merged: they share a sentence or a list introduction.

        Args:
            other: The other draft.
        """
        if self.context is not other.context or self.passage != other.passage:
            return False
        if self.spots & other.spots:
            return True
        return bool(self._lists() & other._lists())

    def contains(self, statement: Statement) -> bool:
        """Return whether a statement is part of the draft.

        Args:
            statement: The statement.
        """
        is_same = self.context is statement.context and self.passage == statement.passage
        return is_same and (statement.line_ix, statement.sentence) in self.spots

    def _lists(self) -> set[tuple[int, ...]]:
        lines = self.context.lines
        return {lines[place].intro_ixs for place, _ in self.spots if lines[place].intro_ixs}


def draft_unit(
    statement: Statement,
    *,
    worth: float,
    is_whole: bool = True,
    codes: Collection[str] = frozenset(),
    with_table: bool = True,
) -> Draft:
    """Collect a statement with the context that it needs into a draft.

    Args:
        statement: The statement.
        worth: Its score.
        is_whole: Whether to add the rest of a short paragraph; for a box in the question, its whole section is always
            added.
        codes: Codes of the question; other codes of the same list are left out. Empty for all codes.
        with_table: Whether to add the table that the statement announces.

    Returns:
        The draft.
    """
    context = statement.context
    own = (statement.line_ix, statement.sentence)
    leads = lead_in(context, own)
    spots = {own, *leads}
    if is_whole:
        spots |= fill_paragraph(context, own)
    if statement.opens:
        spots |= fill_section(context, own, words=load_answers().section_words)
    spots |= {other for spot in spots for other in find_exception(context, spot)}
    depth = load_answers().look_back
    spots |= {other for spot in spots for other in look_back(context, spot, depth=depth)}
    spots |= {other for spot in spots - leads for other in fill_list(context, spot)}
    spots = drop_rests(context, fill_gaps(context, spots))
    if with_table:
        spots |= find_announced_table(context, own)
    if codes:
        spots = {spot for spot in spots if spot == own or not _explains_other_code(context, spot, codes)}
    return Draft(context, statement.passage, spots, worth)


def _explains_other_code(context: PassageContext, spot: Spot, codes: Collection[str]) -> bool:
    """Return whether a line explains a code that the question does not name."""
    listed = [f"code_{code}" for code in find_listed_codes(context.lines[spot[0]].text)]
    return bool(listed) and listed[0] not in codes


def merge_drafts(drafts: Iterable[Draft]) -> list[Draft]:
    """Merge drafts that share sentences or list introductions.

    Args:
        drafts: Drafts in the order of choice.

    Returns:
        Merged drafts; a merged one takes the place of the last of its parts.
    """
    merged: list[Draft] = []
    for draft in drafts:
        for other in [other for other in merged if other.joins(draft)]:
            merged.remove(other)
            draft = Draft(
                draft.context,
                draft.passage,
                fill_gaps(draft.context, draft.spots | other.spots),
                max(draft.worth, other.worth),
                other.is_labeled,
            )
        merged.append(draft)
    return merged


def finish_unit(draft: Draft, *, rank: int, edition: str = "") -> Unit:
    """Turn a draft into a unit: pieces in reading order, preceded by the heading where it is needed.

    Args:
        draft: The draft.
        rank: Number of its passage.
        edition: Form and edition to name; empty for none.

    Returns:
        The unit.
    """
    context, spots = draft.context, sorted(draft.spots)
    first = context.lines[spots[0][0]]
    heading = context.heading(first.row)
    pieces = list(_quote_spots(context, spots))
    words = " ".join(piece.text for piece in pieces)
    is_named = bool(heading) and heading.rstrip(". ") not in words and (edition or _needs_heading(context, spots[0]))
    denial = context.denial(first.row).rstrip(". ")
    shown = [denial if denial not in words else "", heading.rstrip(". ") if is_named else "", edition]
    if label := ", ".join(part for part in shown if part):
        pieces.insert(0, Piece(role="label", text=label, chunk_id=context.chunk(first)))
    return Unit(rank=rank, label=heading, pieces=pieces)


def _quote_spots(context: PassageContext, spots: Sequence[Spot]) -> Iterator[Piece]:
    """Yield the pieces of some spots; after the items of a list the number of those that are left out."""
    lines = context.lines
    leading = {lead for place, _ in spots for lead in lines[place].intro_ixs}
    for number, (place, sentence) in enumerate(spots):
        line = lines[place]
        role: Role = "item" if line.is_item else "sentence"
        if place in leading and sentence == len(line.sentences) - 1:
            role = "lead_in"
        text = line.read_sentence(sentence)
        if line.is_table:
            before = lines[spots[number - 1][0]] if number else None
            role, text = "row", _read_table_row(context, line, before=before)
        yield Piece(role=role, text=text, chunk_id=context.chunk(line), node_id=context.node(line))
        is_last = (
            number + 1 == len(spots) or lines[spots[number + 1][0]].intro_ixs[: len(line.intro_ixs)] != line.intro_ixs
        )
        if line.intro_ixs and is_last and (note := _describe_missing(context, line, spots)):
            yield Piece(role="note", text=note)


def _read_table_row(context: PassageContext, line: Line, *, before: Line | None) -> str:
    """Return a row with its headers, or a note of a table; the first of several rows has the caption.

    The line before the table may name it: its words are not repeated.
    """
    lines = context.lines_by_row[line.row]
    captions, headers = find_captions(lines), find_headers(lines, line)
    if headers is None:
        captions = captions[:1] if line.text not in captions[:1] else []
    row = read_row(headers, line.text) if headers is not None else line.text
    captions = [caption for caption in captions if headers is None or caption not in headers]
    is_first = before is None or not before.is_table or before.row != line.row
    named = before.text.rstrip(". ") if before is not None and not before.is_table else ""
    caption = f"{captions[-1]} " if captions and is_first else ""
    caption = caption.removeprefix(f"{named} ").strip()
    return " — ".join(part for part in (caption, row) if part)


def _describe_missing(context: PassageContext, line: Line, spots: Sequence[Spot]) -> str:
    """Describe how many items of a list are left out, or that a list may continue beyond the read rows."""
    shown, items = {place for place, _ in spots}, context.items_of(line)
    missing = sum(own.line_ix not in shown for own in items)
    if items[-1].line_ix == len(context.lines) - 1 and context.is_cut:
        return "(more in this list)"
    return f"({missing} more in this list)" if missing else ""


def _needs_heading(context: PassageContext, first: Spot) -> bool:
    """Return whether the words cannot be understood without their heading: an exclusion, a list without lead."""
    line = context.lines[first[0]]
    key = context.facts.columns["anchor_key"][line.row]
    heading = context.heading(line.row)
    is_denied = load_answers().denials.matches(heading)
    return bool(key) or is_denied or line.is_item or (leans_back(context, first) and first[1] == 0)
