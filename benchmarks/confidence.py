"""Confidence: the probability that an answer contains what is needed, fitted on some families, checked on others.

Questions over the library of TAXKG_HOME, put with the guardrail off: the development half of data/library_eval, where
an answer has to contain the quote, or the cell with its headers; and samples of data/training, where it has to take a
sentence of the element, over the library and over parts of it. With `--write` the weights go into rules/guardrail.yaml.
"""

from __future__ import annotations

import math
import random
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.answer_kinds import ask_made, fit_kind, make_questions, score_fitted
from benchmarks.answerable import leave_out_families
from benchmarks.documents import CorpusError
from benchmarks.forum import (
    SETS,
    Evaluated,
    accept_judged,
    find_family,
    group_texts,
    read_cells,
    read_half,
    read_judged,
)
from benchmarks.questions import Judge, Row, draw_folds, find_elements, read_questions
from benchmarks.results import open_home, write_results
from taxkg_assets.evaluation.answer_metrics import (
    Reply,
    find_calibration_floor,
    prints_cell,
    score_answer,
    score_calibration_error,
    score_reliability,
)
from taxkg_assets.retrieval.answering import guardrail
from taxkg_assets.retrieval.answering.answer import Answer, ask_with_signals
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.rules.models.guardrail import load_guardrail
from taxkg_assets.settings import Settings

DEVELOPMENT, CELLS, TRAINING, PARTS = "development", "cells of development", "training", "parts of the library"
DRAWN = {True: 300, False: 40}
"""Questions drawn from data/training, by whether a document answers them: one in eight has no answer, as elsewhere."""
DRAWN_OF_PART = {True: 40, False: 8}
SHARES = (0.25, 0.07, 0.07)
"""Of the families of documents that parts of the library are made of: it is easier to be right in a small one."""
WEIGHTS = {DEVELOPMENT: 1.0, CELLS: 0.5, TRAINING: 0.2, PARTS: 0.2}
"""Weight of a question: those of data/training were written with the passage at hand and are nearer to its words."""
PULL = 2.0
"""How strongly weights are pulled to those in place: these questions hardly say what another size of library needs."""
FITTED = (guardrail.PASSAGES, guardrail.TABLE)
"""Kinds of answers that are fitted on these questions; the others on questions made from tables."""
KINDS = (guardrail.CELL, guardrail.CHANGES, guardrail.DOCUMENTS, guardrail.SUMMARY)
TABLES = ("documents", "anchors", "tables", "revisions")
RULES = Path(guardrail.__file__).parents[2] / "rules" / "guardrail.yaml"
FOLDS, SEED, DRAWS = 7, 5, 200
OFF = Settings(guardrail=False, llm_answers=False, llm_grading=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question of the fit: the kind and the signals of its answer, and whether this contains what is needed."""

    source: str
    family: str
    kind: str
    signals: Mapping[str, float]
    is_right: bool
    is_answerable: bool = True


@dataclass(frozen=True, slots=True)
class Report:
    """Fitted weights by kind; figures by source of question with the weights in place and with those of other families.

    `kinds` has the figures of the kinds whose questions are made from tables.
    """

    weights: dict[str, dict[str, float]]
    sources: dict[str, dict[str, dict[str, Any]]]
    kinds: dict[str, dict[str, Any]]

    def write(self, folder: Path) -> str:
        """Write `confidence.json` and `confidence.md`; gives the Markdown."""
        lines = ["# confidence", "", "```", *(_write_weights(kind, own) for kind, own in self.weights.items()), "```"]
        for source, both in self.sources.items():
            for name, own in both.items():
                lines += ["", f"## {source}, {name}: {own['questions']} questions", "", *_write_figures(own)]
        for kind, own in self.kinds.items():
            lines += ["", f"## {kind}: {own['questions']} questions", ""]
            lines += [f"- {name}: {value:.3f}" for name, value in own["weights"].items()]
            lines += ["", *_write_figures(own)]
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="confidence")


def run(*, write: bool) -> Report:
    """Ask all questions with the guardrail off, fit, and measure by families left out.

    Args:
        write: Whether to put the weights of answers of passages and of tables into `rules/guardrail.yaml`.
    """
    released = open_home(Settings().home)
    judge = Judge(released.searcher)
    outcomes = ask_development(judge, released.table("sections"))
    written = read_questions()
    outcomes += _ask_training(written, judge, source=TRAINING, drawn=DRAWN)
    for number, share in enumerate(SHARES):
        part = _take_part(judge, share=share, seed=number)
        outcomes += _ask_training(written, part, source=PARTS, drawn=DRAWN_OF_PART)
    if len({own.is_right for own in outcomes}) < 2:
        raise CorpusError("the home holds none of the documents that the questions were written for")
    weights = fit_kinds(outcomes)
    if write:
        RULES.write_text(replace_weights(RULES.read_text(encoding="utf8"), weights), encoding="utf8")
    kinds = _measure_kinds({name: released.table(name) for name in TABLES}, judge)
    return Report(weights, compare_sources(outcomes), kinds)


def compare_sources(outcomes: Sequence[Outcome]) -> dict[str, dict[str, dict[str, Any]]]:
    """Describe the probabilities of each source by the weights in place, and by weights fitted on other families."""
    stated = [score_outcome(load_guardrail().confidence[own.kind], own) for own in outcomes]
    ways = {"in place": stated, "fitted on other families": score_left_out(outcomes)}
    places = {source: [n for n, own in enumerate(outcomes) if own.source == source] for source in WEIGHTS}
    return {
        source: {
            name: describe_pairs([(found[n], outcomes[n].is_right) for n in own])
            | {
                "silent": count_silent(
                    [(_as_passages(found[n], outcomes[n].kind), outcomes[n].is_answerable) for n in own]
                )
            }
            for name, found in ways.items()
        }
        for source, own in places.items()
        if own
    }


def _as_passages(probability: float, kind: str) -> float:
    """Return the probability of an answer of passages that is shown as readily as this answer of another kind."""
    return guardrail.read_confidence(guardrail.grade_confidence(probability, kind))


def describe_pairs(pairs: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    """Describe stated probabilities and outcomes; of no questions there are no figures."""
    rng = random.Random(SEED)
    errors = sorted(
        score_calibration_error(rng.choices(pairs, k=len(pairs))) or 0.0 for _ in range(DRAWS if pairs else 0)
    )
    return {
        "questions": len(pairs),
        "right": statistics.fmean(right for _, right in pairs) if pairs else None,
        "stated": statistics.fmean(sure for sure, _ in pairs) if pairs else None,
        "calibration_error": score_calibration_error(pairs),
        "interval": [errors[int(share * (len(errors) - 1))] for share in (0.025, 0.975)] if pairs else None,
        "floor": find_calibration_floor([p for p, _ in pairs]),
        "reliability": score_reliability(pairs),
        "risk": [score_risk(pairs, share=share) for share in (0.25, 0.5, 0.75, 1.0)] if pairs else [],
    }


def score_risk(pairs: Sequence[tuple[float, bool]], *, share: float) -> tuple[float, float]:
    """Return a share of the questions, the surest ones, and how many of their answers are wrong."""
    surest = sorted(pairs, key=lambda pair: -pair[0])[: max(1, round(share * len(pairs)))]
    return share, 1 - statistics.fmean(right for _, right in surest)


def count_silent(pairs: Sequence[tuple[float, bool]]) -> dict[str, float | None]:
    """Return the shares of answerable and of unanswerable questions below the probability from which guidance pays."""
    least = guardrail.read_confidence(Settings().guidance_relevance)
    groups = {"answerable": True, "unanswerable": False}
    found = {name: [sure < least for sure, is_true in pairs if is_true is own] for name, own in groups.items()}
    return {name: statistics.fmean(own) if own else None for name, own in found.items()}


def _write_figures(own: Mapping[str, Any]) -> list[str]:
    if not own["questions"]:
        return []
    low, high = own["interval"]
    lines = [
        f"Stated {own['stated']:.3f}, right {own['right']:.3f}. Calibration error {own['calibration_error']:.3f} "
        f"({low:.3f} to {high:.3f}); {own['floor']:.3f} if every probability were exact.",
        "Wrong among the surest: " + ", ".join(f"{share:.0%} of them {wrong:.3f}" for share, wrong in own["risk"]),
    ]
    silent = {name: share for name, share in own.get("silent", {}).items() if share is not None}
    lines += ["Silent: " + ", ".join(f"{share:.3f} of the {name} ones" for name, share in silent.items())] * bool(
        silent
    )
    lines += ["", "| confidence | questions | mean | right |", "|---|---|---|---|"]
    lines += [
        f"| {low:.1f} to {high:.1f} | {n} | {mean:.2f} | {right:.2f} |"
        for low, high, n, mean, right in own["reliability"]
    ]
    return lines


def _write_weights(kind: str, weights: Mapping[str, float]) -> str:
    return f"  {kind}: {{{', '.join(f'{name}: {value:.3f}' for name, value in weights.items())}}}"


def replace_weights(rules: str, weights: Mapping[str, Mapping[str, float]]) -> str:
    """Put fitted weights into the text of the rules.

    Args:
        rules: Text of `rules/guardrail.yaml`.
        weights: Weights by kind.

    Raises:
        ValueError: The text lacks the line of a kind, or has it twice.
    """
    for kind, own in weights.items():
        rules, count = re.subn(rf"(?m)^  {kind}: {{.*}}$", _write_weights(kind, own), rules)
        if count != 1:
            raise ValueError(f"rules/guardrail.yaml has {count} lines with the weights of {kind}, not one")
    return rules


def _measure_kinds(tables: Mapping[str, pl.DataFrame], judge: Judge) -> dict[str, dict[str, Any]]:
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


def ask_development(judge: Judge, sections: pl.DataFrame) -> list[Outcome]:
    """Ask the questions of the sets of the development half, and those of it for a cell.

    An answer is right if it contains all labeled passages, or others that readers judged to settle the question.
    """
    questions = [own for name in SETS[DEVELOPMENT] for own in read_half(name, sections)[0]]
    answered = {own["id"]: ask_with_signals(judge.searcher, own["query"], settings=OFF) for own in questions}
    replies = {name: Reply(own.answer, own.confidence, is_abstained=False) for name, (own, _, _) in answered.items()}
    families = {own["id"]: find_family(own) for own in questions}
    accepted = accept_judged(Evaluated(questions, replies, [], families), read_judged(group_texts(sections)))
    found = []
    for question in accepted.questions:
        _, kind, signals = answered[question["id"]]
        is_right = bool(score_answer(question, replies[question["id"]]).get("contains_all"))
        family, is_answerable = families[question["id"]], bool(question["gold"])
        found.append(Outcome(DEVELOPMENT, family, kind, signals, is_right, is_answerable=is_answerable))
    for row in read_cells(DEVELOPMENT, frozenset(sections["document_id"])):
        answer, kind, signals = ask_with_signals(judge.searcher, row["query"], settings=OFF)
        is_right = prints_cell(answer.answer or "", row=row["row"], column=row["column"], value=row["value"])
        found.append(Outcome(CELLS, find_family({"gold": [row]}), kind, signals, is_right))
    return [own for own in found if own.signals]


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
        answer, kind, signals = ask_with_signals(judge.searcher, str(row["query"]), settings=OFF)
        right = queried.right_rows if queried is not None else frozenset[int]()
        family = queried.family if queried is not None else f"question {row['id']}"
        is_right = not _list_quoted(judge.searcher, answer).isdisjoint(right)
        if signals:
            found.append(Outcome(source, family, kind, signals, is_right, is_answerable=is_answerable))
    return found


def _list_quoted(searcher: Searcher, answer: Answer) -> frozenset[int]:
    """Return the rows that an answer quotes."""
    pieces = (piece for unit in answer.units for piece in unit.pieces if piece.chunk_id and piece.role != "label")
    return frozenset(searcher.passages.row_of_chunk[own.chunk_id] for own in pieces)


def score_left_out(outcomes: Sequence[Outcome]) -> list[float]:
    """Score each question by weights that were fitted on other families.

    Args:
        outcomes: Questions of all sources.

    Returns:
        The probability that the answer is right, for each question.
    """
    found = [0.0] * len(outcomes)
    for fold in draw_folds([own.family for own in outcomes], FOLDS):
        fitted = {**load_guardrail().confidence, **fit_kinds([own for own in outcomes if own.family not in fold])}
        for place, own in enumerate(outcomes):
            if own.family in fold:
                found[place] = score_outcome(fitted[own.kind], own)
    return found


def score_outcome(weights: Mapping[str, float], own: Outcome) -> float:
    """Return the probability that an answer is right under some weights."""
    logit = sum(weight * (1.0 if name == "bias" else own.signals[name]) for name, weight in weights.items())
    return 1.0 / (1.0 + math.exp(-logit))


def fit_kinds(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Fit the kinds of answers that these questions get, each question weighted by its source.

    The bias is fitted again on the development questions alone: for those of data/training one passage is listed, and
    answers by other passages, which no reader judged, would make all answers look less right than they are.

    Args:
        outcomes: Questions of all sources.

    Returns:
        Weights by kind; only those of kinds with right and wrong answers.
    """
    by_kind = {kind: [own for own in outcomes if own.kind == kind] for kind in FITTED}
    weights = {kind: fit_near(own, load_guardrail().confidence[kind]) for kind, own in by_kind.items() if own}
    judged = {kind: [own for own in by_kind[kind] if own.source in (DEVELOPMENT, CELLS)] for kind in weights}
    return {kind: fit_bias(judged[kind], own) if judged[kind] else own for kind, own in weights.items()}


def fit_bias(outcomes: Sequence[Outcome], weights: Mapping[str, float]) -> dict[str, float]:
    """Shift the bias until the mean probability of the answers is the share of them that is right.

    Args:
        outcomes: Questions of one kind, weighted by their source. If all or none are right, the bias stays.
        weights: Weights by name, with `bias`.

    Returns:
        The weights with another bias.
    """
    from scipy.optimize import brentq

    counts = [WEIGHTS[own.source] for own in outcomes]
    right = statistics.fmean((own.is_right for own in outcomes), counts)
    if right in (0.0, 1.0):
        return dict(weights)

    def excess(bias: float) -> float:
        shifted = {**weights, "bias": bias}
        return statistics.fmean((score_outcome(shifted, own) for own in outcomes), counts) - right

    return {**weights, "bias": round(float(brentq(excess, -20.0, 20.0)), 3)}


def fit_near(outcomes: Sequence[Outcome], prior: Mapping[str, float]) -> dict[str, float]:
    """Fit a logistic regression whose weights are pulled to those in place, its bias free.

    Args:
        outcomes: Questions of one kind.
        prior: Weights in place, with `bias`.
    """
    from scipy.optimize import minimize

    names = [name for name in prior if name != "bias"]
    values = np.array([[1.0, *(own.signals[name] for name in names)] for own in outcomes])
    truth = np.array([own.is_right for own in outcomes], dtype=np.float64)
    counts = np.array([WEIGHTS[own.source] for own in outcomes])
    before = np.array([prior["bias"], *(prior[name] for name in names)])
    pull = np.array([0.0, *(PULL for _ in names)])

    def loss(own: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, np.ndarray[Any, np.dtype[np.float64]]]:
        logits = values @ own
        cost = counts @ (np.logaddexp(0.0, logits) - truth * logits) + pull @ (own - before) ** 2
        slope = values.T @ (counts * (1 / (1 + np.exp(-logits)) - truth)) + 2 * pull * (own - before)
        return float(cost), slope

    best = minimize(loss, before, jac=True, method="L-BFGS-B").x
    return {name: round(float(value), 3) for name, value in zip(["bias", *names], best, strict=True)}
