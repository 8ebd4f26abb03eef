"""Pages to blocks with roles in reading order, and the table `elements`.

Lines, columns, paragraphs and roles each have a module of their own; this one puts them together page by page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import dataframely as dy

from taxkg_assets.extraction.authored.structure_tree import has_heading_tag
from taxkg_assets.extraction.forms.box_order import find_face_columns
from taxkg_assets.extraction.forms.face_cells import order_cell
from taxkg_assets.extraction.forms.form_lines import find_separator_ys
from taxkg_assets.extraction.forms.stated_fields import StatedField
from taxkg_assets.extraction.layout.columns import Column, find_columns
from taxkg_assets.extraction.layout.lines import Line, merge_lines
from taxkg_assets.extraction.layout.paragraphs import (
    find_leading,
)
from taxkg_assets.extraction.layout.printed_text import PrintedText, read_printed_text
from taxkg_assets.extraction.layout.regions import FaceBox, TableRegion
from taxkg_assets.extraction.layout.roles import (
    find_title_floor,
    is_face_page,
)
from taxkg_assets.extraction.layout.words import Words
from taxkg_assets.extraction.pdf.model import Page, Source
from taxkg_assets.extraction.structure.block_maker import SURE, BlockMaker
from taxkg_assets.extraction.structure.block_state import DocumentState, PageMarks
from taxkg_assets.extraction.structure.blocks import Block, build_boxes
from taxkg_assets.extraction.structure.decision_charts import split_charts
from taxkg_assets.extraction.structure.face_block_maker import FaceBlockMaker, letters_of
from taxkg_assets.extraction.structure.identity import Identity
from taxkg_assets.extraction.structure.line_assignment import (
    Parts,
    assign_lines,
    claim_form_lines,
    find_masthead_floor,
    find_separators,
    sort_text,
)
from taxkg_assets.extraction.structure.statutes import find_statute_blocks, is_statute
from taxkg_assets.extraction.structure.tagged_page import add_units, find_units
from taxkg_assets.rules.confidence import read_confidence
from taxkg_assets.schemas import Elements, build_frame, validated


def find_blocks(
    source: Source,
    *,
    identity: Identity,
    regions: Mapping[int, Sequence[TableRegion]],
    face_boxes: Mapping[int, Sequence[FaceBox]],
    text: PrintedText | None = None,
    stated: Mapping[int, Sequence[StatedField]] = MappingProxyType({}),
) -> list[Block]:
    """Find all blocks of a document in reading order, with their roles.

    Args:
        source: Pages of the document.
        identity: Form and type of the document.
        regions: Table regions by page.
        face_boxes: Boxes of form faces by page.
        text: Printed lines of all pages; read from `source` by default.
        stated: Form fields by page, with what their spoken texts state; empty if these are not reliable.

    Returns:
        Blocks by page and reading order; page furniture comes last on its page.
    """
    text = text if text is not None else read_printed_text(source)
    pages_lines = [text.lines[page.page] for page in source.pages]
    if is_statute(source, identity=identity, pages_lines=pages_lines):
        return find_statute_blocks(source, pages_lines=pages_lines)
    words = Words([line for lines in pages_lines for line in lines])
    state = DocumentState(source.document_id, text.style, find_leading(pages_lines), words)
    state.is_form = identity.doc_type == "form"
    state.has_heading_tags = any(has_heading_tag(page.tags) for page in source.pages)
    state.product_name = letters_of(identity.title.partition(" — ")[2])
    state.title_words = frozenset(filter(None, map(letters_of, f"Form {identity.form} {identity.title}".split())))
    blocks: list[Block] = []
    for page, lines in zip(source.pages, pages_lines, strict=True):
        boxes = face_boxes.get(page.page, ())
        stated_of_page = stated.get(page.page, ())
        blocks += _find_page_blocks(
            page, lines, state, regions=regions.get(page.page, ()), boxes=boxes, stated=stated_of_page
        )
    return blocks


def _find_page_blocks(
    page: Page,
    lines: list[Line],
    state: DocumentState,
    *,
    regions: Sequence[TableRegion],
    boxes: Sequence[FaceBox],
    stated: Sequence[StatedField],
) -> list[Block]:
    """Find one page's blocks: furniture and tables are taken out, the rest is read by its tags or column by column."""
    if page.tags:
        return _find_tagged_blocks(page, lines, state, regions=regions)
    parts = assign_lines(page, lines, state.style, regions=regions, boxes=boxes, may_be_chart=not state.is_form)
    has_boxes = len(boxes) >= 2
    is_face = is_face_page(page, box_count=len(boxes)) or any(stated_field.key for stated_field in stated)
    may_have_lines = (is_face or state.is_form) and not has_boxes
    has_lines = may_have_lines and claim_form_lines(page, parts, is_face=is_face, stated=stated)
    is_face = is_face or has_lines
    separator_ys = find_separator_ys(page) if has_lines else []
    marks = _find_marks(page, lines, state, icons=parts.callout_icons)
    if is_face:
        face_marks = _add_masthead(marks, page, lines, separator_ys)
        maker: BlockMaker = FaceBlockMaker(page, state, face_marks, has_boxes=has_boxes)
    else:
        maker = BlockMaker(page, state, marks)
    separators = separator_ys if is_face else find_separators(page, regions)
    if parts.box_keys:
        columns = find_face_columns(parts.items, separators=separators, box_keys=parts.box_keys)
    else:
        columns = find_columns(parts.items, separators=separators)
    for column in columns:
        _add_column(maker, column, parts, regions=regions)
    for line in [*parts.callout_icons, *parts.furniture, *merge_lines(parts.leaders)]:
        maker.add([line], "PageArtifact", SURE, column_ix=-1)
    return maker.blocks


def _find_marks(page: Page, lines: Sequence[Line], state: DocumentState, *, icons: Sequence[Line]) -> PageMarks:
    left_edges = Counter(map(round, [line.x0 for line in lines]))
    return PageMarks(left_edges, find_title_floor(page, state.style, lines), icons, lines=lines)


def _add_masthead(marks: PageMarks, page: Page, lines: Sequence[Line], separator_ys: Sequence[float]) -> PageMarks:
    """Add the rules across a form's face; one drawn in strokes ends a masthead as well as one in a piece."""
    floor = find_masthead_floor(page, lines, separator_ys)
    title_bottom = min(marks.title_bottom, floor) if floor else marks.title_bottom
    return replace(marks, title_bottom=title_bottom, separator_ys=separator_ys, masthead_floor=floor)


def _add_column(maker: BlockMaker, column: Column, parts: Parts, *, regions: Sequence[TableRegion]) -> None:
    """Append a column's runs of lines, and between them its tables, numbered lines and cells."""
    text_lines: list[Line] = []
    for item in column.items:
        if item.line is not None:
            text_lines.append(item.line)
            continue
        below = regions[item.region_ix] if 0 <= item.region_ix < len(regions) else None
        maker.add_text(text_lines, column.x0, column.x1, column.column_ix, below=below)
        text_lines = []
        if isinstance(maker, FaceBlockMaker) and item.region_ix in parts.units:
            maker.add_unit(parts.units[item.region_ix], column.column_ix)
        elif item.region_ix in parts.cells:
            lines = parts.cells[item.region_ix]
            edges = min(line.x0 for line in lines), max(line.x1 for line in lines)
            maker.add_text(lines, *edges, column.column_ix, is_cell=True)
        elif item.region_ix >= 0:
            maker.add_table(parts.inside[item.region_ix], item.region_ix, column.column_ix)
        else:
            maker.add(order_cell(parts.inside[item.region_ix]), "FormField", SURE, column_ix=column.column_ix)
    maker.add_text(text_lines, column.x0, column.x1, column.column_ix)


def _find_tagged_blocks(
    page: Page, lines: list[Line], state: DocumentState, *, regions: Sequence[TableRegion]
) -> list[Block]:
    """Find the blocks of a page by its structure tags."""
    parts = sort_text(page, lines, state.style, tables=regions)
    maker = BlockMaker(page, state, _find_marks(page, lines, state, icons=parts.callout_icons))
    units = split_charts(page, find_units(page, parts.loose, regions=regions))
    add_units(maker, page, units, regions=regions)
    for line in [*parts.callout_icons, *parts.furniture, *merge_lines(parts.leaders)]:
        maker.add([line], "PageArtifact", SURE, column_ix=-1)
    return maker.blocks


def build_elements(blocks: Sequence[Block], *, document_id: str) -> dy.DataFrame[Elements]:
    """Build one row per block of a document.

    Args:
        blocks: Blocks in reading order.
        document_id: Document.

    Returns:
        Rows of `elements` in reading order.
    """
    columns = {
        "element_id": [block.element_id for block in blocks],
        "document_id": [document_id] * len(blocks),
        "page": [block.page for block in blocks],
        "element_ix": [block.element_ix for block in blocks],
        "column_ix": [block.column_ix for block in blocks],
        "role": [block.role for block in blocks],
        "role_confidence": [read_confidence("roles", f"{block.role} {block.confidence:.2f}") for block in blocks],
        "text": [block.text for block in blocks],
        "bbox": build_boxes([block.bbox for block in blocks]),
        "table_id": [block.table_id for block in blocks],
        "size_pt": [block.size for block in blocks],
        "is_bold": [block.is_bold for block in blocks],
    }
    return validated(build_frame(columns, Elements, sort_by="element_id"), Elements)
