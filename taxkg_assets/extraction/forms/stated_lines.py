"""Numbered lines that are found only because a field of the page states them: letters within another line, rows with
roman numerals, check boxes with capital letters.

The field states the number, and its position shows where to look; the words found there become a line of their own.
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
    """Where a number is printed.

    Attributes:
        unit: Numbered line that contains the number; None where no numbered line does.
        piece: Piece of text that contains the number.
        at: Character of the piece's text where the number begins.
        distance: Distance from the field: the height counts four times.
        is_full: Whether the digits are printed, and not the letter alone.
    """

    unit: FormLine | None
    piece: Line
    at: int
    distance: float
    is_full: bool


def add_stated_lines(form_lines: FormLines, stated_fields: Sequence[StatedField]) -> None:
    """Add lines that the fields of a page state, if the page prints their numbers.

    Args:
        form_lines: Numbered lines and remaining text of the page; changed in place.
        stated_fields: Fields of the page with the information in their spoken texts.
    """
    known_keys = {unit.key for unit in form_lines.lines}
    keys = {stated_field.key for stated_field in stated_fields}
    fields: dict[str, list[StatedField]] = {}
    for stated_field in stated_fields:
        if stated_field.key:
            fields.setdefault(stated_field.key, []).append(stated_field)
    for key, key_fields in fields.items():
        if key in known_keys or key.startswith("column_"):
            continue
        place = min(
            (place for stated_field in key_fields for place in _find_places(form_lines, stated_field)),
            key=lambda place: place.distance,
            default=None,
        )
        if place is not None:
            _make_line(form_lines, key, place, stated_keys=keys)
            known_keys.add(key)
    form_lines.lines[:] = [unit for unit in form_lines.lines if unit.lines]


def _find_places(form_lines: FormLines, stated_field: StatedField) -> list[_Place]:
    """Find where the number of a field may be printed: on the row of the field, to its left, or close above it."""
    match = _LINE.match(stated_field.key)
    if match is None:
        return []
    name_pattern = _names_of(match["number"], match["letter"])
    pieces: list[tuple[FormLine | None, Line]] = [(None, piece) for piece in form_lines.rest]
    pieces += [(None, piece) for piece in form_lines.repeats if len(piece.text) == 1]
    pieces += [(unit, piece) for unit in form_lines.lines for piece in unit.lines]
    places: list[_Place] = []
    for unit, piece in pieces:
        height_above = stated_field.field.y1 - piece.base
        if not -limits().field_drop_pt <= height_above <= limits().field_rise_pt:
            continue
        for name_match in name_pattern.finditer(piece.text):
            x = _x_of(piece, name_match.start("number"))
            distance_left = stated_field.field.x0 - x
            least_distance = -limits().box_left_pt if stated_field.field.kind == "checkbox" else -limits().field_drop_pt
            if distance_left >= least_distance and _is_bold_at(piece, name_match.start("number")):
                is_full = name_match["number"][0].isdigit()
                places.append(
                    _Place(unit, piece, name_match.start("number"), abs(height_above) * 4 + abs(distance_left), is_full)
                )
    return places


def _names_of(number: str, letter: str) -> re.Pattern[str]:
    """Build the pattern of the ways in which a number may be printed: 35b, 35 b, b, (b)."""
    spellings = [f"{number}{letter}"] if number else []
    if letter:
        spellings += [rf"\({letter}\)", letter] + ([f"{number} {letter}"] if number else [])
    return re.compile(rf"(?<![\w(])(?P<number>{'|'.join(spellings)})(?![\w)])")


def _x_of(piece: Line, char_ix: int) -> float:
    _, pieces_after = cut_line(piece, char_ix)
    return pieces_after[0].x0 if pieces_after else piece.x1


def _is_bold_at(piece: Line, char_ix: int) -> bool:
    """Decide whether a number is set in bold; letters in brackets and roman numerals of rows may be plain."""
    _, pieces_after = cut_line(piece, char_ix)
    return bool(pieces_after) and (pieces_after[0].first.is_bold or char_ix == 0 or not piece.text[char_ix].isalnum())


def _make_line(form_lines: FormLines, key: str, place: _Place, *, stated_keys: set[str]) -> None:
    """Make a new line from a number and the words after it; the words before it stay in their line."""
    pieces_before, number_pieces = cut_line(place.piece, place.at)
    unit = place.unit
    is_part = not key[-1].isdigit()
    if unit is None:
        form_lines.rest[:] = [piece for piece in form_lines.rest if piece is not place.piece] + pieces_before
        # A letter may have been taken for a repeated number.
        form_lines.repeats[:] = [piece for piece in form_lines.repeats if piece is not place.piece]
        pieces_after = [] if not number_pieces else _take_rest_of_row(form_lines, number_pieces[0])
        form_lines.lines.append(FormLine(key, is_part, [*number_pieces, *pieces_after]))
        return
    if place.at == 0 and place.piece is unit.lines[0]:
        # The field states the whole line: its number is printed in full, or its letter has got the number of another
        # line.
        if place.is_full or sum(other.key == unit.key for other in form_lines.lines) > 1:
            unit.key = key
        return
    key = _key_in(unit, key)
    ix = next(ix for ix, piece in enumerate(unit.lines) if piece is place.piece)
    pieces_after = unit.lines[ix + 1 :]
    number = "".join(line.text for line in (*unit.lines[:ix], *pieces_before)).strip()
    if unit.key not in stated_keys and number == unit.key.partition("_")[2]:
        # The number is printed apart from its first letter and names no field of its own.
        unit.key = key
        return
    unit.lines[:] = [*unit.lines[:ix], *pieces_before]
    form_lines.lines.insert(form_lines.lines.index(unit) + 1, FormLine(key, is_part, [*number_pieces, *pieces_after]))


def _key_in(unit: FormLine, key: str) -> str:
    """Return the key with the number of the line that the letter is printed in, whatever number the field states."""
    line_match, key_match = _LINE.match(unit.key), _LINE.match(key)
    if line_match is None or key_match is None or not line_match["number"] or not key_match["letter"]:
        return key
    return f"{unit.key.partition('_')[0]}_{line_match['number']}{key_match['letter']}"


def _take_rest_of_row(form_lines: FormLines, piece: Line) -> list[Line]:
    """Remove from the remaining text the words that follow a number on its row, and return these words."""
    row = sorted(
        (
            other
            for other in form_lines.rest
            if abs(other.base - piece.base) <= limits().row_pt and other.x0 >= piece.x1 - 2
        ),
        key=lambda other: other.x0,
    )
    words_after: list[Line] = []
    right_edge = piece.x1
    for other in row:
        if other.x0 - right_edge > limits().number_gap_pt or (words_after and read_line_number(other) is not None):
            break
        words_after.append(other)
        right_edge = other.x1
    form_lines.rest[:] = [other for other in form_lines.rest if not any(other is word for word in words_after)]
    return words_after
