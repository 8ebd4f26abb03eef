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

    `Line 9 is the sum of lines 7 and 8` is one computation: `line_9`, `sum`, of `line_7` and `line_8`.

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
            before, after = text[: match.start()], text[match.end() :]
            operands = _read_operands(match)
            if _is_nested(before, match[0]):
                continue
            subject = _find_subject(before, after, operands)
            if subject is None:
                continue
            percent = match.groupdict().get("percent")
            denied = is_denied(before[-_REACH:], text=text)
            is_other_amount = is_multiplied(cut_clause(before)) or is_operand(cut_clause(before), after)
            found.append(
                Computation(
                    key=subject,
                    operation=rule.operation,
                    operands=operands,
                    factor=None if percent is None else float(percent) / 100,
                    text=match[0],
                    is_negative=denied is True,
                    is_open=denied is None or is_other_amount,
                    neighbors=tuple(_find_neighbors(before, subject)),
                )
            )
    return found


def _find_subject(before: str, after: str, operands: Sequence[str]) -> str | None:
    """Find the line that is computed: `line 9 is …`, `on line 9, …`, or `… on line 9`."""
    candidates = [
        key for key in _KEY.finditer(before) if _name(key) not in operands and not _PLACED.search(before[: key.start()])
    ]
    if not candidates:
        follows = _AFTER.match(after)
        return _name_first(follows[0]) if follows else None
    last = candidates[-1]
    is_direct = _DIRECT.fullmatch(before[last.end() :]) is not None
    follows = _NEXT.match(after)
    if follows is not None and not is_direct:  # `lines 3 and 4 are added on line 5`
        return _name_first(follows[0])
    return _name(last)


def _name_first(words: str) -> str | None:
    """Return the key of the first line that words name."""
    key = _KEY.search(words)
    return _name(key) if key else None


def _find_neighbors(before: str, subject: str) -> Iterator[str]:
    """Find the lines that a statement puts above or below the computed one, rightly: `below line 11, … on line 14`."""
    place = _place(subject)
    for match in _ORDER.finditer(before):
        key = _name_of(match["neighbor"])
        is_in_order = _place(key) < place if match["below"] else _place(key) > place
        if is_in_order:
            yield key


def _is_nested(before: str, said: str) -> bool:
    """Return whether a computation is an operand: `line 3 minus the sum of …`, not `results from adding …`."""
    return _NESTED.search(before) is not None and _BY_DOING.match(said) is None


def _read_operands(match: re.Match[str]) -> tuple[str, ...]:
    """Return the keys of the operands; `lines 3 through 7` is one range, `line_3..line_7`."""
    groups = match.groupdict()
    if groups.get("list"):
        return _read_list(groups["list"])
    parts = (groups.get("first"), groups.get("second"))
    return tuple(_name(key) for part in parts if part and (key := _KEY.search(part)))


def _read_list(printed: str) -> tuple[str, ...]:
    """Return the keys of a list of lines, of which only the first may name its kind: `lines 3, 4, and 6`."""
    kind = "line"
    keys: list[str] = []
    for item in _ITEM.finditer(printed):
        kind = (item["kind"] or kind).casefold()
        key = f"{kind}_{item['item'].casefold()}"
        if item["through"] and keys:
            keys[-1] = f"{keys[-1]}{_RANGE}{key}"
        else:
            keys.append(key)
    return tuple(keys)


def _name_of(words: str) -> str:
    """Return the key of a line from its words: `line_11` for `Line 11`."""
    return words.casefold().replace(" ", "_")


def _name(match: re.Match[str]) -> str:
    """Return the key of a line from a match of its kind and number."""
    return f"{match[1]}_{match[2]}".casefold()


def find_formula(
    claimed: Computation,
    formulas: Iterable[FormulaRecord],
    *,
    read_lines: Callable[[FormulaRecord], Collection[str]] = lambda row: (),
) -> FormulaRecord | None:
    """Return the parsed formula of a line, one that agrees with the statement first; None if the form states none.

    Args:
        claimed: Computation in the statement.
        formulas: Rows of `formulas` of the documents that the statement is about.
        read_lines: Returns the keys of the lines among which a formula computes.
    """
    rows = [row for row in formulas if row["key"] == claimed.key and row["operation"] != "unparsed"]
    for row in rows:
        if agrees(claimed, row, lines=read_lines(row)):
            return row
    return rows[0] if rows else None


def agrees(claimed: Computation, row: FormulaRecord, *, lines: Collection[str] = ()) -> bool:
    """Return whether a statement computes a line as the line's formula does.

    Args:
        claimed: Computation in the statement.
        row: Row of `formulas` of the same line.
        lines: Keys of the lines of the form, without which a range has to name consecutive lines.
    """
    if claimed.operation != row["operation"]:
        return False
    factor = row["factor"]
    if claimed.factor is not None and (factor is None or abs(factor - claimed.factor) >= _TOLERANCE):
        return False
    printed_operands = [operand.casefold() for operand in row["operands"]]
    printed = row["evidence"].casefold()
    claimed_operands = [
        key for operand in claimed.operands for key in _expand(operand, printed_operands, lines=lines, printed=printed)
    ]
    if claimed.operation in _ORDERED:
        return claimed_operands == printed_operands
    return sorted(claimed_operands) == sorted(printed_operands)


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


def _expand(operand: str, operands: Sequence[str], *, lines: Collection[str], printed: str) -> list[str]:
    """Return the lines of a form that a range means, the range itself where the form computes with others.

    A range that the form itself prints means what the form computes with; of any other one no line may be left out.

    Args:
        operand: Operand of a statement: `line_3..line_7`.
        operands: Operands of the form.
        lines: Keys of the lines of the form; none where they are not known.
        printed: Words of the form, in lower case.
    """
    first, is_range, last = operand.partition(_RANGE)
    if not is_range:
        return [first]
    low, high = _place(first), _place(last)
    within = [key for key in operands if _is_within(key, low, high)]
    numbers = {_place(key)[0] for key in within}
    if not {low[0], high[0]} <= numbers:
        return [operand]
    first_number, last_number = (key.partition("_")[2] for key in (first, last))
    if f"{first_number} through {last_number}" in printed:
        return within
    if lines:
        lines_of_range = [key for key in lines if key[:5] == first[:5] and _is_within(key, low, high)]
        is_whole = all(_has_line(key, within) for key in lines_of_range)
    else:
        is_whole = numbers == set(range(low[0], high[0] + 1))
    return within if is_whole else [operand]


def _is_within(key: str, low: tuple[int, str], high: tuple[int, str]) -> bool:
    """Return whether a line is in a range; its end `7` includes 7a, its end `7a` not 7b."""
    number_high, letter_high = high
    return low <= _place(key) <= (number_high, letter_high or "z")


def _has_line(key: str, found: Sequence[str]) -> bool:
    """Return whether lines have a line, the letters of a line without an amount, or the line of a letter."""
    number, letter = _place(key)
    letters = {found_letter for found_number, found_letter in map(_place, found) if found_number == number}
    if not letter:
        return bool(letters)
    return letter in letters or "" in letters


def _place(key: str) -> tuple[int, str]:
    """Return the number of a line and its letter: 4 and `a` for `line_4a`."""
    number = _NUMBER.search(key)
    return (int(number[1]), number[2]) if number else (0, "")
