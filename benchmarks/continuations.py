"""Sections and lines in the next revision against labels by hand: `python -m benchmarks continuations`.

The labels of `data/line_eval/continuations.jsonl` were read from bookmarks and pages before any code aligned them.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.lines import read_labels
from benchmarks.results import open_home, write_results
from taxkg_assets.graph.line_nodes import node_of
from taxkg_assets.graph.section_alignment import align_sections, build_sections
from taxkg_assets.records import LineRecord, iter_records
from taxkg_assets.settings import Settings

Row = Mapping[str, Any]
RELATIONS = ("same_section_other_revision", "same_field_other_revision")


@dataclass(frozen=True, slots=True)
class PairFigure:
    """Labels of two documents, those that the graph agrees with, what it misses, and the time to align them."""

    before: str
    after: str
    right: int
    of: int
    milliseconds: float
    misses: list[str]


@dataclass(frozen=True, slots=True)
class Report:
    """One figure per pair of documents."""

    pairs: list[PairFigure]

    def write(self, folder: Path) -> str:
        """Write `continuations.json` and `continuations.md`; gives the Markdown."""
        rows = ["# Continuations", "", "| pair | right | n | share | ms |", "|---|---|---|---|---|"]
        whole = PairFigure("all", "", sum(p.right for p in self.pairs), sum(p.of for p in self.pairs), 0.0, [])
        for each in (*self.pairs, whole):
            name = f"{each.before} → {each.after}" if each.after else each.before
            share = f"{each.right / each.of:.4f}" if each.of else "none"
            rows.append(f"| {name} | {each.right} | {each.of} | {share} | {each.milliseconds:.0f} |")
        return write_results(self, "\n".join(rows) + "\n", folder=folder, name="continuations")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Score the release of TAXKG_HOME; there is no rival and nothing to repeat."""
    del repeat, rival_repeat
    released = open_home(Settings().home)
    anchors, sections = released.table("anchors"), released.table("sections")
    figures = score_continuations(
        read_labels("continuations"), edges=released.table("edges"), anchors=anchors, lines=released.table("lines")
    )
    return Report([_timed(figure, anchors, sections) for figure in figures])


def score_continuations(
    labels: Sequence[Row], *, edges: pl.DataFrame, anchors: pl.DataFrame, lines: pl.DataFrame
) -> list[PairFigure]:
    """Score which sections and lines the graph joins to each labeled one.

    A continuation is right if all its targets are found, and nothing that is neither target nor `also`; a new section
    is right if it continues nothing. Headings of one page and beginning count as one.

    Args:
        labels: Labeled continuations.
        edges: Table `edges`.
        anchors: Table `anchors`.
        lines: Table `lines`.
    """
    nodes = _Nodes(anchors, lines)
    later: dict[tuple[str, str], set[str]] = defaultdict(set)
    earlier: dict[tuple[str, str], set[str]] = defaultdict(set)
    kept = edges.filter(pl.col("relation").is_in(RELATIONS)).select("source_id", "target_id")
    for source, target in kept.iter_rows():
        later[target, source.partition("#")[0]].add(source)
        earlier[source, target.partition("#")[0]].add(target)
    by_pair: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for label in labels:
        by_pair[label["before"], label["after"]].append(label)
    figures = []
    for (before, after), own in by_pair.items():
        misses = []
        for label in own:
            targets = [nodes.find(after, target) for target in label["to"]]
            allowed = set[str]().union(*targets, *(nodes.find(after, target) for target in label["also"]))
            if label["kinds"] == ["added"]:
                places = nodes.find(after, label)
                is_right = any(not earlier[place, before] for place in places)
            else:
                found = [later[place, after] for place in nodes.find(before, label)]
                is_right = any(got <= allowed and all(got & target for target in targets) for got in found)
            if not is_right:
                misses.append(f"{label.get('page', label.get('part'))} {label.get('heading', label.get('key'))}")
        figures.append(PairFigure(before, after, len(own) - len(misses), len(own), 0.0, misses))
    return figures


class _Nodes:
    """Nodes of labeled headings and lines."""

    def __init__(self, anchors: pl.DataFrame, lines: pl.DataFrame) -> None:
        self.headings: dict[tuple[str, int], list[tuple[list[str], str]]] = defaultdict(list)
        for row in anchors.iter_rows(named=True):
            self.headings[row["document_id"], row["page"]].append((_words(row["heading"]), row["anchor_id"]))
        self.lines = {
            (row["document_id"], row["part"], row["key"]): node_of(row) for row in iter_records(lines, LineRecord)
        }

    def find(self, document_id: str, label: Row) -> set[str]:
        """Find the nodes of a labeled heading, by page and beginning, or of a labeled line."""
        if "key" in label:
            line = self.lines.get((document_id, label["part"], label["key"]))
            return {line} if line else set()
        words = _words(label["heading"])
        return {node for own, node in self.headings[document_id, label["page"]] if own[: len(words)] == words}


def _timed(figure: PairFigure, anchors: pl.DataFrame, sections: pl.DataFrame) -> PairFigure:
    """Add the processor time to align the sections of a pair."""
    own = [
        (anchors.filter(document_id=document), sections.filter(document_id=document))
        for document in (figure.before, figure.after)
    ]
    begin = time.process_time()
    older, newer = (build_sections(*tables) for tables in own)
    align_sections(older, newer)
    spent = 1000 * (time.process_time() - begin)
    return PairFigure(figure.before, figure.after, figure.right, figure.of, spent, figure.misses)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+|\d+[a-z]*", text.lower().replace("’", "'"))
