"""Rule family `roles`: the role of a printed line or paragraph, such as heading or list item."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Entries(Section):
    """Limits for entries of tables of contents and indexes.

    Attributes:
        least: Least number of lines that end with a page number.
        most_lines: Maximum number of lines from one such line to the next.
        ending_frac: Least share of such lines among the lines from the first to the last.
        indent_sizes: Least indent of the further lines of an entry, in type sizes.
    """

    least: int
    most_lines: int
    ending_frac: float
    indent_sizes: float


class Thresholds(Section):
    """Values of `thresholds`.

    Attributes:
        heading_rest_chars: Maximum number of plain characters after the bold ones of a tagged heading; with more, it is
            a paragraph with a run-in heading.
        caption_units: Maximum number of paragraphs between a numbered caption and its table.
        paragraph_gap_frac: Factor of the usual line distance from which a new paragraph begins.
        paragraph_gap_pt: Points added to that distance.
        indent_sizes: Least indent of a new paragraph, in type sizes.
        hanging_sizes: Largest indent of a first line against the second, in type sizes.
        heading_size_frac: Least size of a bold heading, relative to the text.
        display_size_frac: Least size of a heading that is not bold.
        section_size_frac: Least size of a heading of a section; a smaller one heads a subsection.
        heading_line_pt: From this type size, the lines of one heading may be farther apart.
        heading_gap_sizes: Largest distance between such lines, in type sizes.
        title_frac: Least size of a line of the title, relative to the largest type on the first page.
        late_title_frac: The same for a title below text.
        title_size_frac: Least size of a line of the title, relative to the text.
        foot_frac: Share of the page's height below which the footer begins.
        head_frac: Share of the page's height at which the header ends.
        masthead_frac: Share of the page's height at which the masthead of the first page ends.
        column_boxes: Least number of boxes in columns that are read one after the other.
        box_column_pt: Largest distance between the left edges of boxes in one such column.
        sideways_frac: Share of sideways text from which a page is rotated.
        flush_lines: Least number of lines of a column that is flush right.
        flush_frac: Least share of its lines that end at one edge.
        flush_begin_frac: Largest share of its lines that begin at one edge.
        table_head_pt: Largest distance between the center of a heading and that of the table below.
        separator_frac: Least width of a rule that ends all columns, as a share of the page's width.
    """

    heading_rest_chars: int
    caption_units: int
    paragraph_gap_frac: float
    paragraph_gap_pt: float
    indent_sizes: float
    hanging_sizes: float
    heading_size_frac: float
    display_size_frac: float
    section_size_frac: float
    heading_line_pt: float
    heading_gap_sizes: float
    heading_chars: int
    title_frac: float
    late_title_frac: float
    title_size_frac: float
    face_title_frac: float
    foot_frac: float
    head_frac: float
    masthead_frac: float
    lone_foot_frac: float
    repeat_pages: int
    face_widgets: int
    face_boxes: int
    column_boxes: int
    box_column_pt: float
    sideways_frac: float
    flush_lines: int
    flush_frac: float
    flush_begin_frac: float
    table_head_pt: float
    icon_reach_pt: float
    icon_word_sizes: float
    rule_reach_pt: float
    rule_width_frac: float
    separator_frac: float


class Artifacts(RuleList[Rule]):
    """Rules of `artifacts`."""

    catalog_number: Rule
    omb_number: Rule
    publisher: Rule
    page_number: Rule
    release_date: Rule
    running_foot: Rule
    running_schedule: Rule
    notice_pointer: Rule
    proof_mark: Rule
    address_of_form: Rule
    cut_line: Rule
    keep_for_records: Rule
    signs_alone: Rule
    cover_note: Rule
    attachment_number: Rule
    continues: Rule


class Roles(Family):
    """Content of `rules/roles.yaml`."""

    entries: Entries
    thresholds: Thresholds
    artifacts: Artifacts
    masthead_words: RuleList[Rule]
    foot_notes: RuleList[Rule]
    copy_legends: RuleList[Rule]
    copy_readers: RuleList[Rule]
    remarks: RuleList[Rule]
    checkboxes: RuleList[Rule]
    titles: RuleList[Rule]
    masthead_years: RuleList[Rule]
    asides: RuleList[Rule]
    table_headings: RuleList[Rule]
    answers: RuleList[Rule]
    form_numbers: RuleList[Rule]
    ordinals: RuleList[Rule]
    icons: RuleList[Rule]
    callouts: RuleList[Rule]
    lists: RuleList[Rule]
    leaders: RuleList[Rule]
    page_numbers: RuleList[Rule]
    counted_things: RuleList[Rule]
    entry_ends: RuleList[Rule]
    lone_leaders: RuleList[Rule]
    openers: RuleList[Rule]
    contents: RuleList[Rule]
    index: RuleList[Rule]
    captions: RuleList[Rule]
    table_captions: RuleList[Rule]
    addresses: RuleList[Rule]
    sentence_ends: RuleList[Rule]
    cut_sentences: RuleList[Rule]
    clause_ends: RuleList[Rule]
    lead_breaks: RuleList[Rule]
    heading_ends: RuleList[Rule]
    label_rows: RuleList[Rule]
    bold_fonts: RuleList[Rule]
    tight_joins: RuleList[Rule]


@cache
def load_roles() -> Roles:
    """Return the rules that decide what a printed line or paragraph is: heading, paragraph, list item, footer …."""
    return load_model("roles", Roles)
