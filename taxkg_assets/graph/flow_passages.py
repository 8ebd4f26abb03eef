"""Statements of passages and headings on amounts: what each passage is about, and which lines it joins."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from taxkg_assets.graph.flow_clauses import WITHIN, read_clauses
from taxkg_assets.graph.flow_context import Said
from taxkg_assets.graph.flow_ends import NO_LINE, About, End, Lines
from taxkg_assets.graph.flow_lists import (
    find_listed_form,
    introduces_list,
    introduces_sources,
    read_lead_in,
    read_source_item,
)
from taxkg_assets.graph.flow_rows import list_rows, names_other
from taxkg_assets.graph.flow_statements import (
    FlowStatement,
    list_ends,
    names_whole,
    pair_in_turn,
    read_code,
    read_heading,
    read_item,
    read_passage,
)
from taxkg_assets.graph.flow_subjects import Subject, find_subject, list_heading_keys
from taxkg_assets.graph.named_amounts import NamedAmounts, PlacedAmount, read_placed_amounts
from taxkg_assets.graph.place_patterns import FORM_NAME
from taxkg_assets.graph.places import Place, find_places, name_forms
from taxkg_assets.graph.schedule_scopes import Owners, find_parents

Row = Mapping[str, Any]
_ABOUT_FORM = re.compile(r"^Form (\d{4}(?:-[A-Z]+)?|[A-Z]-\d+)\b")
_FILERS = re.compile(r"^(?P<forms>Forms? .+?) filers\b")
_QUESTION = re.compile(r"Question \d")
"""Heading on a line that takes an answer; amounts below it are compared with a limit."""
_LIST_ITEM_START = re.compile(r"^(?:[•▶]|\(?(?:\d{1,2}|[a-z])[.)])\s")
_LEADERS = re.compile(r"(?:\. ?){5,}")
"""Dots between the words of a worksheet's line and its amount."""
_INCOME = re.compile(r"\b(?:partnership|corporation|estate|trust)[’']s (?:ordinary )?income on $")
"""Before the line of a return that states the income of the one who files it."""
_NO_FORM = r"(?:(?!\bForms? |\bSchedules? )[^.])*"
_COMPLETED_FORM = re.compile(
    r"\b(?:[Cc]omplet(?:e|ed|ing)|[Ff]ill(?:ed|ing)? (?:in|out)|[Uu]s(?:e|ed|ing))"
    rf" (?:your |the |an? |Parts? [IVX]+ of )?(?P<form>{FORM_NAME.pattern}){_NO_FORM}(?:\. {_NO_FORM})?$"
)
"""Form that a sentence completes, before a line of it in that sentence or the next one."""
_NAMED_FORM = re.compile(r"\bForms? ([A-Z\d][\w-]*\w)")


@dataclass(slots=True)
class _Before:
    """What earlier passages under the same heading, and of the same document, named.

    Attributes:
        anchor_id: Their heading.
        lead_in: Place of the amount that a list of targets divides: `Enter the amount of box 4 as follows.`
        has_targets: Whether the items of the list that follows are targets.
        has_sources: Whether they are sources.
        listed_form: Form that the introduction of a list of sources names.
        said: Places that they named as showing an amount.
        column_forms: Forms of the column that they named last.
        boxes: Forms of the boxes that they named, by key.
        amounts: Amounts by words, by document: `your harbor dues`.
        placed: Passages that say where such an amount is.
    """

    anchor_id: str = ""
    lead_in: Place | None = None
    has_targets: bool = False
    has_sources: bool = False
    listed_form: tuple[str, ...] = ()
    said: Said = field(default_factory=Said)
    column_forms: tuple[str, ...] = ()
    boxes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    amounts: dict[str, NamedAmounts] = field(default_factory=lambda: defaultdict(NamedAmounts))
    placed: list[tuple[Row, About, PlacedAmount]] = field(default_factory=list)


def read_passages(
    passages: pl.DataFrame,
    anchors: pl.DataFrame,
    documents_by_id: Mapping[str, Row],
    known_lines: Lines,
    *,
    owners: Owners,
) -> Iterator[dict[str, Any]]:
    """Extract flows from the passages of instructions and publications that name a line.

    Args:
        passages: Passages of instructions, publications and forms, from `select_passages`.
        anchors: Headings that own them.
        documents_by_id: Rows of `documents` by document_id.
        known_lines: Lines of all documents.
        owners: What the passages below each heading are about.

    Yields:
        Rows of `flows`.
    """
    if passages.is_empty():
        return
    columns = ["anchor_id", "key", "heading", "form", "perspective"]
    schedules = find_parents(passages, documents_by_id, anchors, owners.scopes)
    before = _Before()
    headed = passages.join(anchors.select(columns), on="anchor_id", how="left", maintain_order="left")
    for row in headed.iter_rows(named=True):
        heading = row["heading"] or ""
        if heading.startswith("Example"):
            continue
        document = documents_by_id[row["document_id"]]
        row["key"] = owners.line_keys.get(row["anchor_id"]) or row["key"]
        scope = owners.scopes.get(row["anchor_id"], "")
        schedules_of_document = schedules.get(row["document_id"], {})
        subject = find_subject(row, document, heading, known_lines, scope=scope, schedules=schedules_of_document)
        subject = _restrict_end(subject, row)
        before.amounts[row["document_id"]].add(row["text"])
        before.placed += [(row, subject.about, amount) for amount in read_placed_amounts(row["text"])]
        for statement in _read_statements(row, before, subject):
            placed = _place_on_named_forms(statement, row, document, subject, before=before, known_lines=known_lines)
            if _names_both_ends(placed, subject, known_lines):
                stated = _place_of(row, placed)
                yield from list_rows(
                    placed, subject.end, subject.about, known_lines=known_lines, printed_at=stated, text=row["text"]
                )
    for passage, about, amount in before.placed:
        for statement in before.amounts[passage["document_id"]].join(amount):
            stated = _place_of(passage, statement)
            yield from list_rows(
                statement, None, about, known_lines=known_lines, printed_at=stated, text=passage["text"]
            )


def _restrict_end(subject: Subject, row: Row) -> Subject:
    """Return what a passage is about, without a line for the face of a form, and with the code of a box, if any."""
    is_printed_line = row["perspective"] == "face" or _LEADERS.search(row["text"])
    if subject.end is None or is_printed_line:
        return subject._replace(end=None)
    if subject.heading_kind == "boxes":
        return subject._replace(end=replace(subject.end, code=read_code(row["text"])))
    return subject


def _read_statements(row: Row, before: _Before, subject: Subject) -> Iterator[FlowStatement]:
    """Read the statements of a passage; below a heading on a range of lines, one for each of its lines."""
    end = subject.end
    if end is None:
        yield from _read_passage(row, before, heading_kind="", topic="")
        return
    label = end.line["label"] if end.line else ""
    topic = f"{row['heading'] or ''} {label}"
    range_of_heading = list_heading_keys(row["key"] or "") if end.key == row["key"] else []
    for statement in _read_passage(row, before, heading_kind=subject.heading_kind, topic=topic):
        yield from _spread(statement, range_of_heading, subject.about.form) if range_of_heading else [statement]


def _place_on_named_forms(
    statement: FlowStatement, row: Row, document: Row, subject: Subject, *, before: _Before, known_lines: Lines
) -> FlowStatement:
    """Assign to places without a form the one that the heading, an earlier passage or the sentence names.

    Args:
        statement: A statement of the passage.
        row: The passage.
        document: Row of `documents`.
        subject: What the passage is about.
        before: What earlier passages named.
        known_lines: Lines of all documents.

    Returns:
        The statement; places that no rule knows the form of stay without one.
    """
    heading = row["heading"] or ""
    text = row["text"]
    form = subject.about.form
    statement = _share_of_line(_place_on_form_of_filers(statement, heading), subject.end)
    statement = _place_on_return(statement, text, document["form"])
    if subject.heading_kind not in ("boxes", "given"):
        statement = _place_on_form_of_lead_in(statement, before)
    if not form or known_lines.has_only_lines(form):
        statement = place_on_form_before(statement, text, find_heading_form(heading, known_lines))
    return statement if form else place_on_completed_form(statement, text)


def _names_both_ends(statement: FlowStatement, subject: Subject, known_lines: Lines) -> bool:
    """Decide whether both ends of a statement are on known forms."""
    has_formless_place = any(place and not place.forms for place in (statement.source, statement.target))
    if has_formless_place and not subject.about.form:
        return False
    is_of_clause = statement.rule_id.startswith("clause")
    return not is_of_clause or _has_ends(
        statement, subject.end, subject.about, known_lines, heading_kind=subject.heading_kind
    )


def read_headings(
    anchors: pl.DataFrame, documents_by_id: Mapping[str, Row], known_lines: Lines, *, owners: Owners
) -> Iterator[dict[str, Any]]:
    """Extract flows from booklet headings of lines that name the source of the amount.

    Args:
        anchors: Headings.
        documents_by_id: Rows of `documents` by document_id.
        known_lines: Lines of all documents.
        owners: What the passages below each heading are about.

    Yields:
        Rows of `flows`.
    """
    is_named = pl.col("heading").str.contains(r"(?i)\b(?:from|amounts? (?:shown |reported )?on)\b.*\b(?:line|box)")
    for row in anchors.filter(is_named & pl.col("key").str.starts_with("line_")).iter_rows(named=True):
        scope = owners.scopes.get(row["anchor_id"], "")
        document = documents_by_id[row["document_id"]]
        about, _, own_end = find_subject(row, document, row["heading"], known_lines, scope=scope, schedules={})
        if own_end is None or row["perspective"] == "face":
            continue
        stated = {name: row[name] for name in ("document_id", "page", "bbox", "element_id")}
        for statement in read_heading(row["heading"]):
            if names_other(statement.source, about, known_lines):
                yield from list_rows(
                    statement, own_end, about, known_lines=known_lines, printed_at=stated, text=row["heading"]
                )


def select_passages(sections: pl.DataFrame) -> pl.DataFrame:
    """Select the passages that can state a flow, by the lines, boxes, columns or forms they name.

    Args:
        sections: Passages of instructions, publications and forms.

    Returns:
        Some of the rows, in their order.
    """
    text = pl.col("text")
    names_field = text.str.contains(r"(?i)\b(?:lines?|box(?:es)?|columns?)\b")
    has_transfer_verb = text.str.contains(r"(?i)enter|include|report|carry|transfer|show|\bstate\b")
    is_list_item = text.str.contains(_LIST_ITEM_START.pattern)
    is_list_intro = text.str.contains(
        r"(?i)\b(?:enter|include|report|add)\b.*\b(?:follows|following|from|of|on)\b[^.:]{0,80}[.:]$"
        r"|^[A-Z][a-z ]{3,60} of the following [a-z ]{1,40}[.:]$|follow[.:]$|are (?:as follows|listed next)[.:]$"
    )
    return sections.filter(
        (names_field & (has_transfer_verb | is_list_item))
        | is_list_intro
        | text.str.contains(r"[Rr]eport .{0,20}on .{0,5}Form ")
    )


def _read_passage(row: Row, before: _Before, *, heading_kind: str, topic: str) -> list[FlowStatement]:
    """Read a passage, with what the passages before it under the same heading introduce.

    Args:
        row: The passage.
        before: What earlier passages named; changed.
        heading_kind: What the heading explains, as in `Subject`; empty where it explains no line.
        topic: Heading and label of its line.
    """
    text = row["text"]
    is_below_same_heading = before.anchor_id == row["anchor_id"]
    is_list_item = _LIST_ITEM_START.match(text) is not None
    if is_list_item or not is_below_same_heading:
        before.said = Said()
    statements = read_passage(text, heading_kind="" if heading_kind == "given" else heading_kind)
    known_ends = {list_ends(statement) for statement in statements}
    further = [
        *read_clauses(text, heading_kind=heading_kind, said=before.said, topic=topic),
        *_read_source_items(row, before, heading_kind, is_list_item=is_list_item, is_same=is_below_same_heading),
        *_read_target_items(text, before, heading_kind, is_list_item=is_list_item, is_same=is_below_same_heading),
    ]
    statements += [statement for statement in further if list_ends(statement) not in known_ends]
    if not is_below_same_heading:
        before.anchor_id, before.column_forms, before.boxes = row["anchor_id"], (), {}
    if "box" in text:
        boxes = [place for place in find_places(text) if place.kind == "box" and place.forms]
        before.boxes |= {key: box.forms for box in boxes for key in box.keys}
    whole_amounts = [statement for statement in statements if names_whole(statement, text)]
    single = [part for statement in whole_amounts for part in pair_in_turn(statement, text)]
    return [_place_on_form_of_column(statement, before) for statement in single]


def _read_source_items(
    row: Row, before: _Before, heading_kind: str, *, is_list_item: bool, is_same: bool
) -> list[FlowStatement]:
    """Read an item of a list of sources: `Include on this line:`, `• Dues from Form 2889, line 4.`

    Args:
        row: The passage.
        before: What earlier passages named; changed by an introduction.
        heading_kind: What the heading explains.
        is_list_item: Whether the passage is an item of a list.
        is_same: Whether the passage before it is below the same heading.
    """
    if not is_list_item and (not is_same or introduces_list(row["text"])):
        is_amount = heading_kind == "lines" and not _QUESTION.match(row["heading"] or "")
        before.has_sources = is_amount and introduces_sources(row["text"], key=row["key"] or "")
        before.listed_form = find_listed_form(row["text"]) if before.has_sources else ()
        return []
    if is_same and before.has_sources and heading_kind == "lines":
        return list(read_source_item(row["text"], forms=before.listed_form))
    return []


def _read_target_items(
    text: str, before: _Before, heading_kind: str, *, is_list_item: bool, is_same: bool
) -> list[FlowStatement]:
    """Read an item of a list of targets: `Report the amount of box 4 as follows:`, `• Farmers, on line 8.`

    Args:
        text: The passage.
        before: What earlier passages named; changed by an introduction.
        heading_kind: What the heading explains.
        is_list_item: Whether the passage is an item of a list.
        is_same: Whether the passage before it is below the same heading.
    """
    if not is_list_item:
        before.has_targets, before.lead_in = read_lead_in(text, heading_kind=heading_kind)
        return []
    if is_same and before.has_targets:
        return list(read_item(text, source=before.lead_in))
    return []


def _place_on_form_of_column(statement: FlowStatement, before: _Before) -> FlowStatement:
    """Assign to a column without a form the form of the column that was named last, and remember a new one."""
    target = statement.target
    if target is None or target.kind != "column":
        return statement
    before.column_forms = target.forms or before.column_forms
    return replace(statement, target=replace(target, forms=before.column_forms))


def _has_ends(
    statement: FlowStatement, own_end: End | None, about: About, known_lines: Lines, *, heading_kind: str
) -> bool:
    """Decide whether a clause names two forms: a box is on a named form, and no line moves to another of its form.

    Args:
        statement: What the clause states.
        own_end: Box or line of the heading.
        about: What the passage is about.
        known_lines: Lines of all documents.
        heading_kind: What the heading explains.
    """
    source, target = statement.source, statement.target
    names_own_form = own_end is not None and bool(own_end.form)
    if statement.rule_id == WITHIN:
        return names_own_form
    places = [place for place in (source, target) if place is not None]
    if any(place.kind == "box" and _has_lines_only(place, known_lines, about) for place in places):
        return False
    if any(_is_no_line(place, known_lines, about) for place in places):
        return False
    if target is None:
        return names_own_form
    if source is None:
        return names_own_form and (statement.rule_id != "clause" or names_other(target, about, known_lines))
    if source.kind == "column":
        return False
    if source.kind == target.kind == "box":
        # Two boxes are two amounts only where the clause itself names the source with a form of its own.
        is_named_before_clause = source.start < statement.start
        is_same_form = source.forms[:1] in ((), target.forms[:1])
        if is_named_before_clause or is_same_form:
            return False
    has_formless_box = any(place.kind == "box" and not place.forms for place in places)
    form_has_boxes = heading_kind == "boxes" or not known_lines.has_only_lines(about.form)
    if has_formless_box and not form_has_boxes:
        return False
    return bool(about.form or (source.forms and target.forms))


def _has_lines_only(place: Place, known_lines: Lines, about: About) -> bool:
    """Decide whether a form of a place numbers lines only: `box 4 on your Form 2040` is in another box."""
    forms = [known_lines.name_form(form, about) for form in place.forms]
    is_schedule = any(form.startswith("Schedule") and not form.startswith("Schedule K-") for form in forms)
    return is_schedule or any(known_lines.has_only_lines(form) for form in forms)


def _is_no_line(place: Place, known_lines: Lines, about: About) -> bool:
    """Decide whether a line that names no form is none of the form that the text is about."""
    if place.forms or not place.keys or place.kind != "line":
        return False
    return known_lines.find(place, about, key=place.keys[0], form="").problem == NO_LINE


def _share_of_line(statement: FlowStatement, own_end: End | None) -> FlowStatement:
    """Add to a share of a partner the line with the number of its box: below `Line 4`, box 4a is for line 4a."""
    target = statement.target
    if own_end is None or statement.source is not None or target is None:
        return statement
    if target.kind != "box" or len(target.keys) != 1 or not target.forms or not own_end.key.startswith("line_"):
        return statement
    key = target.keys[0]
    if key[:-1] != own_end.key.removeprefix("line_"):
        return statement
    line = Place((), target.keys, "line", "", "", "", target.start, target.end)
    return replace(statement, source=line)


def _place_of(row: Row, statement: FlowStatement) -> dict[str, Any]:
    """Return where a statement of a passage is printed."""
    piece = next(line for line in reversed(row["pieces"]) if line["start"] <= statement.start)
    return {
        "document_id": row["document_id"],
        "page": piece["page"],
        "bbox": {name: piece[name] for name in ("x0_pt", "y0_pt", "x1_pt", "y1_pt")},
        "element_id": row["element_id"],
    }


def _spread(statement: FlowStatement, keys: list[str], form: str) -> Iterator[FlowStatement]:
    """Assign to each line of the heading its own place of a range as long.

    Below `Boxes 1–3`, `Enter the amounts of lines 7 through 9 of Form 2889` is three statements: line 7 goes to box 1.

    Args:
        statement: A statement of the passage.
        keys: Keys of the heading: `1`, `2`, `3`.
        form: Form of the heading.
    """
    source, target = statement.source, statement.target
    if source is not None and target is not None:
        yield statement
        return
    place = source or target
    if place is None or len(place.keys) != len(keys):
        return
    for place_key, heading_key in zip(place.keys, keys, strict=True):
        of_place = replace(place, keys=(place_key,))
        of_heading = replace(place, forms=(form,), keys=(heading_key,), part="", column="", label="")
        yield replace(statement, source=of_place if source else of_heading, target=of_place if target else of_heading)


def find_heading_form(heading: str, known_lines: Lines) -> str:
    """Return the information return in a heading: `Form 2099 transactions`; empty for other forms."""
    match = _ABOUT_FORM.match(heading)
    return match[1] if match and not known_lines.has_only_lines(match[1]) else ""


def place_on_form_before(statement: FlowStatement, text: str, heading_form: str) -> FlowStatement:
    """Assign to a box without a form the last form that the passage named, else that of its heading."""
    source = statement.source
    if source is None or source.forms or source.kind != "box":
        return statement
    forms_before = _NAMED_FORM.findall(text, 0, statement.start)
    form = forms_before[-1] if forms_before else heading_form
    return replace(statement, source=replace(source, forms=(form,))) if form else statement


def place_on_completed_form(statement: FlowStatement, text: str) -> FlowStatement:
    """Assign to a line without a form, in a publication, the form that its sentence or the one before it completes.

    Args:
        statement: A statement of the passage.
        text: The passage: `After you complete Form 2917, enter the amount from line 10 on Schedule 1, line 20.`

    Returns:
        The statement; unchanged where another form is named between.
    """
    source = statement.source
    if source is None or source.forms or source.kind != "line":
        return statement
    completed = _COMPLETED_FORM.search(text[: source.start])
    return replace(statement, source=replace(source, forms=name_forms(completed["form"]))) if completed else statement


def _place_on_form_of_lead_in(statement: FlowStatement, before: _Before) -> FlowStatement:
    """Assign to a box without a form the form that the passage before the list named with it."""
    source = statement.source
    if source is None or source.forms or source.kind != "box":
        return statement
    return replace(statement, source=replace(source, forms=before.boxes.get(source.keys[0], ())))


def _place_on_form_of_filers(statement: FlowStatement, heading: str) -> FlowStatement:
    """Assign to a line of a part, below a heading for the filers of some forms, those forms."""
    match = _FILERS.match(heading)
    source = statement.source
    if match is None or source is None or source.forms or not source.part:
        return statement
    return replace(statement, source=replace(source, forms=name_forms(match["forms"])))


def _place_on_return(statement: FlowStatement, text: str, form: str) -> FlowStatement:
    """Assign to the line of an income, below the heading of a schedule, the return: `in the trust's income on`."""
    target = statement.target
    if target is None or target.forms or not _INCOME.search(text[: target.start]):
        return statement
    return replace(statement, target=replace(target, forms=(form,)))
