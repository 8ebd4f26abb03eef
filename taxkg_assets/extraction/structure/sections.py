"""The table `sections`: every paragraph, list item, callout, field and table, whole across breaks, with its owner."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import dataframely as dy
import polars as pl

from taxkg_assets.extraction.layout.lines import Piece
from taxkg_assets.extraction.structure.blocks import CONTENT_ROLES, Block
from taxkg_assets.extraction.structure.cut_paragraphs import (
    MOST_PAGES_BETWEEN,
    SAME_SIZE_PT,
    ends_cut,
    is_cut,
    joins_tags,
    opens_section,
    place_of,
    resumes,
)
from taxkg_assets.extraction.structure.outline import find_continued
from taxkg_assets.rules.models.roles import load_roles
from taxkg_assets.rules.models.section_grammar import load_section_grammar
from taxkg_assets.schemas import Anchors, Sections, Tables, build_frame, validated

_CONNECTED = re.compile(r"[^\W\d]-(?:a|and|as|at|by|for|in|of|on|or|the|to|up)-$", re.IGNORECASE)
"""End of a text whose last hyphen is after a connecting word, as in `cost-of-` before `living`."""
_PIECE = {
    "start": pl.Int32,
    "end": pl.Int32,
    "page": pl.Int32,
    "x0_pt": pl.Float64,
    "y0_pt": pl.Float64,
    "x1_pt": pl.Float64,
    "y1_pt": pl.Float64,
}


@dataclass(slots=True)
class _Row:
    """One content element in the making."""

    block: Block
    anchor_id: str | None
    text: str
    pieces: list[Piece]
    element_ids: list[str]
    last: Block
    table_id: str | None = None
    floats: int = 0
    # Page and column of a table that follows a whole sentence: what is below it there is another paragraph.
    table_place: tuple[int, int] | None = None


@dataclass(slots=True)
class _Owners:
    """Follows the headings in reading order and returns the owner of what comes next."""

    by_element: dict[str, tuple[str, str]]
    parents: dict[str, str | None]
    headings: dict[str, str]
    current: str | None = None
    on_face: str | None = None
    on_part: str | None = None
    face_page: int = 0
    # The heading that continues after a table with a title of its own.
    around_table: str | None = None
    heads_table: bool = False
    # The last title of each wording above a table, which owns what later pages carry on.
    tables: dict[str, str] = field(default_factory=dict)

    def enter(self, block: Block) -> None:
        """Move to a heading; a "… (continued)" heading does not change the owner."""
        anchor_id, heading = self.by_element[block.element_id]
        if block.is_face:
            self._turn_to(block.page)
            self.on_face = anchor_id
            if block.named is None or block.named.kind not in ("line", "column", "box"):
                self.on_part = anchor_id
            return
        if block.heads_table and not self.heads_table:
            self.around_table = self.current
        self.heads_table = block.heads_table
        if block.heads_table:
            begun = self.tables.get(find_continued(heading))
            if begun is not None:
                self.current = begun
                return
            self.tables[heading] = anchor_id
        if load_section_grammar().continued.matches(heading) and self.current is not None and not block.is_run_in:
            return
        self.current = anchor_id

    def owner(self, block: Block) -> str | None:
        """Return the owning anchor of a content block; each page of a form's face starts again."""
        if not block.is_face:
            if self.heads_table and block.table_id is None and not block.is_under_title:
                self.current, self.heads_table = self.around_table, False
            if block.is_after_list and self.current is not None:
                self.current = self.parents[self.current] or self.current
            return self.current
        self._turn_to(block.page)
        if block.is_apart:
            self.on_face = self.on_part = None
        elif block.is_outdented:
            self.on_face = self.on_part
        return self.on_face

    def return_to_table(self, title: str) -> str | None:
        """Return to the heading of a table that continues; gives the owner of the table.

        What explains how to use the table, such as an example, ended before.

        Args:
            title: Title of the table.
        """
        # After a comma the title has the name of one of several parts of a page.
        name = find_continued(title.partition(", ")[0])
        anchor_id = self.current if name else None
        while anchor_id is not None:
            if _bears_name(self.headings[anchor_id], name):
                self.current = anchor_id
                break
            anchor_id = self.parents[anchor_id]
        return self.current

    def _turn_to(self, page: int) -> None:
        if page != self.face_page:
            self.face_page, self.on_face, self.on_part = page, None, None


def build_sections(
    blocks: Sequence[Block],
    anchors: dy.DataFrame[Anchors],
    tables: dy.DataFrame[Tables] | None = None,
    *,
    document_id: str,
) -> dy.DataFrame[Sections]:
    """Build one row per content element of a document, with its owning heading.

    Args:
        blocks: All blocks of the document.
        anchors: Headings of the document.
        tables: Tables of the document; a table region without a row here is kept as plain text.
        document_id: Id of the document.

    Returns:
        Rows of `sections`; `anchor_id` is null before the first heading, and on a form's face outside of its lines.
    """
    owners = _Owners(
        {
            element_id: (anchor_id, heading)
            for element_id, anchor_id, heading in anchors.select("element_id", "anchor_id", "heading").iter_rows()
        },
        dict(anchors.select("anchor_id", "parent_anchor_id").iter_rows()),
        dict(anchors.select("anchor_id", "heading").iter_rows()),
    )
    titles: dict[str, str] = {} if tables is None else dict(tables.select("table_id", "title").iter_rows())
    rows = _find_rows(blocks, owners, titles=titles)
    return _build_frame(rows, document_id=document_id)


def _find_rows(blocks: Sequence[Block], owners: _Owners, *, titles: dict[str, str]) -> list[_Row]:
    rows: list[_Row] = []
    by_table: dict[str, _Row] = {}
    open_row: _Row | None = None
    # After pages that are pictures, text continues the paragraph and the heading before them.
    interrupted: tuple[_Row | None, str | None] | None = None
    captions = {(block.page, block.text.strip()): block for block in blocks if block.table_id is None}
    for block in blocks:
        if block.is_pictured and interrupted is None:
            interrupted, open_row = (open_row, owners.current), None
        elif interrupted is not None and not block.is_pictured:
            (open_row, owners.current), interrupted = interrupted, None
        if block.is_heading and not block.is_continued:
            owners.enter(block)
            # The title of a table floats with it.
            open_row = open_row if block.heads_table else None
        if block.role not in CONTENT_ROLES:
            continue
        anchor_id = owners.owner(block)
        if block.table_id is not None and block.table_id in titles:
            if block.table_id in by_table:
                by_table[block.table_id].element_ids.append(block.element_id)
                continue
            if anchor_id is not None and not block.is_face:
                anchor_id = owners.return_to_table(titles[block.table_id])
            row = _table_row(block, anchor_id, titles[block.table_id], captions=captions)
            by_table[block.table_id] = row
            rows.append(row)
            if open_row is not None and open_row.text in titles[block.table_id]:
                open_row = None  # a caption ends above its table
            elif open_row is not None and place_of(open_row.last) == place_of(block) and _is_whole(open_row.text):
                open_row.table_place = place_of(block)
            continue
        if open_row is not None and _continues(open_row, block, anchor_id):
            _append(open_row, block.text, block.pieces, [block.element_id], last=block)
            continue
        row = _Row(block, anchor_id, block.text, list(block.pieces), [block.element_id], block)
        rows.append(row)
        # A callout between two columns floats: the paragraph before it may still go on after it.
        if open_row is None or block.role != "Callout" or _is_whole(open_row.text):
            open_row = row
        else:
            open_row.floats += 1
    headings = {
        owners.by_element[block.element_id][0]: block for block in blocks if block.element_id in owners.by_element
    }
    return _resume_after_tables(rows, headings, parents=owners.parents)


def _resume_after_tables(
    rows: Sequence[_Row], headings: Mapping[str, Block], *, parents: Mapping[str, str | None]
) -> list[_Row]:
    """Join the halves of a paragraph around a table that fills the foot or the head of a page.

    Text that follows the second half belongs to the paragraph's heading again, not to the table's. `headings` are the
    blocks of the headings by their ids.
    """
    joined_rows: list[_Row] = []
    cut_row: _Row | None = None
    has_table = False
    changed_owner: tuple[str | None, str | None] | None = None
    for previous_row, row in zip([None, *rows], rows, strict=False):
        if row.table_id is not None:
            has_table = True
            joined_rows.append(row)
            continue
        if (
            cut_row is not None
            and previous_row is not None
            and has_table
            and resumes(cut_row, row.block, before=previous_row.last)
        ):
            changed_owner, has_table = (row.anchor_id, cut_row.anchor_id), False
            _append(cut_row, row.text, row.pieces, row.element_ids, last=row.last)
            cut_row = cut_row if is_cut(cut_row) else None
            continue
        if changed_owner is not None and row.anchor_id == changed_owner[0]:
            row.anchor_id = changed_owner[1]
        else:
            changed_owner = None
        if is_cut(row):
            cut_row, has_table = row, False
        elif cut_row is not None and ends_cut(
            cut_row,
            row,
            is_before_table=not has_table,
            has_same_owner=row.anchor_id == cut_row.anchor_id,
            is_parted=row.anchor_id is not None
            and not _is_above(row.anchor_id, cut_row.anchor_id, parents)
            and opens_section(headings[row.anchor_id], is_before_table=not has_table),
        ):
            cut_row = None
        joined_rows.append(row)
    return joined_rows


def _is_above(anchor_id: str, other_id: str | None, parents: Mapping[str, str | None]) -> bool:
    """Decide whether a heading is another one or above it."""
    while other_id is not None and other_id != anchor_id:
        other_id = parents[other_id]
    return other_id is not None


def _table_row(block: Block, anchor_id: str | None, title: str, *, captions: Mapping[tuple[int, str], Block]) -> _Row:
    """Start a table's row with its title, which is in the table's first block or in a block of its own."""
    text, pieces = block.text, list(block.pieces)
    caption = captions.get((block.page, title.strip()))
    if caption is not None:
        text, pieces = caption.text, list(caption.pieces)
    elif title.strip() and title.strip() != text:
        text = title
        caption_boxes = [
            part.bbox
            for (page, caption_text), part in captions.items()
            if page == block.page and caption_text and caption_text in title
        ]
        x0, y0, x1, y1 = zip(*[block.bbox, *caption_boxes], strict=True)
        pieces = [Piece(0, len(title), block.page, min(x0), min(y0), max(x1), max(y1))]
    return _Row(block, anchor_id, text, pieces, [block.element_id], block, block.table_id)


def _is_whole(text: str) -> bool:
    return load_roles().sentence_ends.matches(text[-12:])


def _continues(row: _Row, block: Block, anchor_id: str | None) -> bool:
    """Decide whether a block continues the open paragraph after the end of a column or page."""
    last = row.last
    if row.table_place == place_of(block):
        # The publisher tagged the paragraphs before and after a table as one that holds it.
        return False
    if block.is_continued:
        return True
    if row.anchor_id != anchor_id or last.is_face or block.is_face or block.is_listed:
        return False
    if block.path and last.path:
        # The tags tell one paragraph from the next, but for a sentence that they cut.
        return joins_tags(row, block)
    starts_low = not block.text[:1].isupper()
    # A list item continues under its own text, so its rest may look indented.
    if block.is_indented and not (starts_low and last.role == "ListBlock"):
        return False
    if place_of(block) == place_of(last) or _is_whole(row.text):
        return False
    is_alike = abs(block.size - last.size) <= SAME_SIZE_PT
    if last.role == "TableBlock" or block.role not in ("BodyText", last.role) or not is_alike:
        return False
    if block.page - last.page > MOST_PAGES_BETWEEN:
        return False
    return starts_low or row.floats == 0


def _bears_name(heading: str, name: str) -> bool:
    """Return whether a heading is the name of a table, or contains it as whole words, of which there are several."""
    is_contained = re.search(rf"(?:^|\s){re.escape(name)}(?![\w-])", heading) is not None
    return heading == name or (is_contained and " " in name)


def _append(row: _Row, new_text: str, pieces: Sequence[Piece], element_ids: Sequence[str], *, last: Block) -> None:
    """Add a continuing block's text; a hyphen at the break is removed if it splits a word.

    One after a connecting word belongs to the text, as in `cost-of-living`.
    """
    text = row.text
    separator = " "
    is_split_word = text.endswith("-") and len(text) > 1 and text[-2].isalpha() and new_text[:1].islower()
    if is_split_word and not _CONNECTED.search(text):
        text, separator = text[:-1], ""
    elif text.endswith(("/", "—", "-")):
        separator = ""
    offset = len(text) + len(separator)
    end = row.pieces[-1]
    row.pieces[-1] = Piece(end.start, offset, end.page, end.x0, end.y0, end.x1, end.y1)
    row.pieces += [
        Piece(piece.start + offset, piece.end + offset, piece.page, piece.x0, piece.y0, piece.x1, piece.y1)
        for piece in pieces
    ]
    row.text = text + separator + new_text
    row.element_ids.extend(element_ids)
    row.last = last
    row.floats = 0


def _build_frame(rows: Sequence[_Row], *, document_id: str) -> dy.DataFrame[Sections]:
    columns = {
        "element_id": [row.block.element_id for row in rows],
        "anchor_id": [row.anchor_id for row in rows],
        "document_id": [document_id] * len(rows),
        "page": [row.block.page for row in rows],
        "paragraph_ix": range(len(rows)),
        "role": [row.block.role for row in rows],
        "table_id": [row.table_id for row in rows],
        "text": [row.text for row in rows],
        "source": [row.block.source for row in rows],
        "element_ids": _element_ids(rows),
        "pieces": _pieces(rows),
        "publisher_id": [None] * len(rows),
    }
    return validated(build_frame(columns, Sections, sort_by="element_id"), Sections)


def _pieces(rows: Sequence[_Row]) -> pl.Series:
    flat = [piece for row in rows for piece in row.pieces]
    columns = {
        "start": [piece.start for piece in flat],
        "end": [piece.end for piece in flat],
        "page": [piece.page for piece in flat],
        "x0_pt": [piece.x0 for piece in flat],
        "y0_pt": [piece.y0 for piece in flat],
        "x1_pt": [piece.x1 for piece in flat],
        "y1_pt": [piece.y1 for piece in flat],
    }
    return _nested(pl.DataFrame(columns, schema=_PIECE).to_struct(), lengths=[len(row.pieces) for row in rows])


def _element_ids(rows: Sequence[_Row]) -> pl.Series:
    flat = [element_id for row in rows for element_id in row.element_ids]
    return _nested(pl.Series(flat, dtype=pl.String), lengths=[len(row.element_ids) for row in rows])


def _nested(values: pl.Series, *, lengths: Sequence[int]) -> pl.Series:
    """Cut a flat column into lists, none of them empty: far cheaper than from lists or dictionaries of Python."""
    owners = [ix for ix, length in enumerate(lengths) for _ in range(length)]
    frame = pl.DataFrame({"owner": pl.Series(owners, dtype=pl.Int64), "values": values})
    return frame.group_by("owner", maintain_order=True).agg("values")["values"]
