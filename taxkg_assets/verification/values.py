"""Values that a text states: amounts, rates, dates, ages, terms, telephone numbers, each with its bound."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taxkg_assets.rules.models.claims import Comparator, load_claims
from taxkg_assets.rules.models.verification import load_verification

_FOLDS = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "‐": "-", "‑": "-", "−": "-", "\u00a0": " ", "\n": " "}
)
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
MONEY = frozenset({"amount", "number"})
COUNTED = frozenset({"measure", "count"})
_YEARS_OF_AGE = frozenset({"age", "count"})
_SIZES = {"more": "up", "at_least": "up", "less": "down", "at_most": "down"}
_REACH = 16
_WITH_UNIT = frozenset({"measure", "ordinal"})
_FRACTION, _PERCENT, _HALVES = "fraction", "percent", frozenset({"half", "one-half"})
_ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL = re.compile(r"(\d{1,2})(?:nd|rd|th)")


@dataclass(frozen=True, slots=True)
class Value:
    """A value, key or form in a text, normalized for comparison.

    Attributes:
        kind: phone, amount, percent, date, age, fraction, ordinal, measure, number; form, box, line, code, column,
            part.
        figure: Normalized figure, such as `7.5`, `17000` or `line_5a`.
        unit: Unit of a measure, month of a date; empty for none.
        year: Year of a date; empty where it is not stated.
        bound: `up` for more than or at least, `down` for less than or at most; empty for none.
        text: As written.
        start: First character in the text.
        end: Exclusive end offset.
    """

    kind: str
    figure: str
    unit: str
    year: str
    bound: str
    text: str
    start: int
    end: int

    def equals(self, other: Value) -> bool:
        """Return whether two values are equal, ignoring their bounds.

        Args:
            other: Value of the other text.
        """
        if self.kind in MONEY and other.kind in MONEY:
            return self.figure == other.figure
        if self.kind in _YEARS_OF_AGE and other.kind in _YEARS_OF_AGE:  # `who turned 50`, `age 50`
            return self.figure == other.figure
        if self.kind != other.kind or self.figure != other.figure:
            return False
        if self.kind != "form" and self.unit != other.unit:  # a form and its instructions share a name
            return False
        return not (self.year and other.year) or self.year == other.year

    def competes(self, other: Value) -> bool:
        """Return whether another value has the same kind, so that one can replace the other in a statement.

        Args:
            other: Value of the other text.
        """
        if self.kind in MONEY and other.kind in MONEY:
            return True
        return self.kind == other.kind and (self.kind not in _WITH_UNIT or self.unit == other.unit)

    def opposes(self, other: Value) -> bool:
        """Return whether another value has the opposite bound, as `at most` and `at least`.

        Args:
            other: Value of the other text.
        """
        return bool(self.bound and other.bound) and self.bound != other.bound


def fold(text: str) -> str:
    """Normalize quotation marks, dashes and blanks character by character, so that offsets stay valid.

    Args:
        text: Any text.

    Returns:
        Text of the same length.
    """
    return text.translate(_FOLDS)


def find_values(text: str) -> list[Value]:
    """Find the values in a text; at each position the first matching rule applies.

    Args:
        text: Any text.

    Returns:
        Values in the order of the text.

    Source:
        rules/verification.yaml, `values`; bounds in rules/claims.yaml, `comparators`.
    """
    text = fold(text)
    found: list[Value] = []
    bounds = _find_bounds(text)
    for rule in load_verification().values:
        for match in rule.pattern.finditer(text):
            if any(value.start < match.end() and match.start() < value.end for value in found):
                continue
            found.append(_read_value(match, kind=rule.kind, bounds=bounds))
    return sorted(found, key=lambda value: value.start)


def _read_value(match: re.Match[str], *, kind: str, bounds: Sequence[tuple[int, int, str, str]]) -> Value:
    named = match.groupdict()
    figure = _read_figure(named.get("figure") or named.get("older") or "", named.get("scale") or "")
    start, end = match.span()
    if kind == _FRACTION and figure in _HALVES:  # `half of it` is 50 percent of it
        kind, figure = _PERCENT, "50"
    return Value(
        kind=kind,
        figure=figure,
        unit=_read_unit(named.get("unit") or ""),
        year=named.get("year") or "",
        bound=_bound_at(start, end, bounds),
        text=match[0],
        start=start,
        end=end,
    )


def _read_figure(printed: str, scale: str) -> str:
    plain = printed.casefold().replace(",", "").replace(" ", "-")
    if ordinal := _ORDINAL.fullmatch(plain):
        return ordinal[1]
    if plain in _ORDINALS:
        return str(_ORDINALS.index(plain) + 2)
    words: dict[str, int] = load_claims().numbers.units
    if plain in words:
        return str(words[plain])
    if scale:
        return f"{float(plain) * _SCALES[scale.casefold()]:.0f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _read_unit(printed: str) -> str:
    unit = printed.casefold()
    return {"copies": "copy"}.get(unit, unit)


def _find_bounds(text: str) -> list[tuple[int, int, str, str]]:
    """Find comparing words: start, end, direction, and the side on which the figure is written."""
    found: list[tuple[int, int, str, str]] = []
    for rule in (*load_verification().caps, load_verification().no_denials.bound, *load_claims().comparators):
        for match in rule.pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end, _, _ in found):
                continue
            if not isinstance(rule, Comparator):
                found.append((*match.span(), _direction_of_denial(match[0]), "right"))
            elif rule.meaning in _SIZES:
                found.append((*match.span(), _SIZES[rule.meaning], rule.side))
    return found


def _direction_of_denial(words: str) -> str:
    """Return the direction of a denied comparison or a limit: `not more than` bounds from above."""
    return "up" if re.search(r"(?i)\b(?:less|fewer|earlier)\b|(?:\bnot|n't)\b.*\blimited\b", words) else "down"


def _bound_at(start: int, end: int, bounds: Iterable[tuple[int, int, str, str]]) -> str:
    for low, high, direction, side in bounds:
        gap = start - high if side == "right" else low - end
        if 0 <= gap <= _REACH:
            return direction
    return ""
