"""Numbered lines that a page's fields mention and that the print alone does not show: letters within another line,
rows with roman numerals, check boxes with capital letters.

The field states which number to look for and where; what is printed there is taken out of the words around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.extraction.forms.form_lines import FormLine, FormLines
from taxkg_assets.extraction.forms.line_numbers import read_line_number
from taxkg_assets.extraction.forms.margin_labels import limits
from taxkg_assets.extraction.forms.stated_fields import StatedField
from taxkg_assets.extraction.layout.lines import Line, cut_line

_LINE = re.compile(r"(?:line_|step_|box_)(?P<number>\d*)(?P<letter>[A-Za-z]*)")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a number is: a piece and the place in its text; `unit`: the line that holds it, None for a loose one.

    is_full: with its digits, and not by its letter alone.
    """

    unit: FormLine | None
    piece: Line
    at: int
    distance: float
    is_full: bool


def add_stated_lines(found: FormLines, stated: Sequence[StatedField]) -> None:
    """Add lines that the fields of a page mention, if the page prints their numbers.

    Args:
        found: Numbered lines of the page; extended in place.
        stated: Fields of the page with the information in their spoken texts.
    """
    known = {unit.key for unit in found.lines}
    keys = {one.key for one in stated}
    fields: dict[str, list[StatedField]] = {}
    for one in stated:
        if one.key:
            fields.setdefault(one.key, []).append(one)
    for key, own in fields.items():
        if key in known or key.startswith("column_"):
            continue
        place = min(
            (place for one in own for place in _find_places(found, one)), key=lambda place: place.distance, default=None
        )
        if place is not None:
            _take(found, key, place, is_known=keys)
            known.add(key)
    found.lines[:] = [unit for unit in found.lines if unit.lines]


def _find_places(found: FormLines, one: StatedField) -> list[_Place]:
    """Find where the number of a field may be printed: on its row, to its left, or close above a row of its own."""
    match = _LINE.match(one.key)
    if match is None:
        return []
    names = _names_of(match["number"], match["letter"])
    pieces: list[tuple[FormLine | None, Line]] = [(None, piece) for piece in found.rest]
    pieces += [(None, piece) for piece in found.repeats if len(piece.text) == 1]
    pieces += [(unit, piece) for unit in found.lines for piece in unit.lines]
    places: list[_Place] = []
    for unit, piece in pieces:
        rise = one.field.y1 - piece.base
        if not -limits().field_drop_pt <= rise <= limits().field_rise_pt:
            continue
        for name in names.finditer(piece.text):
            x = _x_of(piece, name.start("number"))
            reach = one.field.x0 - x
            least = -limits().box_left_pt if one.field.kind == "checkbox" else -limits().field_drop_pt
            if reach >= least and _is_bold_at(piece, name.start("number")):
                is_full = name["number"][0].isdigit()
                places.append(_Place(unit, piece, name.start("number"), abs(rise) * 4 + abs(reach), is_full))
    return places


def _names_of(number: str, letter: str) -> re.Pattern[str]:
    """Return the ways in which a number may be printed: 35b, 35 b, b, (b)."""
    names = [f"{number}{letter}"] if number else []
    if letter:
        names += [rf"\({letter}\)", letter] + ([f"{number} {letter}"] if number else [])
    return re.compile(rf"(?<![\w(])(?P<number>{'|'.join(names)})(?![\w)])")


def _x_of(piece: Line, at: int) -> float:
    _, right = cut_line(piece, at)
    return right[0].x0 if right else piece.x1


def _is_bold_at(piece: Line, at: int) -> bool:
    """Decide whether a number is set in bold; letters in brackets and roman numerals of rows may be plain."""
    _, right = cut_line(piece, at)
    return bool(right) and (right[0].first.is_bold or at == 0 or not piece.text[at].isalnum())


def _take(found: FormLines, key: str, place: _Place, *, is_known: set[str]) -> None:
    """Make a line of what is behind a number, up to the end of its line; what is before it stays."""
    left, right = cut_line(place.piece, place.at)
    unit = place.unit
    is_part = not key[-1].isdigit()
    if unit is None:
        found.rest[:] = [piece for piece in found.rest if piece is not place.piece] + left
        # A letter may have been taken for one that only repeats that of a line above.
        found.repeats[:] = [piece for piece in found.repeats if piece is not place.piece]
        after = [] if not right else _rest_of_row(found, right[0])
        found.lines.append(FormLine(key, is_part, [*right, *after]))
        return
    if place.at == 0 and place.piece is unit.lines[0]:
        # The whole line is meant: its number is printed in full, or its letter was given the number of another line.
        if place.is_full or sum(other.key == unit.key for other in found.lines) > 1:
            unit.key = key
        return
    key = _key_in(unit, key)
    ix = next(ix for ix, piece in enumerate(unit.lines) if piece is place.piece)
    after = unit.lines[ix + 1 :]
    number = "".join(line.text for line in (*unit.lines[:ix], *left)).strip()
    if unit.key not in is_known and number == unit.key.partition("_")[2]:
        # The number is printed apart from its first letter and names no field of its own.
        unit.key = key
        return
    unit.lines[:] = [*unit.lines[:ix], *left]
    found.lines.insert(found.lines.index(unit) + 1, FormLine(key, is_part, [*right, *after]))


def _key_in(unit: FormLine, key: str) -> str:
    """Assign to a letter the number of the line that it is printed in, whatever its field states."""
    own, said = _LINE.match(unit.key), _LINE.match(key)
    if own is None or said is None or not own["number"] or not said["letter"]:
        return key
    return f"{unit.key.partition('_')[0]}_{own['number']}{said['letter']}"


def _rest_of_row(found: FormLines, piece: Line) -> list[Line]:
    """Take the loose words that go on from a number on its row."""
    row = sorted(
        (other for other in found.rest if abs(other.base - piece.base) <= limits().row_pt and other.x0 >= piece.x1 - 2),
        key=lambda other: other.x0,
    )
    taken: list[Line] = []
    end = piece.x1
    for other in row:
        if other.x0 - end > limits().number_gap_pt or (taken and read_line_number(other) is not None):
            break
        taken.append(other)
        end = other.x1
    found.rest[:] = [other for other in found.rest if not any(other is one for one in taken)]
    return taken
