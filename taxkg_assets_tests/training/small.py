"""A small corpus of two families, and retrievers that count words: enough for pairs and negatives of most kinds."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import dataframely as dy
import numpy as np
import polars as pl

from taxkg_assets.schemas import Chunks, Documents, Edges, Nodes, Registry
from taxkg_assets.training.corpus import Corpus, read_corpus
from taxkg_assets.training.families import find_families
from taxkg_assets.training.retrievers import Floats

Table = TypeVar("Table", bound=dy.Schema)

# document, form, doc_type, revision, title
_DOCUMENTS = [
    ("i77--2023", "77-A", "filer_instructions", "2023", "Instructions for Form 77-A (2023)"),
    ("i77--2024", "77-A", "filer_instructions", "2024", "Instructions for Form 77-A (2024)"),
    ("p900--2024", "Pub. 900", "publication", "2024", "Publication 900 (2024) — Lots"),
]
# document, anchor, key, heading
_PLACES = [
    ("i77--2023", "a1", "box_2e", "Box 2e. Rent of Lots"),
    ("i77--2024", "b1", "box_2e", "Box 2e. Rent of Lots"),
    ("i77--2024", "b2", "box_2f", "Box 2f. Rent of Fences"),
    ("i77--2024", "b3", "box_3", "Box 3. Rent"),
    ("i77--2024", "b4", None, "Deposits"),
    ("p900--2024", "c1", None, "Lodgers"),
    ("p900--2024", "c2", None, "Gardens"),
    ("p900--2024", "c3", None, "Sheds"),
]
_RENT = "Enter the rent that the owner of a lot was paid. Include it in box 3, too."
_TEXTS = {
    "a1": _RENT,
    "b1": _RENT,
    "b2": "Enter the rent that the owner of a fence was paid, if it is let without its lot.",
    "b3": "If you let a lot and a fence, you must add the sums of both. See Deposits.",
    "b4": "Deposits are not included in your income. Do not enter deposits in box 3, as they are no rent.",
    "c1": "Lodgers who leave early may get part of what they paid back from the owner of the house.",
    "c2": "A garden is a piece of land with flowers. The rent of a garden is like any other rent of a lot.",
    "c3": "Sheds cost nothing to build, and you can deduct the cost of nails in the year of the storm.",
}
_EDGES = [
    ("b1:p", "b3", "portion_of", "Include it in box 3, too."),
    ("b3:p", "b4", "references_section", "See Deposits."),
    ("b4:p", "b3", "excludes", "Do not enter deposits in box 3, as they are no rent."),
    ("a1", "b1", "same_field_other_revision", ""),
]


def fill(schema: type[Table], rows: Sequence[Mapping[str, Any]]) -> dy.DataFrame[Table]:
    """Rows of a table of which only some columns matter; the others get the least that their types allow."""
    blank = {pl.String: "", pl.Int32: 1, pl.Float64: 1.0, pl.Boolean: False}
    empty = schema.create_empty().schema
    default = {
        name: blank.get(kind.base_type(), None if kind.base_type() != pl.List else []) for name, kind in empty.items()
    }
    return schema.cast(pl.DataFrame([{**default, **row} for row in rows], schema=empty))


def documents() -> dy.DataFrame[Documents]:
    """Two years of one form's instructions, and a publication."""
    names = ("document_id", "form", "doc_type", "revision", "title")
    return fill(Documents, [dict(zip(names, row, strict=True)) for row in _DOCUMENTS])


def nodes() -> dy.DataFrame[Nodes]:
    """Documents, headings, and one paragraph below each."""
    rows: list[dict[str, Any]] = []
    for document, _, _, _, title in _DOCUMENTS:
        rows.append(
            {"node_id": document, "document_id": document, "level": "document", "text": title, "parent_id": None}
        )
        for home, anchor, key, heading in _PLACES:
            if home == document:
                own = {"document_id": document, "anchor_key": key, "heading_path": f"{title} > {heading}"}
                rows.append({**own, "node_id": anchor, "level": "anchor", "text": heading, "parent_id": document})
                rows.append(
                    {**own, "node_id": f"{anchor}:p", "level": "paragraph", "text": _TEXTS[anchor], "parent_id": anchor}
                )
    return fill(Nodes, [{"perspective": "filer", "canonical_id": None, **row} for row in rows])


def edges() -> dy.DataFrame[Edges]:
    """The tree, and what the paragraphs state about each other."""
    tree = [(r["parent_id"], r["node_id"], "parent_of", "") for r in nodes().iter_rows(named=True) if r["parent_id"]]
    names = ("source_id", "target_id", "relation", "evidence")
    rows = [dict(zip(names, row, strict=True)) for row in (*tree, *_EDGES)]
    return fill(Edges, [{**r, "polarity": "negative" if r["relation"] == "excludes" else "positive"} for r in rows])


def chunks() -> dy.DataFrame[Chunks]:
    """One passage for each paragraph."""
    titles = {row[0]: (row[1], row[4]) for row in _DOCUMENTS}
    return fill(
        Chunks,
        [
            {
                "chunk_id": f"paragraph:{anchor}:p",
                "document_id": document,
                "chunk_ix": place,
                "anchor_id": anchor,
                "anchor_key": key,
                "heading_path": f"{titles[document][1]} > {heading}",
                "form": titles[document][0],
                "perspective": "filer",
                "node_ids": [f"{anchor}:p"],
                "parent_id": anchor,
                "level": "paragraph",
                "text": f"{heading}\n{_TEXTS[anchor]}",
                "context": f"{titles[document][1]} > {heading}",
                "status": "accepted",
            }
            for place, (document, anchor, key, heading) in enumerate(_PLACES)
        ],
    )


def registry() -> dy.DataFrame[Registry]:
    """No faces."""
    return Registry.create_empty()


def corpus() -> Corpus:
    """All of it, as the stage reads it."""
    families = find_families(documents(), nodes(), edges=edges())
    return read_corpus(chunks(), documents(), nodes=nodes(), registry=registry(), edges=edges(), families=families)


@dataclass(frozen=True)
class CountingRetrievers:
    """Retrievers for which texts are alike by the words that they share."""

    chunk_ids: tuple[str, ...]
    vectors: Floats
    words: tuple[frozenset[str], ...]

    def encode(self, texts: Sequence[str]) -> Floats:
        """Counts of words, hashed into N places, of length one."""
        return encode(texts)

    def score_lexical(self, text: str) -> Floats:
        """Words in common."""
        queried = _find_words(text)
        return np.array([len(queried & own) for own in self.words], dtype=np.float32)


def retrievers() -> CountingRetrievers:
    """Over the small corpus."""
    texts = {row["chunk_id"]: f"{row['context']}\n{row['text']}" for row in chunks().iter_rows(named=True)}
    ids = tuple(sorted(texts))
    return CountingRetrievers(ids, encode([texts[c] for c in ids]), tuple(_find_words(texts[c]) for c in ids))


def encode(texts: Sequence[str]) -> Floats:
    """Counts of words, hashed into N places, of length one."""
    found = np.zeros((len(texts), 512), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in _find_words(text):
            found[row, zlib.crc32(word.encode()) % 512] += 1
    unit: Floats = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
    return unit


def _find_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9]+", text.lower()))
