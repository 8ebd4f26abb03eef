"""Sections and tables to retrieval units: what is searched, and what a language model is handed.

A unit is whole paragraphs of one anchor, or rows of one table under their repeated header. Widening a hit to its
surroundings is the search's business, not done here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.chunking.micro_blocks import find_micro_blocks
from taxkg_assets.chunking.reviews import REVIEWED, hash_text
from taxkg_assets.chunking.semantic import Encode, SemanticUnit, find_semantic_units, find_weak_layouts
from taxkg_assets.chunking.table_units import split_table
from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.rules.loader import load_family
from taxkg_assets.rules.sentences import find_sentence_parts
from taxkg_assets.settings import Settings

_CORNERS = ("x0_pt", "y0_pt", "x1_pt", "y1_pt")
_OWN_LINE = ("section", "subsection", "part", "statute_section")
_RUN_IN_ENDS = (".", ":", "—", "–")
_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class _Part:
    """A paragraph, or a run of sentences of one: text with the rectangles of its lines."""

    element_id: str
    text: str
    pieces: tuple[dict[str, Any], ...]
    split_ix: int
    words: int


@dataclass(frozen=True, slots=True)
class _Owner:
    """What a unit inherits from its document and anchor."""

    document: dict[str, Any]
    anchor: dict[str, Any] | None
    headings: tuple[str, ...]
    anchor_key: str | None
    perspective: str
    form: str


def build_chunks(
    *,
    documents: dy.DataFrame[schemas.Documents],
    sections: dy.DataFrame[schemas.Sections],
    tables: dy.DataFrame[schemas.Tables],
    anchors: dy.DataFrame[schemas.Anchors],
    reviews: dy.DataFrame[schemas.Reviews],
    settings: Settings,
    proposer: Proposer,
    encode: Encode,
) -> dy.DataFrame[schemas.Chunks]:
    """Put the paragraphs of each anchor, and the rows of each table, together to units of about a hundred words.

    Where the layout tells little, paragraphs are cut by meaning instead; what is not accepted there stays as a row that
    waits for a person, and its text falls back to the structural units.

    Args:     all frames may cover several documents; rows of documents that `documents` lacks are an error.
              proposer, encode: who judges boundaries, and texts to unit vectors; asked only where layout is weak.
    Returns:  one row per unit; every row of `sections` lies in at least one accepted one.
    Source:   sizes in rules/chunking.yaml, routing in rules/semantic.yaml.
    """
    owners = _Owners(documents.rows(named=True), anchors.rows(named=True))
    table_rows = {row["table_id"]: row for row in tables.rows(named=True)}
    weak = _route(sections, anchors, chunker=settings.chunker)
    decisions = {(row["chunk_id"], row["text_hash"]): row for row in reviews.rows(named=True)}
    rows: list[dict[str, Any]] = []
    ordered = sections.sort("document_id", "paragraph_ix").rows(named=True)
    for document_id, group in groupby(ordered, key=lambda row: row["document_id"]):
        document_sections = list(group)
        made = _chunk_document(document_sections, owners, document_id=document_id, tables=table_rows)
        if document_id in weak:
            title = owners.find(document_id, None).document["title"]
            prose = [row for row in document_sections if row["table_id"] not in table_rows]
            units = find_semantic_units(find_micro_blocks(prose), title=title, proposer=proposer, encode=encode)
            made = _prefer_semantic(made, units, prose, owner=owners.find(document_id, None), decisions=decisions)
        rows += made
    frame = pl.DataFrame(rows, schema=schemas.Chunks.create_empty().schema)
    return schemas.Chunks.validate(frame.sort("chunk_id"))


def _route(
    sections: dy.DataFrame[schemas.Sections], anchors: dy.DataFrame[schemas.Anchors], *, chunker: str
) -> set[str]:
    """The documents that are cut by meaning: all, none, or those whose layout tells little."""
    if chunker == "auto":
        return find_weak_layouts(sections, anchors)
    return set(sections["document_id"]) if chunker == "semantic" else set()


def find_uncovered_sections(
    sections: dy.DataFrame[schemas.Sections], chunks: dy.DataFrame[schemas.Chunks]
) -> pl.DataFrame:
    """Find the rows of `sections` whose text is not wholly in accepted chunks."""
    held: dict[str, list[str]] = {}
    accepted = chunks.filter(pl.col("status") == "accepted").sort("document_id", "chunk_ix")
    for node_ids, text in accepted.select("node_ids", "text").iter_rows():
        for node_id in node_ids:
            held.setdefault(node_id, []).append(text)
    lost = [
        element_id
        for element_id, text in sections.select("element_id", "text").iter_rows()
        if not _lies_in(text, held.get(element_id))
    ]
    return sections.filter(pl.col("element_id").is_in(lost)).select("element_id", "document_id", "page", "text")


def _lies_in(text: str, chunks: list[str] | None) -> bool:
    if chunks is None:
        return False
    if any(text in chunk for chunk in chunks):
        return True
    return all(any(part in chunk for chunk in chunks) or _is_tiled(part, chunks) for part in _split_sentences(text))


def _is_tiled(part: str, chunks: list[str]) -> bool:
    """Whether a sentence ends one chunk and goes on in another: a line of its own may begin there."""
    return any(
        any(chunk.endswith(part[: gap.start()]) for chunk in chunks)
        and any(chunk.startswith(part[gap.end() :]) for chunk in chunks)
        for gap in re.finditer(r"\s+", part)
    )


class _Owners:
    """Headings and inherited properties of each anchor, found once."""

    def __init__(self, documents: Sequence[dict[str, Any]], anchors: Sequence[dict[str, Any]]) -> None:
        self._documents = {row["document_id"]: row for row in documents}
        self._anchors = {row["anchor_id"]: row for row in anchors}
        self._known: dict[tuple[str, str | None], _Owner] = {}

    def find(self, document_id: str, anchor_id: str | None) -> _Owner:
        if (document_id, anchor_id) not in self._known:
            self._known[document_id, anchor_id] = self._derive(document_id, anchor_id)
        return self._known[document_id, anchor_id]

    def _derive(self, document_id: str, anchor_id: str | None) -> _Owner:
        document = self._documents[document_id]
        path: list[dict[str, Any]] = []
        next_id = anchor_id
        while next_id is not None:
            path.append(self._anchors[next_id])
            next_id = path[-1]["parent_anchor_id"]
        return _Owner(
            document=document,
            anchor=path[0] if path else None,
            headings=tuple(row["heading"] for row in reversed(path)),
            anchor_key=next((row["key"] for row in path if row["key"]), None),
            perspective=path[0]["perspective"] if path else _PERSPECTIVE_OF[document["doc_type"]],
            form=next((row["form"] for row in path if row["form"]), document["form"]),
        )


_PERSPECTIVE_OF = {
    "form": "face",
    "filer_instructions": "filer",
    "recipient_instructions": "recipient",
    "publication": "publication",
    "statute": "statute",
    "other": "other",
}


def _chunk_document(
    sections: Sequence[dict[str, Any]], owners: _Owners, *, document_id: str, tables: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    headed: set[str | None] = set()
    for (anchor_id, table_id), group in groupby(sections, key=lambda row: (row["anchor_id"], row["table_id"])):
        owner = owners.find(document_id, anchor_id)
        table = tables.get(table_id) if table_id else None
        if table is not None:
            made = _table_rows(list(group), table, owner=owner)
        else:
            made = list(_paragraph_rows(list(group), owner, with_heading=anchor_id not in headed))
            headed.add(anchor_id)
        for row in made:
            rows.append({**row, "chunk_ix": len(rows)})
    return rows


def _prefer_semantic(
    structural: Sequence[dict[str, Any]],
    units: Sequence[SemanticUnit],
    prose: Sequence[dict[str, Any]],
    *,
    owner: _Owner,
    decisions: Mapping[tuple[str, str], Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Semantic units for prose; structural ones for tables, and for each section that no accepted unit wholly holds."""
    texts = {row["element_id"]: row["text"] for row in prose}
    rows = [_semantic_row(unit, owner, texts=texts, decisions=decisions) for unit in units]
    held: dict[str, list[str]] = {}
    for row in rows:
        for node_id in row["node_ids"] if row["status"] == "accepted" else ():
            held.setdefault(node_id, []).append(row["text"])
    covered = {element_id for element_id, text in texts.items() if _lies_in(text, held.get(element_id))}
    kept = [row for row in structural if not covered.issuperset(row["node_ids"])]
    order = {row["element_id"]: number for number, row in enumerate(prose)}
    ranked = sorted([*rows, *kept], key=lambda row: (row["page"], order.get(row["node_ids"][0], 0)))
    return [{**row, "chunk_ix": number} for number, row in enumerate(ranked)]


def _semantic_row(
    unit: SemanticUnit,
    owner: _Owner,
    *,
    texts: Mapping[str, str],
    decisions: Mapping[tuple[str, str], Mapping[str, Any]],
) -> dict[str, Any]:
    """A semantic unit as a chunk: the text from its first to its last block, and its verdict or a person's."""
    slices = [list(group) for _, group in groupby(unit.blocks, key=lambda block: block.element_id)]
    text = "\n".join(texts[run[0].element_id][run[0].start : run[-1].end] for run in slices)
    first = unit.blocks[0]
    pieces = [piece for block in unit.blocks for piece in block.pieces]
    places = list({(p["page"], p["y0_pt"], p["x0_pt"]): p for p in pieces}.values())
    chunk_id = f"paragraph:{first.element_id}@{first.start}"
    decision = decisions.get((chunk_id, hash_text(text)))
    status, reason = unit.status, unit.reason
    if decision is not None and status != "accepted":
        status, reason = decision["decision"], f"{REVIEWED}: {decision['reason']}".rstrip(": ")
    return _row(
        replace(owner, headings=(unit.title,) if unit.title else ()),
        chunk_id=chunk_id,
        level="paragraph",
        node_ids=[run[0].element_id for run in slices],
        text=text,
        page=first.pieces[0]["page"] if first.pieces else 1,
        bboxes=_placed_boxes(places),
        status=status,
        quality=unit.quality,
        reason=reason,
        tags=list(unit.tags),
        entities=list(unit.entities),
        created_by=unit.created_by,
    )


def _after_heading(anchor: Mapping[str, Any]) -> str:
    """A heading on a line of its own stays one; a run-in heading is read as the beginning of its sentence."""
    is_run_in = anchor["kind"] not in _OWN_LINE and anchor["heading"].endswith(_RUN_IN_ENDS)
    return " " if is_run_in else "\n"


def _paragraph_rows(
    sections: Sequence[dict[str, Any]], owner: _Owner, *, with_heading: bool
) -> Iterator[dict[str, Any]]:
    for number, unit in enumerate(_pack(part for row in sections for part in _cut(row))):
        text = "\n".join(part.text for part in unit)
        boxes = _placed_boxes(piece for part in unit for piece in part.pieces)
        anchor = owner.anchor
        if number == 0 and with_heading and anchor is not None and not text.startswith(anchor["heading"]):
            text = f"{anchor['heading']}{_after_heading(anchor)}{text}"
            boxes = _placed_boxes([{**anchor["bbox"], "page": anchor["page"]}]) + boxes
        first = unit[0]
        yield _row(
            owner,
            chunk_id=f"paragraph:{first.element_id}" + (f".{first.split_ix}" if first.split_ix else ""),
            level="paragraph",
            node_ids=list(dict.fromkeys(part.element_id for part in unit)),
            text=text,
            page=first.pieces[0]["page"] if first.pieces else sections[0]["page"],
            bboxes=boxes,
        )


def _pack(parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    """Put neighbouring parts together up to the target size; a very short unit takes one more."""
    sizes = load_family("chunking")["sizes"]
    unit: list[_Part] = []
    words = 0
    for part in parts:
        room = sizes["target_words"] if words >= sizes["short_words"] else sizes["max_words"]
        if unit and words + part.words > room:
            yield unit
            unit, words = [], 0
        unit.append(part)
        words += part.words
    if unit:
        yield unit


def _cut(section: dict[str, Any]) -> list[_Part]:
    """Cut a paragraph at sentences into parts of about equal size, none above the largest size where possible."""
    text: str = section["text"]
    whole = _Part(section["element_id"], text, tuple(section["pieces"]), 0, len(text.split()))
    sizes = load_family("chunking")["sizes"]
    if whole.words <= sizes["max_words"]:
        return [whole]
    target = whole.words / -(-whole.words // sizes["target_words"])
    parts: list[_Part] = []
    start, words, position = 0, 0, 0
    for sentence in _split_sentences(text):
        begin = text.index(sentence, position)
        position = begin + len(sentence)
        words += len(sentence.split())
        if words >= target:
            parts.append(_slice(whole, start, position, split_ix=len(parts)))
            start, words = position, 0
    if text[start:].strip():
        parts.append(_slice(whole, start, len(text), split_ix=len(parts)))
    return parts


def _slice(whole: _Part, start: int, end: int, *, split_ix: int) -> _Part:
    pieces = tuple(piece for piece in whole.pieces if piece["start"] < end and piece["end"] > start)
    text = whole.text[start:end].strip()
    return replace(whole, text=text, pieces=pieces or whole.pieces, split_ix=split_ix, words=len(text.split()))


def _split_sentences(text: str) -> list[str]:
    """Split at sentence ends; a sentence that is itself too long is split at spaces."""
    limit = load_family("chunking")["sizes"]["max_words"]
    found: list[str] = []
    for start, end in find_sentence_parts(text):
        sentence = text[start:end]
        words = list(re.finditer(r"\S+", sentence))
        for first in range(0, len(words), limit):
            last = words[min(first + limit, len(words)) - 1]
            found.append(sentence[words[first].start() : last.end()])
    return found


def _table_rows(sections: Sequence[dict[str, Any]], table: dict[str, Any], *, owner: _Owner) -> list[dict[str, Any]]:
    """One unit per group of table rows, each with the caption, the column headers and the rows' own text."""
    limit = load_family("chunking")["sizes"]["table_words"]
    caption = "\n".join(dict.fromkeys(text for row in sections if (text := row["text"])))
    return [
        _row(
            owner,
            chunk_id=f"table:{table['table_id']}" + (f".{number}" if number else ""),
            level="table",
            node_ids=[table["table_id"], *dict.fromkeys(row["element_id"] for row in sections)],
            text="\n".join(line for line in (caption, *unit.lines) if line),
            page=table["page"],
            bboxes=_placed_boxes([{**unit.box, "page": table["page"]}]),
        )
        for number, unit in enumerate(split_table(table, head_words=len(caption.split()), limit=limit))
    ]


def _row(owner: _Owner, *, text: str, **columns: Any) -> dict[str, Any]:
    document = owner.document
    anchor_id = owner.anchor["anchor_id"] if owner.anchor else None
    return {
        "document_id": document["document_id"],
        "anchor_id": anchor_id,
        "anchor_key": owner.anchor_key,
        "heading_path": " > ".join(part for part in (document["title"], *owner.headings) if part),
        "form": owner.form,
        "perspective": owner.perspective,
        "parent_id": anchor_id or document["document_id"],
        "text": text,
        "context": _context(owner),
        "token_count": count_tokens(text),
        "status": "accepted",
        "quality": 1.0,
        "reason": "",
        "tags": [],
        "entities": [],
        "created_by": "structural",
        **columns,
    }


def _context(owner: _Owner) -> str:
    """What a reader must know to understand the text: document, form, revision, whom it addresses, headings."""
    document = owner.document
    title = document["title"] or document["document_id"]
    about = [title if owner.form.replace("Pub.", "Publication") in title else f"{owner.form}, {title}"]
    if document["revision"][:4] not in title:
        about.append(document["revision"])
    if document["is_draft"]:
        about.append("draft")
    about.append(load_family("chunking")["perspectives"][owner.perspective])
    return " > ".join([", ".join(part for part in about if part), *owner.headings])


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text: a word piece holds about seven letters, a punctuation mark is its own."""
    letters = load_family("chunking")["tokens"]["letters_per_piece"]
    return sum(-(-len(found) // letters) for found in _WORD_OR_MARK.findall(text))


def _placed_boxes(pieces: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join the rectangles of lines that stand under one another in one column of one page."""
    boxes: list[dict[str, Any]] = []
    for piece in pieces:
        last = boxes[-1] if boxes else None
        if last is not None and _is_next_line(last, piece):
            last["x0_pt"], last["y0_pt"] = min(last["x0_pt"], piece["x0_pt"]), min(last["y0_pt"], piece["y0_pt"])
            last["x1_pt"], last["y1_pt"] = max(last["x1_pt"], piece["x1_pt"]), max(last["y1_pt"], piece["y1_pt"])
        else:
            boxes.append({"page": piece["page"], **{corner: float(piece[corner]) for corner in _CORNERS}})
    return boxes


def _is_next_line(last: dict[str, Any], piece: dict[str, Any]) -> bool:
    height = piece["y1_pt"] - piece["y0_pt"]
    overlaps = piece["x0_pt"] < last["x1_pt"] and piece["x1_pt"] > last["x0_pt"]
    near = -height <= piece["y0_pt"] - last["y1_pt"] <= height
    return bool(piece["page"] == last["page"] and overlaps and near)
