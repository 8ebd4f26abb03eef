"""The truth about the sample pages, stated by the manuscripts: labels in the gold format, never read off an extractor.

The manuscript says what is a heading, an item or a callout and who owns it; the typesetter says on which page it
begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pymupdf

from .face import EDITIONS
from .manuscript import Block

Row = dict[str, Any]
HEADINGS = ("section", "subsection", "minor")
_LABELS = ("Note.", "Note:")
_MIN_QUOTE, _MAX_QUOTE = 40, 110
_STYLES = {
    "section": "bold heading, largest size",
    "subsection": "bold heading",
    "minor": "bold heading, smallest size",
}
_ROLES = {
    "section": "SectionHeader",
    "subsection": "SubsectionHeader",
    "minor": "SubsectionHeader",
    "item": "ListBlock",
}
_ROLES |= {"tip": "Callout", "caution": "Callout", "paragraph": "BodyText"}


def squash(text: str) -> str:
    """Text without white space and hyphens, for finding a quote in a page's text layer."""
    return re.sub(r"[\s\-\u2010\u2011]", "", text).casefold()


def read_pages(data: bytes, *, kind: str) -> list[str]:
    """Squashed text of every page."""
    with pymupdf.open(stream=data, filetype=kind) as pdf:
        return [squash(page.get_text()) for page in pdf]


def read_code(text: str, pages: list[str]) -> list[Block]:
    """Blocks of a code in text form: a title, chapters, `§` sections, and paragraphs that begin indented."""
    chunks: list[str] = []
    for line in text.splitlines():
        starts = line.startswith(("   ", "§", "Title", "Chapter", "(SAMPLE", "SAMPLE"))
        if starts or not chunks:
            chunks.append(line.strip())
        else:
            chunks[-1] += f" {line.strip()}"
    blocks, page = [], 1
    for chunk in chunks:
        while squash(chunk[:60]) not in pages[page - 1]:
            page += 1
        found = re.match(r"§ (\d+-\d+) ", chunk)
        item = re.match(r"(?:[a-z]\.|\(\d\)) +(.*)", chunk)
        if found:
            blocks.append(Block("subsection", chunk, key=f"sec_{found.group(1)}", page=page))
        elif chunk.startswith(("Title", "Chapter")):
            blocks.append(Block("section", chunk, page=page))
        elif "SAMPLE" not in chunk:
            blocks.append(Block("paragraph", item.group(1) if item else chunk, page=page))
    return blocks


def _kind_of(block: Block) -> str:
    if block.key:
        prefix = block.key.split("_")[0]
        return {"sec": "statute_section", "boxes": "box_group"}.get(prefix, "box")
    return "runin" if block.run_in else {"minor": "subsection"}.get(block.kind, block.kind)


def _walk(blocks: list[Block]) -> Iterator[tuple[Block, list[Block], str | None]]:
    """Every block with the headings that enclose it (a keyed run-in counts as one) and the run-in that governs it."""
    chain: list[Block] = []
    run_in: str | None = None
    for block in blocks:
        if block.kind in HEADINGS:
            level = HEADINGS.index(block.kind)
            chain = [head for head in chain if head.kind in HEADINGS and HEADINGS.index(head.kind) < level]
            run_in = None
            yield block, chain, None
            chain = [*chain, block]
            continue
        if block.run_in and block.run_in not in _LABELS:
            chain = [head for head in chain if head.kind in HEADINGS]
            run_in = None if block.key else block.run_in
            yield block, chain, run_in
            chain = [*chain, block] if block.key else chain
            continue
        yield block, chain, run_in


def _name(block: Block) -> str:
    return block.run_in or block.text


def label_anchors(document: str, blocks: list[Block]) -> list[Row]:
    """One row per heading of the document, run-in headings included."""
    rows = []
    for block, chain, _ in _walk(blocks):
        is_run_in = block.run_in is not None and block.run_in not in _LABELS
        if block.kind not in HEADINGS and not is_run_in:
            continue
        style = "bold run-in heading at paragraph start" if is_run_in else _STYLES[block.kind]
        row: Row = {"document": document, "page": block.page, "kind": _kind_of(block), "key": block.key}
        row |= {"heading": _name(block), "parent": _name(chain[-1]) if chain else None, "style": style}
        if document.startswith("sample-statute") and block.text.startswith("Title"):
            row["optional"] = True
        rows.append(row)
    return rows


def _quote(block: Block, pages: list[str]) -> str | None:
    """The first words of the block that stand on the page where it begins."""
    words = block.plain.split()
    for count in range(len(words), 0, -1):
        quote = " ".join(words[:count])
        if len(quote) < _MIN_QUOTE:
            return None
        if len(quote) <= _MAX_QUOTE and squash(quote) in pages[block.page - 1]:
            return quote
    return None


def label_ownership(document: str, blocks: list[Block], *, pages: list[str]) -> list[Row]:
    """One row per paragraph, list item and callout that is long enough to quote, with its owner."""
    rows = []
    for block, chain, run_in in _walk(blocks):
        quote = _quote(block, pages) if block.kind not in (*HEADINGS, "table") else None
        owners = [*chain, block] if block.key and block.kind == "paragraph" else chain
        if quote and owners:
            owner, parent = owners[-1], owners[-2] if len(owners) > 1 else None
            row: Row = {"document": document, "page": block.page, "quote": quote, "owner": _name(owner)}
            row |= {"owner_key": owner.key, "owner_page": owner.page, "owner_parent": _name(parent) if parent else None}
            rows.append(row | {"nearest_runin": run_in})
    return rows


def label_tables(document: str, blocks: list[Block]) -> list[Row]:
    """One row per body cell of every table; the first column is the row header."""
    return [
        {
            "document": document,
            "page": block.page,
            "table": block.text,
            "row": row[0],
            "column": " > ".join(block.header[ix]),
            "value": row[ix],
        }
        for block in blocks
        if block.kind == "table"
        for row in block.rows
        for ix in range(1, len(row))
    ]


def label_roles(document: str, blocks: list[Block], *, pages: list[str]) -> list[Row]:
    """All headings and callouts, every third of the other elements; notes can be read as either and have no row."""
    rows = []
    for ix, block in enumerate(blocks):
        if block.run_in in _LABELS:
            continue
        if block.kind in HEADINGS:
            is_box = block.key is not None and block.key.startswith("box")
            role, text = "BoxHeader" if is_box else _ROLES[block.kind], block.text
        elif block.kind in _ROLES and (ix % 3 == 0 or _ROLES[block.kind] == "Callout"):
            role, text = _ROLES[block.kind], _quote(block, pages) or ""
        else:
            continue
        if text:
            rows.append({"document": document, "page": block.page, "text": text, "role": role})
    return rows


def label_furniture() -> list[Row]:
    """Roles of what is on the pages besides the manuscripts: titles, footers, form fields, table cells."""
    form, booklet = "sample-f1099div--2024-01", "sample-i1099div--2024-01"
    rows = [
        (booklet, 1, "Instructions for Form", "DocTitle"),
        (booklet, 1, "Typeset from a manuscript", "PageArtifact"),
        (booklet, 3, "Copy A on paper, with Form 1096", "TableBlock"),
        (booklet, 3, "at least 61 days", "TableBlock"),
        (booklet, 5, "Nonpublicly offered RICs", "TableBlock"),
        *((booklet, page, "Instructions for Form 1099-DIV (Rev. 01-2024)", "PageArtifact") for page in (2, 4)),
        (form, 3, "SAMPLE – not an IRS document", "PageArtifact"),
        *((form, page, "RECIPIENT’S name", "FormField") for page in (1, 2)),
    ]
    for name, edition in EDITIONS.items():
        for box in edition.boxes[::4]:
            text = f"{box.number} {' '.join(box.label)}"
            rows += [(f"sample-f1099div--{name}", page, text, "FormField") for page in (1, 2)]
    return [dict(zip(("document", "page", "text", "role"), row, strict=True)) for row in rows]


def label_boxes() -> dict[str, list[Row]]:
    """The boxes of each face, in the order of their numbers."""
    return {
        f"sample-f1099div--{name}": [
            {"key": f"box_{box.number}", "label": " ".join(box.label)} for box in edition.boxes
        ]
        for name, edition in EDITIONS.items()
    }
