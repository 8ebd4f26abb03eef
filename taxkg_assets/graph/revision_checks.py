"""Invariants of `revisions`: a change quotes both documents, and nothing is reported that did not change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.graph.text_diff import find_words
from taxkg_assets.schemas import Anchors, Documents, Elements, Faces, Revisions, Sections, Tables

_RANGE = re.compile(r":(?P<start>\d+)-(?P<end>\d+)(?P<separator>; | → |$)")
"""The end of a pointer, with what separates it from the next one; a source may contain the same characters."""
_ARROW = " → "


def find_invalid_changes(
    revisions: dy.DataFrame[Revisions],
    documents: dy.DataFrame[Documents],
    *,
    sections: dy.DataFrame[Sections],
    anchors: dy.DataFrame[Anchors],
    tables: dy.DataFrame[Tables],
    faces: dy.DataFrame[Faces],
    elements: dy.DataFrame[Elements],
) -> pl.DataFrame:
    """Find changes whose wording, key or evidence is not in the documents, or whose wordings are equal.

    Args:
        revisions: Changes to check.
        documents: Documents of the corpus.
        sections: Content elements of the compared documents.
        anchors: Anchors of the compared documents.
        tables: Tables of the compared documents.
        faces: Boxes of the compared documents.
        elements: Elements of the compared documents, for the text in margins.

    Returns:
        `from_document_id`, `to_document_id`, `change_ix` and `fault`, one row per fault.
    """
    documents_by_id = {row["document_id"]: row for row in documents.iter_rows(named=True)}
    texts = _list_texts(sections=sections, anchors=anchors, tables=tables, faces=faces, elements=elements)
    printed = _look_up(revisions, texts, anchors=anchors, faces=faces)
    key = ("from_document_id", "to_document_id", "change_ix")
    invalid_changes = [
        {**{name: row[name] for name in key}, "fault": fault}
        for row in revisions.iter_rows(named=True)
        for fault in _faults(row, known=documents_by_id, printed=printed)
    ]
    schema = {name: revisions.schema[name] for name in key} | {"fault": pl.String}
    return pl.DataFrame(invalid_changes, schema=schema)


@dataclass(frozen=True, slots=True)
class _Printed:
    """What documents print: the length of the longest text of each source, and those of the texts that changes quote.

    Attributes:
        longest: Number of characters by document and source.
        texts: Documents with a text that they print.
        keys: Documents with a key that they have.
    """

    longest: Mapping[tuple[str, str], int]
    texts: frozenset[tuple[str, str]]
    keys: frozenset[tuple[str, str]]


def _list_texts(
    *, sections: pl.DataFrame, anchors: pl.DataFrame, tables: pl.DataFrame, faces: pl.DataFrame, elements: pl.DataFrame
) -> pl.LazyFrame:
    """List the texts of all documents with their sources: `document_id`, `source`, `text`."""
    margins = elements.lazy().filter(pl.col("role") == "PageArtifact")
    cells = tables.lazy().select("document_id", "table_id", "cells").explode("cells", empty_as_null=False)
    box = pl.concat_str("document_id", pl.lit("#"), "box_key")
    document_id = pl.col("document_id")
    return pl.concat(
        [
            sections.lazy().select(document_id, source="element_id", text="text"),
            margins.select(document_id, source="element_id", text="text"),
            anchors.lazy().select(document_id, source="anchor_id", text="heading"),
            *(
                cells.select(document_id, source="table_id", text=pl.col("cells").struct.field(name))
                for name in ("text", "row_path")
            ),
            faces.lazy().select(document_id, source=box, text="label"),
        ]
    )


def _look_up(revisions: pl.DataFrame, texts: pl.LazyFrame, *, anchors: pl.DataFrame, faces: pl.DataFrame) -> _Printed:
    """Look up what the changes point at and quote in the documents."""
    sides = (("from_document_id", "before"), ("to_document_id", "after"))
    quoted = pl.concat(
        [revisions.select(document_id=name, text=pl.col(side).str.split("\n")).explode("text") for name, side in sides]
    ).unique()
    compared = quoted.select("document_id").unique()
    longest = (
        texts.join(compared.lazy(), on="document_id", how="semi")
        .group_by("document_id", "source")
        .agg(pl.col("text").str.len_chars().max())
        .collect()
    )
    matches = texts.select("document_id", "text").join(quoted.lazy(), on=["document_id", "text"], how="semi").collect()
    keys = [anchors.select("document_id", pl.col("key").fill_null("")), faces.select("document_id", key="box_key")]
    return _Printed(
        {(document_id, source): length for document_id, source, length in longest.iter_rows()},
        frozenset(matches.iter_rows()),
        frozenset(row for frame in keys for row in frame.iter_rows()),
    )


def _faults(row: Mapping[str, Any], *, known: Mapping[str, Mapping[str, Any]], printed: _Printed) -> Iterator[str]:
    sides = {"before": row["from_document_id"], "after": row["to_document_id"]}
    if missing := [name for name in sides.values() if name not in known]:
        yield f"no document {', '.join(missing)}"
        return
    if any(known[name]["is_draft"] for name in sides.values()):
        yield "a draft counts as a revision"
    next_at = 0
    for side, name in sides.items():
        if strange := [t for t in row[side].split("\n") if t and (name, t) not in printed.texts]:
            yield f"{side} is not what {name} prints: {strange[0][:60]}"
        pointers, next_at = _read_pointers(row["evidence"], name, first_at=next_at, printed=printed)
        for pointer in pointers:
            if not pointer.start <= pointer.end <= printed.longest.get((name, pointer.source), -1):
                yield f"evidence points nowhere: {pointer.text}"
        if any(not 0 <= w[f"{side}_start"] <= w[f"{side}_end"] <= len(row[side]) for w in row["words"]):
            yield f"words lie outside {side}"
    texts = sides["before" if row["kind"].endswith("removed") else "after"]
    if row["key"] and (texts, row["key"]) not in printed.keys:
        yield f"no key {row['key']}"
    if row["previous_key"] and (
        row["previous_key"] == row["key"] or (sides["before"], row["previous_key"]) not in printed.keys
    ):
        yield f"no older key {row['previous_key']}"
    has_changed_words = row["kind"].endswith(("changed", "renamed"))
    if has_changed_words and (not row["words"] or find_words(row["before"]) == find_words(row["after"])):
        yield "nothing changed"
    for word in row["words"]:
        before = row["before"][word["before_start"] : word["before_end"]]
        if before == row["after"][word["after_start"] : word["after_end"]]:
            yield f"words that did not change: {before[:60]}"


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A range of the text of a source; without a range, `start` is 0 and `end` is -1.

    Attributes:
        text: The pointer as written.
        source: Element, heading, table or box.
        start: First character, 0-based.
        end: Exclusive end offset.
    """

    text: str
    source: str
    start: int
    end: int


def _read_pointers(evidence: str, document_id: str, *, first_at: int, printed: _Printed) -> tuple[list[_Pointer], int]:
    """Read the pointers of one side of a change, and return them with the place where the other side begins.

    The name of a file, which is in every source, may contain the separators. A pointer ends where its source is one of
    the document; where none is, at the first range.
    """
    pointers: list[_Pointer] = []
    at = first_at
    while at < len(evidence):
        if not pointers and evidence.startswith(_ARROW, at):
            return pointers, at + len(_ARROW)
        first_range = known_range = None
        for match in _RANGE.finditer(evidence, at):
            first_range = first_range or match
            if (document_id, evidence[at : match.start()]) in printed.longest:
                known_range = match
                break
        nearest_range = known_range or first_range
        if nearest_range is None:
            pointers.append(_Pointer(evidence[at:], "", 0, -1))
            return pointers, len(evidence)
        text, source = evidence[at : nearest_range.start("separator")], evidence[at : nearest_range.start()]
        pointers.append(_Pointer(text, source, int(nearest_range["start"]), int(nearest_range["end"])))
        at = nearest_range.end()
        if nearest_range["separator"] == _ARROW:
            break
    return pointers, at
