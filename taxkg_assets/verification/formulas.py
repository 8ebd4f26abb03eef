"""Statements on how a line is computed, against the formulas that the labels of the form state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taxkg_assets.records import FormulaRecord
from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.values import fold

_KEY = re.compile(r"(?i)\b(line|box|step)(?:e?s)? (\d{1,2}[a-z]?)\b")
_ITEM = re.compile(r"(?i)(?P<through>through )?(?:(?P<kind>line|box|step)(?:e?s)? )?\b(?P<item>\d{1,2}[a-z]?)\b")
_AFTER = re.compile(r"(?i)^[^.;]{0,20}?\b(?:on|for|to get|gives|giving|is|are) (?:line|box|step) \d{1,2}[a-z]?\b")
_NUMBER = re.compile(r"(\d+)([a-z]?)$")
_RANGE = ".."
_ORDERED = frozenset({"difference"})
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Computation:
    """How a statement says that one line is computed.

    Attributes:
        key: Line that is computed, such as `line_17`.
        operation: As in the table `formulas`.
        operands: Keys in their order; `line_3..line_7` for lines 3 through 7.
        factor: Rate of a product, as a fraction; None for others.
        text: Words that say so.
        is_negative: Whether the statement denies it.
    """

    key: str
    operation: str
    operands: tuple[str, ...]
    factor: float | None
    text: str
    is_negative: bool


def find_computations(text: str) -> list[Computation]:
    """Return how a statement says that lines are computed.

    Args:
        text: A statement.

    Source:
        rules/verification.yaml, `operations`.
    """
    text = fold(text)
    found = []
    for rule in load_verification().operations:
        for match in rule.pattern.finditer(text):
            operands = _read_operands(match)
            named = [_name(own) for own in _KEY.finditer(text[: match.start()])]
            subject = next((key for key in reversed(named) if key not in operands), None)
            if subject is None and (after := _AFTER.match(text[match.end() :])):  # `lines 3 and 4 are added on line 5`
                subject = next((_name(own) for own in _KEY.finditer(after[0])), None)
            if subject is not None:
                percent = match.groupdict().get("percent")
                before = text[max(0, match.start() - _REACH) : match.start()]
                found.append(
                    Computation(
                        key=subject,
                        operation=rule.operation,
                        operands=operands,
                        factor=None if percent is None else float(percent) / 100,
                        text=match[0],
                        is_negative=_is_denied(before),
                    )
                )
    return found


_REACH = 40


def _is_denied(before: str) -> bool:
    last = re.split(r"[;:]|\bbut\b", before)[-1]
    return load_verification().word_denials.matches(last)


def _read_operands(match: re.Match[str]) -> tuple[str, ...]:
    named = match.groupdict()
    if named.get("list"):
        kind = "line"
        keys: list[str] = []
        for item in _ITEM.finditer(named["list"]):
            kind = (item["kind"] or kind).casefold()
            key = f"{kind}_{item['item'].casefold()}"
            if item["through"] and keys:
                keys[-1] = f"{keys[-1]}{_RANGE}{key}"
            else:
                keys.append(key)
        return tuple(keys)
    parts = (named.get("first"), named.get("second"))
    return tuple(_name(own) for part in parts if part and (own := _KEY.search(part)))


def _name(match: re.Match[str]) -> str:
    return f"{match[1]}_{match[2]}".casefold()


def find_formula(claimed: Computation, formulas: Iterable[FormulaRecord]) -> FormulaRecord | None:
    """Return the parsed formula of a line; None where the form states none.

    Args:
        claimed: What the statement says.
        formulas: Rows of `formulas` of the documents that the statement is about.
    """
    rows = [row for row in formulas if row["key"] == claimed.key and row["operation"] != "unparsed"]
    return next((row for row in rows if agrees(claimed, row)), rows[0] if rows else None)


def agrees(claimed: Computation, row: FormulaRecord) -> bool:
    """Return whether a statement computes a line as its form does.

    Args:
        claimed: What the statement says.
        row: Row of `formulas` of the same line.
    """
    there = [operand.casefold() for operand in row["operands"]]
    own = [key for operand in claimed.operands for key in _expand(operand, there)]
    if claimed.operation not in _ORDERED:
        own, there = sorted(own), sorted(there)
    factor = row["factor"]
    same_rate = claimed.factor is None or (factor is not None and abs(factor - claimed.factor) < _TOLERANCE)
    return claimed.operation == row["operation"] and own == there and same_rate


def _expand(operand: str, there: Sequence[str]) -> list[str]:
    """Return the lines of a form that a range means, the range itself where the form has none at one of its ends."""
    first, is_range, last = operand.partition(_RANGE)
    if not is_range:
        return [first]
    low, high = _place(first), _place(last)
    found = [key for key in there if low <= _place(key) and _place(key) <= (high[0], high[1] or "z")]
    numbers = {_place(key)[0] for key in found}
    return found if {low[0], high[0]} <= numbers else [operand]


def _place(key: str) -> tuple[int, str]:
    number = _NUMBER.search(key)
    return (int(number[1]), number[2]) if number else (0, "")
