"""As on a forum: what answers say to questions over a library, and whether they are as sure as right."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.labeled import LabeledQuestion, label_question
from benchmarks.results import open_home, write_results
from taxkg_assets.evaluation.answer_metrics import (
    BINS,
    Reply,
    find_calibration_floors,
    list_answer_outcomes,
    prints_cell,
    score_answer,
    score_answers,
    score_calibration_error,
    score_reliability,
)
from taxkg_assets.evaluation.sealed_quotes import open_question
from taxkg_assets.records import GoldPassageRecord
from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

HALVES = ("development", "check")
SETS = {half: (half, f"people_{half}") for half in HALVES}
"""Files of questions of each half: a small first one, and a larger one that also asks as clerks and preparers do."""
CELLS = ("table", "more-tables", "fresh-tables", "drawn-tables")
"""Sets of questions for cells: the beginnings of their ids."""
FOLDER = Path(__file__).resolve().parents[1] / "data" / "library_eval"
JUDGED = FOLDER / "judged.jsonl"
"""Passages that readers of answers judged to settle a question, besides the passage that it was written for."""


@dataclass(frozen=True, slots=True)
class Half:
    """Figures of one set of questions, or of all of one half of the families.

    `skipped` has the reasons why questions are left out; `cells` has for each question for a cell whether the answer
    prints it with the words of its row and column. `floors` has the calibration error that exact probabilities would
    show by chance: its mean, and what 95 % of them stay within. `reliability` is as in `score_reliability`.
    """

    figures: list[dict[str, Any]]
    calibration_error: float | None
    skipped: list[str]
    cells: dict[str, bool] = field(default_factory=dict)
    floors: tuple[float, float] | None = None
    reliability: list[tuple[float, float, int, float, float]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Report:
    """Figures by set of questions, and by half for all sets together."""

    halves: dict[str, Half]

    def write(self, folder: Path) -> str:
        """Write `forum.json` and `forum.md`; gives the Markdown."""
        lines = ["# forum", "", "| half | kind | metric | mean | interval | questions |", "|---|---|---|---|---|---|"]
        for name, half in self.halves.items():
            lines += [_write_row(name, row) for row in half.figures]
            error = "none" if half.calibration_error is None else f"{half.calibration_error:.3f}"
            lines += [f"| {name} | all | calibration_error | {error} | | |"]
            if half.floors is not None:
                mean, high = half.floors
                lines += [f"| {name} | all | calibration_error of exact probabilities | {mean:.3f} | to {high:.3f} | |"]
            lines += [f"| {name} | all | skipped | {len(half.skipped)} | | |"]
            for cells in CELLS:
                own = [is_right for question, is_right in half.cells.items() if question.startswith(f"{cells}-")]
                if own:
                    share = sum(own) / len(own)
                    lines += [f"| {name} | {cells} | value with its row and column | {share:.3f} | | {len(own)} |"]
        lines += ["", "| half | confidence | answers | mean confidence | right |", "|---|---|---|---|---|"]
        lines += [
            f"| {name} | {low:.1f} to {high:.1f} | {n} | {mean:.3f} | {right:.3f} |"
            for name, half in self.halves.items()
            for low, high, n, mean, right in half.reliability
        ]
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="forum")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Questions of a set with their replies and families, and the reasons of those that were left out."""

    questions: list[LabeledQuestion]
    replies: dict[str, Reply]
    skipped: list[str]
    families: dict[str, str]


def run(*, halves: Sequence[str]) -> Report:
    """Ask the release of TAXKG_HOME the questions of some halves as it is set.

    Args:
        halves: `development`, `check`, or both; the check half is for a last measurement.
    """
    settings = Settings()
    released = open_home(settings.home)
    texts = group_texts(released.table("sections"))
    judged = read_judged(texts)
    found: dict[str, Half] = {}
    for half in halves:
        sets = {name: _ask_set(name, released.searcher, texts, settings=settings) for name in SETS[half]}
        found |= {name: _score_set(evaluated) for name, evaluated in sets.items()}
        cells = _ask_cells(half, released.searcher, texts, settings=settings)
        whole_half = _join_sets(list(sets.values()))
        found[f"all of {half}"] = _score_set(whole_half, cells)
        found[f"all of {half}, judged passages too"] = _score_set(accept_judged(whole_half, judged))
    return Report(found)


def read_half(half: str, sections: pl.DataFrame) -> tuple[list[LabeledQuestion], list[str]]:
    """The questions of a half with their quotes put back, and the reasons of those that a home cannot answer for."""
    return _open_half(half, group_texts(sections))


def _open_half(half: str, texts: dict[str, list[tuple[int, str]]]) -> tuple[list[LabeledQuestion], list[str]]:
    lines = (FOLDER / f"{half}.jsonl").read_text(encoding="utf8").splitlines()
    opened = [open_question(json.loads(line), texts) for line in lines]
    questions = [label_question(question) for question, reason in opened if not reason]
    return questions, [reason for _, reason in opened if reason]


def read_judged(texts: Mapping[str, Sequence[tuple[int, str]]]) -> dict[str, list[list[GoldPassageRecord]]]:
    """Read what settles a question besides the passage that it was written for.

    Args:
        texts: By document the page and text of each paragraph, as in `sections`.

    Returns:
        By question id its alternatives; each is a list of passages that settle the question together. Alternatives that
        the home does not contain are left out.
    """
    alternatives: dict[str, list[list[GoldPassageRecord]]] = {}
    for line in JUDGED.read_text(encoding="utf8").splitlines():
        row = json.loads(line)
        opened, reason = open_question({"gold": row["passages"]}, texts)
        if not reason:
            alternatives.setdefault(row["question"], []).append(opened["gold"])
    return alternatives


def accept_judged(evaluated: Evaluated, judged: Mapping[str, Sequence[list[GoldPassageRecord]]]) -> Evaluated:
    """Where an answer lacks the gold, replace it by the first judged alternative that the answer quotes as a whole.

    Args:
        evaluated: Questions with their replies.
        judged: Alternatives by question id.

    Returns:
        The same replies with these questions.
    """
    questions = []
    for question in evaluated.questions:
        reply = evaluated.replies[question["id"]]
        is_gold_quoted = score_answer(question, reply).get("contains_needed")
        alternatives = () if is_gold_quoted else judged.get(question["id"], ())
        relabeled: list[LabeledQuestion] = [{**question, "gold": passages} for passages in alternatives]
        quoted = (other for other in relabeled if score_answer(other, reply).get("contains_all"))
        questions.append(next(quoted, question))
    return Evaluated(questions, evaluated.replies, evaluated.skipped, evaluated.families)


def read_cells(half: str, documents: Collection[str]) -> list[dict[str, Any]]:
    """The questions for cells of a half, of the documents of a home."""
    files = (FOLDER / f"{cells.replace('-', '_')}_{half}.jsonl" for cells in CELLS)
    lines = [line for file in files for line in file.read_text(encoding="utf8").splitlines()]
    return [row for row in map(json.loads, lines) if row["document"] in documents]


def group_texts(sections: pl.DataFrame) -> dict[str, list[tuple[int, str]]]:
    """By document the page and text of each paragraph of `sections`."""
    texts: dict[str, list[tuple[int, str]]] = {}
    for document, page, text in sections.select("document_id", "page", "text").iter_rows():
        texts.setdefault(document, []).append((page, text))
    return texts


def _ask_set(
    name: str, searcher: Searcher, texts: dict[str, list[tuple[int, str]]], *, settings: Settings
) -> Evaluated:
    questions, skipped = _open_half(name, texts)
    if not any(question["gold"] for question in questions):
        return Evaluated([], {}, skipped, {})
    replies = {question["id"]: _reply(searcher, question["query"], settings=settings) for question in questions}
    families = {question["id"]: find_family(question) for question in questions}
    return Evaluated(questions, replies, skipped, families)


def _join_sets(sets: Sequence[Evaluated]) -> Evaluated:
    return Evaluated(
        [question for evaluated in sets for question in evaluated.questions],
        {question: reply for evaluated in sets for question, reply in evaluated.replies.items()},
        [reason for evaluated in sets for reason in evaluated.skipped],
        {question: family for evaluated in sets for question, family in evaluated.families.items()},
    )


def _score_set(evaluated: Evaluated, cells: Mapping[str, bool] | None = None) -> Half:
    """Score the replies to a set; without questions that a home can answer there are no figures."""
    if not evaluated.questions:
        return Half([], None, evaluated.skipped, dict(cells or {}))
    outcomes = list_answer_outcomes(evaluated.questions, evaluated.replies)
    return Half(
        score_answers(evaluated.questions, evaluated.replies, families=evaluated.families).rows(named=True),
        score_calibration_error(outcomes),
        evaluated.skipped,
        dict(cells or {}),
        find_calibration_floors([sure for sure, _ in outcomes]),
        score_reliability(outcomes, bins=BINS),
    )


def _ask_cells(
    half: str, searcher: Searcher, texts: dict[str, list[tuple[int, str]]], *, settings: Settings
) -> dict[str, bool]:
    """Return by question for a cell whether the answer prints it; a question without its document is left out."""
    rows = read_cells(half, frozenset(texts))
    replies = {row["id"]: _reply(searcher, row["query"], settings=settings) for row in rows}
    return {
        row["id"]: prints_cell(replies[row["id"]].text or "", row=row["row"], column=row["column"], value=row["value"])
        for row in rows
    }


def _reply(searcher: Searcher, query: str, *, settings: Settings) -> Reply:
    answer = ask(searcher, query, settings=settings)
    return Reply(text=answer.answer, confidence=answer.confidence, is_abstained=answer.abstained)


def find_family(question: Mapping[str, Any]) -> str:
    """Name of the form or publication that answers a question, a form and its instructions being one."""
    gold: Sequence[Mapping[str, Any]] = question["gold"]
    if not gold:
        return f"question {question['id']}"
    stem = str(gold[0]["document"]).split("--")[0]
    return stem[1:] if stem[0] in "fi" else stem


def _write_row(half: str, row: dict[str, Any]) -> str:
    interval = "" if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}"
    return f"| {half} | {row['slice']} | {row['metric']} | {row['value']:.3f} | {interval} | {row['n']} |"
