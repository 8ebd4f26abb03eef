"""Scores by document family, in two groups: development families and left-out families.

A rule may only fit the families on which it was written. Families with a label that supports a rule are development
families (`rules/evidence_families.csv`); all others are left out. Not here: the scores of labels, which gates also use,
and the comparison of both groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.evaluation.anchor_scores import score_anchors
from taxkg_assets.evaluation.extraction_scores import LabeledScore, score_ownership, score_roles, score_tables
from taxkg_assets.evaluation.family_gaps import ALL, DEVELOPMENT, LEFT_OUT
from taxkg_assets.evaluation.labels import Labels
from taxkg_assets.evaluation.metrics import score_runs
from taxkg_assets.rules.support import load_evidence_families, name_family
from taxkg_assets.schemas import (
    Anchors,
    Documents,
    Elements,
    EvalQueries,
    EvalRuns,
    FamilyFigures,
    Sections,
    Tables,
)

RETRIEVAL = ("recall@5", "mrr")
RELEASED = "full"
"""System whose results are scored."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """Extracted tables of some documents."""

    elements: dy.DataFrame[Elements]
    anchors: dy.DataFrame[Anchors]
    sections: dy.DataFrame[Sections]
    tables: dy.DataFrame[Tables]
    documents: dy.DataFrame[Documents]

    def within(self, names: Iterable[str]) -> Extracted:
        """Return the rows of some documents.

        Args:
            names: Ids of the documents.
        """
        is_selected = pl.col("document_id").is_in(list(names))
        return Extracted(**{field.name: getattr(self, field.name).filter(is_selected) for field in fields(self)})

    def score(self, labels: Labels) -> Mapping[str, LabeledScore]:
        """Return the scores of these documents by their main metrics.

        Args:
            labels: Labels of these documents.

        Returns:
            Scores by the name of their main metric.
        """
        scores = (
            score_roles(self.elements, labels, documents=self.documents),
            score_anchors(self.anchors, labels, documents=self.documents),
            score_ownership(self.sections, labels, anchors=self.anchors, documents=self.documents),
            score_tables(self.tables, labels, documents=self.documents),
        )
        return {score.metric: score for score in scores}


# arguments: one per upstream table, as the wiring reads their names
def build_family_figures(
    elements: dy.DataFrame[Elements],
    anchors: dy.DataFrame[Anchors],
    sections: dy.DataFrame[Sections],
    tables: dy.DataFrame[Tables],
    documents: dy.DataFrame[Documents],
    eval_queries: dy.DataFrame[EvalQueries],
    eval_runs: dy.DataFrame[EvalRuns],
    *,
    labels: Labels,
) -> dy.DataFrame[FamilyFigures]:
    """Score extraction and retrieval by document family, and over the families of each group.

    Args:
        elements: Elements of all documents.
        anchors: Headings.
        sections: Paragraphs with their owners.
        tables: Tables with their cells.
        documents: Documents of the corpus.
        eval_queries: Questions with their gold passages.
        eval_runs: Ranked results.
        labels: Labels of all folders.

    Returns:
        One row per metric, group and family, and one with the family `all` per metric and group; shares from 0 to 1.
    """
    labeled_documents = _list_labeled(labels) & set(documents["document_id"])
    extracted = Extracted(elements, anchors, sections, tables, documents).within(labeled_documents)
    rows = [*_score_extraction(extracted, labels, labeled_documents), *_score_retrieval(eval_queries, eval_runs)]
    frame = pl.DataFrame(rows, schema=FamilyFigures.create_empty().schema, orient="row")
    return FamilyFigures.validate(frame.sort(FamilyFigures.primary_key()), cast=True)


def _list_labeled(labels: Labels) -> set[str]:
    kinds = (labels.roles, labels.anchors, labels.ownership, labels.tables)
    return {row.document_id for rows in kinds for row in rows}


def _score_extraction(extracted: Extracted, labels: Labels, labeled_documents: set[str]) -> list[dict[str, Any]]:
    development_families = load_evidence_families("documents")
    rows = []
    for group, documents in _group(labeled_documents, development_families).items():
        by_family = {
            name_family(document_id): {
                other_name for other_name in documents if name_family(other_name) == name_family(document_id)
            }
            for document_id in sorted(documents)
        }
        for family, document_ids in ((ALL, documents), *by_family.items()):
            scores = extracted.within(document_ids).score(labels.within(document_ids))
            rows += [_row(metric, group, family, value=score.score, n=score.n_rows) for metric, score in scores.items()]
    return [row for row in rows if row["n"]]


def _score_retrieval(
    eval_queries: dy.DataFrame[EvalQueries], eval_runs: dy.DataFrame[EvalRuns]
) -> list[dict[str, Any]]:
    development_families = load_evidence_families("questions")
    family_by_question = {
        (row["query_set"], row["query_id"]): name_family(row["gold"][0]["document"])
        for row in eval_queries.filter(pl.col("is_resolved")).iter_rows(named=True)
        if row["gold"]
    }
    runs = EvalRuns.cast(eval_runs.filter(pl.col("system") == RELEASED))
    values: dict[tuple[str, str, str], list[float]] = {}
    for row in score_runs(eval_queries, runs).iter_rows(named=True):
        family = family_by_question.get((row["query_set"], row["query_id"]))
        if row["metric"] in RETRIEVAL and row["value"] is not None and family is not None:
            group = DEVELOPMENT if family in development_families else LEFT_OUT
            for family_name in (ALL, family):
                values.setdefault((row["metric"], group, family_name), []).append(row["value"])
    return [_row(*key, value=sum(scores) / len(scores), n=len(scores)) for key, scores in values.items()]


def _group(documents: Iterable[str], evidence: frozenset[str]) -> dict[str, set[str]]:
    groups: dict[str, set[str]] = {DEVELOPMENT: set(), LEFT_OUT: set()}
    for name in documents:
        groups[DEVELOPMENT if name_family(name) in evidence else LEFT_OUT].add(name)
    return groups


def _row(metric: str, group: str, family: str, *, value: float | None, n: int) -> dict[str, Any]:
    return {"metric": metric, "group": group, "family": family, "value": value, "n": n}
