"""Rule family `tables`: thresholds of table reading."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Drawings(Section):
    """Values of `drawings`.

    Attributes:
        thin_pt: Largest width of a rectangle that counts as a line.
        slant_pt: Largest deviation of a line from its axis; others are arrows or parts of icons.
        short_pt: Least length of a line; shorter strokes are ticks and parts of icons.
        white: Brightness (0 to 1) from which a color is invisible on paper.
        max_rules: Maximum number of strokes of a page with a face or table; with more, the page is a picture.
        source: Basis of these values.
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


class BlankGrids(Section):
    """Values of `blank_grids`: grids that are printed to be filled in.

    Attributes:
        least_cells: Least number of blank cells.
        least_columns: Least number of columns, and of rows, with blank cells.
        least_height_pt: Height above which a cell has room for one row.
        most_height_pt: Height below which a cell has room for no paragraph.
        least_width_pt: Width above which a cell has room for an amount.
        most_width_pt: Width below which a cell is no row of a form.
    """

    least_cells: int
    least_columns: int
    least_height_pt: float
    most_height_pt: float
    least_width_pt: float
    most_width_pt: float
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
        touch_pt: Largest distance between lines of one table.
        stack_gap_pt: Largest distance between equally wide horizontal lines of one table.
        wide_pt: Least width of such lines; narrower ones may underline amounts only.
        min_fill_frac: Least share of cells with text.
        max_cell_words: Maximum number of words of a cell; longer "cells" are prose between lines.
        passage_words: Cells with more words are passages; a frame around text has mostly passages.
        max_header_words: Maximum number of words of a header; a longer one is text in a box.
        chart_answers_frac: Share of cells with an answer alone from which boxes are a decision chart.
        caption_lines: Number of lines above a table in which a numbered caption is searched.
        title_lines: Number of lines above a table that are used as its title if there is no caption.
        left_caption_pt: Largest distance of a caption to the left of a small table.
        open_gap_pt: Largest distance between amounts of an unruled table that are below each other.
        open_width_pt: Largest width of a row of amounts without leaders.
        open_label_pt: Largest distance of such amounts from their label, unless these are the whole line.
        head_sizes: Largest distance of headers above the rows of an unruled table, in type sizes.
        strong_head_sizes: The same for bold headers of several columns.
        open_amounts: Least number of amounts on a page without lines that has a table.
        leader_dots: Least number of dots of a leader.
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
        vertical_frac: Least length of a column border, as a share of the table's height.
        crossing_frac: Largest share of full rows that may cross a gutter between columns.
        row_line_frac: Least length of a row border, as a share of the table's width.
        spaced_bands: Maximum number of bands between horizontal lines in a table whose rows are separated by gaps only.
        row_gap_frac: Least gap between such rows, relative to the usual line distance.
        bold_names_frac: Share of rows with a bold name up to which a single bold cell names a group of rows.
        numbered_lines: Least number of numbered lines of a worksheet.
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
    """Limits for worksheets that print each line number at the left and again next to the amount.

    Attributes:
        least_rows: Least number of rows.
        width_pt: Least width of a row.
        row_pt: Least height of a row.
        gap_pt: Largest gap between rows.
        number_pt: Largest distance between the left edges of the numbers.
    """

    least_rows: int
    width_pt: float
    row_pt: float
    gap_pt: float
    number_pt: float


class Header(Section):
    """Values of `header`.

    Attributes:
        amount_names: Least number of rows of a table whose rows are named by amounts, such as brackets of income.
        amount_names_frac: Least share of its rows that begin with an amount.
    """

    centered_frac: float
    amount_frac: float
    amount_names: int
    amount_names_frac: float


class Tagged(Section):
    """Limits for tables that the publisher tagged.

    Attributes:
        agreement_frac: Least share of equal cells for the layout's reading of the table to replace the tagged one.
        full_agreement_frac: The same if every tagged cell has headers.
        size_frac: Least size of one of the two readings, relative to the other.
        max_columns: Maximum number of columns of a table.
        header_slack: How much lower the layout's header score may be if no cell is tagged as a header.
        worksheet_lines: Least number of rows of a worksheet that begin with a number.
        worksheet_frac: Least share of these rows in which words follow the number.
        filled_frac: Share of these rows with words in several cells from which the table is no worksheet.
        filled_letters: Least number of letters of such words.
        filled_cells: Least number of such cells.
        title_chars: Maximum number of characters of a leading row that is a title; a longer one is a note.
        group_words: Maximum number of words of a bold name of a group of lines.
        inner_rows: Least number of rows of amounts of a table inside a worksheet.
        drawn_columns: Least number of columns, each with a header, of a drawn grid that is a table without any tag.
        drawn_rule_pt: Least length of a vertical rule of such a grid, in points.
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
    drawn_columns: int
    drawn_rule_pt: float


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
    blank_grids: BlankGrids
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
