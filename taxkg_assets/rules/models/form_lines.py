"""Rule family `form_lines`: numbered lines of returns, schedules and worksheets."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Limits(Section):
    """Values of `limits`.

    Attributes:
        cell_room_pt: Least distance of words from the right edge of their cell.
        lines: Least number of line numbers, two of them in one column, on a page of numbered lines.
        lines_in_table: Least number of line numbers for a "table" of numbered lines alone, which is no table.
        number_pt: Least distance of words from the line number to their left.
        repeats_alone: Least number of line numbers repeated at the amounts on a page without form fields.
        repeat_pt: Least distance of a repeated number from the line number to its left.
        letter_repeat_pt: Largest distance of a repeated letter below the letter of its line.
        column_pt: Largest distance between the left edges of numbers in one column: letters are indented.
        repeat_column_pt: Largest distance between the left edges of repeated numbers.
        margin_pt: Least width of a margin with labels.
        foot_frac: Share of the page's height below which there are no labels.
        wall_frac: Least width of a rule that ends a line, as a share of the page's width.
        number_sizes: Largest size of a line number, relative to the others of its page.
        option_gap: Largest distance between two pieces of a check box's words, in type sizes.
        row_pt: Largest difference between the lower edges of pieces in one row.
        words_pt: Largest distance between a number and the words of its line, with a check box between them.
        stroke_pt: Least length of the strokes of such a rule.
        label_frac: Largest width of a label in the margin, as a share of the page's width.
        row_gap_sizes: Largest distance between the rows of one line, in type sizes.
        side_lift_sizes: Largest distance of a label below the first words next to it, in type sizes.
        plain_label_pt: Least type size of a label without a number.
        under_wall_pt: Largest distance of such a label below a rule.
        name_chars: Maximum number of characters of a label in plain type.
        stated_lines: Like `lines`, for a page whose fields state line keys.
        spoken_ratio: Least similarity of a label and the spoken text of its field, 0 to 1.
        table_gap_pt: Largest distance between fields of one table that are below each other.
        head_room_pt: Largest width by which a column's head exceeds the fields.
        head_height_pt: Largest distance of a column's head above the first field.
        field_drop_pt: Largest distance of a number below, or to the right of, the edge of its field.
        box_left_pt: Largest distance of the words of a check box to its right.
        field_rise_pt: Largest distance of a number above its field.
        number_gap_pt: Largest distance between the number of a row and its words.
    """

    cell_room_pt: float
    lines: int
    lines_in_table: int
    number_pt: float
    repeats_alone: int
    repeat_pt: float
    letter_repeat_pt: float
    column_pt: float
    repeat_column_pt: float
    margin_pt: float
    foot_frac: float
    wall_frac: float
    number_sizes: float
    option_gap: float
    row_pt: float
    words_pt: float
    stroke_pt: float
    label_frac: float
    row_gap_sizes: float
    side_lift_sizes: float
    plain_label_pt: float
    under_wall_pt: float
    name_chars: int
    stated_lines: int
    spoken_ratio: float
    table_gap_pt: float
    head_room_pt: float
    head_height_pt: float
    field_drop_pt: float
    box_left_pt: float
    field_rise_pt: float
    number_gap_pt: float


class Label(Rule):
    """Rule for the label of a part of a form.

    Attributes:
        kind: First part of the key: `part` or `step`.
    """

    kind: str


class ColumnNumbers(RuleList[Rule]):
    """Rules of `column_numbers`."""

    column_number: Rule


class FormLines(Family):
    """Content of `rules/form_lines.yaml`."""

    limits: Limits
    numbers: RuleList[Rule]
    labels: RuleList[Label]
    braces: RuleList[Rule]
    leader_starts: RuleList[Rule]
    titles: RuleList[Rule]
    inner_heads: RuleList[Rule]
    number_starts: RuleList[Rule]
    column_numbers: ColumnNumbers
    label_tails: RuleList[Rule]
    open_ends: RuleList[Rule]


@cache
def load_form_lines() -> FormLines:
    """Return the rules that decide which numbers on a form begin a line."""
    return load_model("form_lines", FormLines)
