"""Passages of a document as they are compared: sentences, list items with their lead-in, labels, table cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from taxkg_assets.records import NodeRecord, PlacedBoxRecord, TableRecord
from taxkg_assets.rules.sentences import find_sentences
from taxkg_assets.verification.abbreviations import NONE, Abbreviations, find_abbreviations
from taxkg_assets.verification.pointers import is_contrast, is_index, is_past, is_pointer

_BULLET = re.compile(r"^\s*(?:[•▪◦–—*-]|\d{1,2}[.)]|[a-zA-Z][.)]|\([a-zA-Z0-9]{1,3}\))\s*")
_RANGE = re.compile(r"(?P<kind>box|line|step)(?:e?s)?_(?P<items>.+)")
_NUMBER = re.compile(r"(\d+)([a-z]?)")
_FOLLOWING = re.compile(r"\b[Ff]ollowing\b[^.]*\.$")
_MOST_IN_RANGE = 40
_SHORT_LEAD_IN = 5
_LONG_SENTENCE = 40


@dataclass(frozen=True, slots=True)
class Passage:
    """One sentence, label or cell with its headings and keys, the unit of comparison.

    Attributes:
        document_id: Document.
        node_id: Paragraph, heading or table that prints it.
        kind: sentence, pair of sentences, label or cell.
        text: Its words.
        start: First character in the paragraph's text.
        end: Exclusive end offset.
        lead_in: Sentence that opens its list; empty for none.
        before: Sentence before it in the paragraph; empty for none.
        headings: Headings above it, the document's title first.
        label: Label of the box or line that it is about; empty for none.
        keys: Keys of boxes, lines, codes, columns and parts that it is printed under.
        page: Page of the PDF, from 1.
        bboxes: Rectangles of the whole paragraph.
        abbreviations: Abbreviations of its document.
        headers: Headings of the row of a cell, an empty one, and those of its column; none for others.
        value_start: First character of what a cell itself says; 0 for others.
    """

    document_id: str
    node_id: str
    kind: str
    text: str
    start: int
    end: int
    lead_in: str
    before: str
    headings: tuple[str, ...]
    label: str
    keys: frozenset[str]
    page: int
    bboxes: tuple[PlacedBoxRecord, ...]
    abbreviations: Abbreviations = NONE
    headers: tuple[str, ...] = ()
    value_start: int = 0

    @property
    def spoken(self) -> str:
        """Return the passage with the sentence that introduces its list."""
        return f"{self.lead_in} {self.text}".strip()

    @property
    def written_out(self) -> str:
        """Return the text of the passage with expanded abbreviations."""
        return self.abbreviations.write_out(self.spoken)

    @property
    def labeled(self) -> str:
        """Return the text with the label of its box or line, and with expansions next to abbreviations.

        The sentence that opens a list is prefixed to its items, so that a negation in it applies to each item.
        """
        opened = self.lead_in.rstrip(" :.")
        words = f"{opened} {_BULLET.sub('', self.text)}" if opened else self.text
        return self.abbreviations.write_both(f"{self.label}. {words}" if self.label else words)

    @property
    def place(self) -> str:
        """Return the text around the passage: the nearest heading, the label, and the sentence before."""
        return " . ".join(part for part in (*self.headings[-1:], self.label, self.before) if part)

    @property
    def context(self) -> str:
        """Return all headings and the sentence before."""
        return self.abbreviations.write_both(" . ".join((*self.headings, self.before)))


def build_passages(nodes: Iterable[NodeRecord], tables: Iterable[TableRecord]) -> list[Passage]:
    """Build the passages of one document for comparison with claims.

    Args:
        nodes: Rows of `nodes` of the document.
        tables: Rows of `tables` of the document.

    Returns:
        Passages in reading order, cells of tables last.
    """
    rows = [row for row in sorted(nodes, key=lambda row: row["ordinal"]) if not is_index(row["heading_path"])]
    chain = _find_key_chains(rows)
    labels: dict[str, str] = {}
    for row in rows:
        if row["level"] == "anchor" and row["anchor_key"] is not None:
            labels[row["anchor_key"]] = max(labels.get(row["anchor_key"], ""), row["text"], key=len)
    known = find_abbreviations(row["text"] for row in rows if row["level"] == "paragraph")
    passages = [
        passage
        for row, lead_in in _with_lead_ins(rows)
        for passage in _split(row, lead_in, chain=chain, labels=labels, abbreviations=known)
    ]
    paths = {row["node_id"]: row for row in rows}
    return [*passages, *(cell for table in tables for cell in _read_cells(table, paths, abbreviations=known))]


def _with_lead_ins(rows: Sequence[NodeRecord]) -> Iterator[tuple[NodeRecord, str]]:
    """Return paragraphs and labels, each list item with the sentence that opens its list."""
    lead_in, parent, last = "", None, ""
    for row in rows:
        if row["level"] == "anchor":
            lead_in = ""
            yield row, ""
        elif row["level"] == "paragraph":
            text = row["text"].strip()
            is_item = _BULLET.match(text) is not None
            if row["parent_id"] != parent:
                lead_in = ""
            parent = row["parent_id"]
            yield row, lead_in if is_item else ""
            if text.endswith(":") or _FOLLOWING.search(text):
                ranges = find_sentences(text)
                own = text[ranges[-1][0] :] if ranges else text
                if len(own.split()) < _SHORT_LEAD_IN:
                    own = f"{text[ranges[-2][0] : ranges[-2][1]] if len(ranges) > 1 else last} {own}".strip()
                lead_in = f"{lead_in} {own}".strip() if is_item else own
            elif not is_item and not is_pointer(text):  # a reference within a list does not end it
                lead_in = ""
            if not is_item:
                last = text if len(text.split()) <= _LONG_SENTENCE else ""


def _split(
    row: NodeRecord,
    lead_in: str,
    *,
    chain: Mapping[str, frozenset[str]],
    labels: Mapping[str, str],
    abbreviations: Abbreviations,
) -> Iterator[Passage]:
    text: str = row["text"]
    path = tuple(row["heading_path"].split(" > "))
    is_label = row["level"] == "anchor"
    ranges = [(0, len(text))] if is_label else find_sentences(text)
    key = row["anchor_key"]
    keys = chain.get(row["node_id"], frozenset()) | (expand_key(key) if key else frozenset())
    before, last_start = "", 0
    for start, end in ranges:
        words = text[start:end]
        own = Passage(
            document_id=row["document_id"] or "",
            node_id=row["node_id"],
            kind="label" if is_label else "sentence",
            text=words,
            start=start,
            end=end,
            lead_in=lead_in,
            before=before,
            headings=path[:-1] if is_label else path,
            label=labels.get(key, "") if key and not is_label else "",
            keys=keys,
            page=row["page"] or 1,
            bboxes=tuple(row["bboxes"] or ()),
            abbreviations=abbreviations,
        )
        yield own
        if before and not (is_pointer(before) or is_pointer(words) or is_contrast(words) or is_past(words)):
            yield replace(own, kind="pair", text=text[last_start:end], start=last_start, before="")
        before, last_start = words, start


def _find_key_chains(rows: Sequence[NodeRecord]) -> dict[str, frozenset[str]]:
    """Find the keys of each node and of all headings above it."""
    above = {row["node_id"]: row for row in rows}
    found: dict[str, frozenset[str]] = {}
    for row in rows:
        keys: set[str] = set()
        node: NodeRecord | None = row
        for _ in range(_MOST_IN_RANGE):
            if node is None:
                break
            if node["level"] == "anchor" and node["anchor_key"]:
                keys |= expand_key(node["anchor_key"])
            node = above.get(node["parent_id"] or "")
        found[row["node_id"]] = frozenset(keys)
    return found


def expand_key(key: str) -> frozenset[str]:
    """Return the single keys of an anchor's key: `boxes_14-16` is box_14, box_15 and box_16.

    Args:
        key: Key of an anchor.
    """
    small = key.casefold()
    found = _RANGE.fullmatch(small)
    if found is None:
        return frozenset({small})
    kind, items = found["kind"], re.split(r"[_,]", found["items"])
    keys: set[str] = set()
    for item in items:
        low, _, high = item.partition("-")
        first, last = _NUMBER.fullmatch(low), _NUMBER.fullmatch(high)
        keys.add(f"{kind}_{low}")
        if first and last and int(first[1]) < int(last[1]) <= int(first[1]) + _MOST_IN_RANGE:
            keys |= {f"{kind}_{number}" for number in range(int(first[1]), int(last[1]) + 1)}
        elif first and last and first[1] == last[1] and first[2] and last[2]:
            keys |= {f"{kind}_{first[1]}{chr(code)}" for code in range(ord(first[2]), ord(last[2]) + 1)}
        elif high:
            keys.add(f"{kind}_{high}")
    return frozenset(keys)


def _read_cells(
    table: TableRecord, nodes: Mapping[str, NodeRecord], *, abbreviations: Abbreviations
) -> Iterator[Passage]:
    node = nodes.get(table["table_id"])
    path = tuple(node["heading_path"].split(" > ")) if node else ()
    for cell in table["cells"] or ():
        words = ": ".join(part for part in (cell["row_path"], cell["col_path"], cell["text"]) if part)
        words = words.replace(" > ", ", ")
        box: PlacedBoxRecord | None = {"page": table["page"], **cell["bbox"]} if cell["bbox"] else None
        yield Passage(
            document_id=table["document_id"],
            node_id=table["table_id"],
            kind="cell",
            text=words,
            start=0,
            end=0,
            lead_in="",
            before="",
            headings=(*path, table["title"]) if table["title"] else path,
            label="",
            keys=frozenset(),
            page=table["page"],
            bboxes=(box,) if box else (),
            abbreviations=abbreviations,
            headers=(*cell["row_path"].split(" > "), "", *cell["col_path"].split(" > ")),
            value_start=len(words) - len(cell["text"].replace(" > ", ", ")),
        )
