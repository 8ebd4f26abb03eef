"""Extraction tables against labeled documents: the figures that the gates compare with their floors.

Here are roles, owners, boxes and table cells; headings and references have modules of their own (`anchor_scores`,
`reference_scores`). Only documents of the corpus are measured; where none of them is labeled the score is None, which
gates show as "not measured". Labels that were not found stay in the denominator.
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
        metric: Name of the main figure.
        figures: All metrics by name; None if nothing was measured.
        n_rows: Labeled rows that count.
        misses: Every row that failed.
        reliability: Confidence compared with precision, for decisions with a confidence.
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
        """Build a score from plain rows.

        Args:
            metric: Name of the main figure.
            figures: All figures by name.
            n_rows: Labeled rows that count.
            misses: Rows that failed.
            outcomes: Confidence and success of each decision.

        Returns:
            The measurement.
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


def score_share(part: int, whole: int) -> float | None:
    """Return the share of correct rows; None without rows.

    Args:
        part: Number of right rows.
        whole: Number of rows.
    """
    return part / whole if whole else None


def find_floor_faults(score: LabeledScore, floors: Sequence[Floor]) -> pl.DataFrame:
    """Find floors that scores violate; a metric that was not measured, or on too few rows, violates none.

    Args:
        score: The measurement.
        floors: Floors of the gate.

    Returns:
        `floor_id`, `metric`, `value`, `floor`, `n` and `reason`, one row per fault.
    """
    rows = [
        (floor.id, floor.metric, value, floor.floor, score.n_rows, floor.describe())
        for floor in floors
        if (value := score.figures.get(floor.metric)) is not None
        and score.n_rows >= floor.least_n
        and not floor.holds(value)
    ]
    names = ("floor_id", "metric", "value", "floor", "n", "reason")
    kinds = (pl.String, pl.String, pl.Float64, pl.Float64, pl.Int64, pl.String)
    return pl.DataFrame(rows, schema=dict(zip(names, kinds, strict=True)), orient="row")


def find_structural_owner(anchor_id: str | None, tree: Mapping[str, AnchorRecord]) -> AnchorRecord | None:
    """Find the innermost anchor that is not a run-in heading.

    Args:
        anchor_id: Anchor of a paragraph; None for none.
        tree: Rows of `anchors` by id.

    Returns:
        Row of `anchors`; None where there is none.
    """
    anchor = tree.get(anchor_id or "")
    while anchor is not None and anchor["kind"] == "runin":
        anchor = tree.get(anchor["parent_anchor_id"] or "")
    return anchor


def score_roles(
    elements: dy.DataFrame[Elements], labels: Labels, *, documents: dy.DataFrame[Documents]
) -> LabeledScore:
    """Score the accuracy of roles on labeled lines.

    Args:
        elements: Extracted elements.
        labels: Labels of all folders.
        documents: Documents of the corpus; labels of others are ignored.

    Returns:
        `role_accuracy` and `role_lost`.
    """
    wanted = labels.within(set(documents["document_id"])).roles
    in_scope = elements.filter(pl.col("document_id").is_in({label.document_id for label in wanted}))
    on_page = _group(in_scope.iter_rows(named=True), "document_id", "page")
    right, lost, misses, outcomes = 0, 0, list[Miss](), list[tuple[float, bool]]()
    for label in wanted:
        text = squash(label.text)
        read = [(row, squash(row["text"])) for row in on_page[label.document_id, label.page]]
        matching = [
            (row, element_text)
            for row, element_text in read
            if element_text and (text in element_text or _is_large_part(element_text, text))
        ]
        if not matching:
            lost += 1
            misses.append(("lost", label.document_id, label.page, label.role, None, label.text))
            continue
        nearest, _ = min(matching, key=lambda pair: abs(len(pair[1]) - len(text)))
        right += nearest["role"] == label.role
        outcomes.append((nearest["role_confidence"], nearest["role"] == label.role))
        if nearest["role"] != label.role:
            misses.append(("role", label.document_id, label.page, label.role, nearest["role"], label.text))
    figures = {"role_accuracy": score_share(right, len(wanted)), "role_lost": score_share(lost, len(wanted))}
    return LabeledScore.of("role_accuracy", figures, n_rows=len(wanted), misses=misses, outcomes=outcomes)


def _is_large_part(own: str, text: str) -> bool:
    return own in text and len(own) >= load_naming().thresholds.role_share * len(text)


def score_ownership(
    sections: dy.DataFrame[Sections],
    labels: Labels,
    *,
    anchors: dy.DataFrame[Anchors],
    documents: dy.DataFrame[Documents],
) -> LabeledScore:
    """Score the share of labeled paragraphs that are owned by the labeled heading; run-in headings are skipped.

    Args:
        sections: Content elements with their owners.
        labels: Labels of all folders.
        anchors: Extracted anchors.
        documents: Documents of the corpus; labels of others are ignored.

    Returns:
        `ownership_accuracy` and `ownership_lost`.
    """
    wanted = labels.within(set(documents["document_id"])).ownership
    has_labels = pl.col("document_id").is_in({label.document_id for label in wanted})
    tree = {row["anchor_id"]: row for row in iter_records(anchors.filter(has_labels), AnchorRecord)}
    of_document = defaultdict(list)
    for row in sections.filter(has_labels).iter_rows(named=True):
        of_document[row["document_id"]].append((row, squash(row["text"])))
    right, lost, misses = 0, 0, list[Miss]()
    for label in wanted:
        matching = _find_quoted(label.quote, of_document[label.document_id])
        on_page = [row for row in matching if row["page"] == label.page] or matching
        if not on_page:
            lost += 1
            misses.append(("lost", label.document_id, label.page, label.owner, None, label.quote))
            continue
        owner = find_structural_owner(on_page[0]["anchor_id"], tree)
        is_right = owner is not None and is_same_heading(owner["heading"], label.owner)
        right += is_right
        if not is_right:
            got = owner["heading"] if owner else None
            misses.append(("owner", label.document_id, label.page, label.owner, got, label.quote))
    figures = {"ownership_accuracy": score_share(right, len(wanted)), "ownership_lost": score_share(lost, len(wanted))}
    return LabeledScore.of("ownership_accuracy", figures, n_rows=len(wanted), misses=misses)


def _find_quoted(quoted: str, sections: Sequence[tuple[Mapping[str, Any], str]]) -> list[Mapping[str, Any]]:
    """Return the paragraphs with a quote, or else with what follows the quote's run-in heading."""
    quote = squash(quoted)
    matching = [row for row, section_text in sections if quote in section_text or _is_fragment(section_text, quote)]
    if matching:
        return matching
    separator = ". " if ". " in quoted[: load_naming().thresholds.runin_characters] else "—"
    rest = squash(quoted.partition(separator)[2])
    return (
        [row for row, section_text in sections if rest in section_text]
        if len(rest) >= load_naming().thresholds.runin_rest_letters
        else []
    )


def _is_fragment(own: str, quote: str) -> bool:
    return len(own) >= load_naming().thresholds.fragment_letters and own in quote


def score_boxes(
    registry: dy.DataFrame[Registry], labels: Labels, *, documents: dy.DataFrame[Documents]
) -> LabeledScore:
    """Score registered boxes against labels: share found, unlabeled extra boxes, and correct labels.

    Args:
        registry: Registered boxes.
        labels: Labels of all folders.
        documents: Documents of the corpus; labels of others are ignored.

    Returns:
        `box_coverage`, `box_label_match` and `boxes_invented`, a count.
    """
    wanted = labels.within(set(documents["document_id"])).boxes
    forms = {label.document_id for label in wanted}
    read = {(row["document_id"], read_key(row["box_key"])): row for row in registry.iter_rows(named=True)}
    have, well_labeled, misses = 0, 0, list[Miss]()
    for label in wanted:
        row = read.get((label.document_id, read_key(label.key)))
        if row is None:
            misses.append(("missing", label.document_id, None, label.key, None, label.label))
            continue
        have += 1
        is_right = not label.label or is_same_label([label.label, *label.parts], row["label"])
        well_labeled += is_right
        if not is_right:
            misses.append(("label", label.document_id, None, label.label, row["label"], label.key))
    printed = {(label.document_id, read_key(label.key)) for label in wanted}
    invented = sorted(place for place in read if place[0] in forms and place not in printed)
    misses += [("invented", form, None, "", read[form, key]["label"], key) for form, key in invented]
    figures = {
        "box_coverage": score_share(have, len(wanted)),
        "box_label_match": score_share(well_labeled, have),
        "boxes_invented": float(len(invented)) if wanted else None,
    }
    return LabeledScore.of("box_coverage", figures, n_rows=len(wanted), misses=misses)


def score_tables(tables: dy.DataFrame[Tables], labels: Labels, *, documents: dy.DataFrame[Documents]) -> LabeledScore:
    """Score the share of labeled cells found by value under the labeled row and column headers.

    Args:
        tables: Extracted tables.
        labels: Labels of all folders.
        documents: Documents of the corpus; labels of others are ignored.

    Returns:
        `cell_accuracy` and `cell_value_found`.
    """
    wanted = labels.within(set(documents["document_id"])).tables
    in_scope = tables.filter(pl.col("document_id").is_in({label.document_id for label in wanted}))
    on_page = _group(in_scope.iter_rows(named=True), "document_id", "page")
    right, met, misses = 0, 0, list[Miss]()
    for label in wanted:
        cells = [
            (cell, table["title"])
            for table in on_page[label.document_id, label.page]
            for cell in table["cells"]
            if squash(cell["text"]) == squash(label.value)
        ]
        is_right = any(
            is_same_path(label.row, cell["row_path"], title=title)
            and is_same_path(label.column, cell["col_path"], title=title)
            for cell, title in cells
        )
        met += bool(cells)
        right += is_right
        if not is_right:
            got = "; ".join(f"{cell['row_path']} | {cell['col_path']}" for cell, _ in cells[:3]) or None
            place = f"{label.row} | {label.column}"
            misses.append(("cell", label.document_id, label.page, place, got, label.value))
    figures = {"cell_accuracy": score_share(right, len(wanted)), "cell_value_found": score_share(met, len(wanted))}
    return LabeledScore.of("cell_accuracy", figures, n_rows=len(wanted), misses=misses)


def _group(rows: Iterable[Row], *names: str) -> defaultdict[tuple[Any, ...], list[Row]]:
    grouped: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        grouped[tuple(row[name] for name in names)].append(row)
    return grouped
