"""Flows and formulas with and without single rules, against the development labels of `data/line_eval`."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import dataframely as dy
import polars as pl

from benchmarks.lines import (
    FOLDER,
    REST,
    also_right,
    find_labeled_passages,
    pair_of,
    read_labels,
    same_formula,
)
from taxkg_assets.graph.flows import build_flows
from taxkg_assets.graph.formulas import build_formulas
from taxkg_assets.rules.support import Key, name_family
from taxkg_assets.schemas import Anchors, Documents, Fields, Formulas, Lines, Sections, Tables
from taxkg_assets.serving.released import Released
from tools.rule_labels import read_development
from tools.rule_switch import without_rules

ByFamily = dict[str, float]
Score = Counter[str]
"""Labeled rows that are found, less wrong ones, by family of documents."""


class LabeledGraph:
    """Flows or formulas of the labeled documents, made again without single rules from tables that are read once."""

    def __init__(self, family: str, released: Released) -> None:
        self.family = family
        self.labels = read_development(FOLDER / f"{family}.jsonl")
        names = sorted({row["document"] for row in self.labels})
        self.lines = Lines.cast(released.table("lines"))
        self.own = Lines.cast(self.lines.filter(pl.col("document_id").is_in(names)))
        self.fields, sections, anchors, tables = (
            released.table(name).filter(pl.col("document_id").is_in(names))
            for name in ("fields", "sections", "anchors", "tables")
        )
        self.sections, self.anchors, self.tables = Sections.cast(sections), Anchors.cast(anchors), Tables.cast(tables)
        self.documents = Documents.cast(released.table("documents"))
        self.labeled_apart = find_labeled_passages(read_labels("flow_passages"), self.sections)
        self.before = self.score()

    def measure(self, key: Key) -> tuple[int, ByFamily]:
        """Compare the labeled rows that are found with and without a rule.

        Args:
            key: Family, group and id of the rule.

        Returns:
            Number of labeled documents' families, and the gain by family.
        """
        after: Score = Counter()
        with without_rules([key]), suppress(LookupError, StopIteration):  # code may not run without a rule: all is lost
            after = self.score()
        families = self.before.keys() | after.keys()
        return len(families), {name: self.before[name] - after[name] for name in families}

    def score(self) -> Score:
        """Count labeled rows that are found, less wrong ones on labeled pages, by family of documents."""
        formulas = build_formulas(self.own, Fields.cast(self.fields))
        return self._score_formulas(formulas) if self.family == "formulas" else self._score_flows(formulas)

    def _score_formulas(self, formulas: dy.DataFrame[Formulas]) -> Score:
        wanted = {(row["document"], row["part"], row["key"]): row for row in self.labels}
        score: Score = Counter({name_family(row["document"]): 0 for row in self.labels})
        for row in formulas.filter(pl.col("operation") != "unparsed").iter_rows(named=True):
            label = wanted.get((row["document_id"], row["part"], row["key"]))
            score[name_family(row["document_id"])] += 1 if label is not None and same_formula(row, label) else -1
        return score

    def _score_flows(self, formulas: dy.DataFrame[Formulas]) -> Score:
        flows = build_flows(
            self.lines,
            formulas,
            sections=self.sections,
            anchors=self.anchors,
            documents=self.documents,
            tables=self.tables,
        )
        splits = {(row["document"], row["page"]): row["split"] for row in read_development(FOLDER / "flow_pages.jsonl")}
        pages = splits.keys()
        made: dict[tuple[str, int], set[tuple[str, ...]]] = {page: set() for page in pages}
        for row in flows.filter(pl.col("relation") != "computed_from").iter_rows(named=True):
            page = (row["document_id"], row["page"])
            is_apart = splits.get(page) == REST and (row["document_id"], row["element_id"]) in self.labeled_apart
            if row["source_key"] and row["target_key"] and page in pages and not is_apart:
                made[page].add(pair_of(row))
        right: dict[tuple[str, int], set[tuple[str, ...]]] = {page: set() for page in pages}
        score: Score = Counter({name_family(document): 0 for document, _ in pages})
        for label in self.labels:
            page = (label["document"], label["page"])
            right[page] |= {pair_of(label), *also_right(label)}
            score[name_family(page[0])] += int(not label["optional"] and pair_of(label) in made[page])
        for page, pairs in made.items():
            score[name_family(page[0])] -= len(pairs - right[page])
        return score
