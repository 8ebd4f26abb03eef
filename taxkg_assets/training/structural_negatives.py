"""Structural negatives: a sibling box, the same box of another form or year, a rule that says the opposite.

They may be close to a pair's positive in the graph, but must not have a semantic relation with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import dataframely as dy
import polars as pl

from taxkg_assets.rules.forms import form_pattern, split_forms
from taxkg_assets.schemas import SEMANTIC_RELATIONS, Edges
from taxkg_assets.training.corpus import Corpus, Passage
from taxkg_assets.training.distances import Distances

_KEY = re.compile(r"^(?P<kind>box|line)_(?P<number>\d+)(?P<letter>[a-z]?)$")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_NEGATES = ("excludes",)


@dataclass(frozen=True, slots=True)
class StructuralNegative:
    """A passage that nearly answers a query, with its source (`NEGATIVE_SOURCES`) and the edge or keys behind it."""

    chunk_id: str
    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class StructuralNegativeMiner:
    """Mines negatives from the structure of documents: adjacent boxes, other forms and revisions, opposite polarity.

    Attributes:
        places: Chunk ids by key, by document and perspective.
        names: Chunk ids by name of the field.
        revised: The same heading in other revisions, by anchor.
        speaking: Statements about each node: chunk id, whether it is negated, and the edge.
    """

    corpus: Corpus
    distances: Distances
    places: Mapping[tuple[str, str], Mapping[str, tuple[str, ...]]]
    names: Mapping[str, tuple[str, ...]]
    revised: Mapping[str, tuple[str, ...]]
    speaking: Mapping[str, tuple[tuple[str, bool, str], ...]]

    def mine(self, passage: Passage, query: str) -> Iterator[StructuralNegative]:
        """Yield the structural negatives of a pair, without near-duplicates and related passages of its positive.

        The same box of another form or year is a negative only if the query names its form or year.

        Args:
            passage: The positive.
            query: The pair's query.
        """
        own = {self.distances.paragraph_of.get(n, n) for n in passage.node_ids}
        related = self.distances.find_related(passage.node_ids) | own
        for negative in self._all(passage, query):
            other = self.corpus.passages[negative.chunk_id]
            nodes = {self.distances.paragraph_of.get(n, n) for n in other.node_ids} | {other.anchor_id or ""}
            if other.near_duplicate_group != passage.near_duplicate_group and not nodes & related:
                yield negative

    def _all(self, passage: Passage, query: str) -> Iterator[StructuralNegative]:
        if passage.anchor_key is not None:
            yield from self._siblings(passage)
            if passage.form and any(form_pattern(form).search(query) for form in split_forms(passage.form)):
                yield from self._other_forms(passage)
            if passage.revision[:4] and passage.revision[:4] in _YEAR.findall(query):
                yield from self._other_years(passage)
        yield from self._negated(passage)

    def _siblings(self, passage: Passage) -> Iterator[StructuralNegative]:
        """Yield the boxes with the same number (2e and 2f), or with neighboring numbers."""
        match = _KEY.match(passage.anchor_key or "")
        if match is None:
            return
        for key, chunk_ids in self.places.get((passage.document_id, passage.perspective), {}).items():
            other = _KEY.match(key)
            if other is None or key == passage.anchor_key or other["kind"] != match["kind"]:
                continue
            apart = abs(int(other["number"]) - int(match["number"]))
            if apart == 0 or (apart == 1 and not match["letter"]):
                yield from (
                    StructuralNegative(c, "sibling_box", f"{passage.anchor_key} and {key}") for c in chunk_ids[:1]
                )

    def _other_forms(self, passage: Passage) -> Iterator[StructuralNegative]:
        name = _name(self.corpus, passage)
        for chunk_id in self.names.get(name, ()):
            other = self.corpus.passages[chunk_id]
            if other.family != passage.family:
                yield StructuralNegative(chunk_id, "other_form", f"{name} of {other.form}")

    def _other_years(self, passage: Passage) -> Iterator[StructuralNegative]:
        for anchor_id in self.revised.get(passage.anchor_id or "", ()):
            for chunk_id in self.corpus.chunks_by_anchor.get(anchor_id, ())[:1]:
                yield StructuralNegative(chunk_id, "other_year", f"{anchor_id} is the field in another revision")

    def _negated(self, passage: Passage) -> Iterator[StructuralNegative]:
        """Yield passages that exclude something from a field or heading in which the positive includes something.

        Whole documents do not count: nearly all of their passages say something about them.
        """
        for node_id in sorted({n for own in passage.node_ids for n in self.distances.related.get(own, ())}):
            statements = self.speaking.get(node_id, ())
            if any(chunk_id == passage.chunk_id and not negates for chunk_id, negates, _ in statements):
                for chunk_id, negates, edge in statements:
                    if negates and chunk_id != passage.chunk_id:
                        yield StructuralNegative(chunk_id, "negated", edge)


def build_structural_miner(
    corpus: Corpus, distances: Distances, *, edges: dy.DataFrame[Edges]
) -> StructuralNegativeMiner:
    """Index passages by key and name, and collect what sentences state about each node.

    Args:
        corpus: Passages and nodes.
        distances: Adjacency of the graph.
        edges: Edges of the graph.

    Returns:
        A miner over all passages.
    """
    places: dict[tuple[str, str], dict[str, list[str]]] = {}
    names: dict[str, list[str]] = {}
    for passage in corpus.passages.values():
        if passage.anchor_key is not None and passage.anchor_id is not None:
            side = places.setdefault((passage.document_id, passage.perspective), {})
            side.setdefault(passage.anchor_key, []).append(passage.chunk_id)
            if corpus.chunks_by_anchor[passage.anchor_id][0] == passage.chunk_id:
                names.setdefault(_name(corpus, passage), []).append(passage.chunk_id)
    revised: dict[str, list[str]] = {}
    speaking: dict[str, list[tuple[str, bool, str]]] = {}
    documents = frozenset(node.node_id for node in corpus.nodes.values() if node.level == "document")
    wanted = pl.col("relation").is_in([*SEMANTIC_RELATIONS, "same_field_other_revision"])
    for row in edges.filter(wanted).sort("source_id", "target_id", "relation", "start").iter_rows(named=True):
        source, target = row["source_id"], row["target_id"]
        if row["relation"] == "same_field_other_revision":
            revised.setdefault(source, []).append(target)
            revised.setdefault(target, []).append(source)
        elif target not in documents:
            edge = f"{source}>{row['relation']}>{target}@{row['start']}"
            for chunk_id in corpus.passages_of_node(source)[:1]:
                speaking.setdefault(target, []).append((chunk_id, row["relation"] in _NEGATES, edge))
    return StructuralNegativeMiner(
        corpus=corpus,
        distances=distances,
        places={place: {k: tuple(v) for k, v in keys.items()} for place, keys in places.items()},
        names={name: tuple(found) for name, found in names.items()},
        revised={name: tuple(sorted(found)) for name, found in revised.items()},
        speaking={name: tuple(found) for name, found in speaking.items()},
    )


def _name(corpus: Corpus, passage: Passage) -> str:
    return corpus.anchor_label(passage.anchor_id or "").lower()
