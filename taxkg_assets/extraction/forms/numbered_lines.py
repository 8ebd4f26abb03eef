"""The numbered lines, boxes and columns of a form's page, as it prints them and as its fields state them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from taxkg_assets.extraction.forms.form_lines import FormLine, FormLines, find_form_lines
from taxkg_assets.extraction.forms.head_rows import are_heads_of_one_grid, take_words_over
from taxkg_assets.extraction.forms.line_labels import find_label
from taxkg_assets.extraction.forms.line_numbers import LineNumber, plain_number
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
    stated_fields: Sequence[StatedField],
) -> FormLines:
    """Find the numbered lines, boxes and columns of a form's page, each with its label.

    Args:
        page: Page with its spans, rules and fields.
        lines: Pieces of printed text without furniture, leaders and text in tables or boxes.
        braces: Tall braces of the page, from `split_brace`.
        leaders: Rows of leader dots to the amounts.
        stated_fields: Fields of the page with the information in their spoken texts; empty if these are unreliable.

    Returns:
        Numbered lines in reading order; a line that a field states but the page does not print is left out.
    """
    heads, other_lines = find_column_heads(lines, stated_fields)
    units_over, other_lines = take_words_over(heads, other_lines)
    form_lines = find_form_lines(
        page,
        other_lines,
        braces=braces,
        stated_keys=_stated_keys(stated_fields),
        is_option=partial(_is_option, stated_fields=stated_fields),
    )
    if stated_fields:
        add_stated_lines(form_lines, stated_fields)
    for unit in form_lines.lines:
        if _is_mere_number(unit, stated_fields):
            form_lines.rest += unit.lines[1:]
            unit.lines = unit.lines[:1]
    if stated_fields:
        form_lines.lines = _with_words_over(_by_rows([*heads, *form_lines.lines]), units_over)
    words = Words([line for unit in form_lines.lines for line in unit.lines])
    for unit in form_lines.lines:
        text, _ = join_lines(unit.lines, words=words)
        if not _is_mere_number(unit, stated_fields) or _has_own_words(text):
            spoken_labels = [
                stated_field.spoken.label for stated_field in stated_fields if stated_field.key == unit.key
            ]
            unit.label = find_label(
                unit, text, spoken=_spoken_label(unit, stated_fields), others=spoken_labels, leaders=leaders
            )
    return form_lines


def _stated_keys(stated_fields: Sequence[StatedField]) -> set[str]:
    """Return the keys that fields state, and for a key with a letter also the number alone: `line_4` for `line_4b`."""
    keys = {stated_field.key for stated_field in stated_fields if stated_field.key}
    return keys | {key.rstrip("abcdefghijklmnopqrstuvwxyz") for key in keys if key[-1].islower() and key[-2].isalnum()}


def _is_option(start: LineNumber, *, stated_fields: Sequence[StatedField]) -> bool:
    """Decide whether a number is that of a check box next to it, which belongs to another line or to a table's row."""
    right = start.text_x0 if start.text_x0 - start.piece.x0 > limits().number_pt else start.x0 + limits().box_left_pt
    boxes = [
        stated_field
        for stated_field in stated_fields
        if stated_field.field.kind == "checkbox"
        and start.x0 < stated_field.field.x0 < min(right, start.x0 + limits().box_left_pt)
        and stated_field.field.y0 - 2 <= (start.piece.y0 + start.piece.y1) / 2 <= stated_field.field.y1 + 2
    ]
    number = plain_number(start.number)
    return bool(boxes) and not any(
        box.key.endswith(number) or (not box.key and not (box.row or box.column)) for box in boxes
    )


def _is_mere_number(unit: FormLine, stated_fields: Sequence[StatedField]) -> bool:
    """Decide whether a line is a row of a table that prints a number only, as the columns have all the words."""
    unit_fields = [stated_field for stated_field in stated_fields if stated_field.key == unit.key]
    return bool(unit_fields) and all(
        stated_field.column and not stated_field.spoken.label for stated_field in unit_fields
    )


def _has_own_words(text: str) -> bool:
    """Decide whether the number of a line is followed by words that are not the head of a column."""
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


def _with_words_over(units: list[FormLine], units_over: Sequence[FormLine]) -> list[FormLine]:
    """Put the words printed above several heads before the first head of their grid."""
    for unit in units_over:
        words_y1 = unit.lines[-1].y1
        head_ixs = (ix for ix, head in enumerate(units) if head.kind == "column" and head.lines[0].y0 >= words_y1 - 1)
        insert_ix = next(head_ixs, len(units))
        while (
            insert_ix > 0
            and units[insert_ix - 1].kind == "column"
            and units[insert_ix - 1].lines[-1].y1 > unit.lines[0].y0
        ):
            insert_ix -= 1
        units.insert(insert_ix, unit)
    return units


def _spoken_label(unit: FormLine, stated_fields: Sequence[StatedField]) -> str:
    """Return the longest label in the spoken texts of a unit's fields."""
    if unit.kind == "column":
        letter = unit.key.partition("_")[2]
        return max(
            (stated_field.spoken.head for stated_field in stated_fields if stated_field.column == letter),
            key=len,
            default="",
        )
    unit_fields = [stated_field for stated_field in stated_fields if stated_field.key == unit.key]
    label = max((stated_field.spoken.label for stated_field in unit_fields), key=len, default="")
    if len(unit_fields) > 1 and all(stated_field.field.kind == "checkbox" for stated_field in unit_fields):
        # Each answer is spoken after the question, which is the label. Without a question, all answers are the label.
        all_labels = " ".join(dict.fromkeys(stated_field.spoken.label for stated_field in unit_fields))
        label = f"{label.partition('?')[0]}?" if "?" in label else all_labels
    return label
