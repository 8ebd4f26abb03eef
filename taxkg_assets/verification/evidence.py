"""Passages of a document as they are compared: sentences, list items with their lead-in, labels, table cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

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
    labels: dict[str, list[NodeRecord]] = {}
    for row in rows:
        if row["level"] == "anchor" and row["anchor_key"] is not None:
            labels.setdefault(row["anchor_key"], []).append(row)
    known = find_abbreviations(row["text"] for row in rows if row["level"] == "paragraph")
    passages = [
        passage
        for row, lead_in in _with_lead_ins(rows)
        for passage in _split(row, lead_in, chain=chain, labels=labels, abbreviations=known)
    ]
    paths = {row["node_id"]: row for row in rows}
    return [*passages, *(cell for table in tables for cell in _read_cells(table, paths, abbreviations=known))]


def _with_lead_ins(rows: Sequence[NodeRecord]) -> Iterator[tuple[NodeRecord, str]]:
    """Return paragraphs and labels, each list item with the sentence that opens its list.

    After `You may deduct the following.`, the items `• Dues.` and `• Tolls.` get that sentence, until a paragraph that
    is no item follows, or the next heading.
    """
    lead_in, parent, short_paragraph = "", None, ""
    for row in rows:
        if row["level"] == "anchor":
            lead_in = ""
            yield row, ""
        if row["level"] != "paragraph":
            continue
        text = row["text"].strip()
        is_item = _BULLET.match(text) is not None
        if row["parent_id"] != parent:
            lead_in, parent = "", row["parent_id"]
        yield row, lead_in if is_item else ""
        opens_list = text.endswith(":") or _FOLLOWING.search(text)
        if opens_list:
            opening = _read_opening(text, short_paragraph)
            lead_in = f"{lead_in} {opening}".strip() if is_item else opening  # a list within an item
        elif not is_item and not is_pointer(text):  # a reference within a list does not end it
            lead_in = ""
        if not is_item:
            short_paragraph = text if len(text.split()) <= _LONG_SENTENCE else ""


def _read_opening(text: str, paragraph_before: str) -> str:
    """Return the sentence that opens a list, after the one before it where it says little: `These are:`.

    Args:
        text: Paragraph that ends with the sentence.
        paragraph_before: Paragraph before it, if that is short; else empty.
    """
    ranges = find_sentences(text)
    opening = text[ranges[-1][0] :] if ranges else text
    if len(opening.split()) >= _SHORT_LEAD_IN:
        return opening
    sentence_before = text[slice(*ranges[-2])] if len(ranges) > 1 else paragraph_before
    return f"{sentence_before} {opening}".strip()


def _split(
    row: NodeRecord,
    lead_in: str,
    *,
    chain: Mapping[str, frozenset[str]],
    labels: Mapping[str, Sequence[NodeRecord]],
    abbreviations: Abbreviations,
) -> Iterator[Passage]:
    """Split a paragraph into its sentences and pairs of sentences; a label is one passage.

    Args:
        row: The paragraph or label.
        lead_in: Sentence that opens its list; empty for none.
        chain: Keys of each node and of the headings above it.
        labels: Labels of each key, one for each part of the document that prints it.
        abbreviations: Abbreviations of the document.

    Yields:
        The sentences in their order, each followed by the pair with the one before it.
    """
    text: str = row["text"]
    is_label = row["level"] == "anchor"
    headings = tuple(row["heading_path"].split(" > "))
    key = row["anchor_key"]
    own_keys = expand_key(key) if key else frozenset[str]()
    blank = Passage(
        document_id=row["document_id"] or "",
        node_id=row["node_id"],
        kind="label" if is_label else "sentence",
        text="",
        start=0,
        end=0,
        lead_in=lead_in,
        before="",
        headings=headings[:-1] if is_label else headings,
        label=_choose_label(row, labels.get(key, ())) if key and not is_label else "",
        keys=chain.get(row["node_id"], frozenset()) | own_keys,
        page=row["page"] or 1,
        bboxes=tuple(row["bboxes"] or ()),
        abbreviations=abbreviations,
    )
    before = blank
    for start, end in [(0, len(text))] if is_label else find_sentences(text):
        sentence = replace(blank, text=text[start:end], start=start, end=end, before=before.text)
        yield sentence
        if before.text and _may_be_read_together(before.text, sentence.text):
            yield replace(sentence, kind="pair", text=text[before.start : end], start=before.start, before="")
        before = sentence


def _choose_label(row: NodeRecord, labels: Sequence[NodeRecord]) -> str:
    """Return the label of a paragraph's key: each part of a form may have a line 2 of its own.

    Args:
        row: The paragraph.
        labels: Labels with its key.

    Returns:
        The label with the most headings in common with the paragraph, the longest one of several; empty for none.
    """
    headings = row["heading_path"].split(" > ")

    def rank(label: NodeRecord) -> tuple[int, int]:
        pairs = zip(headings, label["heading_path"].split(" > "), strict=False)
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        return common, len(label["text"])

    return max(labels, key=rank)["text"] if labels else ""


def _may_be_read_together(before: str, sentence: str) -> bool:
    """Decide whether two sentences may support a claim together: none points elsewhere, the second is no contrast."""
    is_about_other = is_contrast(sentence) or is_past(sentence)
    return not (is_pointer(before) or is_pointer(sentence) or is_about_other)


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
    ranges = _RANGE.fullmatch(small)
    if ranges is None:
        return frozenset({small})
    numbers = {number for item in re.split(r"[_,]", ranges["items"]) for number in _expand_item(item)}
    return frozenset(f"{ranges['kind']}_{number}" for number in numbers)


def _expand_item(item: str) -> list[str]:
    """Return the numbers of one range of a key: `14-16` is 14, 15 and 16, `2a-2c` is 2a, 2b and 2c, `7` is 7."""
    low, _, high = item.partition("-")
    first, last = _NUMBER.fullmatch(low), _NUMBER.fullmatch(high)
    if first is None or last is None:
        return [low, high] if high else [low]
    first_number, last_number = int(first[1]), int(last[1])
    if first_number < last_number <= first_number + _MOST_IN_RANGE:
        return [low, *(str(number) for number in range(first_number, last_number + 1))]
    if first[1] == last[1] and first[2] and last[2]:
        letters = [chr(code) for code in range(ord(first[2]), ord(last[2]) + 1)]
        return [low, *(f"{first[1]}{letter}" for letter in letters)]
    return [low, high]


def _read_cells(
    table: TableRecord, nodes: Mapping[str, NodeRecord], *, abbreviations: Abbreviations
) -> Iterator[Passage]:
    """Read the cells of a table: each is one passage, `Row heading: Column heading: Value`.

    Args:
        table: The table.
        nodes: Nodes of the document by id.
        abbreviations: Abbreviations of the document.

    Yields:
        One passage per cell.
    """
    node = nodes.get(table["table_id"])
    path = tuple(node["heading_path"].split(" > ")) if node else ()
    headings = (*path, table["title"]) if table["title"] else path
    for cell in table["cells"] or ():
        value = cell["text"].replace(" > ", ", ")
        # A note across a table heads its own row and columns.
        paths = dict.fromkeys(path.replace(" > ", ", ") for path in (cell["row_path"], cell["col_path"]))
        words = ": ".join(part for part in (*(path for path in paths if path != value), value) if part)
        boxes: tuple[PlacedBoxRecord, ...] = ({"page": table["page"], **cell["bbox"]},) if cell["bbox"] else ()
        yield Passage(
            document_id=table["document_id"],
            node_id=table["table_id"],
            kind="cell",
            text=words,
            start=0,
            end=0,
            lead_in="",
            before="",
            headings=headings,
            label="",
            keys=frozenset(),
            page=table["page"],
            bboxes=boxes,
            abbreviations=abbreviations,
            headers=(*cell["row_path"].split(" > "), "", *cell["col_path"].split(" > ")),
            value_start=len(words) - len(value),
        )
