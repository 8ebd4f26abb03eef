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
from taxkg_assets.graph.flow_ends import NO_LINE, About, End, Lines, year_of
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
from taxkg_assets.graph.named_amounts import NamedAmounts, PlacedAmount, read_placed_amounts
from taxkg_assets.graph.place_patterns import FORM_NAME
from taxkg_assets.graph.places import Place, find_places, name_forms, range_keys
from taxkg_assets.graph.schedule_scopes import WORKSHEET, Owners, find_parents

Row = Mapping[str, Any]
_HEADING_FORM = re.compile(r"^Form ([\w-]+)\.?$")
_ABOUT_FORM = re.compile(r"^Form (\d{4}(?:-[A-Z]+)?|[A-Z]-\d+)\b")
_BOOK_FORM = re.compile(r"(?:^|\b(?:on|for) )Form (\d{4}(?:-[A-Z]+)?)(?: or (?:Form )?\d{4}-[A-Z]+)?\.?$")
_RANGE = re.compile(r"^(?:lines|boxes)_(\w+)-(\w+)$")
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
    """What earlier passages under the same heading, and of the same document, named."""

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
    passages: pl.DataFrame, anchors: pl.DataFrame, documents_by_id: Mapping[str, Row], known: Lines, *, owners: Owners
) -> Iterator[dict[str, Any]]:
    """Extract flows from the passages of instructions and publications that name a line.

    Args:
        passages: Passages of instructions, publications and forms, from `select_passages`.
        anchors: Headings that own them.
        documents_by_id: Rows of `documents` by document_id.
        known: Lines of all documents.
        owners: What the passages below each heading are about.

    Yields:
        Rows of `flows`.
    """
    if passages.is_empty():
        return
    columns = ["anchor_id", "key", "heading", "form", "perspective"]
    scopes, line_keys = owners.scopes, owners.line_keys
    schedules = find_parents(passages, documents_by_id, anchors, scopes)
    before = _Before()
    headed = passages.join(anchors.select(columns), on="anchor_id", how="left", maintain_order="left")
    for row in headed.iter_rows(named=True):
        heading = row["heading"] or ""
        if heading.startswith("Example"):
            continue
        row["key"] = line_keys.get(row["anchor_id"]) or row["key"]
        about, heading_kind, own = find_subject(
            row,
            documents_by_id[row["document_id"]],
            heading,
            known,
            scope=scopes.get(row["anchor_id"], ""),
            schedules=schedules.get(row["document_id"], {}),
        )
        if row["perspective"] == "face" or _LEADERS.search(row["text"]):
            own = None
        if own is not None and heading_kind == "boxes":
            own = replace(own, code=read_code(row["text"]))
        before.amounts[row["document_id"]].add(row["text"])
        before.placed += [(row, about, amount) for amount in read_placed_amounts(row["text"])]
        listed = _list_heading_keys(row["key"] or "") if own is not None and own.key == row["key"] else []
        label = own.line["label"] if own is not None and own.line else ""
        topic = f"{heading} {label}" if own is not None else ""
        read = _read_passage(row, before, heading_kind=heading_kind if own is not None else "", topic=topic)
        for statement in (
            part for stated in read for part in (_spread(stated, listed, about.form) if listed else [stated])
        ):
            statement = _share_of_line(_place_on_form_of_filers(statement, heading), own)
            statement = _place_on_return(statement, row["text"], documents_by_id[row["document_id"]]["form"])
            if heading_kind not in ("boxes", "given"):
                statement = _place_on_form_of_lead_in(statement, before)
            if not about.form or known.has_only_lines(about.form):
                statement = place_on_form_before(statement, row["text"], find_heading_form(heading, known))
            if not about.form:
                statement = place_on_completed_form(statement, row["text"])
            if not about.form and any(place and not place.forms for place in (statement.source, statement.target)):
                continue
            if statement.rule_id.startswith("clause") and not _has_ends(
                statement, own, about, known, heading_kind=heading_kind
            ):
                continue
            yield from list_rows(statement, own, about, known=known, stated=_place_of(row, statement), text=row["text"])
    for passage, about, amount in before.placed:
        for statement in before.amounts[passage["document_id"]].join(amount):
            stated = _place_of(passage, statement)
            yield from list_rows(statement, None, about, known=known, stated=stated, text=passage["text"])


def read_headings(
    anchors: pl.DataFrame, documents_by_id: Mapping[str, Row], known: Lines, *, owners: Owners
) -> Iterator[dict[str, Any]]:
    """Extract flows from booklet headings of lines that name the source of the amount.

    Args:
        anchors: Headings.
        documents_by_id: Rows of `documents` by document_id.
        known: Lines of all documents.
        owners: What the passages below each heading are about.

    Yields:
        Rows of `flows`.
    """
    is_named = pl.col("heading").str.contains(r"(?i)\b(?:from|amounts? (?:shown |reported )?on)\b.*\b(?:line|box)")
    for row in anchors.filter(is_named & pl.col("key").str.starts_with("line_")).iter_rows(named=True):
        scope = owners.scopes.get(row["anchor_id"], "")
        document = documents_by_id[row["document_id"]]
        about, _, own = find_subject(row, document, row["heading"], known, scope=scope, schedules={})
        if own is None or row["perspective"] == "face":
            continue
        stated = {name: row[name] for name in ("document_id", "page", "bbox", "element_id")}
        for statement in read_heading(row["heading"]):
            if names_other(statement.source, about, known):
                yield from list_rows(statement, own, about, known=known, stated=stated, text=row["heading"])


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
    """Read a passage, with what the passages before it under the same heading introduce."""
    statements = read_passage(row["text"], heading_kind="" if heading_kind == "given" else heading_kind)
    known = {list_ends(statement) for statement in statements}
    is_same = before.anchor_id == row["anchor_id"]
    is_list_item = _LIST_ITEM_START.match(row["text"]) is not None
    if is_list_item or not is_same:
        before.said = Said()
    clauses = read_clauses(row["text"], heading_kind=heading_kind, said=before.said, topic=topic)
    statements += [statement for statement in clauses if list_ends(statement) not in known]
    if not is_list_item and (not is_same or introduces_list(row["text"])):
        is_amount = heading_kind == "lines" and not _QUESTION.match(row["heading"] or "")
        before.has_sources = is_amount and introduces_sources(row["text"], key=row["key"] or "")
        before.listed_form = find_listed_form(row["text"]) if before.has_sources else ()
    elif is_same and before.has_sources and heading_kind == "lines":
        items = read_source_item(row["text"], forms=before.listed_form)
        statements += [item for item in items if list_ends(item) not in known]
    if not is_list_item:
        before.has_targets, before.lead_in = read_lead_in(row["text"], heading_kind=heading_kind)
    elif is_same and before.has_targets:
        items = read_item(row["text"], source=before.lead_in)
        statements += [item for item in items if list_ends(item) not in known]
    if not is_same:
        before.anchor_id, before.column_forms, before.boxes = row["anchor_id"], (), {}
    if "box" in row["text"]:
        boxes = [place for place in find_places(row["text"]) if place.kind == "box" and place.forms]
        before.boxes |= {key: box.forms for box in boxes for key in box.keys}
    placed = []
    whole = [stated for stated in statements if names_whole(stated, row["text"])]
    for statement in (part for stated in whole for part in pair_in_turn(stated, row["text"])):
        target = statement.target
        if target is not None and target.kind == "column":
            before.column_forms = target.forms or before.column_forms
            statement = replace(statement, target=replace(target, forms=before.column_forms))
        placed.append(statement)
    return placed


def _has_ends(statement: FlowStatement, own: End | None, about: About, known: Lines, *, heading_kind: str) -> bool:
    """Decide whether a clause names two forms: a box is on a named form, and no line moves to another of its form."""
    source, target = statement.source, statement.target
    if statement.rule_id == WITHIN:
        return own is not None and bool(own.form)
    if any(
        place is not None and place.kind == "box" and _has_lines_only(place, known, about) for place in (source, target)
    ):
        return False
    if any(place is not None and _is_no_line(place, known, about) for place in (source, target)):
        return False
    if source is None or target is None:
        is_other = target is None or statement.rule_id != "clause" or names_other(target, about, known)
        return bool(own and own.form) and is_other
    is_before = source.start < statement.start
    if source.kind == target.kind == "box" and (is_before or source.forms[:1] in ((), target.forms[:1])):
        return False
    if source.kind == "column":
        return False
    has_boxes = heading_kind == "boxes" or not known.has_only_lines(about.form)
    is_lost = any(place.kind == "box" and not place.forms for place in (source, target))
    return bool(about.form or (source.forms and target.forms)) and not (is_lost and not has_boxes)


def _has_lines_only(place: Place, known: Lines, about: About) -> bool:
    """Decide whether a form of a place numbers lines only: `box 4 on your Form 2040` is in another box."""
    forms = [known.name_form(form, about) for form in place.forms]
    is_schedule = any(form.startswith("Schedule") and not form.startswith("Schedule K-") for form in forms)
    return is_schedule or any(known.has_only_lines(form) for form in forms)


def _is_no_line(place: Place, known: Lines, about: About) -> bool:
    """Decide whether a line that names no form is none of the form that the text is about."""
    if place.forms or not place.keys or place.kind != "line":
        return False
    return known.find(place, about, key=place.keys[0], form="").problem == NO_LINE


def _share_of_line(statement: FlowStatement, own: End | None) -> FlowStatement:
    """Add to a share of a partner the line with the number of its box: below `Line 4`, box 4a is for line 4a."""
    target = statement.target
    if own is None or statement.source is not None or target is None or target.kind != "box" or len(target.keys) != 1:
        return statement
    key = target.keys[0]
    if not (own.key.startswith("line_") and target.forms and key[:-1] == own.key.removeprefix("line_")):
        return statement
    place = Place((), target.keys, "line", "", "", "", target.start, target.end)
    return replace(statement, source=place)


def _place_of(row: Row, statement: FlowStatement) -> dict[str, Any]:
    """Return where a statement of a passage is printed."""
    piece = next(line for line in reversed(row["pieces"]) if line["start"] <= statement.start)
    return {
        "document_id": row["document_id"],
        "page": piece["page"],
        "bbox": {name: piece[name] for name in ("x0_pt", "y0_pt", "x1_pt", "y1_pt")},
        "element_id": row["element_id"],
    }


def _list_heading_keys(key: str) -> list[str]:
    """List the keys of a heading on a range of lines or boxes: `boxes_1-3`; empty for another heading."""
    match = _RANGE.match(key)
    return list(range_keys(match[1], match[2])) if match else []


def _spread(statement: FlowStatement, keys: list[str], form: str) -> Iterator[FlowStatement]:
    """Assign to each line of the heading its own place of a range as long: `boxes 1 through 3 on Form W-2`."""
    ends = (statement.source, statement.target)
    if None not in ends:
        yield statement
    named = next((end for end in ends if end is not None), None)
    if None not in ends or named is None or len(named.keys) != len(keys):
        return
    for key, own in zip(named.keys, keys, strict=True):
        here = replace(named, forms=(form,), keys=(own,), part="", column="", label="")
        place_of_key = replace(named, keys=(key,))
        yield replace(
            statement,
            source=here if statement.source is None else place_of_key,
            target=here if statement.target is None else place_of_key,
        )


def find_heading_form(heading: str, known: Lines) -> str:
    """Return the information return in a heading: `Form 2099 transactions`; empty for other forms."""
    match = _ABOUT_FORM.match(heading)
    return match[1] if match and not known.has_only_lines(match[1]) else ""


def place_on_form_before(statement: FlowStatement, text: str, heading_form: str) -> FlowStatement:
    """Assign to a box without a form the last form that the passage named, else that of its heading."""
    source = statement.source
    if source is None or source.forms or source.kind != "box":
        return statement
    named = _NAMED_FORM.findall(text, 0, statement.start) or ([heading_form] if heading_form else [])
    return replace(statement, source=replace(source, forms=(named[-1],))) if named else statement


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


def _is_amount_of(form: str, row: Row, document: Row) -> bool:
    """Decide whether a passage of a booklet names a line of the form in its heading: other lines are the booklet's."""
    if form == document["form"]:
        return False
    return any(form in place.forms for place in find_places(row.get("text", "")))


def find_subject(
    row: Row, document: Row, heading: str, known: Lines, *, scope: str, schedules: Mapping[str, str]
) -> tuple[About, str, End | None]:
    """Determine the form that a passage is about, and the box or line that its heading explains.

    Args:
        row: Passage or table with the columns of its heading.
        document: Row of `documents`.
        heading: Words of the heading.
        known: Lines of all documents.
        scope: Schedule or worksheet that owns its lines, from `find_scopes`.
        schedules: Full names of the schedules that the document names.

    Returns:
        What the passage is about; the heading kind (`boxes`, `given`, `lines` or empty); and the box or line, if any.
    """
    named = _HEADING_FORM.match(heading)
    is_book = document["doc_type"] == "publication"
    is_line = (row["key"] or "").startswith("line_")
    if named and not is_book and (is_line or _is_amount_of(named[1], row, document)):
        named = None
    if is_book and not named:
        named = _BOOK_FORM.search(heading)
    form = named[1] if named else "" if is_book else row["form"] or document["form"]
    about = About(form, year_of(document), schedules=schedules)
    is_printed = document["doc_type"] == "form" and (scope != WORKSHEET or row["perspective"] == "face")
    if scope and not named and not is_book and not is_printed:
        about = replace(about, form="" if scope == WORKSHEET else known.name_schedule(scope, about))
    kind, _, number = (row["key"] or "").partition("_")
    if kind in ("lines", "boxes") and about.form and not is_book and _list_heading_keys(row["key"]):
        return about, "lines" if kind == "lines" else "given", End(about.form, row["key"])
    if is_book or not about.form or kind not in ("box", "line") or not number:
        return about, "", None
    is_own = document["doc_type"] == "form"
    about = replace(about, document_id=row["document_id"] if is_own and form == document["form"] else None)
    end = known.find(Place((), (number,), kind, "", "", "", 0, 1), about, key=number, form="")
    box = "boxes" if row["perspective"] == "recipient" else "given"
    return about, "lines" if kind == "line" else box, end
