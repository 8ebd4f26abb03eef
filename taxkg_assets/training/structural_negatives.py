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
_NEGATED_RELATIONS = ("excludes",)


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
        chunks_by_key: Chunk ids by the key of their box or line, for each document and perspective.
        chunks_by_name: Chunk ids by the name of their field.
        other_revisions: The same heading in other revisions, by anchor.
        statements: Statements about each node: chunk id, whether it is negated, and the edge.
    """

    corpus: Corpus
    distances: Distances
    chunks_by_key: Mapping[tuple[str, str], Mapping[str, tuple[str, ...]]]
    chunks_by_name: Mapping[str, tuple[str, ...]]
    other_revisions: Mapping[str, tuple[str, ...]]
    statements: Mapping[str, tuple[tuple[str, bool, str], ...]]

    def mine(self, passage: Passage, query: str) -> Iterator[StructuralNegative]:
        """Yield the structural negatives of a pair, without near-duplicates and related passages of its positive.

        The same box of another form or year is a negative only if the query names its form or year.

        Args:
            passage: The positive.
            query: The pair's query.
        """
        excluded = self.distances.find_related(passage.node_ids) | self._find_paragraphs(passage)
        for negative in self._find_candidates(passage, query):
            other = self.corpus.passages[negative.chunk_id]
            node_ids = self._find_paragraphs(other) | {other.anchor_id or ""}
            if other.near_duplicate_group != passage.near_duplicate_group and not node_ids & excluded:
                yield negative

    def _find_paragraphs(self, passage: Passage) -> set[str]:
        """Return the paragraphs and tables of a passage; a sentence counts as its paragraph."""
        return {self.distances.paragraph_of.get(node_id, node_id) for node_id in passage.node_ids}

    def _find_candidates(self, passage: Passage, query: str) -> Iterator[StructuralNegative]:
        if passage.anchor_key is not None:
            yield from self._find_sibling_boxes(passage)
            if passage.form and any(form_pattern(form).search(query) for form in split_forms(passage.form)):
                yield from self._find_other_forms(passage)
            if passage.revision[:4] and passage.revision[:4] in _YEAR.findall(query):
                yield from self._find_other_years(passage)
        yield from self._find_negated(passage)

    def _find_sibling_boxes(self, passage: Passage) -> Iterator[StructuralNegative]:
        """Yield the boxes with the same number (2e and 2f), or with neighboring numbers."""
        own_key = _KEY.match(passage.anchor_key or "")
        if own_key is None:
            return
        for key, chunk_ids in self.chunks_by_key.get((passage.document_id, passage.perspective), {}).items():
            other_key = _KEY.match(key)
            if other_key is None or key == passage.anchor_key or other_key["kind"] != own_key["kind"]:
                continue
            difference = abs(int(other_key["number"]) - int(own_key["number"]))
            if difference == 0 or (difference == 1 and not own_key["letter"]):
                yield StructuralNegative(chunk_ids[0], "sibling_box", f"{passage.anchor_key} and {key}")

    def _find_other_forms(self, passage: Passage) -> Iterator[StructuralNegative]:
        name = _name_field(self.corpus, passage)
        for chunk_id in self.chunks_by_name.get(name, ()):
            other = self.corpus.passages[chunk_id]
            if other.family != passage.family:
                yield StructuralNegative(chunk_id, "other_form", f"{name} of {other.form}")

    def _find_other_years(self, passage: Passage) -> Iterator[StructuralNegative]:
        for anchor_id in self.other_revisions.get(passage.anchor_id or "", ()):
            for chunk_id in self.corpus.chunks_by_anchor.get(anchor_id, ())[:1]:
                yield StructuralNegative(chunk_id, "other_year", f"{anchor_id} is the field in another revision")

    def _find_negated(self, passage: Passage) -> Iterator[StructuralNegative]:
        """Yield passages that exclude something from a field or heading in which the positive includes something.

        Whole documents do not count: nearly all of their passages say something about them.
        """
        related = {related_id for node_id in passage.node_ids for related_id in self.distances.related.get(node_id, ())}
        for node_id in sorted(related):
            statements = self.statements.get(node_id, ())
            if any(chunk_id == passage.chunk_id and not is_negated for chunk_id, is_negated, _ in statements):
                for chunk_id, is_negated, edge in statements:
                    if is_negated and chunk_id != passage.chunk_id:
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
    chunks_by_key: dict[tuple[str, str], dict[str, list[str]]] = {}
    chunks_by_name: dict[str, list[str]] = {}
    for passage in corpus.passages.values():
        if passage.anchor_key is not None and passage.anchor_id is not None:
            of_document = chunks_by_key.setdefault((passage.document_id, passage.perspective), {})
            of_document.setdefault(passage.anchor_key, []).append(passage.chunk_id)
            if corpus.chunks_by_anchor[passage.anchor_id][0] == passage.chunk_id:
                chunks_by_name.setdefault(_name_field(corpus, passage), []).append(passage.chunk_id)
    other_revisions: dict[str, list[str]] = {}
    statements: dict[str, list[tuple[str, bool, str]]] = {}
    documents = frozenset(node.node_id for node in corpus.nodes.values() if node.level == "document")
    is_used = pl.col("relation").is_in([*SEMANTIC_RELATIONS, "same_field_other_revision"])
    for row in edges.filter(is_used).sort("source_id", "target_id", "relation", "start").iter_rows(named=True):
        source, target = row["source_id"], row["target_id"]
        if row["relation"] == "same_field_other_revision":
            other_revisions.setdefault(source, []).append(target)
            other_revisions.setdefault(target, []).append(source)
        elif target not in documents:
            edge = f"{source}>{row['relation']}>{target}@{row['start']}"
            for chunk_id in corpus.passages_of_node(source)[:1]:
                statements.setdefault(target, []).append((chunk_id, row["relation"] in _NEGATED_RELATIONS, edge))
    return StructuralNegativeMiner(
        corpus=corpus,
        distances=distances,
        chunks_by_key={
            document: {key: tuple(chunk_ids) for key, chunk_ids in by_key.items()}
            for document, by_key in chunks_by_key.items()
        },
        chunks_by_name={name: tuple(chunk_ids) for name, chunk_ids in chunks_by_name.items()},
        other_revisions={anchor_id: tuple(sorted(others)) for anchor_id, others in other_revisions.items()},
        statements={node_id: tuple(of_node) for node_id, of_node in statements.items()},
    )


def _name_field(corpus: Corpus, passage: Passage) -> str:
    """Return the name of the box, line or heading that owns a passage, in lower case."""
    return corpus.anchor_label(passage.anchor_id or "").lower()
