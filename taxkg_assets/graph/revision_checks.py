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

_POINTER = re.compile(r"^(?P<source>.+):(?P<start>\d+)-(?P<end>\d+)$")


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
    """Find changes whose wording, key or evidence is not in the documents, or whose two wordings are equal.

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
    known = {row["document_id"]: row for row in documents.iter_rows(named=True)}
    compared = set(revisions["from_document_id"]) | set(revisions["to_document_id"])
    printed = {
        document_id: _printed(
            document_id, sections=sections, anchors=anchors, tables=tables, faces=faces, elements=elements
        )
        for document_id in sorted(compared & known.keys())
    }
    key = ("from_document_id", "to_document_id", "change_ix")
    found = [
        {**{name: row[name] for name in key}, "fault": fault}
        for row in revisions.iter_rows(named=True)
        for fault in _faults(row, known=known, printed=printed)
    ]
    schema = {name: revisions.schema[name] for name in key} | {"fault": pl.String}
    return pl.DataFrame(found, schema=schema)


@dataclass(frozen=True, slots=True)
class _Printed:
    """Text of a document: length of the longest text by the id of its source, all texts, and all keys."""

    longest: Mapping[str, int]
    everything: frozenset[str]
    keys: frozenset[str]


def _printed(
    document_id: str,
    *,
    sections: pl.DataFrame,
    anchors: pl.DataFrame,
    tables: pl.DataFrame,
    faces: pl.DataFrame,
    elements: pl.DataFrame,
) -> _Printed:
    is_own = pl.col("document_id") == document_id
    texts: dict[str, set[str]] = {}
    keys: set[str] = set()
    for source_id, text in sections.filter(is_own).select("element_id", "text").iter_rows():
        texts.setdefault(source_id, set()).add(text)
    margins = elements.filter(is_own, pl.col("role") == "PageArtifact")
    for source_id, text in margins.select("element_id", "text").iter_rows():
        texts.setdefault(source_id, set()).add(text)
    for source_id, heading, key in anchors.filter(is_own).select("anchor_id", "heading", "key").iter_rows():
        texts.setdefault(source_id, set()).add(heading)
        keys.add(key or "")
    for row in tables.filter(is_own).iter_rows(named=True):
        cells = {cell[name] for cell in row["cells"] for name in ("text", "row_path")}
        texts.setdefault(row["table_id"], set()).update(cells)
    for box_key, label in faces.filter(is_own).select("box_key", "label").iter_rows():
        texts.setdefault(f"{document_id}#{box_key}", set()).add(label)
        keys.add(box_key)
    longest = {source_id: max(map(len, own), default=-1) for source_id, own in texts.items()}
    return _Printed(longest, frozenset().union(*texts.values()), frozenset(keys))


def _faults(
    row: Mapping[str, Any], *, known: Mapping[str, Mapping[str, Any]], printed: Mapping[str, _Printed]
) -> Iterator[str]:
    sides = {"before": row["from_document_id"], "after": row["to_document_id"]}
    if missing := [name for name in sides.values() if name not in known]:
        yield f"no document {', '.join(missing)}"
        return
    if any(known[name]["is_draft"] for name in sides.values()):
        yield "a draft counts as a revision"
    for (side, name), pointers in zip(sides.items(), _pointers(row["evidence"]), strict=True):
        if strange := [t for t in row[side].split("\n") if t and t not in printed[name].everything]:
            yield f"{side} is not what {name} prints: {strange[0][:60]}"
        for pointer in pointers:
            match = _POINTER.match(pointer)
            longest = printed[name].longest.get(match["source"], -1) if match else -1
            if match is None or not int(match["start"]) <= int(match["end"]) <= longest:
                yield f"evidence points nowhere: {pointer}"
        if any(not 0 <= w[f"{side}_start"] <= w[f"{side}_end"] <= len(row[side]) for w in row["words"]):
            yield f"words lie outside {side}"
    own = printed[sides["before" if row["kind"].endswith("removed") else "after"]].keys
    if row["key"] and row["key"] not in own:
        yield f"no key {row['key']}"
    if row["previous_key"] and (
        row["previous_key"] == row["key"] or row["previous_key"] not in printed[sides["before"]].keys
    ):
        yield f"no older key {row['previous_key']}"
    has_changed_words = row["kind"].endswith(("changed", "renamed"))
    if has_changed_words and (not row["words"] or find_words(row["before"]) == find_words(row["after"])):
        yield "nothing changed"
    for word in row["words"]:
        before = row["before"][word["before_start"] : word["before_end"]]
        if before == row["after"][word["after_start"] : word["after_end"]]:
            yield f"words that did not change: {before[:60]}"


def _pointers(evidence: str) -> tuple[list[str], list[str]]:
    before, _, after = evidence.partition(" → ")
    return [p for p in before.split("; ") if p], [p for p in after.split("; ") if p]
