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
    found = [
        statement
        for statement in read_label(label)
        if statement.relation != "from_form" or (statement.source and statement.source.forms)
    ]
    known = {list_ends(statement) for statement in found}
    for statement in read_clauses(label, heading_kind="lines", is_label=True):
        source, target = statement.source, statement.target
        is_going = target is not None and bool(target.forms) and not (source and source.forms)
        is_coming = target is None and source is not None and bool(source.forms)
        if _OTHER_AMOUNT.search(label, statement.start, statement.end) or _PAST.search(
            label, statement.start, statement.end
        ):
            continue
        if statement.rule_id in _MOVES and (is_going or is_coming) and names_whole(statement, label):
            found += [statement] if list_ends(statement) not in known else []
    return found
