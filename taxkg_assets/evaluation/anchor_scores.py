"""Anchors against labeled headings: found, invented, keyed and placed."""

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
_SIDES = {"runin": "runin", "box": "box", "box_group": "box"}


def score_anchors(
    anchors: dy.DataFrame[Anchors], labels: Labels, *, documents: dy.DataFrame[Documents]
) -> LabeledScore:
    """Score F1 of structural headings (all except run-in ones) on the labeled pages.

    Args:
        anchors: Extracted anchors.
        labels: Labels of all folders.
        documents: Documents of the corpus; labels of others are ignored.

    Returns:
        `structural_f1` with recall and precision by type, and the accuracy of keys and parents.
    """
    wanted = labels.within(set(documents["document_id"])).anchors
    rows = list(anchors.iter_rows(named=True))
    met = _pair(wanted, rows)
    counted = [(label, row) for label, row in zip(wanted, met, strict=True) if not label.is_optional]
    matched = {row["anchor_id"] for row in met if row is not None}
    pages = {(label.document_id, label.page) for label in wanted}
    read = [row for row in rows if (row["document_id"], row["page"]) in pages]
    figures = _score_recall(counted)
    for name, is_runin in (("structural", False), ("runin", True)):
        rows_of_kind = [row for row in read if (row["kind"] == "runin") == is_runin]
        figures[f"{name}_precision"] = score_share(
            sum(row["anchor_id"] in matched for row in rows_of_kind), len(rows_of_kind)
        )
    figures["structural_f1"] = _score_f1(figures["structural_recall"], figures["structural_precision"])
    misses = [_miss(label) for label, row in counted if row is None]
    misses += [
        ("invented", row["document_id"], row["page"], "", row["heading"], row["kind"])
        for row in read
        if row["anchor_id"] not in matched
    ]
    outcomes = [(row["confidence"], row["anchor_id"] in matched) for row in read]
    hits = [(label, row) for label, row in counted if row is not None]
    for name, (share, faults) in {"key": _score_keys(hits), "parent": _score_parents(hits, rows)}.items():
        figures[f"{name}_accuracy"] = share
        misses += faults
    return LabeledScore.of("structural_f1", figures, n_rows=len(counted), misses=misses, outcomes=outcomes)


def _pair(wanted: Sequence[AnchorLabel], rows: Sequence[Row]) -> list[Row | None]:
    """Return the anchor that matches each label, in reading order, none twice."""
    on_page = defaultdict(list)
    for row in rows:
        on_page[row["document_id"], row["page"]].append(row)
    used: set[str] = set()
    met: list[Row | None] = []
    for label in wanted:
        hit = next(
            (
                row
                for row in on_page[label.document_id, label.page]
                if row["anchor_id"] not in used
                and (row["kind"] == "runin") == (label.kind == "runin")
                and is_same_heading(row["heading"], label.heading)
            ),
            None,
        )
        if hit is not None:
            used.add(hit["anchor_id"])
        met.append(hit)
    return met


def _score_recall(counted: Sequence[tuple[AnchorLabel, Row | None]]) -> dict[str, float | None]:
    sides = defaultdict(list)
    for label, row in counted:
        sides[_SIDES.get(label.kind, "heading")].append(row is not None)
    structural = sides["box"] + sides["heading"]
    return {
        "box_recall": score_share(sum(sides["box"]), len(sides["box"])),
        "heading_recall": score_share(sum(sides["heading"]), len(sides["heading"])),
        "runin_recall": score_share(sum(sides["runin"]), len(sides["runin"])),
        "structural_recall": score_share(sum(structural), len(structural)),
    }


def _score_f1(recall: float | None, precision: float | None) -> float | None:
    if recall is None:
        return None
    return 2 * recall * precision / (recall + precision) if recall and precision else 0.0


def _miss(label: AnchorLabel) -> Miss:
    return ("missed", label.document_id, label.page, label.heading, None, label.kind)


def _score_keys(hits: Sequence[tuple[AnchorLabel, Row]]) -> tuple[float | None, list[Miss]]:
    keyed = [(label, row) for label, row in hits if label.key]
    wrong = [(label, row) for label, row in keyed if read_key(row["key"]) != read_key(label.key)]
    misses: list[Miss] = [
        ("key", label.document_id, label.page, label.key or "", row["key"], label.heading) for label, row in wrong
    ]
    return score_share(len(keyed) - len(wrong), len(keyed)), misses


def _score_parents(hits: Sequence[tuple[AnchorLabel, Row]], rows: Sequence[Row]) -> tuple[float | None, list[Miss]]:
    heading_of = {row["anchor_id"]: row["heading"] for row in rows}
    placed = [
        (label, heading_of.get(row["parent_anchor_id"]))
        for label, row in hits
        if label.parent and not label.is_parent_open
    ]
    wrong = [(label, got) for label, got in placed if not is_same_heading(got, label.parent)]
    misses: list[Miss] = [
        ("parent", label.document_id, label.page, label.parent or "", got, label.heading) for label, got in wrong
    ]
    return score_share(len(placed) - len(wrong), len(placed)), misses
