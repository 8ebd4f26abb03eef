"""The table `flows`: where amounts go, as labels, instructions and explanations of boxes state it."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.graph.flow_clauses import read_clauses
from taxkg_assets.graph.flow_ends import NO_LABEL, About, End, Lines, year_of
from taxkg_assets.graph.flow_statements import (
    FlowStatement,
    read_code,
    read_heading,
    read_item,
    read_label,
    read_lead_in,
    read_passage,
)
from taxkg_assets.graph.named_amounts import NamedAmounts, PlacedAmount, read_placed_amounts
from taxkg_assets.graph.places import Place, name_forms
from taxkg_assets.graph.schedule_scopes import WORKSHEET, find_line_keys, find_scopes

Row = Mapping[str, Any]
_HEADING_FORM = re.compile(r"^Form ([\w-]+)\.?$")
_ABOUT_FORM = re.compile(r"^Form (\d{4}(?:-[A-Z]+)?|[A-Z]-\d+)\b")
_BOOK_FORM = re.compile(r"(?:^|\b(?:on|for) )Form (\d{4}(?:-[A-Z]+)?)(?: or (?:Form )?\d{4}-[A-Z]+)?\.?$")
_FILERS = re.compile(r"^(?P<forms>Forms? .+?) filers\b")
_NAMED_FORM = re.compile(r"\bForms? ([A-Z\d][\w-]*\w)")


def build_flows(
    lines: dy.DataFrame[schemas.Lines],
    formulas: dy.DataFrame[schemas.Formulas],
    *,
    sections: dy.DataFrame[schemas.Sections],
    anchors: dy.DataFrame[schemas.Anchors],
    documents: dy.DataFrame[schemas.Documents],
) -> dy.DataFrame[schemas.Flows]:
    """Read every statement that an amount goes from one line to another, and find both lines.

    Args:
        lines: Numbered fields with their labels.
        formulas: How lines are computed.
        sections: Passages of instructions, publications and forms.
        anchors: Headings that own them.
        documents: Forms and revisions.

    Returns:
        One row per statement and pair of ends; an end that is not exactly one line has the reason in `problem`.
    """
    papers = {row["document_id"]: row for row in documents.iter_rows(named=True)}
    known = Lines(lines.to_dicts(), list(papers.values()))
    rows = [
        *_read_labels(lines, papers, known),
        *_read_headings(anchors, papers, known),
        *_read_passages(sections, anchors, papers, known),
        *_read_formulas(formulas, lines, papers, known),
    ]
    unique: dict[str, dict[str, Any]] = {}
    for row in rows:
        if not _is_self(row):
            unique.setdefault(row["flow_id"], row)
    kept = list(unique.values())
    _find_named_lines(kept, known)
    _compare(kept)
    frame = pl.DataFrame(kept, schema=schemas.dtypes(schemas.Flows)).sort("flow_id")
    return schemas.validated(frame, schemas.Flows)


def find_flow_faults(flows: dy.DataFrame[schemas.Flows], lines: dy.DataFrame[schemas.Lines]) -> pl.DataFrame:
    """Return flows with an end that is no line, flows of a line to itself, and unresolved ones without a reason.

    Args:
        flows: Statements with their ends.
        lines: Numbered fields.
    """
    known = lines.select("document_id", "part", "key").unique()
    columns = ["flow_id", "source_key", "target_key"]
    faults = []
    for end in ("source", "target"):
        own = flows.filter(pl.col(f"{end}_line").is_not_null())
        on = [f"{end}_document_id", f"{end}_part", f"{end}_key"]
        lost = own.join(known, left_on=on, right_on=["document_id", "part", "key"], how="anti")
        faults.append(lost.select(columns).with_columns(fault=pl.lit(f"{end} is no line")))
    same = pl.all_horizontal(
        pl.col(f"source_{name}") == pl.col(f"target_{name}") for name in ("document_id", "part", "key", "column")
    )
    faults.append(flows.filter(same).select(columns).with_columns(fault=pl.lit("flow to itself")))
    is_open = pl.col("source_line").is_null() | pl.col("target_line").is_null()
    silent = flows.filter(is_open != (pl.col("problem") != ""))
    faults.append(silent.select(columns).with_columns(fault=pl.lit("problem and ends differ")))
    return pl.concat(faults).sort("flow_id", "fault")


def _read_labels(lines: pl.DataFrame, papers: Mapping[str, Row], known: Lines) -> Iterator[dict[str, Any]]:
    for line in lines.iter_rows(named=True):
        about = About(line["form"], year_of(papers[line["document_id"]]), line["document_id"], line["part"])
        own = End(line["form"], line["key"], line["part"], "", line)
        stated = {**{name: line[name] for name in ("document_id", "page", "bbox")}, "element_id": None}
        for statement in read_label(line["label"]):
            if statement.relation == "from_form" and not _names_other(statement.source, about, known):
                continue
            yield from _rows_of(statement, own, about, known=known, stated=stated, text=line["label"])


def _names_other(place: Place | None, about: About, known: Lines) -> bool:
    """Decide whether a place is on another form than the one that the text is about."""
    return place is not None and any(known.name_form(form, about) != about.form for form in place.forms)


@dataclass(slots=True)
class _Before:
    """What earlier passages under the same heading, and of the same document, named."""

    anchor_id: str = ""
    lead_in: Place | None = None
    column_forms: tuple[str, ...] = ()
    amounts: dict[str, NamedAmounts] = field(default_factory=lambda: defaultdict(NamedAmounts))
    placed: list[tuple[Row, About, PlacedAmount]] = field(default_factory=list)


def _read_passages(
    sections: pl.DataFrame, anchors: pl.DataFrame, papers: Mapping[str, Row], known: Lines
) -> Iterator[dict[str, Any]]:
    """Read the passages that name a line; the face itself was read as labels."""
    columns = ["anchor_id", "key", "heading", "form", "perspective"]
    scopes, line_keys = find_scopes(anchors), find_line_keys(anchors)
    before = _Before()
    passages = _select_passages(sections).join(anchors.select(columns), on="anchor_id", how="left")
    for row in passages.iter_rows(named=True):
        heading = row["heading"] or ""
        if heading.startswith("Example"):
            continue
        row["key"] = row["key"] or line_keys.get(row["anchor_id"])
        about, under, own = _find_subject(
            row, papers[row["document_id"]], heading, known, scope=scopes.get(row["anchor_id"], "")
        )
        if row["perspective"] == "face":
            own = None
        if own is not None and under == "boxes":
            own = replace(own, code=read_code(row["text"]))
        before.amounts[row["document_id"]].add(row["text"])
        before.placed += [(row, about, each) for each in read_placed_amounts(row["text"])]
        for statement in _read_passage(row, before, under=under if own is not None else ""):
            statement = _share_of_line(_place_on_form_of_filers(statement, heading), own)
            if not about.form or known.has_only_lines(about.form):
                statement = _place_on_form_before(statement, row["text"], _find_heading_form(heading, known))
            yield from _rows_of(statement, own, about, known=known, stated=_place_of(row, statement), text=row["text"])
    for passage, about, amount in before.placed:
        for statement in before.amounts[passage["document_id"]].join(amount):
            stated = _place_of(passage, statement)
            yield from _rows_of(statement, None, about, known=known, stated=stated, text=passage["text"])


def _read_headings(anchors: pl.DataFrame, papers: Mapping[str, Row], known: Lines) -> Iterator[dict[str, Any]]:
    """Read the headings of lines in booklets that name where the amount comes from."""
    scopes = find_scopes(anchors)
    is_named = pl.col("heading").str.contains(r"\b[Ff]rom\b.*\b(?:[Ll]ine|[Bb]ox)")
    for row in anchors.filter(is_named & pl.col("key").str.starts_with("line_")).iter_rows(named=True):
        scope = scopes.get(row["anchor_id"], "")
        about, _, own = _find_subject(row, papers[row["document_id"]], row["heading"], known, scope=scope)
        if own is None or row["perspective"] == "face":
            continue
        stated = {name: row[name] for name in ("document_id", "page", "bbox", "element_id")}
        for statement in read_heading(row["heading"]):
            if _names_other(statement.source, about, known):
                yield from _rows_of(statement, own, about, known=known, stated=stated, text=row["heading"])


def _select_passages(sections: pl.DataFrame) -> pl.DataFrame:
    """Select the passages that can state a flow: those that name a line, box or column, or a form to report on."""
    text = pl.col("text")
    names = text.str.contains(r"(?i)\b(?:lines?|box(?:es)?|columns?)\b")
    verbs = text.str.contains("(?i)enter|include|report|carry|transfer|show")
    return sections.filter(
        (names & (verbs | text.str.contains("^•"))) | text.str.contains(r"[Rr]eport .{0,20}on .{0,5}Form ")
    )


def _read_passage(row: Row, before: _Before, *, under: str) -> list[FlowStatement]:
    """Read a passage, with what the passages before it under the same heading introduce."""
    statements = read_passage(row["text"], under="" if under == "given" else under)
    known = {_ends_in(row["text"], each) for each in statements}
    statements += [
        each for each in read_clauses(row["text"], under=under) if _ends_in(row["text"], each) not in known
    ]
    is_same = before.anchor_id == row["anchor_id"]
    if not row["text"].startswith("•"):
        before.lead_in = read_lead_in(row["text"])
    elif is_same and before.lead_in is not None:
        statements += read_item(row["text"], source=before.lead_in)
    if not is_same:
        before.anchor_id, before.column_forms = row["anchor_id"], ()
    placed = []
    for statement in statements:
        target = statement.target
        if target is not None and target.kind == "column":
            before.column_forms = target.forms or before.column_forms
            statement = replace(statement, target=replace(target, forms=before.column_forms))
        placed.append(statement)
    return placed


def _share_of_line(statement: FlowStatement, own: End | None) -> FlowStatement:
    """Give a share of a partner the line with the number of its box: below `Line 4`, box 4a is for line 4a."""
    target = statement.target
    if own is None or statement.source is not None or target is None or target.kind != "box" or len(target.keys) != 1:
        return statement
    key = target.keys[0]
    if not (own.key.startswith("line_") and target.forms and key[:-1] == own.key.removeprefix("line_")):
        return statement
    place = Place((), target.keys, "line", "", "", "", target.start, target.end)
    return replace(statement, source=place)


def _ends_in(text: str, statement: FlowStatement) -> tuple[Any, ...]:
    """Return what tells the statements of a passage apart: the places as named, and the part of the passage."""
    ends = [(each.keys, each.kind, each.label, each.start) if each else None for each in (statement.source, statement.target)]
    return tuple(ends)


def _place_of(row: Row, statement: FlowStatement) -> dict[str, Any]:
    """Return where a statement of a passage is printed."""
    piece = next(each for each in reversed(row["pieces"]) if each["start"] <= statement.start)
    return {
        "document_id": row["document_id"],
        "page": piece["page"],
        "bbox": {name: piece[name] for name in ("x0_pt", "y0_pt", "x1_pt", "y1_pt")},
        "element_id": row["element_id"],
    }


def _find_heading_form(heading: str, known: Lines) -> str:
    """Return the information return that a heading is about: `Form 2099 transactions`; empty for a form of lines."""
    match = _ABOUT_FORM.match(heading)
    return match[1] if match and not known.has_only_lines(match[1]) else ""


def _place_on_form_before(statement: FlowStatement, text: str, heading_form: str) -> FlowStatement:
    """Give a box without a form the form that the passage named last, else that of its heading."""
    source = statement.source
    if source is None or source.forms or source.kind != "box":
        return statement
    named = _NAMED_FORM.findall(text, 0, statement.start) or ([heading_form] if heading_form else [])
    return replace(statement, source=replace(source, forms=(named[-1],))) if named else statement


def _place_on_form_of_filers(statement: FlowStatement, heading: str) -> FlowStatement:
    """Give a line of a part, below a heading for the filers of some forms, those forms."""
    match = _FILERS.match(heading)
    source = statement.source
    if match is None or source is None or source.forms or not source.part:
        return statement
    return replace(statement, source=replace(source, forms=name_forms(match["forms"])))


def _find_subject(row: Row, paper: Row, heading: str, known: Lines, *, scope: str) -> tuple[About, str, End | None]:
    """Find the form that a passage is about, and the box or line that its heading explains."""
    named = _HEADING_FORM.match(heading)
    is_book = paper["doc_type"] == "publication"
    if is_book and not named:
        named = _BOOK_FORM.search(heading)
    form = named[1] if named else "" if is_book else row["form"] or paper["form"]
    about = About(form, year_of(paper))
    if scope and not named and not is_book and paper["doc_type"] != "form":
        about = About("" if scope == WORKSHEET else known.name_schedule(scope, about), about.year)
    kind, _, number = (row["key"] or "").partition("_")
    if is_book or not about.form or kind not in ("box", "line") or not number:
        return about, "", None
    is_own = paper["doc_type"] == "form"
    about = About(about.form, about.year, row["document_id"] if is_own and form == paper["form"] else None)
    end = known.find(Place((), (number,), kind, "", "", "", 0, 1), about, key=number, form="")
    box = "boxes" if row["perspective"] == "recipient" else "given"
    return about, "lines" if kind == "line" else box, end


def _read_formulas(
    formulas: pl.DataFrame, lines: pl.DataFrame, papers: Mapping[str, Row], known: Lines
) -> Iterator[dict[str, Any]]:
    own = {(row["document_id"], row["part"], row["key"]): row for row in lines.iter_rows(named=True)}
    for row in formulas.filter(pl.col("operation") != "unparsed").iter_rows(named=True):
        line = own[row["document_id"], row["part"], row["key"]]
        about = About(line["form"], year_of(papers[row["document_id"]]), row["document_id"], row["part"])
        target = End(line["form"], line["key"], line["part"], row["column"], line)
        for operand, part in zip(row["operands"], row["operand_parts"], strict=True):
            key, _, form = operand.partition(" (")
            number = key.partition("_")[2]
            place = Place((form.removesuffix(")"),) if form else (), (number,), "line", part, row["column"], "", 0, 1)
            source = known.find(place, about, key=number, form=place.forms[0] if place.forms else "")
            stated = {name: row[name] for name in ("document_id", "page", "bbox", "start", "end", "evidence")}
            stated |= {"element_id": None, "rule_id": row["operation"]}
            yield _row_of("computed_from", source, target, stated)


def _rows_of(
    statement: FlowStatement, own: End | None, about: About, *, known: Lines, stated: Row, text: str
) -> Iterator[dict[str, Any]]:
    """Give one row for each pair of lines that a statement names; `own` is the line that states it."""
    where = {
        **stated,
        "start": statement.start,
        "end": statement.end,
        "evidence": text[statement.start : statement.end],
        "rule_id": statement.rule_id,
    }
    for source in _find_ends(statement.source, own, about, known, ""):
        for target in _find_ends(statement.target, own, about, known, source.form):
            yield _row_of(statement.relation, source, target, where)


def _find_ends(place: Place | None, own: End | None, about: About, known: Lines, other_form: str) -> list[End]:
    if place is None:
        return [own] if own is not None else []
    named = [(form, key) for form in place.forms or ("",) for key in place.keys or ("",)]
    if place.kind == "column":
        return [end for form, key in named for end in known.find_columns(place, about, key=key, form=form)]
    return [known.find(place, about, key=key, form=form, other_form=other_form) for form, key in named]


def _row_of(relation: str, source: End, target: End, stated: Row) -> dict[str, Any]:
    row: dict[str, Any] = {"relation": relation, **stated}
    for name, end in (("source", source), ("target", target)):
        row |= {
            f"{name}_document_id": end.line["document_id"] if end.line else None,
            f"{name}_form": end.form,
            f"{name}_part": end.part,
            f"{name}_key": end.key,
            f"{name}_column": end.column,
            f"{name}_code": end.code,
            f"{name}_line": end.line["canonical_id"] if end.line else None,
        }
    row["problem"] = "; ".join(
        f"{name}: {end.problem}" for name, end in (("source", source), ("target", target)) if end.problem
    )
    row["is_same_year"] = source.is_same_year and target.is_same_year
    row["agreement"] = "unresolved" if row["problem"] else "one_side"
    ends = [
        row[f"{name}_{part}"]
        for name in ("source", "target")
        for part in ("document_id", "form", "part", "key", "column")
    ]
    words = "\n".join(map(str, [relation, row["document_id"], row["page"], row["evidence"], *ends]))
    row["flow_id"] = hashlib.sha256(words.encode()).hexdigest()[:16]
    return row


def _find_named_lines(rows: Sequence[dict[str, Any]], known: Lines) -> None:
    """Find a line that a statement names by words that no label has: the line that says its amount is from there."""
    stated: dict[tuple[str, ...], set[tuple[str, str, str]]] = defaultdict(set)
    for row in rows:
        if row["relation"] == "from_form" and not row["problem"] and row["document_id"] == row["target_document_id"]:
            source, target = _ends_of(row)
            stated[(*source[:3], target[0])].add((target[0], target[1], target[2]))
    for row in rows:
        if row["problem"] != f"target: {NO_LABEL}":
            continue
        found = known.find_revision(row["target_form"], known.year_of(row["source_document_id"]))
        lines = stated.get((*_ends_of(row)[0][:3], found[0]), set()) if found else set()
        if len(lines) == 1:
            document, part, key = next(iter(lines))
            line = known.line_at(document, part, key)
            row |= {"target_document_id": document, "target_part": part, "target_key": key, "problem": ""}
            row |= {"target_line": line["canonical_id"], "agreement": "one_side"}
            row["is_same_year"] = row["is_same_year"] and bool(found and found[1])


def _is_self(row: Row) -> bool:
    """Decide whether a statement names its own line: a step of a worksheet says where to write its result."""
    names = ("document_id", "form", "part", "key", "column")
    return all(row[f"source_{name}"] == row[f"target_{name}"] for name in names) and bool(row["source_key"])


def _ends_of(row: Row) -> tuple[tuple[str, ...], tuple[str, ...]]:
    source, target = (
        tuple(row[f"{end}_{name}"] for name in ("document_id", "part", "key", "column")) for end in ("source", "target")
    )
    return source, target


def _compare(rows: Sequence[dict[str, Any]]) -> None:
    """Mark what both ends state, and where the other end names another line of the same document."""
    stated: dict[str, dict[Any, set[Any]]] = {"flows_to": defaultdict(set), "from_form": defaultdict(set)}
    resolved = [row for row in rows if not row["problem"] and row["relation"] in stated]
    for row in resolved:
        source, target = (end[:3] for end in _ends_of(row))
        if row["relation"] == "flows_to":
            stated["flows_to"][source].add(target)
        else:
            stated["from_form"][target].add(source)
    for row in resolved:
        source, target = (end[:3] for end in _ends_of(row))
        here, there = (source, target) if row["relation"] == "from_form" else (target, source)
        answers = stated["flows_to" if row["relation"] == "from_form" else "from_form"][here]
        others = [key for document, _, key in answers if document == there[0]]
        if there in answers:
            row["agreement"] = "agreed"
        elif row["is_same_year"] and others and all(key.startswith("line") for key in (*others, here[2], there[2])):
            row["agreement"] = "contradicted"
