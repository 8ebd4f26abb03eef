"""Pages to blocks with roles in reading order, and the table `elements`.

Lines, columns, paragraphs and roles each have a module of their own; this one puts them together page by page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

import dataframely as dy
import polars as pl

from taxkg_assets.extraction.authored.structure_tree import tags_heading
from taxkg_assets.extraction.forms.box_order import find_face_columns
from taxkg_assets.extraction.forms.face_cells import order_cell
from taxkg_assets.extraction.forms.form_lines import find_walls
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
from taxkg_assets.extraction.structure.block_maker import SURE, BlockMaker, Flow
from taxkg_assets.extraction.structure.blocks import Block, build_boxes
from taxkg_assets.extraction.structure.face_block_maker import FaceBlockMaker, letters_of
from taxkg_assets.extraction.structure.identity import Identity
from taxkg_assets.extraction.structure.line_assignment import (
    Parts,
    claim_form_lines,
    find_masthead_floor,
    find_separators,
    sort_lines,
    sort_text,
)
from taxkg_assets.extraction.structure.statutes import find_statute_blocks, is_statute
from taxkg_assets.extraction.structure.tagged_page import add_units, find_units
from taxkg_assets.rules.confidence import read_confidence
from taxkg_assets.schemas import Elements, dtypes, validated

MakerT = TypeVar("MakerT", bound=BlockMaker)


def find_blocks(
    source: Source,
    *,
    identity: Identity,
    regions: Mapping[int, Sequence[TableRegion]],
    face_boxes: Mapping[int, Sequence[FaceBox]],
    text: PrintedText | None = None,
    stated: Mapping[int, Sequence[StatedField]] = MappingProxyType({}),
) -> list[Block]:
    """Find every block of a document in reading order, with its role.

    Args:
        source: Pages of the document.
        identity: What the document is.
        regions: What tables and faces claim, by page; an empty mapping claims nothing.
        face_boxes: What tables and faces claim, by page; an empty mapping claims nothing.
        text: The printed lines, where they are read already.
        stated: What the fields of each page say of themselves, where that can be trusted.

    Returns:
        Blocks by page and reading order; page furniture comes last on its page.
    """
    text = text if text is not None else read_printed_text(source)
    pages_lines = [text.lines[page.page] for page in source.pages]
    if is_statute(source, identity=identity, pages_lines=pages_lines):
        return find_statute_blocks(source, pages_lines=pages_lines)
    words = Words([line for lines in pages_lines for line in lines])
    flow = Flow(source.document_id, text.style, find_leading(pages_lines), words)
    flow.is_form = identity.doc_type == "form"
    flow.has_heading_tags = any(tags_heading(page.tags) for page in source.pages)
    flow.product_name = letters_of(identity.title.partition(" — ")[2])
    blocks: list[Block] = []
    for page, lines in zip(source.pages, pages_lines, strict=True):
        boxes = face_boxes.get(page.page, ())
        own = stated.get(page.page, ())
        blocks += _page_blocks(page, lines, flow, regions=regions.get(page.page, ()), boxes=boxes, stated=own)
    return blocks


def _page_blocks(
    page: Page,
    lines: list[Line],
    flow: Flow,
    *,
    regions: Sequence[TableRegion],
    boxes: Sequence[FaceBox],
    stated: Sequence[StatedField],
) -> list[Block]:
    """Find one page's blocks: furniture and tables are taken out, the rest is read by its tags or column by column."""
    if page.tags:
        return _tagged_blocks(page, lines, flow, regions=regions)
    parts = sort_lines(page, lines, flow.style, regions=regions, boxes=boxes)
    has_boxes = len(boxes) >= 2
    is_face = is_face_page(page, box_count=len(boxes)) or any(one.key for one in stated)
    may_have_lines = (is_face or flow.is_form) and not has_boxes
    has_lines = may_have_lines and claim_form_lines(page, parts, is_face=is_face, stated=stated)
    is_face = is_face or has_lines
    walls = find_walls(page) if has_lines else []
    if is_face:
        maker: BlockMaker = _face_maker(page, flow, lines, walls=walls, has_boxes=has_boxes)
    else:
        maker = _text_maker(page, flow, lines)
    maker.icons = parts.icons
    separators = walls if is_face else find_separators(page, regions)
    if parts.box_keys:
        columns = find_face_columns(parts.items, separators=separators, box_keys=parts.box_keys)
    else:
        columns = find_columns(parts.items, separators=separators)
    for column in columns:
        _add_column(maker, column, parts, regions=regions)
    for line in [*parts.icons, *parts.furniture, *merge_lines(parts.leaders)]:
        maker.add([line], "PageArtifact", SURE, column_ix=-1)
    return maker.blocks


def _measure(maker: MakerT, lines: Sequence[Line]) -> MakerT:
    """Give a maker the left edges of its page's lines and the rule below the title."""
    maker.starts = Counter(round(line.x0) for line in lines)
    maker.title_floor = find_title_floor(maker.page, maker.flow.style, lines)
    return maker


def _text_maker(page: Page, flow: Flow, lines: Sequence[Line]) -> BlockMaker:
    """Open a maker for a page of running text."""
    return _measure(BlockMaker(page, flow), lines)


def _face_maker(
    page: Page, flow: Flow, lines: Sequence[Line], *, walls: list[float], has_boxes: bool
) -> FaceBlockMaker:
    """Open a maker for a page of a form's face, whose rules across the page are `walls`."""
    maker = _measure(FaceBlockMaker(page, flow, has_boxes=has_boxes), lines)
    maker.walls = walls
    maker.masthead_floor = find_masthead_floor(page, lines, walls)
    if maker.masthead_floor:
        # A rule drawn in strokes ends a masthead as well as one in a piece.
        maker.title_floor = min(maker.title_floor, maker.masthead_floor)
    return maker


def _add_column(maker: BlockMaker, column: Column, parts: Parts, *, regions: Sequence[TableRegion]) -> None:
    """Append a column's runs of lines, and between them its tables, numbered lines and cells."""
    run: list[Line] = []
    for item in column.items:
        if item.line is not None:
            run.append(item.line)
            continue
        below = regions[item.region_ix] if 0 <= item.region_ix < len(regions) else None
        maker.add_text(run, column.x0, column.x1, column.column_ix, below=below)
        run = []
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
    maker.add_text(run, column.x0, column.x1, column.column_ix)


def _tagged_blocks(page: Page, lines: list[Line], flow: Flow, *, regions: Sequence[TableRegion]) -> list[Block]:
    """Find the blocks of a page by its structure tags."""
    parts = sort_text(page, lines, flow.style)
    maker = _text_maker(page, flow, lines)
    maker.icons = parts.icons
    units = find_units(page, parts.loose, regions=regions)
    add_units(maker, page, units, regions=regions)
    for line in [*parts.icons, *parts.furniture, *merge_lines(parts.leaders)]:
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
    return validated(pl.DataFrame(columns, schema=dtypes(Elements)).sort("element_id"), Elements)
