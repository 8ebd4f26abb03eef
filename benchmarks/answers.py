"""Answers: of what the sentences are that answer written questions, by the passage each question was written for."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.questions import Row, draw_folds, find_elements, find_form_families, read_questions
from benchmarks.results import open_home, write_results
from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

HALVES = ("development", "check")
QUESTIONS, PASSAGES = 600, 4


@dataclass(frozen=True, slots=True)
class Half:
    """Figures of one half of the families.

    Attributes: questions: those whose passage is among the first `PASSAGES` results. answered: share of them with a
                sentence of the element they were written for. from_element: mean share of an answer's sentences that
                stand in it. from_heading: the same for all that is under its heading. sentences: its mean pieces.
    """

    questions: int
    answered: float
    from_element: float
    from_heading: float
    sentences: float


@dataclass(frozen=True, slots=True)
class Report:
    """Figures by half."""

    halves: dict[str, Half]

    def write(self, folder: Path) -> str:
        """Write `answers.json` and `answers.md`; gives the Markdown."""
        lines = ["# answers", "", "| | questions | answered | from the element | from its heading | sentences |"]
        lines += ["|---|---|---|---|---|---|"]
        lines += [
            f"| {name} | {own.questions} | {own.answered:.3f} | {own.from_element:.3f} | {own.from_heading:.3f} "
            f"| {own.sentences:.1f} |"
            for name, own in self.halves.items()
        ]
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="answers")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Ask the release of TAXKG_HOME some written questions, the guardrail off; no repetitions."""
    settings = Settings(guardrail=False)
    released = open_home(settings.home)
    families = find_form_families(released.table("documents").rows(named=True))
    chosen = draw_folds(list(families.values()), 2)[0]
    queried = [row for row in read_questions() if (elements := find_elements(row)) and _family(elements[0], families)]
    random.Random(0).shuffle(queried)
    seen: dict[str, list[tuple[float, float, float, float]]] = {half: [] for half in HALVES}
    for row in queried[:QUESTIONS]:
        figures = score_answer(released.searcher, row, settings=settings)
        if figures is not None:
            is_chosen = _family(find_elements(row)[0], families) in chosen
            seen[HALVES[0 if is_chosen else 1]].append(figures)
    return Report({half: _average(figures) for half, figures in seen.items() if figures})


def _family(element: str, families: dict[str, str]) -> str | None:
    return families.get(element.split(":")[0])


def score_answer(searcher: Searcher, row: Row, *, settings: Settings) -> tuple[float, float, float, float] | None:
    """Whether the element speaks, its share, its heading's share, sentences; None where its passage is not found."""
    facts = searcher.passages
    answer = ask(searcher, row["query"], settings=settings, k=PASSAGES)
    elements = set(find_elements(row))
    right = {number for number, nodes in enumerate(facts.columns["node_ids"]) if not elements.isdisjoint(nodes)}
    shown = {facts.row_of_chunk[chunk] for result in answer.results for chunk in result.via.chunk_ids}
    if not right & shown or answer.answer is None:
        return None
    pieces = [piece for unit in answer.units for piece in unit.pieces if piece.chunk_id and piece.role != "label"]
    rows = [facts.row_of_chunk[piece.chunk_id] for piece in pieces]
    if not rows:
        return None
    anchors = {int(facts.anchor_number[number]) for number in right}
    from_element = statistics.fmean(number in right for number in rows)
    from_heading = statistics.fmean(int(facts.anchor_number[number]) in anchors for number in rows)
    return float(from_element > 0), from_element, from_heading, float(len(rows))


def _average(figures: Sequence[tuple[float, float, float, float]]) -> Half:
    answered, element, heading, count = (statistics.fmean(column) for column in zip(*figures, strict=True))
    return Half(len(figures), answered, element, heading, count)
