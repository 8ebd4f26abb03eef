"""Sentences as nodes: where paragraphs are dense, each relation starts from the sentence that states it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import dataframely as dy
import polars as pl

from taxkg_assets.graph.node_places import Piece
from taxkg_assets.rules.models.sentences import load_sentences
from taxkg_assets.rules.sentences import find_sentences
from taxkg_assets.schemas import Nodes, References, Sections

_MARK = ":s"


def sentence_node_id(element_id: str, start: int) -> str:
    """Return the id of a sentence's node.

    Args:
        element_id: Element of the sentence.
        start: First character in the element's text, 0-based.
    """
    return f"{element_id}{_MARK}{start:05d}"


def find_dense_paragraphs(
    sections: dy.DataFrame[Sections], references: dy.DataFrame[References]
) -> dict[str, list[tuple[int, int]]]:
    """Find dense paragraphs: long ones in which several sentences introduce a reference.

    Args:
        sections: Content elements; rows of tables are left out.
        references: References of these elements; a mention of the text's own box or form does not count.

    Returns:
        Ranges of all sentences by element id: half-open characters, 0-based.

    Source:
        `dense` in rules/sentences.yaml.
    """
    limits = load_sentences().dense
    places: dict[str, list[tuple[int, tuple[str, str, str]]]] = defaultdict(list)
    target_columns = ("kind", "target", "target_form")
    mentions = references.filter(~pl.col("is_self")).with_columns(pl.col("target_form").fill_null(""))
    counted = mentions.select("element_id", *target_columns).unique().group_by("element_id").len()
    speaking = counted.filter(pl.col("len") >= limits.speakers)["element_id"].implode()
    several = mentions.filter(pl.col("element_id").is_in(speaking)).sort("element_id", "start")
    for element_id, start, kind, target, form in several.select("element_id", "start", *target_columns).iter_rows():
        places[element_id].append((start, (kind, target, form)))
    prose = sections.filter(pl.col("table_id").is_null() & pl.col("element_id").is_in(speaking))
    dense = {}
    sentences_by_text: dict[str, list[tuple[int, int]]] = {}  # editions of a document print the same
    for element_id, text in prose.select("element_id", "text").iter_rows():
        if (ranges := sentences_by_text.get(text)) is None:
            ranges = sentences_by_text[text] = find_sentences(text)
        if len(ranges) >= limits.sentences and _count_naming_sentences(ranges, places[element_id]) >= limits.speakers:
            dense[element_id] = ranges
    return dense


def _count_naming_sentences(ranges: list[tuple[int, int]], places: list[tuple[int, tuple[str, str, str]]]) -> int:
    """Count the sentences that name something for the first time."""
    naming, seen = set(), set()
    for place, named in places:
        if named not in seen:
            seen.add(named)
            naming |= {start for start, end in ranges if start <= place < end}
    return len(naming)


def find_pieces(pieces: list[Piece], *, start: int, end: int) -> list[Piece]:
    """Select the printed lines that overlap a text range.

    Args:
        pieces: Lines of the text.
        start: 0-based offset of the range.
        end: Exclusive end offset.

    Returns:
        Lines in their order.
    """
    return [piece for piece in pieces if piece.start < end and piece.end > start]


class EvidenceNodes:
    """Finds the node that contains a position in an element: its table, sentence or paragraph.

    A table's text belongs to the table's node; other text to its sentence if that is a node, else to its paragraph.

    Args:
        nodes: Nodes of the graph.
        sections: Content elements.
    """

    def __init__(self, nodes: dy.DataFrame[Nodes], sections: dy.DataFrame[Sections]) -> None:
        """Index the nodes by element."""
        columns = sections.select("element_id", pl.coalesce("table_id", "element_id"))
        self._owners: dict[str, str] = dict(columns.iter_rows())
        self._sentences: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for node_id, parent_id, text in _sentence_nodes(nodes):
            start = int(node_id.rpartition(_MARK)[2])
            self._sentences[parent_id].append((start, start + len(text), node_id))

    def find(self, element_id: str, start: int, end: int) -> str:
        """Return the node whose text contains a range; the paragraph where the range crosses the end of a sentence.

        Args:
            element_id: Element of the range.
            start: First character, 0-based.
            end: Exclusive end offset.

        Raises:
            KeyError: The element is unknown.
        """
        for low, high, node_id in self._sentences.get(element_id, ()):
            if low <= start and end <= high:
                return node_id
        return self._owners[element_id]


def _sentence_nodes(nodes: pl.DataFrame) -> Iterator[tuple[str, str, str]]:
    yield from nodes.filter(pl.col("level") == "sentence").select("node_id", "parent_id", "text").iter_rows()
