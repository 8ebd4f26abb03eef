"""Statements on where the amount of a line or box goes, or comes from, against the flows of the graph."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from taxkg_assets.records import FlowRecord, FormulaRecord
from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.claims import name_form
from taxkg_assets.verification.denials import cut_clause, is_denied, is_multiplied
from taxkg_assets.verification.language import Language
from taxkg_assets.verification.line_ends import End, find_ends
from taxkg_assets.verification.stated import Difference
from taxkg_assets.verification.values import fold

_BEFORE = 60  # characters before an end in which its verb may be
_AND = re.compile(r",? and (?=goes|is |flows|ends)")
_INCLUDED = re.compile(r"(?i)\bincluded?s?\b")
_LINE = re.compile(r"(?:line|box)_\d{1,2}[a-z]?")
_MISSING = "the library does not contain the form"
_FROM_FORM = "from_form"
_COMPUTED = "computed_from"
_COPY, _SUM = "copy", "sum"


@dataclass(frozen=True, slots=True)
class Transfer:
    """A statement that an amount goes from one line or box to another.

    Attributes:
        source: Line or box that it comes from.
        target: Line or box that it goes to.
        is_negative: Whether the statement negates it.
        is_open: Whether no form can confirm it: it is about a multiple or a share, or negated only in a case.
        is_included: Whether the target may include other amounts.
    """

    source: End
    target: End
    is_negative: bool
    is_open: bool = False
    is_included: bool = False


def find_transfers(text: str, *, language: Language, form: str = "") -> list[Transfer]:
    """Extract from a statement how amounts go from one line or box to another.

    Args:
        text: A statement.
        language: Functions that read words.
        form: Form of the document that is cited, for a line whose form the statement does not name next to it.

    Returns:
        Transfers in the order of the text.

    Source:
        rules/verification.yaml, `transfers`.
    """
    text = fold(text)
    ends = find_ends(text, language=language)
    found = []
    for number, (one, other) in enumerate(pairwise(ends)):
        between = text[one.end : other.start]
        if joined := _AND.match(between):  # `line 5 adds lines 3 and 4, and goes to line 7`
            one, number, between = ends[0], 0, between[joined.end() - 1 :]
        before = re.split(r"[;:.] ", text[max(0, one.start - _BEFORE) : one.start])[-1]
        rule = next(
            (own for own in load_verification().transfers if own.pattern.search(f"{before}<>{between}<>")), None
        )
        if rule is None:
            continue
        source, target = (one, other) if rule.is_forward else (other, one)
        if not target.form and form != source.form:
            target = replace(target, form=form)
        elif not source.form and form != target.form:
            source = replace(source, form=form)
        # Words before a line that is named earlier belong to that one.
        own = text[max(ends[number - 1].end if number else 0, one.start - len(before)) : one.start]
        denied = is_denied(own, between, text=text)
        is_part = is_multiplied(cut_clause(own)) or is_multiplied(between)
        found.append(
            Transfer(
                source,
                target,
                is_negative=denied is True,
                is_open=denied is None or is_part,
                is_included=_INCLUDED.search(f"{own} {between}") is not None,
            )
        )
    return found


def find_flow(
    claimed: Transfer, flows: Iterable[FlowRecord], formulas: Iterable[FormulaRecord] = ()
) -> FlowRecord | None:
    """Return the flow that a statement describes; None if the documents state none.

    Args:
        claimed: Transfer in the statement.
        flows: Rows of `flows` of the documents that the statement is about.
        formulas: Rows of `formulas` of the same documents.
    """
    whole = {_COPY, _SUM} if claimed.is_included else {_COPY}
    carried = {
        (row["document_id"], row["part"], row["key"])
        for row in formulas
        if row["operation"] in whole and not (row["condition"] or row["bound"])
    }
    every = [
        row
        for row in flows
        if row["relation"] != _COMPUTED or (row["document_id"], row["target_part"], row["target_key"]) in carried
    ]
    rows = [row for row in every if _is_end(claimed.source, row, "source") and _is_end(claimed.target, row, "target")]
    forms = {(name_form(row["source_form"]), name_form(row["target_form"])) for row in rows}
    if len(forms) != 1:
        return None
    own = rows[0]
    # `line 5 (if A is checked) or line 6 (if B is checked)`: the statement would have to name the case.
    cases = {
        row["target_key"]
        for row in every
        if all(row[name] == own[name] for name in ("document_id", "evidence", "target_form"))
    }
    return own if len(cases) == 1 else None


def find_other_flow(claimed: Transfer, flows: Iterable[FlowRecord]) -> tuple[FlowRecord, Difference] | None:
    """Return the printed flow that contradicts a statement: a different source or target for the same line.

    A form carries a line to one place, and a line takes the amount of one other form, so that a different printed place
    contradicts. Amounts that go to several lines by type contradict nothing.

    Args:
        claimed: Transfer in the statement.
        flows: Rows of `flows` that are printed on the forms themselves.
    """
    if not (claimed.source.form and claimed.target.form):
        return None
    printed_rows = [row for row in flows if row["relation"] != _COMPUTED]
    rows = [row for row in printed_rows if not (row["source_code"] or row["target_code"]) and _is_read(row)]
    for known, other in (("source", "target"), ("target", "source")):
        own: End = getattr(claimed, known)
        wanted: End = getattr(claimed, other)
        there = [row for row in rows if _is_end(own, row, known)]
        printed = [row for row in there if row["relation"] == _FROM_FORM] if known == "target" else there
        same = printed if known == "target" else [row for row in printed if _is_form(wanted, row, other)]
        places = {(name_form(row[f"{other}_form"]), row[f"{other}_key"], row[f"{other}_part"]) for row in same}  # type: ignore[literal-required]
        if len(places) == 1 and not any(_is_end(wanted, row, other) for row in there):
            row = same[0]
            key = str(row[f"{other}_key"]).replace("_", " ")  # type: ignore[literal-required]
            form = " or ".join(name_form(row[f"{other}_form"]))  # type: ignore[literal-required]
            return row, Difference(wanted.text, f"{key} of {form}", "line")
    return None


def _is_read(row: FlowRecord) -> bool:
    """Return whether both ends of a flow are single lines, be it of a form that the library lacks."""
    problems = [own for own in row["problem"].split("; ") if own]
    return all(own.endswith(_MISSING) for own in problems) and bool(
        _LINE.fullmatch(row["source_key"]) and _LINE.fullmatch(row["target_key"])
    )


def _is_end(own: End, row: FlowRecord, side: str) -> bool:
    return row[f"{side}_key"].casefold() == own.key and _is_form(own, row, side)  # type: ignore[literal-required]


def _is_form(own: End, row: FlowRecord, side: str) -> bool:
    return not own.form or own.form in name_form(row[f"{side}_form"])  # type: ignore[literal-required]
