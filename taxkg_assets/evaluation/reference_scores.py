"""References against labeled ones: found, invented, and with the right relation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy

from taxkg_assets.evaluation.extraction_scores import (
    LabeledScore,
    Miss,
    find_structural_owner,
    score_share,
)
from taxkg_assets.evaluation.labels import AnchorLabel, Labels, ReferenceLabel, ScopeLabel
from taxkg_assets.evaluation.naming import is_same_evidence, is_same_heading, normalize_target
from taxkg_assets.records import AnchorRecord, iter_records
from taxkg_assets.schemas import Anchors, Documents, References

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Scope:
    """The part of one document whose references are labeled without a gap."""

    headings: tuple[str, ...]
    all_headings: tuple[str, ...]
    first_page: int
    last_page: int


def score_references(
    references: dy.DataFrame[References],
    labels: Labels,
    *,
    anchors: dy.DataFrame[Anchors],
    documents: dy.DataFrame[Documents],
) -> LabeledScore:
    """Score precision and recall of references in the labeled parts of the documents.

    Each is scored once by target alone and once by target and relation.

    Args:
        references: Extracted references.
        labels: Labels of all folders.
        anchors: Extracted anchors.
        documents: Documents of the corpus; labels of others are ignored.

    Returns:
        `reference_precision` and `reference_recall` by target; `typed_precision` and `typed_recall` by target and
        relation.
    """
    known = labels.within(set(documents["document_id"]))
    rows = list(references.iter_rows(named=True))
    matches = _pair(known.references, rows)
    label_of = {ix: label for label, ix in zip(known.references, matches, strict=True) if ix is not None}
    is_inside = _find_inside(known, anchors)
    in_scope = [ix for ix, row in enumerate(rows) if ix in label_of or is_inside(row)]
    invented = [ix for ix in in_scope if ix not in label_of and not rows[ix]["is_self"]]
    scored = [ix for ix in in_scope if not (rows[ix]["is_self"] or (ix in label_of and label_of[ix].is_self))]
    relation_scored = [ix for ix in scored if not (ix in label_of and label_of[ix].is_hard)]
    typed = [ix for ix in relation_scored if rows[ix]["relation"] != "references"]
    typed_right = [ix for ix in typed if ix in label_of and rows[ix]["relation"] in label_of[ix].relations]
    misses: list[Miss] = [
        ("invented", rows[ix]["document_id"], rows[ix]["page"], "", rows[ix]["target"], rows[ix]["evidence"])
        for ix in invented
    ]
    expected = [
        (label, None if ix is None else rows[ix])
        for label, ix in zip(known.references, matches, strict=True)
        if not (label.is_optional or label.is_self)
    ]
    outcomes = [
        (rows[ix]["confidence"], ix in label_of and _has_relation(rows[ix], label_of[ix])) for ix in relation_scored
    ]
    figures, missed = _score_labels(expected)
    figures["reference_precision"] = score_share(len(scored) - len(invented), len(scored)) if known.references else None
    figures["typed_precision"] = score_share(len(typed_right), len(typed)) if known.references else None
    return LabeledScore.of(
        "reference_precision", figures, n_rows=len(expected), misses=misses + missed, outcomes=outcomes
    )


def _pair(wanted: Sequence[ReferenceLabel], rows: Sequence[Row]) -> list[int | None]:
    """Return the row number of the reference that matches each label, none twice.

    A sentence may begin on an adjacent page.
    """
    on_page = defaultdict(list)
    for ix, row in enumerate(rows):
        on_page[row["document_id"], row["page"]].append(ix)
    used: set[int] = set()
    matches: list[int | None] = []
    for label in wanted:
        targets = {normalize_target(target) for target in label.targets}
        hit = next(
            (
                ix
                for page in (label.page, label.page + 1, label.page - 1)
                for ix in on_page[label.document_id, page]
                if ix not in used
                and normalize_target(rows[ix]["target"]) in targets
                and is_same_evidence(rows[ix]["evidence"], label.evidence)
            ),
            None,
        )
        if hit is not None:
            used.add(hit)
        matches.append(hit)
    return matches


def _score_labels(expected: Sequence[tuple[ReferenceLabel, Row | None]]) -> tuple[dict[str, float | None], list[Miss]]:
    typed = [(label, row) for label, row in expected if label.relations[0] != "references" and not label.is_hard]
    right = [row is not None and _has_relation(row, label) for label, row in typed]
    misses: list[Miss] = [
        ("missed", label.document_id, label.page, label.targets[0], None, label.evidence)
        for label, row in expected
        if row is None
    ]
    misses += [
        (
            "relation",
            label.document_id,
            label.page,
            f"{label.targets[0]}: {label.relations[0]} {label.polarity}",
            f"{row['relation']} {row['polarity']}",
            label.evidence,
        )
        for (label, row), is_right in zip(typed, right, strict=True)
        if row is not None and not is_right
    ]
    figures = {
        "reference_recall": score_share(sum(row is not None for _, row in expected), len(expected)),
        "typed_recall": score_share(sum(right), len(typed)),
    }
    return figures, misses


def _has_relation(row: Row, label: ReferenceLabel) -> bool:
    return row["relation"] in label.relations and row["polarity"] == label.polarity


# -------------------------------------------------------------------------------------------------------- scope


def _find_inside(labels: Labels, anchors: dy.DataFrame[Anchors]) -> Callable[[Row], bool]:
    """Return a function that decides whether a reference is in a labeled span.

    A reference without a known owner is, on the pages of the span.
    """
    scopes = {scope.document_id: _read_scope(scope, labels.anchors) for scope in labels.references_scope}
    tree = {row["anchor_id"]: row for row in iter_records(anchors, AnchorRecord)}

    def is_inside(row: Row) -> bool:
        scope = scopes.get(row["document_id"])
        if scope is None or not scope.first_page <= row["page"] <= scope.last_page:
            return False
        owner = find_structural_owner(row["anchor_id"], tree)
        if owner is None or scope.first_page < row["page"] < scope.last_page:
            return True
        if any(is_same_heading(owner["heading"], heading) for heading in scope.headings):
            return True
        return not any(is_same_heading(owner["heading"], heading) for heading in scope.all_headings)

    return is_inside


def _read_scope(scope: ScopeLabel, anchors: Sequence[AnchorLabel]) -> _Scope:
    document_labels = [label for label in anchors if label.document_id == scope.document_id]
    begins = [ix for ix, label in enumerate(document_labels) if is_same_heading(label.heading, scope.first_heading)]
    ends = [ix for ix, label in enumerate(document_labels) if is_same_heading(label.heading, scope.last_heading)]
    first, last = begins[0] if begins else 0, ends[-1] if ends else len(document_labels) - 1
    pages = scope.pages or tuple(label.page for label in document_labels[first : last + 2])
    return _Scope(
        headings=tuple(label.heading for label in document_labels[first : last + 1]),
        all_headings=tuple(label.heading for label in document_labels),
        first_page=min(pages),
        last_page=max(pages),
    )
