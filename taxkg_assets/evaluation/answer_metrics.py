"""Answer metrics: whether an answer contains the gold passages, how much else it says, and how right its confidence is.

They only read the text that a user sees. Rankings are measured in `metrics`, by the same rule for quotes.
"""

from __future__ import annotations

import random
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from taxkg_assets.evaluation.matching import find_words, is_quoted
from taxkg_assets.evaluation.metrics import Labeled, find_required
from taxkg_assets.evaluation.significance import score_interval

ANSWER_METRICS = (
    "contains_needed",
    "contains_all",
    "value_correct",
    "off_point",
    "abstains_on_unanswerable",
    "abstains_on_answerable",
)
BINS = 10
"""Bins of confidence for the calibration error."""
RUN = 3
"""Consecutive words that a gold passage must share with an answer for these words to count as on the point."""

_CITATION = re.compile(r"\[\d+\]")
_SCORES = {
    "query_id": pl.String,
    "slice": pl.String,
    "family": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
}
FIGURES = {
    "slice": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int32,
}
"""Columns of the figures of one query set."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as the user receives it: its text, None after an abstention, and its confidence."""

    text: str | None
    confidence: float
    is_abstained: bool


class NamedQuestion(Labeled):
    """A labeled question with its id."""

    id: str


def score_answer(query: Labeled, reply: Reply) -> dict[str, float]:
    """Compute all answer metrics that apply to a question; an abstention has no text to score.

    Args:
        query: The question.
        reply: Answer to the question.

    Returns:
        Values from 0 to 1 by metric.
    """
    is_unanswerable = query["type"] == "unanswerable"
    scores = {"abstains_on_unanswerable" if is_unanswerable else "abstains_on_answerable": float(reply.is_abstained)}
    required = find_required(query)
    if not required:
        return scores
    text = _CITATION.sub(" ", reply.text or "")
    is_row = query["type"] == "table_value"
    quoted = [is_quoted(passage["quote"], text, is_row=is_row) for passage in required]
    scores |= {"contains_needed": float(any(quoted)), "contains_all": float(all(quoted))}
    if is_row:
        scores["value_correct"] = float(all(quoted))
    if words := find_words(text):
        scores["off_point"] = _score_off_point(words, [passage["quote"] for passage in query["gold"]])
    return scores


def prints_cell(text: str, *, row: str, column: str, value: str) -> bool:
    """Return whether one line of an answer contains a value together with the words of its row and column.

    Args:
        text: Answer as the user receives it.
        row: Words of the row's header.
        column: Words of the column's header.
        value: Text of the cell.
    """
    word_sets = [frozenset(map(_bare, find_words(words))) for words in (row, column, value)]
    lines = (frozenset(map(_bare, find_words(_CITATION.sub(" ", line)))) for line in text.splitlines())
    return any(all(words <= line for words in word_sets) for line in lines)


def _bare(word: str) -> str:
    """Return a word without unit signs, footnote signs and zero cents: "50" for "$50.00*"."""
    return word.strip("$*%").removesuffix(".00")


def _score_off_point(words: Sequence[str], quotes: Sequence[str]) -> float:
    """Return the share of words that are in no `RUN` consecutive words which a gold quote contains, too."""
    quote_runs = {run for quote in quotes for run in _find_runs(find_words(quote))}
    shared_ixs = {
        ix for start, run in enumerate(_find_runs(words)) if run in quote_runs for ix in range(start, start + RUN)
    }
    return 1 - len(shared_ixs) / len(words)


def _find_runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + RUN]) for start in range(len(words) - RUN + 1)]


def score_calibration_error(pairs: Sequence[tuple[float, bool]], *, bins: int = BINS) -> float | None:
    """Compute the expected calibration error: the mean difference between confidence and accuracy over equal bins.

    Args:
        pairs: Stated confidence of each given answer, and whether the answer contains a needed passage.
        bins: Number of bins.

    Returns:
        Error from 0 to 1; None without pairs.

    Source:
        Naeini, Cooper and Hauskrecht, AAAI 2015.
    """
    if not pairs:
        return None
    by_bin: dict[int, list[tuple[float, bool]]] = {}
    for confidence, is_right in pairs:
        by_bin.setdefault(min(int(confidence * bins), bins - 1), []).append((confidence, is_right))
    bin_errors = (
        abs(sum(confidence for confidence, _ in members) - sum(is_right for _, is_right in members))
        for members in by_bin.values()
    )
    return sum(bin_errors) / len(pairs)


def find_calibration_floor(confidences: Sequence[float], *, bins: int = BINS, draws: int = 300) -> float | None:
    """Estimate by simulation the calibration error that perfectly calibrated confidences would show by chance.

    Args:
        confidences: Stated confidence of each answer.
        bins: Number of bins.
        draws: Number of simulated sets of answers.

    Returns:
        Mean error from 0 to 1; None without answers.
    """
    mean_and_bound = find_calibration_floors(confidences, bins=bins, draws=draws)
    return None if mean_and_bound is None else mean_and_bound[0]


def find_calibration_floors(
    confidences: Sequence[float], *, bins: int = BINS, draws: int = 300
) -> tuple[float, float] | None:
    """Simulate the calibration error that perfectly calibrated confidences would show by chance.

    Args:
        confidences: Stated confidence of each answer.
        bins: Number of bins.
        draws: Number of simulated sets of answers.

    Returns:
        Mean error, and the error that 95 % of the simulations do not exceed, both 0 to 1; None without answers.
    """
    if not confidences:
        return None
    rng = random.Random(0)
    simulated_errors = (
        score_calibration_error([(confidence, rng.random() < confidence) for confidence in confidences], bins=bins)
        for _ in range(draws)
    )
    errors = sorted(error for error in simulated_errors if error is not None)
    return statistics.fmean(errors), errors[round(0.95 * (len(errors) - 1))]


def score_reliability(
    pairs: Sequence[tuple[float, bool]], *, bins: int = BINS // 2
) -> list[tuple[float, float, int, float, float]]:
    """Compare stated confidence with the share of right answers in each bin of confidence.

    Args:
        pairs: Stated confidence of each answer, and whether it is right.
        bins: Number of bins.

    Returns:
        For each bin with answers: lower end, upper end, number of answers, their mean confidence, and the share that is
        right.
    """
    by_bin: dict[int, list[tuple[float, bool]]] = {}
    for confidence, is_right in pairs:
        by_bin.setdefault(min(int(confidence * bins), bins - 1), []).append((confidence, is_right))
    rows = []
    for ix, pairs_of_bin in sorted(by_bin.items()):
        mean_confidence = statistics.fmean(confidence for confidence, _ in pairs_of_bin)
        right_share = statistics.fmean(is_right for _, is_right in pairs_of_bin)
        rows.append((ix / bins, (ix + 1) / bins, len(pairs_of_bin), mean_confidence, right_share))
    return rows


def list_answer_outcomes(queries: Sequence[NamedQuestion], replies: Mapping[str, Reply]) -> list[tuple[float, bool]]:
    """List confidence and correctness of each answer.

    Args:
        queries: The questions.
        replies: Answers by question id.

    Returns:
        (confidence, is right) of each answer in the order of the questions, without abstentions; an answer to an
        unanswerable question is never right.
    """
    pairs = []
    for query in queries:
        reply = replies[str(query["id"])]
        if not reply.is_abstained:
            pairs.append((reply.confidence, bool(score_answer(query, reply).get("contains_needed"))))
    return pairs


def score_risk_coverage(
    queries: Sequence[NamedQuestion], replies: Mapping[str, Reply]
) -> list[tuple[float, float, float]]:
    """Compute the risk-coverage curve of a set of answers.

    Args:
        queries: The questions.
        replies: Answers by question id.

    Returns:
        For each confidence threshold, highest first: the threshold, the share of questions with an answer at or above
        it, and the share of these answers that is wrong.
    """
    pairs = list_answer_outcomes(queries, replies)
    curve = []
    for threshold in sorted({confidence for confidence, _ in pairs}, reverse=True):
        answered = [is_right for confidence, is_right in pairs if confidence >= threshold]
        curve.append((threshold, len(answered) / len(queries), 1 - sum(answered) / len(answered)))
    return curve


def score_answers(
    queries: Sequence[NamedQuestion], replies: Mapping[str, Reply], *, families: Mapping[str, str], seed: int = 0
) -> pl.DataFrame:
    """Average each answer metric over all questions and over each type of question, with bootstrap intervals.

    Args:
        queries: The questions.
        replies: Answers by question id, one for every question.
        families: Document family by question id, drawn as a whole by the bootstrap.
        seed: Seed of the bootstrap.

    Returns:
        One row per slice and metric with the columns `FIGURES`.

    Raises:
        KeyError: A question has no reply or no family.
    """
    rows = [
        (str(query["id"]), slice_name, families[str(query["id"])], metric, value)
        for query in queries
        for metric, value in score_answer(query, replies[str(query["id"])]).items()
        for slice_name in ("all", query["type"])
    ]
    scores = pl.DataFrame(rows, schema=_SCORES, orient="row")
    report = []
    for (slice_name, metric), slice_scores in scores.partition_by(
        "slice", "metric", as_dict=True, maintain_order=True
    ).items():
        values = slice_scores.sort("query_id")
        stream = (str(slice_name), str(metric))
        mean = score_interval(values["value"].to_list(), values["family"].to_list(), seed=seed, stream=stream)
        report.append((slice_name, metric, mean.value, mean.low, mean.high, values.height))
    return pl.DataFrame(report, schema=FIGURES, orient="row")
