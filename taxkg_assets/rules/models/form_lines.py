"""Rule family `form_lines`: numbered lines of returns, schedules and worksheets."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Limits(Section):
    """Values of `limits`.

    Attributes:
        cell_room_pt: Words end at least this far before the right edge of their cell.
        lines: This many numbers, at least two in a column, make a page of numbered lines.
        lines_in_table: A table on a form whose rows begin with this many line numbers, and nothing else, is none.
        number_pt: Words stand at least this far to the right of their line's number.
        repeats_alone: Without form fields this many numbers must be repeated at the amounts.
        repeat_pt: A number repeated at the amount is this far to the right of the line's own.
        letter_repeat_pt: A letter repeated at the amount is at most this far below the line's own.
        column_pt: Numbers of one column begin within this distance: letters are indented under numbers.
        repeat_column_pt: Numbers at the amounts begin within this distance.
        margin_pt: Labels next to the lines need a margin of this width.
        wall_frac: A drawn line of this share of the page's width ends what is above it.
        number_sizes: A number this many times as large as the others of its page numbers no line.
        row_pt: Pieces of one row stand on bases this near to each other.
        words_pt: Most points from a number to the words of its line, behind a box to check.
        stroke_pt: … drawn in strokes of at least this length.
        label_frac: Bold words of a label may reach this far into the page where the lines are indented.
        row_gap_sizes: Rows of one line stand closer than this many type sizes.
        side_lift_sizes: A label may begin this much below the first words next to it.
        plain_label_pt: Labels without a number are bold words of this size ….
        under_wall_pt: … this near below a line over the margin.
        name_chars: Plain words in the margin between two rules are a name up to this length.
        stated_lines: Where fields mention lines, this many numbers are enough.
        spoken_ratio: A beginning of a line's text is its label if it is this much like what is spoken.
        table_gap_pt: Fields of one table lie closer below each other than this.
        head_room_pt: Words of a column's head may be this much wider than its fields.
        head_height_pt: A column's head begins at most this far above its first field.
        field_drop_pt: A number may stand this far below the foot of its field, or to the right of its edge.
        box_left_pt: The words of a check box begin this near to its right.
        field_rise_pt: … or this far above it.
        number_gap_pt: Words on the row of a number begin this near behind it.
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
        kind: First part of its key: `part` or `step`.
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
