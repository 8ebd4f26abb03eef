"""Lines of one page to its blocks: what each paragraph, table, numbered line or label becomes, and with which role.

In which order they come, and what is furniture, is decided before; what carries over from page to page is kept here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from operator import attrgetter
from typing import Any

from taxkg_assets.extraction.authored.trust import is_picture
from taxkg_assets.extraction.keys import find_key
from taxkg_assets.extraction.layout.lines import Line, are_joined, join_lines, join_row, merge_lines
from taxkg_assets.extraction.layout.paragraphs import (
    Paragraph,
    find_paragraphs,
    first_shown,
    thresholds,
)
from taxkg_assets.extraction.layout.regions import TableRegion
from taxkg_assets.extraction.layout.roles import is_below_rule, is_centered, is_heading, is_title
from taxkg_assets.extraction.layout.run_in_headings import split_lead
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.extraction.structure.block_state import DocumentState, PageMarks
from taxkg_assets.extraction.structure.blocks import HEADER_ROLES, Block
from taxkg_assets.rules.models.roles import load_roles

# How sure a role is: what words say outright, what type and place say, what is left over.
SURE, LIKELY, LEFT_OVER = 0.98, 0.9, 0.8
# The next line of a caption is set no farther below it.
_NEXT_LINE_SIZES = 1.6
# Baselines of the pieces of one printed line: the figures of a fraction are raised and lowered.
_PIECE_SIZES = 0.5
# On the line of the heading of a list of contents: what heads the page numbers.
_NUMBERS_HEAD = " Page"
_IS_BOLD, _IS_ITALIC = attrgetter("is_bold"), attrgetter("is_italic")


def _ends_caption(paragraphs: Sequence[Paragraph]) -> bool:
    """Decide whether the last paragraph continues the numbered caption set right above it."""
    if len(paragraphs) < 2 or not load_roles().table_captions.matches(paragraphs[-2].first.text):
        return False
    line = paragraphs[-1].first
    return line.base - paragraphs[-2].lines[-1].base < _NEXT_LINE_SIZES * line.size


class BlockMaker:
    """Collects the blocks of one page in reading order."""

    is_face = False

    def __init__(self, page: Page, state: DocumentState, marks: PageMarks) -> None:
        self.page = page
        self.state = state
        self.is_pictured = is_picture(page)
        self._id_prefix = f"{state.document_id}:p{page.page:04d}:e"
        self.marks = marks
        self.number: list[Line] = []
        # Once a section is open, large type is no title any more.
        self.has_begun = False
        self.blocks: list[Block] = []

    def add(self, lines: list[Line], role: str, confidence: float, *, column_ix: int, **marks: Any) -> Block:
        """Append one block from lines.

        Args:
            lines: Printed lines.
            role: Role of the element.
            confidence: Confidence of the role, 0 to 1.
            column_ix: 0-based number of the column, −1 over several.
            marks: Further attributes of `Block` by name.

        Returns:
            The new block.
        """
        text, pieces = join_lines(lines, words=self.state.words)
        ix = len(self.blocks)
        block = Block(
            self.page.page,
            ix,
            f"{self._id_prefix}{ix:04d}",
            column_ix,
            role,
            confidence,
            lines,
            text,
            pieces,
            lines[0].size,
            all(map(_IS_BOLD, lines)),
            all(map(_IS_ITALIC, lines)),
            is_face=self.is_face,
            is_in_contents=bool(self.state.in_contents),
            is_pictured=self.is_pictured,
            **marks,
        )
        self.blocks.append(block)
        return block

    def add_table(self, lines: list[Line], region_ix: int, column_ix: int) -> None:
        """Append the text of a table region, split where the PDF stores it in separate text blocks.

        Args:
            lines: Printed lines of the region.
            region_ix: 0-based number of the region on its page.
            column_ix: 0-based number of the column, −1 over several.
        """
        table_id = f"{self.state.document_id}:p{self.page.page:04d}:t{region_ix}"
        for caption in self._find_captions():
            caption.role, caption.table_id, caption.region_ix = "TableBlock", table_id, region_ix
        lines_of_block: list[Line] = []
        for line in _join_pieces(lines):
            if lines_of_block and lines_of_block[-1].spans[-1].block_ix != line.spans[0].block_ix:
                self.add(
                    lines_of_block, "TableBlock", SURE, column_ix=column_ix, region_ix=region_ix, table_id=table_id
                )
                lines_of_block = []
            lines_of_block.append(line)
        if lines_of_block:
            self.add(lines_of_block, "TableBlock", SURE, column_ix=column_ix, region_ix=region_ix, table_id=table_id)

    def _find_captions(self) -> list[Block]:
        """Find the blocks right above that are a table's caption: its number, and its title where that is apart."""
        captions = list(takewhile(_is_caption, reversed(self.blocks)))
        above = self.blocks[-len(captions) - 1] if len(captions) < len(self.blocks) else None
        if above is not None and above.role == "BodyText" and load_roles().captions.matches(above.text):
            captions.append(above)
        return captions

    def add_text(
        self,
        lines: list[Line],
        x0: float,
        x1: float,
        column_ix: int,
        *,
        below: TableRegion | None = None,
        is_cell: bool = False,
    ) -> None:
        """Append the paragraphs of consecutive lines of a column or of a ruled cell.

        Args:
            lines: Printed lines.
            x0: Left edge of the column in points.
            x1: Right edge in points.
            column_ix: 0-based number of the column, −1 over several.
            below: Table right below the lines; None for none.
            is_cell: Whether the lines are in a ruled cell.
        """
        if not lines:
            return
        merged_lines = merge_lines(lines)
        paragraphs = find_paragraphs(
            merged_lines, column_x0=x0, column_x1=x1, column_ix=column_ix, leading=self.state.leading, is_cell=is_cell
        )
        if below is not None:
            last_paragraph = paragraphs[-1]
            middle_x = (last_paragraph.first.x0 + last_paragraph.first.x1) / 2
            # A paragraph that is centered over a table is its heading; other text continues below the table.
            last_paragraph.heads_table = abs(middle_x - (below.x0 + below.x1) / 2) <= thresholds().table_head_pt
            last_paragraph.is_last = not last_paragraph.heads_table
            last_paragraph.is_caption = load_roles().table_captions.matches(last_paragraph.first.text) or _ends_caption(
                paragraphs
            )
        for paragraph in paragraphs:
            self._add_paragraph(paragraph)

    def _add_paragraph(self, paragraph: Paragraph) -> None:
        page, state = self.page, self.state
        first = paragraph.first
        position_marks: dict[str, Any] = {
            "column_ix": paragraph.column_ix,
            "is_indented": first.x0 > paragraph.column_x0 + thresholds().indent_sizes * first.size,
            "is_listed": paragraph.is_listed,
        }
        if self._take_number(paragraph):
            return
        is_open = not self.has_begun and paragraph.level <= 1
        is_named = (is_open or self._is_late_title(paragraph)) and is_title(
            paragraph, page, state.style, title_bottom=self.marks.title_bottom
        )
        if is_named or self._ends_title(paragraph):
            self.add(paragraph.lines, "DocTitle", LIKELY, **position_marks)
        else:
            self._add_by_role(paragraph, position_marks)

    def _add_by_role(self, paragraph: Paragraph, position_marks: dict[str, Any]) -> None:
        """Append a paragraph of running text: a caption, a callout, a heading, a list item or plain text."""
        if paragraph.is_caption and not self.state.in_contents:
            self.add(paragraph.lines, "BodyText", LIKELY, is_caption=True, **position_marks)
        elif self._is_callout(paragraph):
            self.add(paragraph.lines, "Callout", SURE, **position_marks)
        elif self._closes_heading(paragraph):
            self.add(paragraph.lines, self.blocks[-1].role, LIKELY, is_continued=True, **position_marks)
        elif self._is_heading(paragraph) and self._opens(paragraph):
            self._add_heading(paragraph, position_marks)
        elif self.state.in_contents:
            self.add(paragraph.lines, "ListBlock", LIKELY, **position_marks)
        else:
            self._add_body(paragraph, position_marks)

    def _is_heading(self, paragraph: Paragraph) -> bool:
        """Decide whether a paragraph is a heading on its own line(s): the tags say so, else its type."""
        if paragraph.level < 0:
            is_by_type = is_heading(paragraph, self.page, self.state.style)
            return is_by_type and not load_roles().answers.matches(" ".join(line.text for line in paragraph.lines))
        text = " ".join(line.text for line in paragraph.lines)
        if paragraph.level == 0:
            # Some makers tag the heading of the list of contents as text.
            return first_shown(paragraph.first).is_bold and load_roles().contents.matches(text)
        if not any(map(str.isalpha, text)):
            return False
        if load_roles().asides.matches(text) or load_roles().answers.matches(text):
            return False
        lead, rest = split_lead(paragraph)
        # Some tag a whole paragraph as the heading that it begins with.
        return not lead or sum(len(line.text) for line in rest) < thresholds().heading_rest_chars

    def add_tagged(self, paragraphs: list[Paragraph]) -> None:
        """Append the text of one structure tag.

        Args:
            paragraphs: Paragraphs of the tag: one for each column that its text is in.
        """
        first_paragraph = paragraphs[0]
        if len(paragraphs) > 1 and first_paragraph.level > 0:
            first_paragraph.lines += [line for paragraph in paragraphs[1:] for line in paragraph.lines]
            paragraphs = paragraphs[:1]
        state = self.state
        is_continued = bool(first_paragraph.path) and first_paragraph.path == state.open_path and not state.is_parted
        for paragraph in paragraphs:
            first_block = len(self.blocks)
            # Some makers tag the heading that a list of contents repeats over a column with the last entry before it.
            if is_continued and not load_roles().contents.matches(" ".join(line.text for line in paragraph.lines)):
                role = "ListBlock" if paragraph.is_listed or paragraph.is_item else "BodyText"
                self.add(paragraph.lines, role, SURE, column_ix=paragraph.column_ix, is_continued=True)
            else:
                self._add_paragraph(paragraph)
            source = self._find_source(paragraph)
            for block in self.blocks[first_block:]:
                block.level, block.path, block.source = paragraph.level, paragraph.path, source
                block.is_under_title = paragraph.is_under_title
            is_continued = True
        # Tables float: a sentence before one may continue after it.
        is_title = first_paragraph.heads_table and bool(self.blocks) and self.blocks[-1].is_heading
        if is_title or first_paragraph.is_caption or first_paragraph.is_under_title:
            state.is_parted |= state.is_whole
        else:
            state.open_path, state.is_parted = first_paragraph.path, False
            state.is_whole = load_roles().sentence_ends.matches(paragraphs[-1].lines[-1].text)

    def _find_source(self, paragraph: Paragraph) -> str:
        """Decide whether the layout sees a tagged paragraph as one, too, and a heading as a heading."""
        if paragraph.level < 0:
            return "layout"
        is_same = is_heading(paragraph, self.page, self.state.style) == (paragraph.level > 0)
        return "both" if is_same and self._is_one(paragraph) else "tags"

    def _is_one(self, paragraph: Paragraph) -> bool:
        """Decide whether the layout sees the lines of a paragraph as one; a line by itself always is."""
        if len(paragraph.lines) == 1:
            return True
        paragraphs_by_layout = find_paragraphs(
            paragraph.lines,
            column_x0=paragraph.column_x0,
            column_x1=paragraph.column_x1,
            column_ix=paragraph.column_ix,
            leading=self.state.leading,
        )
        return len(paragraphs_by_layout) == 1

    def _take_number(self, paragraph: Paragraph) -> bool:
        """Keep a chapter's number for its title; a number that no title follows is handed on as it is."""
        if self.number:
            paragraph.lines[:0] = self.number
            self.number = []
            return False
        line = paragraph.first
        large = line.is_bold and line.size >= thresholds().section_size_frac * self.state.style.body(line.page)
        if not large or paragraph.is_last or len(paragraph.lines) > 1 or not load_roles().ordinals.matches(line.text):
            return False
        self.number = paragraph.lines
        return True

    def _is_late_title(self, paragraph: Paragraph) -> bool:
        """Decide whether a tagged page names the document after its text: in its largest type, or as covers do."""
        line = paragraph.first
        is_largest = line.size >= thresholds().late_title_frac * self.state.style.title_size
        return bool(paragraph.path) and (is_largest or load_roles().titles.matches(line.text))

    def _ends_title(self, paragraph: Paragraph) -> bool:
        """Decide whether large type right below the title of the first page still belongs to it."""
        if self.page.page != 1 or not self.blocks or self.blocks[-1].role != "DocTitle":
            return False
        line, last = paragraph.first, self.blocks[-1].lines[-1]
        if load_roles().openers.matches(line.text):
            return False
        is_near = 0 < line.y0 - last.y0 < 2.2 * last.size and line.size <= last.size
        if is_near and load_roles().titles.matches(line.text):
            return True
        return is_near and line.size >= thresholds().section_size_frac * self.state.style.body(1) + 2

    def _is_callout(self, paragraph: Paragraph) -> bool:
        """Decide whether an icon is to the left of a paragraph's first lines, or a label begins it."""
        first = paragraph.first
        if first.spans[0].is_bold and load_roles().callouts.matches(first.text):
            return True
        low, reach = paragraph.lines[min(4, len(paragraph.lines) - 1)].y1, thresholds().icon_reach_pt
        return any(
            icon.x1 <= first.x0 + 2
            and first.x0 - icon.x1 < reach
            and icon.y1 > first.y0 - 2
            and (icon.y0 < low or self._has_word_below(icon, paragraph))
            for icon in self.marks.callout_icons
        )

    def _has_word_below(self, icon: Line, paragraph: Paragraph) -> bool:
        """Decide whether the word at the foot of an icon is right below a callout of one line, and next to no other."""
        first = paragraph.first
        if len(paragraph.lines) > 1 or icon.y0 >= first.y1 + thresholds().icon_word_sizes * first.size:
            return False
        return not any(
            line.y0 > first.y0 and abs(line.x0 - first.x0) <= 2 and line.y0 < icon.y1 and line.y1 > icon.y0
            for line in self.marks.lines
        )

    def _closes_heading(self, paragraph: Paragraph) -> bool:
        """Decide whether a row ends the note in parentheses that began in the heading right above it."""
        last = self.blocks[-1] if self.blocks else None
        if last is None or last.role not in HEADER_ROLES or last.named is not None or last.is_run_in:
            return False
        line, text = paragraph.first, paragraph.first.text
        is_below = len(paragraph.lines) == 1 and 0 < line.base - last.lines[-1].base < 2 * last.size
        return (
            is_below
            and text.endswith(")")
            and last.text.count("(") - last.text.count(")") == 1 == (text.count(")") - text.count("("))
        )

    def _opens(self, paragraph: Paragraph) -> bool:
        """Decide whether a heading really opens a section: entries of a table of contents or an index do not."""
        state = self.state
        text = " ".join(line.text for line in paragraph.lines)
        larger = paragraph.first.size > 1.15 * state.style.body(self.page.page)
        if state.in_contents == "index" and (len(text) < 4 or paragraph.first.size < state.contents_size + 1):
            return False
        if load_roles().index.matches(text):
            state.in_contents = ""
            return True
        if state.in_contents and not larger:
            return False
        return not load_roles().captions.matches(text) or larger

    def _add_heading(self, paragraph: Paragraph, position_marks: dict[str, Any]) -> None:
        page, state = self.page, self.state
        first = paragraph.first
        text = " ".join(line.text for line in paragraph.lines)
        key = find_key(text)
        if key is not None and key.kind in ("box", "box_group"):
            role = "BoxHeader"
        else:
            ratio = first.size / state.style.body(page.page)
            position_marks["is_centered"] = is_centered(first, page, line_counts=self.marks.left_edge_counts)
            large = ratio >= thresholds().section_size_frac
            role = "SectionHeader" if large or position_marks["is_centered"] else "SubsectionHeader"
        below = is_below_rule(first, page.rules, column_x0=paragraph.column_x0, column_x1=paragraph.column_x1)
        state.in_contents = ""
        heads_table = paragraph.heads_table and bool(paragraph.path)
        block = self.add(paragraph.lines, role, LIKELY, is_below_rule=below, heads_table=heads_table, **position_marks)
        self.has_begun = True
        is_small = role == "SubsectionHeader"
        state.ruled_list = (page.page, paragraph.column_ix) if below and is_small else None
        state.contents_size = first.size
        state.in_contents = (
            "contents" if load_roles().contents.matches(text) else "index" if load_roles().index.matches(text) else ""
        )
        if state.in_contents == "contents":
            block.heading = text.removesuffix(_NUMBERS_HEAD)

    def _add_body(self, paragraph: Paragraph, position_marks: dict[str, Any]) -> None:
        """Append a paragraph or list item; a bold run-in heading becomes a block of its own."""
        position_marks["is_after_list"] = self._ends_ruled_list(paragraph)
        if paragraph.is_listed:
            self.add(paragraph.lines, "ListBlock", SURE, **position_marks)
            return
        lead, rest = self._close_lead(paragraph) or split_lead(paragraph)
        if lead:
            key = find_key(" ".join(line.text for line in lead))
            role = "BoxHeader" if key is not None and key.kind in ("box", "box_group") else "SubsectionHeader"
            first = paragraph.first
            below = is_below_rule(first, self.page.rules, column_x0=paragraph.column_x0, column_x1=paragraph.column_x1)
            self.add(lead, role, LIKELY, is_run_in=True, is_below_rule=below, **position_marks)
            position_marks = {**position_marks, "is_indented": False}
        if rest:
            block = self.add(rest, "BodyText", LEFT_OVER, **position_marks)
            self.state.open_lead = block if paragraph.is_last and not lead and block.is_bold else None

    def _ends_ruled_list(self, paragraph: Paragraph) -> bool:
        """Decide whether a rule above a paragraph ends a list of names, such as terms, under a ruled heading."""
        place, state, first = (self.page.page, paragraph.column_ix), self.state, paragraph.first
        if state.ruled_list != place:
            return False
        is_end = self.blocks[-1].role in ("BodyText", "ListBlock") and is_below_rule(
            first, self.page.rules, column_x0=paragraph.column_x0, column_x1=paragraph.column_x1
        )
        if is_end or load_roles().sentence_ends.matches(paragraph.lines[-1].text):
            state.ruled_list = None
        return is_end

    def _close_lead(self, paragraph: Paragraph) -> tuple[list[Line], list[Line]] | None:
        """Take up a run-in heading that began in bold at the foot of the last column; gives what is left to place."""
        open_lead, self.state.open_lead = self.state.open_lead, None
        if open_lead is None or open_lead.is_pictured != self.is_pictured or not first_shown(paragraph.first).is_bold:
            return None
        if (open_lead.page, open_lead.column_ix) == (
            self.page.page,
            paragraph.column_ix,
        ) or load_roles().captions.matches(open_lead.text):
            return None
        lead, rest = split_lead(paragraph, is_continued=True)
        if not lead or not load_roles().heading_ends.matches(lead[-1].text):
            return None
        key = find_key(open_lead.text)
        open_lead.role = "BoxHeader" if key is not None and key.kind in ("box", "box_group") else "SubsectionHeader"
        open_lead.is_run_in = True
        self.add(lead, open_lead.role, LIKELY, column_ix=paragraph.column_ix, is_run_in=True, is_continued=True)
        return [], rest


def _is_caption(block: Block) -> bool:
    """Decide whether a block is a caption; a sentence that is set with one is a note on how to use the table."""
    return block.is_caption and block.role == "BodyText" and not load_roles().sentence_ends.matches(block.text)


def _join_pieces(lines: Sequence[Line]) -> list[Line]:
    """Join the pieces of one printed line that follow each other without a blank, as those of a fraction do."""
    joined_lines: list[Line] = []
    for line in lines:
        previous_line = joined_lines[-1] if joined_lines else None
        size = max(line.size, previous_line.size) if previous_line is not None else 0.0
        if (
            previous_line is not None
            and abs(line.base - previous_line.base) < _PIECE_SIZES * size
            and are_joined(previous_line.text, line.text, gap_pt=line.x0 - previous_line.x1, size_pt=size)
        ):
            joined_lines[-1] = join_row([previous_line, line])
        else:
            joined_lines.append(line)
    return joined_lines
