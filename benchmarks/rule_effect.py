"""Rules with little evidence: what answers and extraction lose where they are switched off.

A rule with little evidence (`tools.rule_evidence`) stays on only if a measurement on left-out families shows a gain.
Rules that read questions are switched off one at a time. Only the questions in which such a rule fires are evaluated:
no other question can change. Rules that read documents are switched off one at a time, too, and the labeled documents
are read again.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.asked import read_half
from benchmarks.documents import CorpusError
from benchmarks.questions import find_elements, read_questions
from benchmarks.results import open_home, write_results
from taxkg_assets.evaluation.anchor_scores import score_anchors
from taxkg_assets.evaluation.answer_metrics import Reply, score_answer
from taxkg_assets.evaluation.extraction_scores import score_ownership, score_roles, score_tables
from taxkg_assets.evaluation.labels import LABEL_FILES, Labels, read_label_file, read_labels
from taxkg_assets.evaluation.metrics import Result, find_passages, find_required, score_reciprocal_rank
from taxkg_assets.evaluation.reference_scores import score_references
from taxkg_assets.extraction.extract import extract
from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.rules.loader import Rule, load_family
from taxkg_assets.schemas import Anchors, Documents, Elements, References, Sections, Tables
from taxkg_assets.settings import Settings
from tools.rule_decisions import Effect, Key, write_effects
from tools.rule_evidence import Evidence, list_rules, read_evidence

BUDGET = 2_000
QUOTE = 300
"""Characters of an element that a result must contain."""
MOST_PAGES = 40
"""Longer documents are left out: the labeled documents are read once for each family."""
EXTRACTION_FAMILIES = ("box_grammar", "faces", "form_lines", "identity", "roles", "section_grammar", "tables")
"""Families whose decisions the labels of left-out pages measure: headings, owners, roles and cells."""


@dataclass(frozen=True, slots=True)
class Report:
    """Effects of all rules with little evidence."""

    effects: list[Effect]

    def write(self, folder: Path) -> str:
        """Write `rule_effect.csv`, which belongs into `data`, `rule_effect.json` and `rule_effect.md`."""
        folder.mkdir(parents=True, exist_ok=True)
        write_effects(self.effects, folder / "rule_effect.csv")
        lines = ["# rule_effect", "", "| family | group | rule | set | metric | n | with | without |", "|---" * 8 + "|"]
        for row in self.effects:
            names = f"| {row.family} | {row.group} | {row.rule or f'{row.rules} rules'} | {row.measured_on} "
            lines.append(names + f"| {row.metric} | {row.n} | {row.with_rule:.4f} | {row.without:.4f} |")
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="rule_effect")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Measure on TAXKG_HOME and the labels of TAXKG_GOLD; repetitions do not apply.

    Args:
        repeat: Not used: nothing is timed.
        rival_repeat: Not used.

    Returns:
        Effects of the rules that read questions, then of those that read documents.

    Raises:
        CorpusError: Nothing is released in the home, or no labels are named.
    """
    return Report([*measure_questions(Settings()), *measure_documents(Settings())])


@contextmanager
def without_rules(keys: Iterable[Key]) -> Iterator[None]:
    """Switch rules off in this process.

    Args:
        keys: Family, group and id of each rule.
    """
    off = set(keys)
    rows = [row for family, group in {key[:2] for key in off} for row in load_family(family)[group]
            if (family, group, row["id"]) in off]  # fmt: skip
    before = [row.get("enabled", True) for row in rows]
    for row in rows:
        row["enabled"] = False
    _clear_caches()
    try:
        yield
    finally:
        for row, value in zip(rows, before, strict=True):
            row["enabled"] = value
        _clear_caches()


def _clear_caches() -> None:
    """Forget everything derived from rules; the rule files themselves stay as they were changed."""
    for one in gc.get_objects():
        is_own = isinstance(one, functools._lru_cache_wrapper) and str(one.__module__).startswith("taxkg_assets")
        if is_own and one is not load_family:
            one.cache_clear()


def list_thin(reads: str) -> list[tuple[Evidence, Rule]]:
    """List the enabled rules with little evidence.

    Args:
        reads: `questions` or `documents`.

    Returns:
        Counts of each rule, and the rule.
    """
    counts = {(row.family, row.group, row.rule): row for row in read_evidence()}
    found = [(counts.get((family, group, rule.id)), rule) for family, group, rule in list_rules() if rule.is_enabled]
    return [(row, rule) for row, rule in found if row is not None and row.is_thin and row.reads == reads]


# --------------------------------------------------------------------------------------------------- questions


def measure_questions(settings: Settings) -> list[Effect]:
    """Switch off each rule with little evidence that reads questions, and evaluate the questions in which it fires.

    Args:
        settings: Settings with the home.

    Returns:
        Effects by rule, set and metric; then those of each family's rules together.
    """
    released = open_home(settings.home)
    sets = {half: read_half(half, released.table("sections"))[0] for half in ("check", "development")}
    for folder in filter(None, settings.gold.split(os.pathsep)):
        path = Path(folder) / "queries.jsonl"
        if path.exists():
            rows = [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()]
            sets["shared"] = [*sets.get("shared", []), *rows]
    sets["written"] = read_written(released.table("elements"))
    base: dict[str, dict[int, Mapping[str, float]]] = {name: {} for name in sets}
    thin = list_thin("questions")
    units: list[tuple[str, list[tuple[Evidence, Rule]]]] = [(f"{row.family}.{row.group}.{row.rule}", [(row, rule)])
                                                             for row, rule in thin]  # fmt: skip
    for family in dict.fromkeys(row.family for row, _ in thin):
        units.append((family, [pair for pair in thin if pair[0].family == family]))
    found: list[Effect] = []
    for _, pairs in units:
        found += _measure_unit(pairs, sets, base, released.searcher, settings)
    return found


def read_written(elements: pl.DataFrame) -> list[dict[str, Any]]:
    """Read the written questions of `data/training` with the beginning of their element as the quote to find.

    Args:
        elements: Table `elements` of the home.

    Returns:
        Questions whose element the home contains, and questions that no document answers.
    """
    texts = {row[0]: row[1:] for row in elements.select("element_id", "document_id", "page", "text").iter_rows()}
    found = []
    for row in read_questions():
        names = find_elements(row)
        gold = [
            {"document": document, "page": page, "quote": text[:QUOTE], "grade": 3}
            for document, page, text in (texts[name] for name in names if name in texts)
        ]
        if gold or not names:
            kind = "written" if gold else "unanswerable"
            found.append({"id": row["id"], "query": row["query"], "type": kind, "gold": gold})
    return found


def _measure_unit(
    pairs: Sequence[tuple[Evidence, Rule]],
    sets: Mapping[str, Sequence[Mapping[str, Any]]],
    base: Mapping[str, dict[int, Mapping[str, float]]],
    searcher: Searcher,
    settings: Settings,
) -> list[Effect]:
    fired = {
        name: [ix for ix, row in enumerate(rows) if any(rule.pattern.search(row["query"]) for _, rule in pairs)]
        for name, rows in sets.items()
    }
    if not any(fired.values()):
        return []
    for name, places in fired.items():
        for ix in places:
            if ix not in base[name]:
                base[name][ix] = _score(searcher, sets[name][ix], settings)
    changed: dict[str, dict[int, Mapping[str, float]]] = {}
    with without_rules((row.family, row.group, row.rule) for row, _ in pairs):
        for name, places in fired.items():
            changed[name] = {ix: _score(searcher, sets[name][ix], settings) for ix in places}
    families, groups = {row.family for row, _ in pairs}, {row.group for row, _ in pairs}
    family = "all" if len(families) > 1 else next(iter(families))
    is_one = len(pairs) == 1
    found = []
    for name, after in changed.items():
        for metric in sorted({metric for ix in after for metric in base[name][ix]}):
            # A question that cannot be evaluated without the rule has no scores and counts as failed.
            both = [
                (base[name][ix][metric], own.get(metric, 0.0)) for ix, own in after.items() if metric in base[name][ix]
            ]
            found.append(
                Effect(
                    family=family,
                    group=next(iter(groups)) if is_one else "",
                    rule=pairs[0][0].rule if is_one else "",
                    rules=len(pairs),
                    measured_on=name,
                    metric=metric,
                    n=len(both),
                    with_rule=sum(a for a, _ in both) / len(both),
                    without=sum(b for _, b in both) / len(both),
                )
            )
    return found


def _score(searcher: Searcher, question: Mapping[str, Any], settings: Settings) -> dict[str, float]:
    try:
        answer = ask(searcher, question["query"], settings=settings)
    except (LookupError, StopIteration, RuntimeError) as missing:
        # The code names this rule, so nothing works without it.
        print(f"{question['id']}: {missing!r}", file=sys.stderr)
        return {}
    reply = Reply(text=answer.answer, confidence=answer.confidence, is_abstained=answer.abstained)
    scores = {name: value for name, value in score_answer(question, reply).items() if name != "off_point"}
    if required := find_required(question):
        results = [Result(row.document, row.text) for row in answer.results]
        is_row = question["type"] == "table_value"
        ranks = find_passages(required, results, is_row=is_row, budget=BUDGET).ranks
        scores["mrr"] = score_reciprocal_rank(ranks)
    if "abstains_on_answerable" in scores:
        scores["speaks_on_answerable"] = 1 - scores.pop("abstains_on_answerable")
    return scores


# --------------------------------------------------------------------------------------------------- documents


def measure_documents(settings: Settings) -> list[Effect]:
    """Switch off the rules with little evidence of each family that reads documents, and read the documents again.

    Args:
        settings: Settings with the home, whose files are read, and the folders of labels.

    Returns:
        Effects by family, set of labels and figure.

    Raises:
        CorpusError: No folder of labels is named.
    """
    folders = [Path(folder) for folder in settings.gold.split(os.pathsep) if folder]
    if not folders:
        raise CorpusError("No labels: name their folders in TAXKG_GOLD.")
    labels = {folder.name: _read_folder(folder) for folder in folders}
    documents = open_home(settings.home).table("documents").filter(pl.col("page_count") <= MOST_PAGES)
    labels = {name: own.within(set(documents["document_id"])) for name, own in labels.items()}
    base = _read_documents(documents, labels)
    found: list[Effect] = []
    thin = {(row.family, row.group, row.rule) for row, _ in list_thin("documents")}
    for key in sorted(key for key in thin if key[0] in EXTRACTION_FAMILIES):
        with without_rules([key]):
            after = _read_documents(documents, labels)
        found += [
            Effect(*key, 1, name, metric, n, value, after.get(name, {}).get(metric, (0.0, 0))[0] or 0.0)
            for name, figures in base.items()
            for metric, (value, n) in figures.items()
            if value is not None
        ]
    return found


def _read_folder(folder: Path) -> Labels:
    files = {
        path.stem: read_label_file(path.stem, path.read_text(encoding="utf8"))
        for path in sorted(folder.iterdir())
        if path.stem in LABEL_FILES and path.suffix in (".json", ".jsonl")
    }
    return read_labels({folder.name: files})


def _read_documents(documents: pl.DataFrame, labels: Mapping[str, Labels]) -> dict[str, dict[str, tuple[Any, int]]]:
    wanted = {row.document_id for own in labels.values() for name in LABEL_FILES for row in getattr(own, name)}
    frames: dict[str, list[pl.DataFrame]] = {}
    for row in documents.filter(pl.col("document_id").is_in(list(wanted))).iter_rows(named=True):
        path = Path(row["source_uri"].removeprefix("file://"))
        with suppress(Exception):  # a document that cannot be read without the rules counts as not read
            read = extract(path.read_bytes(), document_id=row["document_id"], is_text=path.suffix == ".txt")
            for name, frame in read.frames.items():
                frames.setdefault(name, []).append(frame)
    if not frames:
        return {}
    tables = {name: pl.concat(parts) for name, parts in frames.items()}
    own_documents = Documents.cast(documents)
    anchors, sections = Anchors.cast(tables["anchors"]), Sections.cast(tables["sections"])
    found = {}
    for name, own in labels.items():
        scores = {
            "headings": score_anchors(anchors, own, documents=own_documents),
            "owners": score_ownership(sections, own, anchors=anchors, documents=own_documents),
            "roles": score_roles(Elements.cast(tables["elements"]), own, documents=own_documents),
            "tables": score_tables(Tables.cast(tables["tables"]), own, documents=own_documents),
            "references": score_references(
                References.cast(tables["references"]), own, anchors=anchors, documents=own_documents
            ),
        }
        found[name] = {
            f"{part} {figure}": (value, score.n_rows)
            for part, score in scores.items()
            for figure, value in score.figures.items()
        }
    return found
