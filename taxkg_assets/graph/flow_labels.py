"""Statements of labels on where the amount of their line goes, and on lines of other forms that it comes from."""

from __future__ import annotations

import re

from taxkg_assets.graph.flow_clauses import read_clauses
from taxkg_assets.graph.flow_statements import FlowStatement, list_ends, names_whole, read_label

_MOVES = ("clause", "clause_moved", "clause_shown")
"""Rules of clauses that move the amount, or say where it is shown; arithmetic of a label is a formula."""
_OTHER_AMOUNT = re.compile(
    r"\b(?:the|any|your) (?:[\w-]+ ){1,3}(?:on|for|of) (?:this|that) (?:amount|total|result|sum)\b"
)
"""Object that is figured from the amount of the line: `Enter the tax on this amount on Form 2040, line 8`."""
_PAST = re.compile(r"\b(?:was|were)\b")


def read_label_statements(label: str) -> list[FlowStatement]:
    """Extract the flows that a line's label states.

    Args:
        label: Words printed for a line; what they compute is its amount: `Add lines 3 and 4. Include the total on`.

    Returns:
        Statements; None as an end means the line of the label. Lines of the same form are operands of its formula.
    """
    statements = [
        statement
        for statement in read_label(label)
        if statement.relation != "from_form" or (statement.source and statement.source.forms)
    ]
    known_ends = {list_ends(statement) for statement in statements}
    for statement in read_clauses(label, heading_kind="lines", is_label=True):
        if _is_on_other_form(statement) and _moves_amount_of_line(statement, label):
            statements += [statement] if list_ends(statement) not in known_ends else []
    return statements


def _is_on_other_form(statement: FlowStatement) -> bool:
    """Decide whether the amount goes to another form, or comes from one."""
    source, target = statement.source, statement.target
    source_has_form = source is not None and bool(source.forms)
    if target is None:
        return source_has_form
    return bool(target.forms) and not source_has_form


def _moves_amount_of_line(statement: FlowStatement, label: str) -> bool:
    """Decide whether a clause of a label moves the whole amount of its line, now and not in an earlier year."""
    span = (statement.start, statement.end)
    if _OTHER_AMOUNT.search(label, *span) or _PAST.search(label, *span):
        return False
    return statement.rule_id in _MOVES and names_whole(statement, label)
