"""Score extracted roles, owners, boxes and table cells against labels; gates compare the scores with floors.

Headings and references are scored in `anchor_scores` and `reference_scores`. Only documents of the corpus are measured;
without labels for any of these a score is None, which gates show as "not measured". A label that matches nothing counts
as wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.evaluation.labels import Labels
from taxkg_assets.evaluation.matching import squash
from taxkg_assets.evaluation.naming import is_same_heading, is_same_label, is_same_path, read_key
from taxkg_assets.evaluation.reliability import list_outcomes, score_reliability
from taxkg_assets.records import AnchorRecord, iter_records
from taxkg_assets.rules.floors import Floor
from taxkg_assets.rules.models.naming import load_naming
from taxkg_assets.schemas import Anchors, Documents, Elements, Registry, Sections, Tables

Row = Mapping[str, Any]
MISSES = {
    "problem": pl.String,
    "document_id": pl.String,
    "page": pl.Int64,
    "wanted": pl.String,
    "found": pl.String,
    "text": pl.String,
}
Miss = tuple[str, str, int | None, str, str | None, str]


@dataclass(frozen=True, slots=True)
class LabeledScore:
    """A score on labeled documents.

    Attributes:
        metric: Name of the main metric.
        figures: All metrics by name; a metric that was not measured is None.
        n_rows: Number of labeled rows that count.
        misses: Every row that failed.
        reliability: Precision by bins of confidence, for decisions that have a confidence.
    """

    metric: str
    figures: Mapping[str, float | None]
    n_rows: int
    misses: pl.DataFrame
    reliability: pl.DataFrame

    @classmethod
    def of(
        cls,
        metric: str,
        figures: Mapping[str, float | None],
        *,
        n_rows: int,
        misses: Sequence[Miss],
        outcomes: Iterable[tuple[float, bool]] = (),
    ) -> LabeledScore:
        """Build a score from rows of misses and outcomes.

        Args:
            metric: Name of the main metric.
            figures: All metrics by name.
            n_rows: Number of labeled rows that count.
            misses: Rows that failed.
            outcomes: Confidence of each decision, and whether it is right.

        Returns:
            The score.
        """
        frame = pl.DataFrame(list(misses), schema=MISSES, orient="row")
        reliability = score_reliability(list_outcomes(outcomes))
        return cls(metric=metric, figures=figures, n_rows=n_rows, misses=frame, reliability=reliability)

    @property
    def score(self) -> float | None:
        """Return the main metric; None if nothing was measured."""
        return self.figures[self.metric]

    def describe(self) -> str:
        """Describe the main metric as a gate shows it.

        Returns:
            One phrase.
        """
        if self.score is None:
            return f"{self.metric}: not measured (no label is for a document of this home)"
        return f"{self.metric} {self.score:.4f} on {self.n_rows} labeled rows"


def score_share(right_count: int, count: int) -> float | None:
    """Return the share of correct rows; None without rows.

    Args:
        right_count: Number of right rows.
        count: Number of rows.
    """
    return right_count / count if count else None


def find_floor_faults(score: LabeledScore, floors: Sequence[Floor]) -> pl.DataFrame:
    """Find the floors that a score violates; a metric that was not measured, or on too few rows, violates none.

    Args:
        score: Score on labels.
        floors: Floors of the gate.

    Returns:
        `floor_id`, `metric`, `value`, `floor`, `n` and `reason`, one row per violated floor.
    """
    rows = [
        (floor.id, floor.metric, value, floor.floor, score.n_rows, floor.describe())
        for floor in floors
        if (value := score.figures.get(floor.metric)) is not None
        and score.n_rows >= floor.least_n
        and not floor.holds(value)
    ]
    columns = ("floor_id", "metric", "value", "floor", "n", "reason")
    types = (pl.String, pl.String, pl.Float64, pl.Float64, pl.Int64, pl.String)
    return pl.DataFrame(rows, schema=dict(zip(columns, types, strict=True)), orient="row")


def find_structural_owner(anchor_id: str | None, anchor_by_id: Mapping[str, AnchorRecord]) -> AnchorRecord | None:
    """Find the innermost anchor that is not a run-in heading.

    Args:
        anchor_id: Id of the innermost anchor; None for none.
        anchor_by_id: Rows of `anchors` by id.

    Returns:
        Row of `anchors`; None where there is none.
    """
    anchor = anchor_by_id.get(anchor_id or "")
    while anchor is not None and anchor["kind"] == "runin":
        anchor = anchor_by_id.get(anchor["parent_anchor_id"] or "")
    return anchor


def score_roles(
    elements: dy.DataFrame[Elements], labels: Labels, *, documents: dy.DataFrame[Documents]
) -> LabeledScore:
    """Score the roles of labeled lines.

    Args:
        elements: Extracted elements.
        labels: Labels of all folders.
        documents: Documents of the corpus; labels of others are ignored.

    Returns:
        `role_accuracy`, and `role_lost`: the share of labels without a matching element.
    """
    role_labels = labels.within(set(documents["document_id"])).roles
    in_scope = elements.filter(pl.col("document_id").is_in({label.document_id for label in role_labels}))
    elements_by_page = _group(in_scope.iter_rows(named=True), "document_id", "page")
    right_count = 0
    lost_count = 0
    misses = list[Miss]()
    outcomes = list[tuple[float, bool]]()
    for label in role_labels:
        row = _find_labeled_element(label.text, elements_by_page[label.document_id, label.page])
        if row is None:
            lost_count += 1
            misses.append(("lost", label.document_id, label.page, label.role, None, label.text))
            continue
        is_right = row["role"] == label.role
        right_count += is_right
        outcomes.append((row["role_confidence"], is_right))
        if not is_right:
            misses.append(("role", label.document_id, label.page, label.role, row["role"], label.text))
    figures = {
        "role_accuracy": score_share(right_count, len(role_labels)),
        "role_lost": score_share(lost_count, len(role_labels)),
    }
    return LabeledScore.of("role_accuracy", figures, n_rows=len(role_labels), misses=misses, outcomes=outcomes)


def _find_labeled_element(text: str, page_elements: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the element of a page that contains a labeled line, or is most of it; of several the nearest in length."""
    label_text = squash(text)
    matches = []
    for row in page_elements:
        element_text = squash(row["text"])
        is_match = label_text in element_text or _is_large_part(element_text, label_text)
        if element_text and is_match:
            matches.append((abs(len(element_text) - len(label_text)), row))
    return min(matches, key=lambda match: match[0])[1] if matches else None


def _is_large_part(element_text: str, text: str) -> bool:
    """Return whether an element is in a labeled text, and is most of it."""
    return element_text in text and len(element_text) >= load_naming().thresholds.role_share * len(text)


def score_ownership(
    sections: dy.DataFrame[Sections],
    labels: Labels,
    *,
    anchors: dy.DataFrame[Anchors],
    documents: dy.DataFrame[Documents],
) -> LabeledScore:
    """Score the share of labeled paragraphs under the labeled heading, ignoring run-in headings.

    Args:
        sections: Content elements with their owners.
        labels: Labels of all folders.
        anchors: Extracted anchors.
        documents: Documents of the corpus; labels of others are ignored.

    Returns:
        `ownership_accuracy`, and `ownership_lost`: the share of labels whose paragraph was not found.
    """
    owner_labels = labels.within(set(documents["document_id"])).ownership
    has_labels = pl.col("document_id").is_in({label.document_id for label in owner_labels})
    anchor_by_id = {row["anchor_id"]: row for row in iter_records(anchors.filter(has_labels), AnchorRecord)}
    sections_by_document = defaultdict(list)
    for row in sections.filter(has_labels).iter_rows(named=True):
        sections_by_document[row["document_id"]].append((row, squash(row["text"])))
    right_count, lost_count, misses = 0, 0, list[Miss]()
    for label in owner_labels:
        paragraphs = _find_quoted(label.quote, sections_by_document[label.document_id])
        if not paragraphs:
            lost_count += 1
            misses.append(("lost", label.document_id, label.page, label.owner, None, label.quote))
            continue
        on_page = [row for row in paragraphs if row["page"] == label.page]
        paragraph = (on_page or paragraphs)[0]
        owner = find_structural_owner(paragraph["anchor_id"], anchor_by_id)
        if owner is not None and is_same_heading(owner["heading"], label.owner):
            right_count += 1
        else:
            found_heading = owner["heading"] if owner else None
            misses.append(("owner", label.document_id, label.page, label.owner, found_heading, label.quote))
    figures = {
        "ownership_accuracy": score_share(right_count, len(owner_labels)),
        "ownership_lost": score_share(lost_count, len(owner_labels)),
    }
    return LabeledScore.of("ownership_accuracy", figures, n_rows=len(owner_labels), misses=misses)


def _find_quoted(quoted: str, sections: Sequence[tuple[Mapping[str, Any], str]]) -> list[Mapping[str, Any]]:
    """Return the paragraphs that contain a quote, or else those that contain it without its run-in heading."""
    quote = squash(quoted)
    matches = [row for row, section_text in sections if quote in section_text or _is_fragment(section_text, quote)]
    if matches:
        return matches
    separator = ". " if ". " in quoted[: load_naming().thresholds.runin_characters] else "—"
    text_after_heading = squash(quoted.partition(separator)[2])
    return (
        [row for row, section_text in sections if text_after_heading in section_text]
        if len(text_after_heading) >= load_naming().thresholds.runin_rest_letters
        else []
    )


def _is_fragment(section_text: str, quote: str) -> bool:
    return len(section_text) >= load_naming().thresholds.fragment_letters and section_text in quote


def score_boxes(
    registry: dy.DataFrame[Registry], labels: Labels, *, documents: dy.DataFrame[Documents]
) -> LabeledScore:
    """Score the registered boxes of the labeled forms.

    Args:
        registry: Registered boxes.
        labels: Labels of all folders.
        documents: Documents of the corpus; labels of others are ignored.

    Returns:
        `box_coverage`, the share of boxes found; `box_label_match`, the share of these with the right label;
        `boxes_invented`, the number of registered boxes without a label.
    """
    box_labels = labels.within(set(documents["document_id"])).boxes
    row_by_box = {(row["document_id"], read_key(row["box_key"])): row for row in registry.iter_rows(named=True)}
    found_count, right_label_count, misses = 0, 0, list[Miss]()
    labeled_boxes = set()
    for label in box_labels:
        box = (label.document_id, read_key(label.key))
        labeled_boxes.add(box)
        row = row_by_box.get(box)
        if row is None:
            misses.append(("missing", label.document_id, None, label.key, None, label.label))
            continue
        found_count += 1
        if not label.label or is_same_label([label.label, *label.parts], row["label"]):
            right_label_count += 1
        else:
            misses.append(("label", label.document_id, None, label.label, row["label"], label.key))
    labeled_forms = {label.document_id for label in box_labels}
    invented = sorted(box for box in row_by_box if box[0] in labeled_forms and box not in labeled_boxes)
    misses += [("invented", form, None, "", row_by_box[form, key]["label"], key) for form, key in invented]
    figures = {
        "box_coverage": score_share(found_count, len(box_labels)),
        "box_label_match": score_share(right_label_count, found_count),
        "boxes_invented": float(len(invented)) if box_labels else None,
    }
    return LabeledScore.of("box_coverage", figures, n_rows=len(box_labels), misses=misses)


def score_tables(tables: dy.DataFrame[Tables], labels: Labels, *, documents: dy.DataFrame[Documents]) -> LabeledScore:
    """Score the share of labeled cells found by value under the labeled row and column headers.

    Args:
        tables: Extracted tables.
        labels: Labels of all folders.
        documents: Documents of the corpus; labels of others are ignored.

    Returns:
        `cell_accuracy`, and `cell_value_found`: the share of labels whose value is in a cell of the page, whatever its
        headers.
    """
    cell_labels = labels.within(set(documents["document_id"])).tables
    in_scope = tables.filter(pl.col("document_id").is_in({label.document_id for label in cell_labels}))
    tables_by_page = _group(in_scope.iter_rows(named=True), "document_id", "page")
    right_count, found_count, misses = 0, 0, list[Miss]()
    for label in cell_labels:
        cells = [
            (cell, table["title"])
            for table in tables_by_page[label.document_id, label.page]
            for cell in table["cells"]
            if squash(cell["text"]) == squash(label.value)
        ]
        is_right = any(
            is_same_path(label.row, cell["row_path"], title=title)
            and is_same_path(label.column, cell["col_path"], title=title)
            for cell, title in cells
        )
        found_count += bool(cells)
        right_count += is_right
        if not is_right:
            found_paths = "; ".join(f"{cell['row_path']} | {cell['col_path']}" for cell, _ in cells[:3]) or None
            label_path = f"{label.row} | {label.column}"
            misses.append(("cell", label.document_id, label.page, label_path, found_paths, label.value))
    figures = {
        "cell_accuracy": score_share(right_count, len(cell_labels)),
        "cell_value_found": score_share(found_count, len(cell_labels)),
    }
    return LabeledScore.of("cell_accuracy", figures, n_rows=len(cell_labels), misses=misses)


def _group(rows: Iterable[Row], *names: str) -> defaultdict[tuple[Any, ...], list[Row]]:
    grouped: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        grouped[tuple(row[name] for name in names)].append(row)
    return grouped
