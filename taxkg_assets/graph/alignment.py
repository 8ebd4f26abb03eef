"""Alignment: nodes that refer to the same thing, such as one box for several audiences, over revisions and over forms.

A form's face is the fixed point: instructions for its revision, or continuous-use instructions that nothing newer had
replaced, refer to the same field; other revisions and other forms are weaker relations of their own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

from taxkg_assets.graph.catalogue import Catalogue, Entry
from taxkg_assets.graph.resolution import Resolver, expand_key, face_node_id
from taxkg_assets.records import BoxRecord

_SURE = 0.95
_NEAR = 0.8
_GROUP = 0.9
_CONCEPT = 0.7


@dataclass(frozen=True, slots=True)
class Link:
    """A structural relation of the graph, which has no sentence as evidence.

    Attributes:
        source_id: Node that it starts from.
        target_id: Node that it leads to.
        relation: Structural relation.
        confidence: Probability that it holds, 0 to 1.
    """

    source_id: str
    target_id: str
    relation: str
    confidence: float


def find_links(catalogue: Catalogue, resolver: Resolver, *, registry: Iterable[BoxRecord]) -> Iterator[Link]:
    """Find structural relations of boxes and documents from equal forms, keys, labels and revisions.

    Args:
        catalogue: Documents of the corpus.
        resolver: Anchors by key, for the headings of boxes.
        registry: Rows of `registry`.

    Returns:
        Structural relations: `same_field`, `same_field_other_revision`, `part_of_group`, `same_concept` and
        `supersedes`.
    """
    rows = list(registry)
    yield from _same_fields(catalogue, resolver, rows)
    yield from _other_revisions(catalogue, rows)
    yield from _same_concepts(catalogue, rows)
    yield from _group_members(resolver)
    yield from _successions(catalogue)


def fold_label(label: str) -> str:
    """Normalize a box label for comparison between forms.

    Args:
        label: Label as printed.

    Returns:
        Lower-case words separated by blanks.
    """
    return " ".join(re.findall(r"[a-z0-9%§]+", label.casefold()))


def _same_fields(catalogue: Catalogue, resolver: Resolver, rows: list[BoxRecord]) -> Iterator[Link]:
    """Join each box on a face to its headings for the recipient and for the filer, and these to each other."""
    for row in rows:
        entry = catalogue.entries[row["document_id"]]
        face = face_node_id(row["document_id"], row["box_key"])
        anchors = _box_anchors(resolver, entry.document_id, row["box_key"], form=row["form"])
        for anchor_id, confidence in anchors:
            yield Link(face, anchor_id, "same_field", confidence)
            if resolver.anchors[anchor_id]["kind"] == "box_group":
                yield Link(face, anchor_id, "part_of_group", confidence)
        for doc_type in ("filer_instructions", "recipient_instructions"):
            nearest = catalogue.find_nearest(row["form"], doc_type, citing=entry)
            if nearest is None:
                continue
            booklet, is_sure = nearest
            relation = "same_field" if is_sure else "same_field_other_revision"
            for anchor_id, confidence in _box_anchors(resolver, booklet.document_id, row["box_key"], form=row["form"]):
                sure = confidence if is_sure else min(confidence, _NEAR)
                yield Link(face, anchor_id, relation, sure)
                if resolver.anchors[anchor_id]["kind"] == "box_group":
                    yield Link(face, anchor_id, "part_of_group", sure)
                for own_id, own_confidence in anchors:
                    yield Link(anchor_id, own_id, relation, min(sure, own_confidence))


def _box_anchors(resolver: Resolver, document_id: str, key: str, *, form: str) -> list[tuple[str, float]]:
    """Find the headings of a document for a box of a form, alone or in a group; `12a` also goes by `12`."""
    box_anchors: list[tuple[str, float]] = []
    stem = re.sub(r"(?<=\d)[a-z]$", "", key)
    for name, ceiling in ((key, _SURE), (stem, _GROUP)):
        for anchor_id in resolver.find_anchors(document_id, name):
            row = resolver.anchors[anchor_id]
            if row["kind"] in ("box", "box_group") and form in resolver.find_forms(anchor_id, document_id):
                box_anchors.append((anchor_id, ceiling if row["kind"] == "box" else min(ceiling, _GROUP)))
        if box_anchors:
            break
    return box_anchors


def _other_revisions(catalogue: Catalogue, rows: list[BoxRecord]) -> Iterator[Link]:
    """Join a box to the box of the same number and label on the form's next older face."""
    by_document: dict[str, dict[str, BoxRecord]] = defaultdict(dict)
    for row in rows:
        by_document[row["document_id"]][row["box_key"]] = row
    for entries in _series(catalogue).values():
        faces = [entry for entry in entries if entry.document_id in by_document]
        for older, newer in pairwise(faces):
            old, new = by_document[older.document_id], by_document[newer.document_id]
            for key in sorted(old.keys() & new.keys()):
                if fold_label(old[key]["label"]) == fold_label(new[key]["label"]):
                    yield Link(
                        face_node_id(newer.document_id, key),
                        face_node_id(older.document_id, key),
                        "same_field_other_revision",
                        _SURE,
                    )


def _same_concepts(catalogue: Catalogue, rows: list[BoxRecord]) -> Iterator[Link]:
    """Join boxes of different forms with the same label, on each form's newest face."""
    newest: dict[str, str] = {}
    for form in sorted({row["form"] for row in rows}):
        entries = [entry for entry in catalogue.find_all(form, "form") if not entry.is_draft]
        newest[form] = (entries or catalogue.find_all(form, "form"))[-1].document_id
    by_label: dict[str, list[BoxRecord]] = defaultdict(list)
    for row in rows:
        if newest[row["form"]] == row["document_id"] and len(fold_label(row["label"])) > 2:
            by_label[fold_label(row["label"])].append(row)
    for boxes_of_label in by_label.values():
        for box, other_box in combinations(sorted(boxes_of_label, key=lambda row: (row["form"], row["box_key"])), 2):
            if box["form"] != other_box["form"]:
                yield Link(
                    face_node_id(box["document_id"], box["box_key"]),
                    face_node_id(other_box["document_id"], other_box["box_key"]),
                    "same_concept",
                    _CONCEPT,
                )


def _group_members(resolver: Resolver) -> Iterator[Link]:
    """Join each heading of one box to the heading of its document that names the box together with others."""
    for anchor_id, row in resolver.anchors.items():
        if row["kind"] != "box_group" or not row["key"]:
            continue
        document_id = row["document_id"]
        forms = set(resolver.find_forms(anchor_id, document_id))
        for key in expand_key(row["key"]):
            for other in resolver.find_anchors(document_id, key):
                if resolver.anchors[other]["kind"] == "box" and forms & set(resolver.find_forms(other, document_id)):
                    yield Link(other, anchor_id, "part_of_group", _SURE)


def _successions(catalogue: Catalogue) -> Iterator[Link]:
    """Let each final document supersede the one before it and the drafts since; a draft supersedes nothing."""
    for entries in _series(catalogue).values():
        waiting: list[Entry] = []
        for entry in entries:
            if entry.is_draft:
                waiting.append(entry)
                continue
            for older in waiting:
                if older.is_draft or older.revision != entry.revision:
                    yield Link(entry.document_id, older.document_id, "supersedes", _SURE)
            waiting = [entry]


def _series(catalogue: Catalogue) -> dict[tuple[str, str], list[Entry]]:
    """Group the documents of one product, oldest revision first, a draft before the final of its revision."""
    series: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in catalogue.entries.values():
        if entry.forms and entry.months:
            series[" and ".join(entry.forms), entry.doc_type].append(entry)
    for entries in series.values():
        entries.sort(key=lambda entry: (entry.months, not entry.is_draft, entry.document_id))
    return dict(sorted(series.items()))
