"""Where paragraphs are dense, their sentences are nodes of their own, so that each relation has one speaker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.rules.loader import load_family
from taxkg_assets.rules.sentences import find_sentences
from taxkg_assets.schemas import Nodes, References, Sections

_MARK = ":s"


def sentence_node_id(element_id: str, start: int) -> str:
    """Name the node of a sentence by its place in its element's text."""
    return f"{element_id}{_MARK}{start:05d}"


def find_dense_paragraphs(
    sections: dy.DataFrame[Sections], references: dy.DataFrame[References]
) -> dict[str, list[tuple[int, int]]]:
    """Decide which paragraphs are dense: long ones of which several sentences name something that none before named.

    Returns: by element the ranges of all its sentences. A mention of the own box or form counts for nothing.
    Source:  `dense` in rules/sentences.yaml.
    """
    limits = load_family("sentences")["dense"]
    places: dict[str, list[tuple[int, tuple[str, str, str]]]] = defaultdict(list)
    said = references.filter(~pl.col("is_self")).sort("element_id", "start")
    columns = said.select("element_id", "start", "kind", "target", pl.col("target_form").fill_null(""))
    for element_id, start, *named in columns.iter_rows():
        places[element_id].append((start, (named[0], named[1], named[2])))
    prose = sections.filter(pl.col("table_id").is_null()).select("element_id", "text")
    found = {}
    for element_id, text in prose.iter_rows():
        if len({named for _, named in places.get(element_id, ())}) < limits["speakers"]:
            continue
        ranges = find_sentences(text)
        if len(ranges) >= limits["sentences"] and _count_speakers(ranges, places[element_id]) >= limits["speakers"]:
            found[element_id] = ranges
    return found


def _count_speakers(ranges: list[tuple[int, int]], places: list[tuple[int, tuple[str, str, str]]]) -> int:
    """Count the sentences that name something first."""
    speakers, seen = set(), set()
    for place, named in places:
        if named not in seen:
            seen.add(named)
            speakers |= {start for start, end in ranges if start <= place < end}
    return len(speakers)


def find_pieces(pieces: list[Mapping[str, Any]], *, start: int, end: int) -> list[Mapping[str, Any]]:
    """Select the printed lines that a range of the text stands in."""
    return [piece for piece in pieces if piece["start"] < end and piece["end"] > start]


class Speakers:
    """Which node says what stands at a place of an element."""

    def __init__(self, nodes: dy.DataFrame[Nodes], sections: dy.DataFrame[Sections]) -> None:
        """Take the table's node for its text, the sentence's where it is a node, else the paragraph's."""
        columns = sections.select("element_id", pl.coalesce("table_id", "element_id"))
        self._owners: dict[str, str] = dict(columns.iter_rows())
        self._sentences: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for node_id, parent_id, text in _sentence_nodes(nodes):
            start = int(node_id.rpartition(_MARK)[2])
            self._sentences[parent_id].append((start, start + len(text), node_id))

    def find(self, element_id: str, start: int, end: int) -> str:
        """Find the node whose text holds a range: what runs over a sentence's end is said by the paragraph."""
        for low, high, node_id in self._sentences.get(element_id, ()):
            if low <= start and end <= high:
                return node_id
        return self._owners[element_id]


def _sentence_nodes(nodes: pl.DataFrame) -> Iterator[tuple[str, str, str]]:
    yield from nodes.filter(pl.col("level") == "sentence").select("node_id", "parent_id", "text").iter_rows()
