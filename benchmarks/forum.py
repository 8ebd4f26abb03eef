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
    Reply,
    find_outcomes,
    prints_cell,
    score_answers,
    score_calibration_error,
)
from taxkg_assets.evaluation.sealed_quotes import open_question
from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

HALVES = ("development", "check")
CELLS = ("table", "more-tables", "fresh-tables", "drawn-tables")
"""Sets of questions for cells: the beginnings of their ids."""
FOLDER = Path(__file__).resolve().parents[1] / "data" / "library_eval"


@dataclass(frozen=True, slots=True)
class Half:
    """Figures of one half of the families.

    `skipped` has the reasons why questions are left out; `cells` has for each question for a cell whether the answer
    prints it with the words of its row and column.
    """

    figures: list[dict[str, Any]]
    calibration_error: float | None
    skipped: list[str]
    cells: dict[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """Figures by half."""

    halves: dict[str, Half]

    def write(self, folder: Path) -> str:
        """Write `forum.json` and `forum.md`; gives the Markdown."""
        lines = ["# forum", "", "| half | kind | metric | mean | interval | questions |", "|---|---|---|---|---|---|"]
        for name, half in self.halves.items():
            lines += [_write_row(name, row) for row in half.figures]
            error = "none" if half.calibration_error is None else f"{half.calibration_error:.3f}"
            lines += [f"| {name} | all | calibration_error | {error} | | |"]
            lines += [f"| {name} | all | skipped | {len(half.skipped)} | | |"]
            for cells in CELLS:
                own = [is_right for question, is_right in half.cells.items() if question.startswith(f"{cells}-")]
                if own:
                    share = sum(own) / len(own)
                    lines += [f"| {name} | {cells} | value with its row and column | {share:.3f} | | {len(own)} |"]
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="forum")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Ask the release of TAXKG_HOME the questions of both halves as it is set; no repetitions."""
    settings = Settings()
    released = open_home(settings.home)
    texts = _group_texts(released.table("sections"))
    return Report({half: _score_half(half, released.searcher, texts, settings=settings) for half in HALVES})


def read_half(half: str, sections: pl.DataFrame) -> tuple[list[LabeledQuestion], list[str]]:
    """The questions of a half with their quotes put back, and the reasons of those that a home cannot answer for."""
    return _open_half(half, _group_texts(sections))


def _open_half(half: str, texts: dict[str, list[tuple[int, str]]]) -> tuple[list[LabeledQuestion], list[str]]:
    lines = (FOLDER / f"{half}.jsonl").read_text(encoding="utf8").splitlines()
    opened = [open_question(json.loads(line), texts) for line in lines]
    questions = [label_question(question) for question, reason in opened if not reason]
    return questions, [reason for _, reason in opened if reason]


def read_cells(half: str, documents: Collection[str]) -> list[dict[str, Any]]:
    """The questions for cells of a half, of the documents of a home."""
    files = (FOLDER / f"{cells.replace('-', '_')}_{half}.jsonl" for cells in CELLS)
    lines = [line for file in files for line in file.read_text(encoding="utf8").splitlines()]
    return [row for row in map(json.loads, lines) if row["document"] in documents]


def _group_texts(sections: pl.DataFrame) -> dict[str, list[tuple[int, str]]]:
    texts: dict[str, list[tuple[int, str]]] = {}
    for document, page, text in sections.select("document_id", "page", "text").iter_rows():
        texts.setdefault(document, []).append((page, text))
    return texts


def _score_half(half: str, searcher: Searcher, texts: dict[str, list[tuple[int, str]]], *, settings: Settings) -> Half:
    queried, skipped = _open_half(half, texts)
    if not any(question["gold"] for question in queried):
        return Half([], None, skipped)
    replies = {question["id"]: _reply(searcher, question["query"], settings=settings) for question in queried}
    figures = score_answers(queried, replies, families={question["id"]: find_family(question) for question in queried})
    error = score_calibration_error(find_outcomes(queried, replies))
    return Half(figures.rows(named=True), error, skipped, _ask_cells(half, searcher, texts, settings=settings))


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
