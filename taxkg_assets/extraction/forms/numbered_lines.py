"""The numbered lines, boxes and columns of a form's page, as it prints them and as its fields state them."""

from __future__ import annotations

from collections.abc import Sequence

from taxkg_assets.extraction.forms.form_lines import FormLine, FormLines, find_form_lines
from taxkg_assets.extraction.forms.head_rows import are_heads_of_one_grid, take_words_over
from taxkg_assets.extraction.forms.line_labels import find_label
from taxkg_assets.extraction.forms.margin_labels import limits
from taxkg_assets.extraction.forms.stated_columns import find_column_heads
from taxkg_assets.extraction.forms.stated_fields import StatedField
from taxkg_assets.extraction.forms.stated_lines import add_stated_lines
from taxkg_assets.extraction.layout.lines import Line, join_lines
from taxkg_assets.extraction.layout.words import Words
from taxkg_assets.extraction.pdf.model import Page


def read_form_lines(
    page: Page,
    lines: Sequence[Line],
    *,
    braces: Sequence[Line],
    leaders: Sequence[Line],
    stated: Sequence[StatedField],
) -> FormLines:
    """Find the numbered lines, boxes and columns of a form's page, each with its label.

    Args:
        page: Page with its spans, rules and fields.
        lines: As `find_form_lines` takes them.
        braces: As `find_form_lines` takes them.
        leaders: Rows of leader dots to the amounts.
        stated: Fields of the page with the information in their spoken texts; empty if unreliable.

    Returns:
        Units in their order; lines that fields mention but the page does not print are left out.
    """
    heads, loose = find_column_heads(lines, stated)
    over, loose = take_words_over(heads, loose)
    found = find_form_lines(page, loose, braces=braces, stated=_stated_keys(stated))
    if stated:
        add_stated_lines(found, stated)
    for unit in found.lines:
        if _is_mere_number(unit, stated):
            found.rest += unit.lines[1:]
            unit.lines = unit.lines[:1]
    if stated:
        found.lines = _with_words_over(_by_rows([*heads, *found.lines]), over)
    words = Words([line for unit in found.lines for line in unit.lines])
    for unit in found.lines:
        text, _ = join_lines(unit.lines, words=words)
        if not _is_mere_number(unit, stated) or _has_own_words(text):
            others = [one.spoken.label for one in stated if one.key == unit.key]
            unit.label = find_label(unit, text, spoken=_spoken_label(unit, stated), others=others, leaders=leaders)
    return found


def _stated_keys(stated: Sequence[StatedField]) -> set[str]:
    """Return the keys that fields mention, and the numbers that letters and rows divide."""
    keys = {one.key for one in stated if one.key}
    return keys | {key.rstrip("abcdefghijklmnopqrstuvwxyz") for key in keys if key[-1].islower() and key[-2].isalnum()}


def _is_mere_number(unit: FormLine, stated: Sequence[StatedField]) -> bool:
    """Decide whether a line only numbers the rows of a table, whose columns have all the words."""
    own = [one for one in stated if one.key == unit.key]
    return bool(own) and all(one.column and not one.spoken.label for one in own)


def _has_own_words(text: str) -> bool:
    """Decide whether words of its own, and not those of a column, follow the number of a line."""
    words = text.partition(" ")[2]
    return bool(words) and not words.startswith("(") and any(map(str.isalpha, words))


def _by_rows(units: Sequence[FormLine]) -> list[FormLine]:
    """Order units from top to bottom, those that begin on one row from left to right, as do the heads of a grid."""
    rows: list[list[FormLine]] = []
    for unit in sorted(units, key=lambda unit: unit.lines[0].base):
        if rows and (
            unit.lines[0].base - rows[-1][0].lines[0].base < limits().row_pt or are_heads_of_one_grid(rows[-1], unit)
        ):
            rows[-1].append(unit)
        else:
            rows.append([unit])
    return [unit for row in rows for unit in sorted(row, key=lambda unit: unit.lines[0].x0)]


def _with_words_over(units: list[FormLine], over: Sequence[FormLine]) -> list[FormLine]:
    """Put the words over some heads before the first head of their grid."""
    for unit in over:
        foot = unit.lines[-1].y1
        below = (ix for ix, head in enumerate(units) if head.kind == "column" and head.lines[0].y0 >= foot - 1)
        at = next(below, len(units))
        while at > 0 and units[at - 1].kind == "column" and units[at - 1].lines[-1].y1 > unit.lines[0].y0:
            at -= 1
        units.insert(at, unit)
    return units


def _spoken_label(unit: FormLine, stated: Sequence[StatedField]) -> str:
    """Return the longest label that the fields of a unit are spoken with."""
    if unit.kind == "column":
        letter = unit.key.partition("_")[2]
        return max((one.spoken.head for one in stated if one.column == letter), key=len, default="")
    own = [one for one in stated if one.key == unit.key]
    label = max((one.spoken.label for one in own), key=len, default="")
    if len(own) > 1 and all(one.field.kind == "checkbox" for one in own):
        # Each answer is spoken after the question, which is what the line says; without one, all are its words.
        said = " ".join(dict.fromkeys(one.spoken.label for one in own))
        label = f"{label.partition('?')[0]}?" if "?" in label else said
    return label
