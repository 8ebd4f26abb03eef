"""Rule family `roles`: what a printed line or paragraph is."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Entries(Section):
    """Entries of tables of contents and indexes.

    This many lines with page numbers, of at most `most_lines` from one to the next, that `ending_frac` of all lines
    between them have one; further lines of an entry are indented by `indent_sizes`.
    """

    least: int
    most_lines: int
    ending_frac: float
    indent_sizes: float


class Thresholds(Section):
    """Values of `thresholds`.

    Attributes:
        heading_rest_chars: A tagged heading that continues with more plain words is a paragraph with a run-in
            heading.
        caption_units: A numbered caption is at most this many paragraphs above its table.
        paragraph_gap_frac: Lines farther apart than this share of the usual leading begin a paragraph ….
        paragraph_gap_pt: … plus this.
        indent_sizes: An indent of this share of the type size begins a paragraph.
        hanging_sizes: A first line is indented at most this far against the second.
        heading_size_frac: A heading is set this much larger than the body, or bold on its own.
        display_size_frac: Words that are not bold are a heading from here on.
        section_size_frac: From here on a heading opens a section, below it a subsection.
        heading_line_pt: In type of this size the lines of one heading may stand farther apart ….
        heading_gap_sizes: … by this many type sizes.
        title_frac: Lines of the first page at least this share of its largest type belong to the title.
        late_title_frac: After text, a title is set in no smaller type than the largest.
        title_size_frac: … and are this much larger than the body.
        foot_frac: Lines below this share of the page's height are in its foot.
        masthead_frac: Mastheads end above this share of the page's height.
        column_boxes: This many numbered boxes may be printed in columns that are read one after the other.
        box_column_pt: Boxes of one such column begin within this distance.
        sideways_frac: A page with more of its text than this set sideways is read sideways.
        flush_lines: A column of this many lines is set flush right ….
        flush_frac: … where this share ends at one edge ….
        flush_begin_frac: … and no more than this begins at one.
        table_head_pt: Words whose middle is this near to that of the table below may head it.
        separator_frac: A drawn line of this share of the page's width ends all columns above it.
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
