"""Exclusions: whether any item of a list that excludes could be quoted without the words that exclude it.

Lists are found in `sections`, by the roles and the order of what is printed, not by the code that quotes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.results import open_home, write_results
from taxkg_assets.retrieval.answering.statements import Statement, read_row
from taxkg_assets.retrieval.answering.units import draft_unit, finish_unit
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.lines import find_mark, is_first_item
from taxkg_assets.retrieval.index.passage_context import open_contexts
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.rules.sentences import find_sentences

SHOWN = 40
_ITEM, _BULLETS = "ListBlock", ("bullet", "open_bullet")


@dataclass(frozen=True, slots=True)
class Report:
    """Lists that exclude, their items, and the items that a quote would tear off what leads them in."""

    lists: int
    items: int
    torn: list[dict[str, str]]

    def write(self, folder: Path) -> str:
        """Write `exclusions.json` and `exclusions.md`; gives the Markdown."""
        lines = ["# exclusions", "", "| lists that exclude | items | without their lead-in |", "|---|---|---|"]
        lines += [f"| {self.lists} | {self.items} | {len(self.torn)} |", ""]
        lines += [f"- {row['node']}: {row['lead'][-80:]} / {row['quote'][:120]}" for row in self.torn[:SHOWN]]
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="exclusions")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Inspect the release of TAXKG_HOME; no repetitions."""
    from taxkg_assets.settings import Settings

    released = open_home(Settings().home)
    return find_torn_items(released.table("sections"), released.searcher)


def find_torn_items(sections: pl.DataFrame, searcher: Searcher) -> Report:
    """The items of lists that exclude whose quote lacks the words that exclude them."""
    lead_of = {item: lead for lead, items in find_negated_lists(sections) for item in items}
    row_of = {node: row for node in lead_of if (row := searcher.find_row(node)) is not None}
    torn: list[dict[str, str]] = []
    for node, row in row_of.items():
        for own in _statements_of(row, searcher.passages, node=node):
            quote = " ".join(finish_unit(draft_unit(own, score=0.0), rank=1).lines)
            if _squeeze(lead_of[node]) not in _squeeze(quote):
                torn.append({"node": node, "lead": lead_of[node], "quote": quote})
    return Report(len(set(lead_of.values())), len(row_of), torn)


def find_negated_lists(sections: pl.DataFrame) -> list[tuple[str, list[str]]]:
    """Sentences that open a list and deny, each with the ids of the marked items right after it."""
    found: list[tuple[str, list[str]]] = []
    for rows in _by_anchor(sections):
        for number, row in enumerate(rows):
            spans = find_sentences(row["text"])
            lead = row["text"][slice(*spans[-1])] if spans else ""
            if row["role"] == _ITEM or not lead.rstrip().endswith(":") or not _denies(lead):
                continue
            items = list(_take_items(rows[number + 1 :], outer=find_mark(row["text"])))
            if items:
                found.append((lead, items))
    return found


def _take_items(rows: Sequence[Mapping[str, Any]], *, outer: str) -> Iterator[str]:
    """The items of the list that begins with the first row, up to the next item of the list that its lead-in is in.

    Items of lists within it are no items of its own.
    """
    first = find_mark(rows[0]["text"]) if rows else ""
    if not first or (first not in _BULLETS and not is_first_item(rows[0]["text"])):
        return
    for number, row in enumerate(rows):
        mark = find_mark(row["text"])
        is_other = number > 0 and mark == first and mark not in _BULLETS and is_first_item(row["text"])
        if row["role"] != _ITEM or not mark or is_other or (mark == outer != first):
            return
        if mark == first:
            yield row["element_id"]


def _by_anchor(sections: pl.DataFrame) -> Iterator[Sequence[Mapping[str, Any]]]:
    columns = ("document_id", "anchor_id", "paragraph_ix", "element_id", "role", "text")
    ordered = sections.filter(pl.col("table_id").is_null()).select(columns).sort("document_id", "paragraph_ix")
    for own in ordered.partition_by("document_id", "anchor_id", maintain_order=True):
        yield own.rows(named=True)


def _statements_of(row: int, facts: PassageFacts, *, node: str) -> Iterator[Statement]:
    context = open_contexts([row], facts)[row]
    for own in read_row(row, context, route=Route(), passage=0, hit=row, question_terms=frozenset()):
        if context.node(own.line) == node:
            yield own


def _denies(text: str) -> bool:
    return load_answers().denials.matches(text)


def _squeeze(text: str) -> str:
    return "".join(text.split())
