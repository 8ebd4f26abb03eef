"""Score extracted headings against labels: found, wrongly found, with the right key, and with the right parent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import dataframely as dy

from taxkg_assets.evaluation.extraction_scores import LabeledScore, Miss, score_share
from taxkg_assets.evaluation.labels import AnchorLabel, Labels
from taxkg_assets.evaluation.naming import is_same_heading, read_key
from taxkg_assets.schemas import Anchors, Documents

Row = Mapping[str, Any]
_KINDS = {"runin": "runin", "box": "box", "box_group": "box"}


def score_anchors(
    anchors: dy.DataFrame[Anchors], labels: Labels, *, documents: dy.DataFrame[Documents]
) -> LabeledScore:
    """Score the extracted headings of the labeled pages.

    Args:
        anchors: Extracted anchors.
        labels: Labels of all folders.
        documents: Documents of the corpus; labels of other documents are ignored.

    Returns:
        `structural_f1`, over all headings except run-in ones; recall and precision by type; accuracy of keys and
        parents.
    """
    labeled_headings = labels.within(set(documents["document_id"])).anchors
    rows = list(anchors.iter_rows(named=True))
    matched_anchors = _pair(labeled_headings, rows)
    required = [
        (label, row) for label, row in zip(labeled_headings, matched_anchors, strict=True) if not label.is_optional
    ]
    matched_ids = {row["anchor_id"] for row in matched_anchors if row is not None}
    labeled_pages = {(label.document_id, label.page) for label in labeled_headings}
    page_anchors = [row for row in rows if (row["document_id"], row["page"]) in labeled_pages]
    figures = _score_recall(required)
    for name, is_runin in (("structural", False), ("runin", True)):
        rows_of_kind = [row for row in page_anchors if (row["kind"] == "runin") == is_runin]
        figures[f"{name}_precision"] = score_share(
            sum(row["anchor_id"] in matched_ids for row in rows_of_kind), len(rows_of_kind)
        )
    figures["structural_f1"] = _score_f1(figures["structural_recall"], figures["structural_precision"])
    misses = [_miss(label) for label, row in required if row is None]
    misses += [
        ("invented", row["document_id"], row["page"], "", row["heading"], row["kind"])
        for row in page_anchors
        if row["anchor_id"] not in matched_ids
    ]
    outcomes = [(row["confidence"], row["anchor_id"] in matched_ids) for row in page_anchors]
    matches = [(label, row) for label, row in required if row is not None]
    for name, (share, faults) in {"key": _score_keys(matches), "parent": _score_parents(matches, rows)}.items():
        figures[f"{name}_accuracy"] = share
        misses += faults
    return LabeledScore.of("structural_f1", figures, n_rows=len(required), misses=misses, outcomes=outcomes)


def _pair(labels: Sequence[AnchorLabel], rows: Sequence[Row]) -> list[Row | None]:
    """Return for each label the first anchor that matches it and no earlier label; None for no match."""
    anchors_by_page = defaultdict(list)
    for row in rows:
        anchors_by_page[row["document_id"], row["page"]].append(row)
    used_ids: set[str] = set()
    matched_anchors: list[Row | None] = []
    for label in labels:
        match = next(
            (
                row
                for row in anchors_by_page[label.document_id, label.page]
                if row["anchor_id"] not in used_ids
                and (row["kind"] == "runin") == (label.kind == "runin")
                and is_same_heading(row["heading"], label.heading)
            ),
            None,
        )
        if match is not None:
            used_ids.add(match["anchor_id"])
        matched_anchors.append(match)
    return matched_anchors


def _score_recall(required: Sequence[tuple[AnchorLabel, Row | None]]) -> dict[str, float | None]:
    is_found_by_kind = defaultdict(list)
    for label, row in required:
        is_found_by_kind[_KINDS.get(label.kind, "heading")].append(row is not None)
    structural = is_found_by_kind["box"] + is_found_by_kind["heading"]
    return {
        "box_recall": score_share(sum(is_found_by_kind["box"]), len(is_found_by_kind["box"])),
        "heading_recall": score_share(sum(is_found_by_kind["heading"]), len(is_found_by_kind["heading"])),
        "runin_recall": score_share(sum(is_found_by_kind["runin"]), len(is_found_by_kind["runin"])),
        "structural_recall": score_share(sum(structural), len(structural)),
    }


def _score_f1(recall: float | None, precision: float | None) -> float | None:
    if recall is None:
        return None
    return 2 * recall * precision / (recall + precision) if recall and precision else 0.0


def _miss(label: AnchorLabel) -> Miss:
    return ("missed", label.document_id, label.page, label.heading, None, label.kind)


def _score_keys(matches: Sequence[tuple[AnchorLabel, Row]]) -> tuple[float | None, list[Miss]]:
    labels_with_key = [(label, row) for label, row in matches if label.key]
    wrong = [(label, row) for label, row in labels_with_key if read_key(row["key"]) != read_key(label.key)]
    misses: list[Miss] = [
        ("key", label.document_id, label.page, label.key or "", row["key"], label.heading) for label, row in wrong
    ]
    return score_share(len(labels_with_key) - len(wrong), len(labels_with_key)), misses


def _score_parents(matches: Sequence[tuple[AnchorLabel, Row]], rows: Sequence[Row]) -> tuple[float | None, list[Miss]]:
    heading_by_anchor = {row["anchor_id"]: row["heading"] for row in rows}
    labels_with_parent = [
        (label, heading_by_anchor.get(row["parent_anchor_id"]))
        for label, row in matches
        if label.parent and not label.is_parent_open
    ]
    wrong = [
        (label, found_parent)
        for label, found_parent in labels_with_parent
        if not is_same_heading(found_parent, label.parent)
    ]
    misses: list[Miss] = [
        ("parent", label.document_id, label.page, label.parent or "", found_parent, label.heading)
        for label, found_parent in wrong
    ]
    return score_share(len(labels_with_parent) - len(wrong), len(labels_with_parent)), misses
