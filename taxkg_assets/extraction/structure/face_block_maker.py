"""Lines of a form's face to its blocks: masthead, parts, numbered lines, labels in the margin and words of fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taxkg_assets.extraction.forms.form_lines import FormLine
from taxkg_assets.extraction.forms.margin_labels import MarginLabel
from taxkg_assets.extraction.keys import Key, find_key
from taxkg_assets.extraction.layout.lines import Line
from taxkg_assets.extraction.layout.paragraphs import Paragraph, first_shown, thresholds
from taxkg_assets.extraction.layout.roles import is_centered, is_heading, is_prose
from taxkg_assets.extraction.layout.run_in_headings import split_lead
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.extraction.structure.block_maker import LEFT_OVER, LIKELY, BlockMaker
from taxkg_assets.extraction.structure.block_state import DocumentState, PageMarks
from taxkg_assets.extraction.structure.line_assignment import BLANK_LOSS
from taxkg_assets.rules.models.roles import load_roles
from taxkg_assets.rules.models.section_grammar import load_section_grammar


def letters_of(text: str) -> str:
    """Return the letters and digits of a text in lower case, to compare names.

    Args:
        text: Any text.

    Returns:
        Lower-case letters and digits.
    """
    return "".join(filter(str.isalnum, text)).casefold()


def _split_note(unit: FormLine) -> tuple[list[Line], list[Line]]:
    """Separate a note in bold type below a numbered line, whose words end without a full stop before its leader."""
    lines = unit.lines
    count = next((ix for ix in range(len(lines), 0, -1) if not lines[ix - 1].is_bold), len(lines))
    note = lines[count:]
    if (
        not note
        or not unit.label
        or not note[0].text[0].isupper()
        or load_roles().sentence_ends.matches(lines[count - 1].text)
    ):
        return lines, []
    # The words of the line itself may end in bold type.
    return (lines, []) if letters_of(note[0].text) in letters_of(unit.label) else (lines[:count], note)


class FaceBlockMaker(BlockMaker):
    """Collects the blocks of a form page; `has_boxes` is true for a form of ruled boxes, not of numbered lines."""

    is_face = True

    def __init__(self, page: Page, state: DocumentState, marks: PageMarks, *, has_boxes: bool) -> None:
        super().__init__(page, state, marks)
        self.has_boxes = has_boxes
        self.last_line_bottom: float | None = None
        self.line_x0 = 0.0
        self.is_below_legend = False
        self.is_below_grid = False

    def add_unit(self, unit: FormLine | MarginLabel, column_ix: int) -> None:
        """Append a numbered line of a form, which is a heading, or a margin label with its remarks.

        Args:
            unit: Numbered line or margin label.
            column_ix: 0-based number of the column, −1 over several.
        """
        if isinstance(unit, FormLine):
            lines, note = _split_note(unit)
            block = self.add(lines, "FormField", LIKELY, column_ix=column_ix)
            if not unit.key:
                # Words over several columns belong to the part that the grid is in.
                block.is_outdented = True
                return
            self.is_below_grid |= unit.kind == "column"
            block.named = Key(unit.kind, unit.key)
            block.is_part_of_line, block.heading = unit.is_part, unit.label or block.text
            if note:
                block = self.add(note, "FormField", LIKELY, column_ix=column_ix)
            self.last_line_bottom, self.line_x0 = block.bbox[3], unit.lines[0].x0
            return
        self.last_line_bottom = None if unit.title else unit.y0 - 8
        self.is_below_grid &= not unit.title
        if unit.title:
            label = self.add(unit.title, "SubsectionHeader", LIKELY, column_ix=column_ix)
            label.named = Key("part" if unit.key else "subsection" if unit.is_inner else "section", unit.key)
        edges = min(line.x0 for line in unit.lines), max(line.x1 for line in unit.lines)
        self.add_text(unit.remarks, *edges, column_ix)

    def _add_by_role(self, paragraph: Paragraph, position_marks: dict[str, Any]) -> None:
        """Append text of a form's face: its title, the head of a part, or a field's words."""
        line = paragraph.first
        text = " ".join(part.text for part in paragraph.lines)
        if text == BLANK_LOSS or load_roles().artifacts.signs_alone.search(text) is not None:
            # The words or the number of its line were taken away.
            self.add(paragraph.lines, "PageArtifact", LIKELY, **position_marks)
            return
        if self.has_boxes and self._add_masthead(paragraph, position_marks):
            return
        if not self.has_boxes and self._is_in_masthead(line):
            self.add(paragraph.lines, "DocTitle", LIKELY, **position_marks)
            return
        key = find_key(" ".join(line.text for line in paragraph.lines)) if first_shown(line).is_bold else None
        centered = is_centered(
            line, self.page, line_counts=self.marks.left_edge_counts
        ) and line.size > 1.1 * self.state.style.body(line.page)
        if key is not None and key.kind == "part":
            self._add_part(paragraph, key, position_marks)
            return
        is_later = not self.has_boxes and self.page.page > 1
        if is_later and centered and is_heading(paragraph, self.page, self.state.style):
            self._add_heading(paragraph, position_marks)
            return
        position_marks["is_apart"] = self._is_apart(line)
        position_marks["is_outdented"] = self.last_line_bottom is not None and line.x0 <= self.line_x0 + 2
        if (
            position_marks["is_apart"]
            and self.is_below_grid
            and line.spans[0].is_bold
            and load_roles().callouts.matches(line.text)
        ):
            # A note below the grid of a part is no part of the signatures.
            position_marks["is_apart"], position_marks["is_outdented"] = False, True
        if not self.has_boxes and self._is_callout(paragraph):
            self.add(paragraph.lines, "Callout", LIKELY, **position_marks)
            return
        if not self.has_boxes and is_prose(paragraph):
            lead, _ = split_lead(paragraph)
            if lead and load_section_grammar().standing.matches(lead[0].text):
                self.last_line_bottom = None
                self._add_body(paragraph, position_marks)
            else:
                self.add(
                    paragraph.lines, "ListBlock" if paragraph.is_listed else "BodyText", LEFT_OVER, **position_marks
                )
            return
        is_title_like = (
            line.is_bold and self._is_large(line) and line.y0 < 0.35 * self.page.height_pt and len(line.text) > 3
        )
        self.add(paragraph.lines, "DocTitle" if is_title_like else "FormField", LIKELY, **position_marks)

    def _is_callout(self, paragraph: Paragraph) -> bool:
        """Decide whether a label or an icon marks a callout; what is signed is in a cell next to others."""
        first = paragraph.first
        if not super()._is_callout(paragraph):
            return False
        is_in_cell = any(
            not rule.is_horizontal
            and rule.x0 > first.x1
            and rule.y0 - 2 <= first.y0
            and rule.y1 >= paragraph.lines[-1].y1
            for rule in self.page.rules
        )
        return load_roles().callouts.matches(first.text) or not is_in_cell

    def _add_masthead(self, paragraph: Paragraph, position_marks: dict[str, Any]) -> bool:
        """Append what a face with boxes states about itself: name and number, the letter of a copy and its reader."""
        lines = paragraph.lines
        text = " ".join(line.text for line in lines)
        is_bold = all(line.is_bold for line in lines)
        was_legend, self.is_below_legend = self.is_below_legend, False
        is_name = is_bold and letters_of(text) == self.state.product_name
        is_year = len(text) == 4 and text.isdigit() and self._is_large(lines[0])
        is_year = is_year or self._is_piece_of_title(lines)
        if (
            is_name
            or is_year
            or (len(lines) == 1 and (load_roles().form_numbers.matches(text) or load_roles().titles.matches(text)))
        ):
            self.add(lines, "DocTitle", LIKELY, **position_marks)
            return True
        if not load_roles().copy_legends.matches(text) and not (
            was_legend and is_bold and load_roles().copy_readers.matches(text)
        ):
            if load_roles().remarks.matches(text):
                self.add(lines, "BodyText", LEFT_OVER, **position_marks)
            return load_roles().remarks.matches(text)
        lead, rest = (lines, []) if is_bold else split_lead(paragraph)
        if lead:
            self.add(lead, "PageArtifact", LIKELY, **position_marks)
        if rest:
            self.add(rest, "BodyText", LEFT_OVER, **position_marks)
        self.is_below_legend = not rest
        return True

    def _is_piece_of_title(self, lines: Sequence[Line]) -> bool:
        """Decide whether all words are of the form's name and number, or digits of its year, in large type.

        The word "Form" before the number is small.
        """
        body = self.state.style.body(self.page.page)
        return all(self._is_large(line) for line in lines if not any(map(str.isalpha, line.text))) and all(
            line.text == "Form" or (line.size > body and all(self._is_of_title(word) for word in line.text.split()))
            for line in lines
        )

    def _is_of_title(self, word: str) -> bool:
        return (word.isdigit() and len(word) == 1) or letters_of(word) in self.state.title_words

    def _is_large(self, line: Line) -> bool:
        return line.size >= thresholds().face_title_frac * self.state.style.body(self.page.page)

    def _add_part(self, paragraph: Paragraph, key: Key, position_marks: dict[str, Any]) -> None:
        """Append the head of a part of a form; a remark in plain type that follows its name is a field's words."""
        self.last_line_bottom, self.is_below_grid = None, False
        lead, rest = split_lead(paragraph)
        head = self.add(lead or paragraph.lines, "SubsectionHeader", LIKELY, **position_marks)
        head.named = key
        if lead and rest:
            self.add(rest, "FormField", LIKELY, **position_marks)

    def _is_apart(self, line: Line) -> bool:
        """Decide whether a rule across the page parts some words from the numbered lines above them."""
        end = self.last_line_bottom
        if end is None or line.x0 > min(self.marks.left_edge_counts) + 3:
            return False
        return any(end - 2 <= separator_y <= line.y0 + 2 for separator_y in self.marks.separator_ys)

    def _is_in_masthead(self, line: Line) -> bool:
        """Decide whether bold words stand above the first rule across a face that names its publisher there."""
        is_named = (
            line.is_bold or load_roles().form_numbers.matches(line.text) or load_roles().titles.matches(line.text)
        )
        return is_named and line.y1 <= self.marks.masthead_floor and len(line.text) > 3
