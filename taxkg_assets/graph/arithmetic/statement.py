"""What a label states of the computation of its line: `Subtract line 14 from line 13. If zero or less, enter -0-`.

A label is read whole or not at all: words that no rule accounts for leave the formula unparsed, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.rules.models.formulas import Computation, load_formulas

_RANGE = re.compile(r"(?i)^(?P<first>\d+[a-z]*)\s+(?:through|to)\s+(?P<last>\d+[a-z]*)$")
_KEY = re.compile(r"(?i)^\d+[a-z]*$")
_BETWEEN = re.compile(r"\s*(?:,\s*(?:and|or)\s+|,\s*|\s+(?:and|or)\s+)\s*")
_LEAD = re.compile(
    r"(?i)^(?:the\s+amounts?\s+(?:on|from|in\s+the\s+far\s+right\s+column\s+for|in)\s+)?(?:part\s+(?P<part>[ivx]+),\s*)?(?:lines?\s+)?"
)
_ELSEWHERE = re.compile(
    r"(?i)^(?P<form>(?:form|schedule)\s+\S+(?:\s+\(form\s+[^()]+\))?)(?:(?:,|\s+or|,\s*or)\s+[\d-]+[A-Z-]*)*,\s*"
    r"lines?\s+(?P<key>\d+[a-z]*)$"
)


@dataclass(frozen=True, slots=True)
class Operand:
    """One line, or a range of lines, that a formula names; `form` is empty for the form itself."""

    first: str
    last: str = ""
    part: str = ""
    form: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """One formula as stated: a difference is its first operand minus all others."""

    operation: str
    operands: tuple[Operand, ...]
    start: int
    end: int
    factor: float | None = None
    bound: str = ""
    condition: str = ""
    column: str = ""
    problem: str = ""


def read_statement(label: str) -> Statement | None:
    """Parse the formula that a line's label states.

    Args:
        label: Words printed for a line.

    Returns:
        The formula; one with a problem if no rule covers the stated arithmetic; None if the label states none.
    """
    matches = [(rule, match) for rule in load_formulas().rules for match in rule.pattern.finditer(label)]
    stated = [match for rule in load_formulas().stated for match in rule.pattern.finditer(label)]
    if not matches and not stated:
        return None
    place = matches[0][1].span() if matches else (stated[0].start(), len(label))
    if not matches:
        return Statement("unparsed", (), *place, problem="no rule reads the words of this label")
    if len(matches) > 1 or any(not _covers(matches[0][1], match) for match in stated):
        return Statement("unparsed", (), *place, problem="the label states several operations")
    return _read(*matches[0], label)


def _covers(match: re.Match[str], other: re.Match[str]) -> bool:
    return match.start() <= other.start() < match.end()


def _read(rule: Computation, match: re.Match[str], label: str) -> Statement:
    """Turn what a rule matched into data."""
    groups = match.groupdict()
    names = [name for name in ("first", "second") if groups.get(name)]
    operands = [_read_operands(groups[name]) for name in names]
    place = match.span()
    if any(not group for group in operands):
        return Statement("unparsed", (), *place, problem="an operand is not a line")
    condition = (groups.get("condition") or "").strip(" ,")
    stated = groups.get("rate") or groups.get("amount")
    factor = float(stated.replace(",", "")) if stated else None
    ordered = [operand for group in operands for operand in group]
    percent = groups.get("percent")
    if percent is not None and factor is not None and abs(float(percent) / 100 - factor) > 1e-9:
        return Statement("unparsed", (), *place, problem="the rate differs from the percentage")
    bound = _find_bound(label, rule.operation, ordered)
    if bound is None:
        return Statement("unparsed", (), *place, problem="the condition for zero compares other lines")
    return Statement(rule.operation, tuple(ordered), *place, factor, bound, condition, groups.get("column") or "")


def _read_operands(text: str) -> list[Operand]:
    """Read a list of lines; empty where a part of it is no line."""
    elsewhere = _ELSEWHERE.match(text.strip())
    if elsewhere is not None:
        return [Operand(elsewhere["key"].lower(), form=elsewhere["form"])]
    operands: list[Operand] = []
    part = ""
    for piece in _BETWEEN.split(text.strip()):
        lead = _LEAD.match(piece)
        assert lead is not None
        part = (lead["part"] or part).upper()
        key = piece[lead.end() :].strip()
        if not key and piece:
            continue
        span = _RANGE.match(key)
        if span is not None:
            operands.append(Operand(span["first"].lower(), span["last"].lower(), part))
        elif _KEY.match(key):
            operands.append(Operand(key.lower(), part=part))
        elif not re.fullmatch(r"(?i)part\s+[ivx]+", piece):
            return []
        else:
            part = piece.split()[-1].upper()
    return operands


def _find_bound(label: str, operation: str, operands: Sequence[Operand]) -> str | None:
    """Find what replaces a result beyond zero; None where the label makes it depend on other lines."""
    for rule in load_formulas().bounds:
        match = rule.pattern.search(label)
        if match is None:
            continue
        compared = [match[name].lower() for name in ("minuend", "subtrahend") if name in rule.pattern.groupindex]
        is_own = operation == "difference" and compared == [operand.first for operand in operands]
        return rule.bound if is_own or not compared else None
    return ""
