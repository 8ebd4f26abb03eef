"""Confidence: the probability that an answer contains what is needed, fitted on some families, checked on others.

Questions over the library of TAXKG_HOME: the development half of data/library_eval, where an answer has to contain the
quote, and samples of data/training, where it has to take a sentence of the element, over the library and over parts of
it. The weights are put into rules/guardrail.yaml by hand.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from benchmarks.answer_kinds import ask_made, fit_kind, make_questions, score_fitted
from benchmarks.answerable import leave_out_families
from benchmarks.documents import CorpusError
from benchmarks.forum import read_half
from benchmarks.questions import Judge, Row, draw_folds, find_elements, read_questions
from benchmarks.results import open_home, write_results
from taxkg_assets.evaluation.answer_metrics import (
    Reply,
    find_calibration_floor,
    score_answer,
    score_calibration_error,
    score_reliability,
)
from taxkg_assets.retrieval.answering import guardrail
from taxkg_assets.retrieval.answering.answer import ask, find_evidence
from taxkg_assets.retrieval.answering.guardrail import find_signals
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

DEVELOPMENT, TRAINING, PARTS = "development", "training", "parts of the library"
DRAWN = {True: 700, False: 100}
"""Questions drawn from data/training, by whether a document answers them."""
DRAWN_OF_PART = {True: 90, False: 12}
SHARES = (0.25, 0.25, 0.07, 0.07, 0.07)
"""Of the families of documents that parts of the library are made of: it is easier to be right in a small one."""
WEIGHTS = {DEVELOPMENT: 1.0, TRAINING: 0.2, PARTS: 0.2}
"""Weight of a question: those of data/training were written with the passage at hand and are nearer to its words."""
KINDS = (guardrail.CELL, guardrail.CHANGES, guardrail.DOCUMENTS, guardrail.SUMMARY)
TABLES = ("documents", "anchors", "tables", "revisions")
SIGNALS = ("evidence", "gap", "size")
INVERSE_PENALTY, FOLDS, SEED = 1.0, 7, 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question queried: its signals, and whether the answer contains what is needed."""

    source: str
    family: str
    signals: tuple[float, ...]
    is_right: bool


@dataclass(frozen=True, slots=True)
class Report:
    """Fitted weights, and by source of question and kind of answer the figures of weights fitted on other families."""

    weights: dict[str, float]
    sources: dict[str, dict[str, Any]]
    kinds: dict[str, dict[str, Any]]

    def write(self, folder: Path) -> str:
        """Write `confidence.json` and `confidence.md`; gives the Markdown."""
        lines = ["# confidence", "", *(f"- {name}: {value:.3f}" for name, value in self.weights.items())]
        for source, own in (self.sources | self.kinds).items():
            lines += ["", f"## {source}: {own['questions']} questions", ""]
            if not own["questions"]:
                continue
            lines += [f"- {name}: {value:.3f}" for name, value in own.get("weights", {}).items()]
            error, floor = own["calibration_error"], own["floor"]
            lines += [f"Calibration error {error:.3f}; {floor:.3f} if every probability were right.", ""]
            lines += ["| confidence | questions | mean | right |", "|---|---|---|---|"]
            lines += [
                f"| {low:.1f} to {high:.1f} | {n} | {mean:.2f} | {right:.2f} |"
                for low, high, n, mean, right in own["reliability"]
            ]
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="confidence")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Ask all questions with the guardrail off, fit, and measure by families left out; no repetitions."""
    settings = Settings()
    released = open_home(settings.home)
    judge = Judge(released.searcher)
    questions, _ = read_half(DEVELOPMENT, released.table("sections"))
    written = read_questions()
    outcomes = [*_ask_development(questions, judge), *_ask_training(written, judge, source=TRAINING, drawn=DRAWN)]
    for number, share in enumerate(SHARES):
        part = _take_part(judge, share=share, seed=number)
        outcomes += _ask_training(written, part, source=PARTS, drawn=DRAWN_OF_PART)
    if len({own.is_right for own in outcomes}) < 2:
        raise CorpusError("the home holds none of the documents that the questions were written for")
    held_out = score_left_out(outcomes)
    sources = {}
    for source in WEIGHTS:
        pairs = [(p, own.is_right) for p, own in zip(held_out, outcomes, strict=True) if own.source == source]
        sources[source] = describe_pairs(pairs)
    fitted = fit_confidence(outcomes)
    weights = [*fitted.coef_[0].tolist(), float(fitted.intercept_[0])]
    kinds = measure_kinds({name: released.table(name) for name in TABLES}, judge)
    return Report(dict(zip((*SIGNALS, "bias"), weights, strict=True)), sources, kinds)


def describe_pairs(pairs: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    """Describe stated probabilities and outcomes; of no questions there are no figures."""
    return {
        "questions": len(pairs),
        "right": statistics.fmean(right for _, right in pairs) if pairs else None,
        "calibration_error": score_calibration_error(pairs),
        "floor": find_calibration_floor([p for p, _ in pairs]),
        "reliability": score_reliability(pairs),
    }


def measure_kinds(tables: Mapping[str, pl.DataFrame], judge: Judge) -> dict[str, dict[str, Any]]:
    """Ask questions made from the tables, fit each kind of answer, and measure it by families left out."""
    lacking = [str(row["query"]) for row in read_questions() if not find_elements(row)]
    outcomes = ask_made(judge.searcher, make_questions(tables, judge.families, lacking=lacking))
    found = {}
    for kind in KINDS:
        own = [outcome for outcome in outcomes if outcome.kind == kind]
        pairs = []
        for fold in draw_folds([outcome.family for outcome in own], FOLDS):
            rest = [outcome for outcome in own if outcome.family not in fold]
            weights = fit_kind(rest) if rest else None
            pairs += [(score_fitted(weights, o), o.is_right) for o in own if weights and o.family in fold]
        found[kind] = {**describe_pairs(pairs), "weights": fit_kind(own) if own else {}}
    return found


def _ask_development(questions: Sequence[dict[str, Any]], judge: Judge) -> list[Outcome]:
    found = []
    for question in questions:
        reply, signals = _ask(judge.searcher, question["query"])
        is_right = bool(score_answer(question, reply).get("contains_needed"))
        documents = [passage["document"] for passage in question["gold"]]
        family = judge.families[documents[0]] if documents else f"question {question['id']}"
        found.append(Outcome(DEVELOPMENT, family, signals, is_right))
    return found


def _take_part(judge: Judge, *, share: float, seed: int) -> Judge:
    """A library of some of the families."""
    families = sorted(set(judge.families.values()))
    chosen = set(random.Random(seed).sample(families, max(1, round(share * len(families)))))
    return Judge(leave_out_families(judge, frozenset(families) - chosen))


def _ask_training(rows: Sequence[Row], judge: Judge, *, source: str, drawn: dict[bool, int]) -> list[Outcome]:
    shuffled = list(rows)
    random.Random(SEED).shuffle(shuffled)
    left, found = dict(drawn), list[Outcome]()
    for row in shuffled:
        is_answerable = bool(find_elements(row))
        queried = judge.ask(row) if is_answerable and left[True] else None
        if not left[is_answerable] or (is_answerable and queried is None):
            continue
        left[is_answerable] -= 1
        signals, quoted = _ask_quoted(judge.searcher, str(row["query"]))
        right = queried.right_rows if queried is not None else frozenset[int]()
        family = queried.family if queried is not None else f"question {row['id']}"
        found.append(Outcome(source, family, signals, not quoted.isdisjoint(right)))
    return found


def _ask(searcher: Searcher, query: str) -> tuple[Reply, tuple[float, ...]]:
    answer = ask(searcher, query, settings=Settings(guardrail=False))
    return Reply(answer.answer, answer.confidence, is_abstained=False), _find_signals(searcher, query)


def _ask_quoted(searcher: Searcher, query: str) -> tuple[tuple[float, ...], frozenset[int]]:
    """The signals of a question, and the rows that its answer quotes."""
    answer = ask(searcher, query, settings=Settings(guardrail=False))
    pieces = (piece for unit in answer.units for piece in unit.pieces if piece.chunk_id and piece.role != "label")
    return _find_signals(searcher, query), frozenset(searcher.passages.row_of_chunk[own.chunk_id] for own in pieces)


def _find_signals(searcher: Searcher, query: str) -> tuple[float, ...]:
    ranking = searcher.rank(query)
    evidence = find_evidence(searcher, query, ranking, results=searcher.assemble(ranking))
    found = find_signals(evidence or {"gap": 0.0}, documents=len(searcher.facts.documents))
    return tuple(found[name] for name in SIGNALS)


def score_left_out(outcomes: Sequence[Outcome]) -> list[float]:
    """Score each question by weights that were fitted on other families.

    Args:
        outcomes: Questions of all sources.

    Returns:
        The probability that the answer is right, for each question.
    """
    found = [0.0] * len(outcomes)
    for fold in draw_folds([own.family for own in outcomes], FOLDS):
        fitted = fit_confidence([own for own in outcomes if own.family not in fold])
        for place, own in enumerate(outcomes):
            if own.family in fold:
                found[place] = float(fitted.predict_proba([own.signals])[0, 1])
    return found


def fit_confidence(outcomes: Sequence[Outcome]) -> LogisticRegression:
    """Fit a logistic regression with an L2 penalty on the weights of the signals, each question weighted by its source.

    Args:
        outcomes: Questions of all sources, right and wrong ones among them.
    """
    from sklearn.linear_model import LogisticRegression  # loaded here: it takes a second

    return LogisticRegression(C=INVERSE_PENALTY, tol=1e-6).fit(
        [own.signals for own in outcomes],
        [own.is_right for own in outcomes],
        sample_weight=[WEIGHTS[own.source] for own in outcomes],
    )
