"""Statements on how a line is computed, against the formulas that the labels of the form state."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from taxkg_assets.records import FormulaRecord
from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.denials import cut_clause, is_denied, is_multiplied, is_operand
from taxkg_assets.verification.values import fold

_KEY = re.compile(r"(?i)\b(line|box|step)(?:e?s)? (\d{1,2}[a-z]?)\b")
_ITEM = re.compile(r"(?i)(?P<through>through )?(?:(?P<kind>line|box|step)(?:e?s)? )?\b(?P<item>\d{1,2}[a-z]?)\b")
_AFTER = re.compile(r"(?i)^[^.;]{0,20}?\b(?:on|for|to get|gives|giving|is|are) (?:line|box|step) \d{1,2}[a-z]?\b")
_NEXT = re.compile(r"(?i)^(?: together| up)? (?:on|to get|gives|giving) (?:line|box|step) \d{1,2}[a-z]?\b")
_DIRECT = re.compile(r"(?i)[^,;]*\b(?:is|are|equals?|shows?|takes?)\b[^,;]*|\s*")
_PLACED = re.compile(
    r"(?i)\b(?:below|above|under|beneath|after|before|following|next to|from|minus|plus|less|than)(?: the)? $"
)
_ORDER = re.compile(
    r"(?i)\b(?:(?P<below>below|under|beneath|after|following)|above|before) "
    r"(?P<neighbor>(?:line|box|step) \d{1,2}[a-z]?)\b"
)
_NESTED = re.compile(
    r"(?i)\b(?:minus|plus|less|from|over|times|(?:reduced|increased|lowered|multiplied|divided) by|(?:or|and) the)"
    r"(?: (?:the|any))?\s*$"
)
_BY_DOING = re.compile(r"(?i)\w+ing\b")
_REACH = 40  # characters before a computation in which its verb may be
_NUMBER = re.compile(r"(\d+)([a-z]?)$")
_RANGE = ".."
_ORDERED = frozenset({"difference"})
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Computation:
    """A statement's description of how one line is computed.

    Attributes:
        key: Line that is computed, such as `line_17`.
        operation: As in the table `formulas`.
        operands: Keys in their order; `line_3..line_7` for lines 3 through 7.
        factor: Rate of a product, as a fraction; None for others.
        text: Words that state it.
        is_negative: Whether the statement negates it.
        is_open: Whether no form can confirm it: it is about a multiple or a share, or negated only in a case.
        neighbors: Existing lines between which it places the line: `below line 11, … on line 14`.
    """

    key: str
    operation: str
    operands: tuple[str, ...]
    factor: float | None
    text: str
    is_negative: bool
    is_open: bool = False
    neighbors: tuple[str, ...] = ()


def find_computations(text: str) -> list[Computation]:
    """Extract from a statement how lines are computed.

    Args:
        text: A statement.

    Returns:
        Computations in the order of the text.

    Source:
        rules/verification.yaml, `operations`.
    """
    text = fold(text)
    found = []
    for rule in load_verification().operations:
        for match in rule.pattern.finditer(text):
            operands, before, after = _read_operands(match), text[: match.start()], text[match.end() :]
            subject = None if _is_nested(before, match[0]) else _find_subject(before, after, operands)
            if subject is not None:
                percent = match.groupdict().get("percent")
                near, own = before[-_REACH:], cut_clause(before)
                denied = is_denied(near, text=text)
                found.append(
                    Computation(
                        key=subject,
                        operation=rule.operation,
                        operands=operands,
                        factor=None if percent is None else float(percent) / 100,
                        text=match[0],
                        is_negative=denied is True,
                        is_open=denied is None or is_multiplied(own) or is_operand(own, after),
                        neighbors=tuple(_find_neighbors(before, subject)),
                    )
                )
    return found


def _find_subject(before: str, after: str, operands: Sequence[str]) -> str | None:
    """Find the line that is computed: `line 9 is …`, `on line 9, …`, or `… on line 9`."""
    named = [own for own in _KEY.finditer(before) if _name(own) not in operands]
    named = [own for own in named if not _PLACED.search(before[: own.start()])]
    last = named[-1] if named else None
    is_direct = last is not None and _DIRECT.fullmatch(before[last.end() :]) is not None
    follows = (_NEXT if last is not None else _AFTER).match(after)
    if follows is not None and not is_direct:  # `lines 3 and 4 are added on line 5`
        return next((_name(own) for own in _KEY.finditer(follows[0])), None)
    return None if last is None else _name(last)


def _find_neighbors(before: str, subject: str) -> Iterator[str]:
    place = _place(subject)
    for match in _ORDER.finditer(before):
        key = _name_of(match["neighbor"])
        if (_place(key) < place) if match["below"] else (_place(key) > place):
            yield key


def _is_nested(before: str, said: str) -> bool:
    """Return whether a computation is an operand: `line 3 minus the sum of …`, not `results from adding …`."""
    return _NESTED.search(before) is not None and _BY_DOING.match(said) is None


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


def _name_of(words: str) -> str:
    return words.casefold().replace(" ", "_")


def _name(match: re.Match[str]) -> str:
    return f"{match[1]}_{match[2]}".casefold()


def find_formula(
    claimed: Computation,
    formulas: Iterable[FormulaRecord],
    *,
    read_lines: Callable[[FormulaRecord], Collection[str]] = lambda row: (),
) -> FormulaRecord | None:
    """Return the parsed formula of a line; None if the form states none.

    Args:
        claimed: Computation in the statement.
        formulas: Rows of `formulas` of the documents that the statement is about.
        read_lines: Returns the keys of the lines among which a formula computes.
    """
    rows = [row for row in formulas if row["key"] == claimed.key and row["operation"] != "unparsed"]
    own = (row for row in rows if agrees(claimed, row, lines=read_lines(row)))
    return next(own, rows[0] if rows else None)


def agrees(claimed: Computation, row: FormulaRecord, *, lines: Collection[str] = ()) -> bool:
    """Return whether a statement computes a line as the line's formula does.

    Args:
        claimed: Computation in the statement.
        row: Row of `formulas` of the same line.
        lines: Keys of the lines of the form, without which a range has to name consecutive lines.
    """
    there = [operand.casefold() for operand in row["operands"]]
    printed = row["evidence"].casefold()
    own = [key for operand in claimed.operands for key in _expand(operand, there, lines=lines, printed=printed)]
    if claimed.operation not in _ORDERED:
        own, there = sorted(own), sorted(there)
    factor = row["factor"]
    same_rate = claimed.factor is None or (factor is not None and abs(factor - claimed.factor) < _TOLERANCE)
    return claimed.operation == row["operation"] and own == there and same_rate


def leaves_out_letters(claimed: Computation, row: FormulaRecord, *, lines: Collection[str]) -> bool:
    """Return whether a range skips only lettered lines of a formula, so that the range may stand for it.

    Args:
        claimed: Computation in the statement: `lines 1 through 7`.
        row: Row of `formulas` of the same line, with lines 1 through 3, 4c, 5, 6, and 7.
        lines: Keys of the lines of the form.
    """
    numbers = {_place(operand)[0] for operand in row["operands"]}
    others = [key for key in lines if _place(key)[0] not in numbers]
    return not agrees(claimed, row, lines=lines) and agrees(claimed, row, lines=others)


def _expand(operand: str, there: Sequence[str], *, lines: Collection[str], printed: str) -> list[str]:
    """Return the lines of a form that a range means, the range itself where the form computes with others.

    A range that the form itself prints means what the form computes with; of any other one no line may be left out.
    """
    first, is_range, last = operand.partition(_RANGE)
    if not is_range:
        return [first]
    low, high = _place(first), _place(last)
    found = [key for key in there if _is_within(key, low, high)]
    numbers = {_place(key)[0] for key in found}
    if not {low[0], high[0]} <= numbers:
        return [operand]
    ends = (own.partition("_")[2] for own in (first, last))
    if " through ".join(ends) in printed:
        return found
    if lines:
        is_whole = all(_has_line(key, found) for key in lines if key[:5] == first[:5] and _is_within(key, low, high))
    else:
        is_whole = numbers == set(range(low[0], high[0] + 1))
    return found if is_whole else [operand]


def _is_within(key: str, low: tuple[int, str], high: tuple[int, str]) -> bool:
    return low <= _place(key) and _place(key) <= (high[0], high[1] or "z")


def _has_line(key: str, found: Sequence[str]) -> bool:
    """Return whether lines have a line, the letters of a line without an amount, or the line of a letter."""
    number, letter = _place(key)
    return any(own == number and (there == letter or not (there and letter)) for own, there in map(_place, found))


def _place(key: str) -> tuple[int, str]:
    number = _NUMBER.search(key)
    return (int(number[1]), number[2]) if number else (0, "")
