"""Rule family `tables`: thresholds of table reading."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Drawings(Section):
    """Values of `drawings`.

    Attributes:
        thin_pt: A rectangle thinner than this is how some producers draw a line.
        slant_pt: A line that leaves its axis by more is an arrow or part of an icon, no rule.
        short_pt: Shorter strokes are ticks and parts of icons.
        white: Lighter colors cannot be seen on paper.
        max_rules: A page with more strokes is a picture, neither a face nor a table.
    """

    thin_pt: float
    slant_pt: float
    short_pt: float
    white: float
    max_rules: int
    source: str


class Ruling(Section):
    """Values of `ruling`.

    Attributes:
        stroke_gap_pt: Strokes of one printed line are at most this far apart.
        gap_pt: Strokes of one printed line leave at most this gap; dashes of perforations leave more.
        check_box_pt: Longest side of a printed check box.
    """

    stroke_gap_pt: float
    gap_pt: float
    check_box_pt: float
    source: str


class Runs(Section):
    """Values of `runs`.

    Attributes:
        join_em: A wider gap inside one printed line, in font sizes, begins another cell.
        period_em: A period this near to the number of a row, in font sizes, belongs to it.
        same_line_pt: Middles of runs in one printed line differ by at most this.
    """

    join_em: float
    period_em: float
    same_line_pt: float
    leader_source: str


class Regions(Section):
    """Values of `regions`.

    Attributes:
        touch_pt: Lines that come this close to each other belong to one table.
        stack_gap_pt: Equally wide horizontals up to this far apart may belong to one table.
        wide_pt: Narrower horizontals may underline the columns of amounts only.
        min_fill_frac: Share of cells that hold text.
        max_cell_words: Longer "cells" are prose between separator lines.
        passage_words: Longer cells are passages, at least half of the cells in a frame around text of two rows.
        max_header_words: A longer "header" is text in a box.
        chart_answers_frac: Share of cells that are answers alone from which boxes of questions are a decision chart.
        caption_lines: Lines searched upwards for a numbered caption.
        title_lines: … and kept as a title where there is none.
        left_caption_pt: A caption may be this far to the left of a small table.
        open_gap_pt: Amounts of one unruled table are at most this far below each other.
        open_width_pt: Amounts of one row without leaders are in one text column ….
        open_label_pt: … this near to their label; a line of label and amounts alone may be wider.
        head_sizes: Words over the columns of an unruled table are this near to its rows, in type sizes ….
        strong_head_sizes: … or this near, where they are bold over several columns.
        open_amounts: A page without any line has at least this many amounts where it has a table.
        leader_dots: A label may leave room for two dots only.
    """

    touch_pt: float
    stack_gap_pt: float
    stack_slack_pt: float
    min_width_pt: float
    wide_pt: float
    min_height_pt: float
    min_fill_frac: float
    max_cell_words: int
    passage_words: int
    max_mean_words: int
    max_header_words: int
    chart_answers_frac: float
    caption_gap_pt: float
    caption_lines: int
    title_lines: int
    left_caption_pt: float
    open_gap_pt: float
    open_min_rows: int
    open_width_pt: float
    open_label_pt: float
    head_sizes: float
    strong_head_sizes: float
    open_amounts: int
    leader_dots: int


class Grid(Section):
    """Values of `grid`.

    Attributes:
        vertical_frac: A column border runs along at least this share of the table's height.
        crossing_frac: Share of full rows that may cross a gutter.
        row_line_frac: A row border runs along at least this share of the width.
        spaced_bands: A table with at most this many bands has no drawn row borders.
        row_gap_frac: … and parts its rows by gaps this much wider than its lines.
        bold_names_frac: Share of bold names in two columns up to which a bold cell by itself names a group.
        numbered_lines: A worksheet has at least this many numbered lines.
    """

    vertical_frac: float
    gutter_pt: float
    crossing_frac: float
    full_row_frac: float
    row_line_frac: float
    spaced_bands: int
    row_gap_frac: float
    bold_names_frac: float
    numbered_lines: int


class Worksheets(Section):
    """Worksheets that repeat the numbers of their rows at the amounts.

    At least `least_rows`, each `width_pt` wide or wider and down to `row_pt` high, at most `gap_pt` apart; their
    numbers begin within `number_pt`.
    """

    least_rows: int
    width_pt: float
    row_pt: float
    gap_pt: float
    number_pt: float


class Header(Section):
    """Values of `header`.

    Attributes:
        amount_names: Rows that a table has at least, so that amounts in its first column tell header rows.
        amount_names_frac: Share of its rows that begin with an amount, at least.
    """

    centered_frac: float
    amount_frac: float
    amount_names: int
    amount_names_frac: float


class Tagged(Section):
    """Tables that the publisher tagged.

    `agreement_frac`: share of equal cells from which the layout's reading of the same table counts as the same
    grid, `full_agreement_frac` where no cell lacks a header; `size_frac`: share of the cells that it must have.
    `max_columns`: more are no table. `worksheet_lines`:
    rows that begin with a number from which a table is a worksheet, of which `worksheet_frac` must go on with
    words. Where `filled_frac` of these rows have words of `filled_letters` letters or more in `filled_cells` cells
    next to the number, it is a table with numbered rows. `header_slack`: how much lower the
    layout's score of headers may be where no cell is tagged as a header. `title_chars`: a longer leading row is a note.
    `group_words`: a bold name of more words names no lines of a worksheet. `inner_rows`: rows of amounts that a table
    inside a worksheet has at least.
    """

    agreement_frac: float
    full_agreement_frac: float
    size_frac: float
    max_columns: int
    header_slack: float
    worksheet_lines: int
    worksheet_frac: float
    filled_frac: float
    filled_letters: int
    filled_cells: int
    title_chars: int
    group_words: int
    inner_rows: int


class InnerLeaders(RuleList[Rule]):
    """Rules of `inner_leaders`."""

    leader_inside_text: Rule


class Captions(RuleList[Rule]):
    """Rules of `captions`."""

    numbered_table: Rule
    continued: Rule


class Tables(Family):
    """Content of `rules/tables.yaml`."""

    drawings: Drawings
    ruling: Ruling
    runs: Runs
    regions: Regions
    grid: Grid
    worksheets: Worksheets
    header: Header
    tagged: Tagged
    leaders: RuleList[Rule]
    inner_leaders: InnerLeaders
    amounts: RuleList[Rule]
    bullets: RuleList[Rule]
    second_stub: RuleList[Rule]
    condition_starts: RuleList[Rule]
    conclusion_starts: RuleList[Rule]
    blanks: RuleList[Rule]
    chart_answers: RuleList[Rule]
    worksheet_lines: RuleList[Rule]
    line_numbers: RuleList[Rule]
    answers: RuleList[Rule]
    open_ends: RuleList[Rule]
    answer_words: RuleList[Rule]
    worksheet_steps: RuleList[Rule]
    instructions: RuleList[Rule]
    filing_notes: RuleList[Rule]
    notes: RuleList[Rule]
    years: RuleList[Rule]
    captions: Captions


@cache
def load_tables() -> Tables:
    """Return the rules that decide what on a page is a table, and where its rows and columns are."""
    return load_model("tables", Tables)
