"""A document as a sequence of comparable passages: headings, paragraphs, printed lines, table rows.

What is printed in several pieces is assembled (a line of a schedule, the text in the margin of a form's copy), and what
is printed several times (the copies of a form) counts once. Which passages belong together is decided in `pairing`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from taxkg_assets.graph.form_blocks import Fragment, Part, find_blocks
from taxkg_assets.graph.section_alignment import Section, build_sections
from taxkg_assets.graph.text_diff import Token, find_masked_words, find_tokens, masked
from taxkg_assets.records import (
    AnchorRecord,
    CellRecord,
    CornersRecord,
    ElementRecord,
    FaceRecord,
    PieceRecord,
    SectionRecord,
    TableRecord,
    iter_records,
)
from taxkg_assets.rules.models.revisions import load_revisions

_SMALL_WORD = 3

HEADING, TEXT, LINE, ROW, BLOCK, ADDRESS = "heading", "text", "line", "row", "block", "address"


@dataclass(frozen=True)
class Owner:
    """The section of a passage: its innermost heading, the key above it, its audience."""

    heading: str = ""
    key: str = ""
    kind: str = ""
    path: tuple[str, ...] = ()
    perspective: str = "other"
    form: str = ""
    is_own_key: bool = False
    element_id: str = ""
    above: tuple[str, ...] = ()
    """Of a line the words of the part or worksheet that numbers it."""

    part: str = ""
    """Key of the part of the form that it is in."""


@dataclass(frozen=True)
class Passage:
    """A passage to compare across revisions; its text is its parts, one per line."""

    kind: str
    parts: tuple[Part, ...]
    owner: Owner
    skipped: int = 0
    """Characters at the beginning that are no part of the comparison: a line's printed key, the word for an icon."""

    @cached_property
    def text(self) -> str:
        """Return the parts, one per line."""
        return "\n".join(part.text for part in self.parts)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Return words and symbols, without a line's own key."""
        return tuple(token for token in find_tokens(self.text) if token.start >= self.skipped)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Return the words in the form that is matched across revisions."""
        return masked(self.tokens)

    @cached_property
    def bag(self) -> Counter[str]:
        """Return the distinctive words with their counts, without common short words."""
        distinctive = [word for word in self.words if len(word) > _SMALL_WORD or not word.isalpha()]
        return Counter(distinctive or self.words)

    @property
    def is_keyed(self) -> bool:
        """Return whether its heading itself has a key, rather than one above it."""
        return bool(self.owner.key) and self.owner.is_own_key

    @cached_property
    def place(self) -> tuple[str, ...]:
        """Return the innermost heading, or the key, in the form that is compared across revisions."""
        if self.owner.key:
            # A line's number says nothing without its part or worksheet; a box is known by its form alone.
            above = self.owner.above if self.owner.kind == "line" else ()
            return (self.owner.perspective, self.owner.form, self.owner.key, *above)
        return find_masked_words(self.owner.heading)


@dataclass(frozen=True)
class ComparableDocument:
    """A document prepared for comparison: its passages in reading order, and all its words."""

    document_id: str
    passages: tuple[Passage, ...]
    boxes: tuple[FaceRecord, ...] = ()
    """The boxes of a form's face, as rows of `faces`."""

    streams: tuple[str, ...] = field(repr=False, default=())
    """All words as they are matched: of the passages, and of every element, artifacts and titles included."""

    sections: tuple[Section, ...] = field(repr=False, default=())
    """Headings with the text directly below them."""

    @cached_property
    def keys(self) -> frozenset[tuple[str, ...]]:
        """Return perspective, form and key of all passages with a key."""
        return frozenset(p.place for p in self.passages if p.owner.key)


def build_comparable_documents(
    document_ids: Collection[str], frames: Mapping[str, pl.DataFrame]
) -> dict[str, ComparableDocument]:
    """Split documents into comparable passages, reading each table once.

    Args:
        document_ids: Documents to divide.
        frames: Tables `sections`, `anchors`, `tables`, `faces` and `elements`; rows of other documents are ignored.

    Returns:
        Documents by id.
    """
    is_meant = pl.col("document_id").is_in(list(document_ids))
    parts = {name: frame.filter(is_meant) for name, frame in frames.items()}
    split = {name: frame.partition_by("document_id", as_dict=True) for name, frame in parts.items()}
    return {
        document_id: _build_comparable_document(
            document_id, {name: split[name].get((document_id,), parts[name].clear()) for name in parts}
        )
        for document_id in sorted(set(document_ids))
    }


def _build_comparable_document(document_id: str, own: Mapping[str, pl.DataFrame]) -> ComparableDocument:
    owners = _find_owners(own["anchors"])
    labels = {row["box_key"].removeprefix("box_"): row["label"] for row in own["faces"].iter_rows(named=True)}
    tables = {row["table_id"]: row for row in iter_records(own["tables"], TableRecord)}
    # The heading of a printed line is the beginning of the line, and the line itself is a passage.
    lines = {row["element_id"] for row in own["sections"].iter_rows(named=True)}
    headings = [
        row
        for row in iter_records(own["anchors"], AnchorRecord)
        if not _is_finding_aid(row["heading"]) and not (row["kind"] == "line" and row["element_id"] in lines)
    ]
    placed = [(row["element_id"], _heading(row, owners)) for row in headings]
    fields: dict[tuple[int, str], list[SectionRecord]] = defaultdict(list)
    for row in iter_records(own["sections"], SectionRecord):
        if _is_finding_aid(owners.get(row["anchor_id"] or "", Owner()).heading):
            continue
        fields[row["page"], row["anchor_id"] or ""].append(row)
    for (_, anchor_id), rows in fields.items():
        owner = owners.get(anchor_id, Owner())
        placed += _passages_of(rows, owner=owner, labels=labels, tables=tables)
    placed += _addresses_of(own["elements"])
    # A heading and its first paragraph may share an element; the heading was put in first and stays first.
    placed.sort(key=lambda item: item[0])
    passages = tuple(_without_copies([passage for _, passage in placed if passage.words]))
    printed = own["elements"].sort("element_id")["text"].to_list()
    streams = [(w for p in passages for w in p.words), (w for text in printed for w in find_masked_words(text))]
    boxes = tuple(iter_records(own["faces"], FaceRecord))
    return ComparableDocument(
        document_id,
        passages,
        boxes,
        tuple(f" {' '.join(words)} " for words in streams),
        tuple(build_sections(own["anchors"], own["sections"])),
    )


def _addresses_of(elements: pl.DataFrame) -> list[tuple[str, Passage]]:
    """Return web addresses printed alone in the margin of a page: no paragraph contains them, but readers need them."""
    rule = load_revisions().citations.address
    addresses = []
    for row in iter_records(elements.filter(role="PageArtifact"), ElementRecord):
        if rule.pattern.fullmatch(row["text"].strip()):
            place: PieceRecord = {"start": 0, "end": len(row["text"]), "page": row["page"], **row["bbox"]}
            part = Part(row["element_id"], row["text"], (place,))
            addresses.append((row["element_id"], Passage(ADDRESS, (part,), Owner())))
    return addresses


def _is_finding_aid(heading: str) -> bool:
    return load_revisions().finding_aids.matches(heading.strip())


def _find_owners(anchors: pl.DataFrame) -> dict[str, Owner]:
    rows = {row["anchor_id"]: row for row in iter_records(anchors, AnchorRecord)}
    return {anchor_id: _owner(row, rows) for anchor_id, row in rows.items()}


def _owner(row: AnchorRecord, rows: Mapping[str, AnchorRecord]) -> Owner:
    chain = [row]
    while (above := rows.get(chain[-1]["parent_anchor_id"] or "")) is not None and len(chain) <= len(rows):
        chain.append(above)
    keyed = next((link for link in chain if link["key"]), None)
    path = tuple(link["heading"] for link in reversed(chain))
    return Owner(
        heading=row["heading"],
        key=(keyed["key"] or "") if keyed else "",
        kind=keyed["kind"] if keyed else row["kind"],
        path=path,
        perspective=row["perspective"],
        form=row["form"],
        is_own_key=bool(row["key"]),
        element_id=row["element_id"],
        above=find_masked_words(_numbering(chain)),
        part=next((link["key"] or "" for link in chain if link["kind"] == "part"), ""),
    )


def _numbering(chain: Sequence[AnchorRecord]) -> str:
    """Return the part or worksheet that numbers a line: its nearest heading that is not a line."""
    return next((link["heading"] for link in chain if link["kind"] != "line"), "")


def _heading(row: AnchorRecord, owners: Mapping[str, Owner]) -> Passage:
    place: PieceRecord = {"start": 0, "end": len(row["heading"]), "page": row["page"], **row["bbox"]}
    return Passage(HEADING, (Part(row["anchor_id"], row["heading"], (place,)),), owners[row["anchor_id"]])


def _passages_of(
    rows: Sequence[SectionRecord], *, owner: Owner, labels: Mapping[str, str], tables: Mapping[str, TableRecord]
) -> list[tuple[str, Passage]]:
    """Return passages under one heading on one page, each with the element that decides its place in the order."""
    passages: list[tuple[str, Passage]] = []
    loose: list[Fragment] = []
    for row in rows:
        table = tables.get(row["table_id"] or "")
        if table is not None:
            passages += _table_rows(row, table, owner=owner)
        elif owner.kind == "line" and row["element_id"] == owner.element_id:
            match = load_revisions().lines.line_key.pattern.match(row["text"])
            skipped = match.end() if match else 0
            passages.append((row["element_id"], Passage(LINE, (_part(row),), owner, skipped)))
        elif row["role"] == "FormField":
            if not _is_box(row["text"], labels):
                loose.append(Fragment(row["element_id"], _part(row)))
        else:
            passages.append((row["element_id"], Passage(TEXT, (_part(row),), owner, _skip_label(row["text"]))))
    blocks = find_blocks(loose)
    return passages + [(b[0].element_id, Passage(BLOCK, tuple(f.part for f in b), owner)) for b in blocks]


def _skip_label(text: str) -> int:
    """Return the number of characters of the word for an icon at the beginning of a text."""
    match = load_revisions().labels.icon_word.pattern.match(text)
    return match.end() if match else 0


def _part(row: SectionRecord) -> Part:
    return Part(row["element_id"], row["text"], tuple(row["pieces"]))


def _table_rows(row: SectionRecord, table: TableRecord, *, owner: Owner) -> list[tuple[str, Passage]]:
    """Return the caption, and one passage per row: its header and its cells."""
    passages = []
    if row["text"] == table["title"]:
        passages.append((row["element_id"], Passage(TEXT, (_part(row),), owner)))
    by_row: dict[int, list[CellRecord]] = defaultdict(list)
    for cell in table["cells"]:
        by_row[cell["row_ix"]].append(cell)
    for row_ix in sorted(by_row):
        cells = sorted(by_row[row_ix], key=lambda cell: int(cell["col_ix"]))
        texts: list[tuple[str, CornersRecord | None]] = [
            (cell["text"], cell["bbox"]) for cell in cells if cell["text"].strip()
        ]
        header = cells[0]["row_path"]
        if header and not any(header in text for text, _ in texts):
            texts.insert(0, (header, None))
        parts = [
            Part(
                table["table_id"],
                text,
                ({"start": 0, "end": len(text), "page": table["page"], **bbox},) if bbox is not None else (),
            )
            for text, bbox in texts
        ]
        passages += [
            (row["element_id"], Passage(ROW, tuple(group), owner, _skip_label(group[0].text)))
            for group in _side_by_side(parts)
            if group
        ]
    return passages


def _side_by_side(parts: list[Part]) -> list[list[Part]]:
    """Divide a row of code and meaning, code and meaning: such a list runs down one column and on in the next."""
    limits = load_revisions().limits
    pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
    is_list = (
        len(parts) % 2 == 0
        and len(pairs) > 1
        and all(len(code.text) <= limits.code_characters < len(meaning.text) for code, meaning in pairs)
    )
    return pairs if is_list else [parts]


def _is_box(text: str, labels: Mapping[str, str]) -> bool:
    """Return whether a fragment of a face is the key and label of one or several boxes of the registry."""
    words = find_masked_words(text)
    key = re.match(r"\s*(\d{0,2}[a-z]{0,2})\b", text)
    if key is None or key[1] not in labels:
        return False
    known_words = {word for label in labels.values() for word in find_masked_words(label)} | set(labels)
    return all(word in known_words for word in words)


def _without_copies(passages: Iterable[Passage]) -> Iterable[Passage]:
    """Yield the passages without what a form's further copies print again."""
    seen: set[tuple[str, ...]] = set()
    for passage in passages:
        if passage.kind in (BLOCK, ADDRESS):
            if passage.words in seen:
                continue
            seen.add(passage.words)
        yield passage
