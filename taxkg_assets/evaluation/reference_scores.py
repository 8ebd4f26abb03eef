"""Score extracted references against labels: found, wrongly found, and with the right relation."""

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
    """The part of a document in which all references are labeled."""

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
    """Score precision and recall of references in the labeled parts of documents.

    Each score is computed twice: by target, and by target and relation.

    Args:
        references: Extracted references.
        labels: Labels of all folders.
        anchors: Extracted anchors.
        documents: Documents of the corpus; labels of other documents are ignored.

    Returns:
        `reference_precision` and `reference_recall` by target; `typed_precision` and `typed_recall` by target and
        relation.
    """
    corpus_labels = labels.within(set(documents["document_id"]))
    rows = list(references.iter_rows(named=True))
    label_matches = _pair(corpus_labels.references, rows)
    expected = [
        (label, None if ix is None else rows[ix])
        for label, ix in zip(corpus_labels.references, label_matches, strict=True)
        if not label.is_optional and not label.is_self
    ]
    figures, missed = _score_labels(expected)

    label_by_ix = {
        ix: label for label, ix in zip(corpus_labels.references, label_matches, strict=True) if ix is not None
    }
    is_in_labeled_part = _find_inside(corpus_labels, anchors)
    found = [
        _FoundReference(row, label_by_ix.get(ix))
        for ix, row in enumerate(rows)
        if ix in label_by_ix or is_in_labeled_part(row)
    ]
    counted = [reference for reference in found if not reference.is_self]
    wrong = [reference for reference in counted if reference.label is None]
    with_clear_relation = [reference for reference in counted if reference.label is None or not reference.label.is_hard]
    typed = [reference for reference in with_clear_relation if reference.row["relation"] != "references"]
    typed_right = [
        reference
        for reference in typed
        if reference.label is not None and reference.row["relation"] in reference.label.relations
    ]
    has_labels = bool(corpus_labels.references)
    figures["reference_precision"] = score_share(len(counted) - len(wrong), len(counted)) if has_labels else None
    figures["typed_precision"] = score_share(len(typed_right), len(typed)) if has_labels else None
    invented: list[Miss] = [_describe_invented(reference.row) for reference in wrong]
    outcomes = [(reference.row["confidence"], reference.is_right) for reference in with_clear_relation]
    return LabeledScore.of(
        "reference_precision", figures, n_rows=len(expected), misses=invented + missed, outcomes=outcomes
    )


@dataclass(frozen=True, slots=True)
class _FoundReference:
    """A reference in a labeled part of a document, and the label that it matches.

    Attributes:
        row: Row of `references`.
        label: Its label; None for a reference that no label states.
    """

    row: Row
    label: ReferenceLabel | None

    @property
    def is_self(self) -> bool:
        """Return whether the reference leads to the place that contains it, so that it is neither right nor wrong."""
        return bool(self.row["is_self"]) or (self.label is not None and self.label.is_self)

    @property
    def is_right(self) -> bool:
        """Return whether a label has the same target and the same relation."""
        return self.label is not None and _has_relation(self.row, self.label)


def _describe_invented(row: Row) -> Miss:
    """Describe a reference without a label."""
    return ("invented", row["document_id"], row["page"], "", row["target"], row["evidence"])


def _pair(labels: Sequence[ReferenceLabel], rows: Sequence[Row]) -> list[int | None]:
    """Return for each label the index of the first reference that matches it and no earlier label; None for none.

    The reference may be on an adjacent page, where its sentence begins or ends.
    """
    ixs_by_page: dict[tuple[str, int], list[int]] = defaultdict(list)
    for ix, row in enumerate(rows):
        ixs_by_page[row["document_id"], row["page"]].append(ix)
    used_ixs: set[int] = set()
    matches: list[int | None] = []
    for label in labels:
        targets = {normalize_target(target) for target in label.targets}
        nearby_ixs = [
            ix
            for page in (label.page, label.page + 1, label.page - 1)
            for ix in ixs_by_page[label.document_id, page]
            if ix not in used_ixs
        ]
        matching_ixs = (
            ix
            for ix in nearby_ixs
            if normalize_target(rows[ix]["target"]) in targets
            and is_same_evidence(rows[ix]["evidence"], label.evidence)
        )
        match = next(matching_ixs, None)
        if match is not None:
            used_ixs.add(match)
        matches.append(match)
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
    """Return a function that decides whether a reference is in a labeled part of its document.

    A reference without an owning heading is in the labeled part if its page is.
    """
    scopes = {scope.document_id: _read_scope(scope, labels.anchors) for scope in labels.references_scope}
    anchor_by_id = {row["anchor_id"]: row for row in iter_records(anchors, AnchorRecord)}

    def is_inside(row: Row) -> bool:
        scope = scopes.get(row["document_id"])
        if scope is None or not scope.first_page <= row["page"] <= scope.last_page:
            return False
        owner = find_structural_owner(row["anchor_id"], anchor_by_id)
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
