"""Statements on where the amount of a line or box goes, or comes from, against the flows of the graph."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from taxkg_assets.records import FlowRecord, FormulaRecord
from taxkg_assets.rules.models.verification import TransferRule, load_verification
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

    `Line 9 of Schedule 1 goes to Form 2040, line 8` has one transfer; `line 8 is taken from line 9` has it, too.

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
    for number, (left, right) in enumerate(pairwise(ends)):
        between = text[left.end : right.start]
        if joined := _AND.match(between):  # `line 5 adds lines 3 and 4, and goes to line 7`
            left, number, between = ends[0], 0, between[joined.end() - 1 :]
        before = re.split(r"[;:.] ", text[max(0, left.start - _BEFORE) : left.start])[-1]
        rule = _match_rule(f"{before}<>{between}<>")
        if rule is None:
            continue
        source, target = (left, right) if rule.is_forward else (right, left)
        source, target = _name_cited_form(source, target, form)
        # Words before a line that is named earlier belong to that one.
        end_before = ends[number - 1].end if number else 0
        own_words = text[max(end_before, left.start - len(before)) : left.start]
        denied = is_denied(own_words, between, text=text)
        is_part = is_multiplied(cut_clause(own_words)) or is_multiplied(between)
        found.append(
            Transfer(
                source,
                target,
                is_negative=denied is True,
                is_open=denied is None or is_part,
                is_included=_INCLUDED.search(f"{own_words} {between}") is not None,
            )
        )
    return found


def _match_rule(wording: str) -> TransferRule | None:
    """Return the first rule for the words before and between two ends: `the amount on<> is entered on<>`."""
    return next((rule for rule in load_verification().transfers if rule.pattern.search(wording)), None)


def _name_cited_form(source: End, target: End, form: str) -> tuple[End, End]:
    """Return both ends, with the cited form for one whose form is not named, unless the other end is on that form."""
    if not target.form and form != source.form:
        return source, replace(target, form=form)
    if not source.form and form != target.form:
        return replace(source, form=form), target
    return source, target


def find_flow(
    claimed: Transfer, flows: Iterable[FlowRecord], formulas: Iterable[FormulaRecord] = ()
) -> FlowRecord | None:
    """Return the flow that a statement describes; None if the documents state none.

    Args:
        claimed: Transfer in the statement.
        flows: Rows of `flows` of the documents that the statement is about.
        formulas: Rows of `formulas` of the same documents.
    """
    whole_operations = {_COPY, _SUM} if claimed.is_included else {_COPY}
    carrying_lines = {
        (row["document_id"], row["part"], row["key"])
        for row in formulas
        if row["operation"] in whole_operations and not row["condition"] and not row["bound"]
    }

    def carries_amount(row: FlowRecord) -> bool:
        """Decide whether a flow carries a whole amount: one of a formula does so only in a copy or sum."""
        target_line = (row["document_id"], row["target_part"], row["target_key"])
        return row["relation"] != _COMPUTED or target_line in carrying_lines

    carrying = [row for row in flows if carries_amount(row)]
    rows = [
        row for row in carrying if _is_end(claimed.source, row, "source") and _is_end(claimed.target, row, "target")
    ]
    forms = {(name_form(row["source_form"]), name_form(row["target_form"])) for row in rows}
    if len(forms) != 1:
        return None
    flow = rows[0]
    # `line 5 (if A is checked) or line 6 (if B is checked)`: the statement would have to name the case.
    same_statement = [
        row for row in carrying if all(row[name] == flow[name] for name in ("document_id", "evidence", "target_form"))
    ]
    targets = {row["target_key"] for row in same_statement}
    return flow if len(targets) == 1 else None


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
    rows = [
        row
        for row in flows
        if row["relation"] != _COMPUTED and not row["source_code"] and not row["target_code"] and _is_read(row)
    ]
    from_source = [row for row in rows if _is_end(claimed.source, row, "source")]
    on_form_of_target = [row for row in from_source if _is_form(claimed.target, row, "target")]
    into_target = [row for row in rows if _is_end(claimed.target, row, "target")]
    taken_from_forms = [row for row in into_target if row["relation"] == _FROM_FORM]
    return _contradict(claimed.target, "target", from_source, on_form_of_target) or _contradict(
        claimed.source, "source", into_target, taken_from_forms
    )


def _contradict(
    claimed_end: End, side: str, rows: list[FlowRecord], comparable: list[FlowRecord]
) -> tuple[FlowRecord, Difference] | None:
    """Return the flow that prints another end than the claimed one; None where none or several others are printed.

    Args:
        claimed_end: End that the statement names.
        side: Side of a flow on which it is, `source` or `target`.
        rows: Flows of the line at the other end.
        comparable: Those of them whose end excludes another one.
    """
    places = {(name_form(row[f"{side}_form"]), row[f"{side}_key"], row[f"{side}_part"]) for row in comparable}  # type: ignore[literal-required]
    if len(places) != 1 or any(_is_end(claimed_end, row, side) for row in rows):
        return None
    forms, key, _ = next(iter(places))
    printed = f"{str(key).replace('_', ' ')} of {' or '.join(forms)}"
    return comparable[0], Difference(claimed_end.text, printed, "line")


def _is_read(row: FlowRecord) -> bool:
    """Return whether both ends of a flow are single lines, be it of a form that the library lacks."""
    problems = [problem for problem in row["problem"].split("; ") if problem]
    if not all(problem.endswith(_MISSING) for problem in problems):
        return False
    return all(_LINE.fullmatch(key) for key in (row["source_key"], row["target_key"]))


def _is_end(end: End, row: FlowRecord, side: str) -> bool:
    """Return whether the source or the target of a flow is a line that a statement names."""
    return row[f"{side}_key"].casefold() == end.key and _is_form(end, row, side)  # type: ignore[literal-required]


def _is_form(end: End, row: FlowRecord, side: str) -> bool:
    """Return whether the source or the target of a flow is on the form that a statement names, if it names one."""
    return not end.form or end.form in name_form(row[f"{side}_form"])  # type: ignore[literal-required]
