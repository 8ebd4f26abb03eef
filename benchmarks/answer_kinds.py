"""Confidence of answers that are not made of passages: cells, changes, lists of documents, summaries.

Their questions are made from the tables of a library, so what is right is known: a cell by its headers, a change by its
heading, a document by one of its headings, a summary by the name of its form. The weights are put into
`rules/guardrail.yaml` by hand (`kinds`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from taxkg_assets.evaluation.matching import is_quoted
from taxkg_assets.retrieval.answering import guardrail
from taxkg_assets.retrieval.answering.answer import Answer, ask_with_signals
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.settings import Settings

DRAWN, DRAWN_LACKING = 60, 20
"""Questions of each kind, and of each sort of topics that no document is about."""
SEED, INVERSE_PENALTY = 5, 10.0
LEAST_WORDS, MOST_WORDS = 2, 7
"""Of a heading that is requested."""
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Made:
    """A question made from a table, and whether an answer to it is right."""

    kind: str
    family: str
    query: str
    is_right: Callable[[Answer], bool]


@dataclass(frozen=True, slots=True)
class KindOutcome:
    """One question of a kind queried: its signals, and whether the answer contains what is needed."""

    kind: str
    family: str
    signals: Mapping[str, float]
    is_right: bool


def ask_made(searcher: Searcher, questions: Sequence[Made]) -> list[KindOutcome]:
    """Ask questions with the guardrail off; those that are answered in another way than meant are left out.

    Args:
        searcher: Opened search.
        questions: Questions made from its tables.

    Returns:
        One outcome for each question that was answered as its kind.
    """
    found, off = [], Settings(guardrail=False, llm_answers=False, llm_grading=False)
    for own in questions:
        answer, kind, signals = ask_with_signals(searcher, own.query, settings=off)
        if kind == own.kind:
            found.append(KindOutcome(kind, own.family, signals, own.is_right(answer)))
    return found


def make_questions(
    tables: Mapping[str, pl.DataFrame], families: Mapping[str, str], *, lacking: Sequence[str], seed: int = SEED
) -> list[Made]:
    """Make questions of each kind.

    Args:
        tables: `documents`, `anchors`, `tables` and `revisions` of a release.
        families: Family by document.
        lacking: Questions that no document answers.
        seed: Seed of the draw.

    Returns:
        `DRAWN` questions of each kind, of as many families as there are; some more that no document answers.
    """
    sources = (
        (_ask_for_summaries(tables["documents"], families), DRAWN),
        (_ask_for_documents(tables["anchors"], families), DRAWN),
        (_ask_for_unknown(tables["anchors"], families), DRAWN_LACKING),
        (_ask_for_lacking(lacking), DRAWN_LACKING),
        (_ask_for_changes(tables["revisions"], families), DRAWN),
        (_ask_for_cells(tables["tables"], families), DRAWN),
    )
    return [
        own
        for number, (made, count) in enumerate(sources)
        for own in _draw(list(made), count=count, seed=seed + number)
    ]


def _draw(made: list[Made], *, count: int, seed: int) -> list[Made]:
    """Draw by turns from each family, so that no long document fills the sample."""
    rng = random.Random(seed)
    rng.shuffle(made)
    turn: dict[str, int] = {}
    turns = []
    for own in made:
        turn[own.family] = turn.get(own.family, 0) + 1
        turns.append(turn[own.family])
    order = sorted(range(len(made)), key=lambda place: (turns[place], place))
    return [made[place] for place in order[:count]]


def _ask_for_summaries(documents: pl.DataFrame, families: Mapping[str, str]) -> Iterator[Made]:
    for form, document in documents.filter(pl.col("form") != "").select("form", "document_id").iter_rows():
        name = form if form.startswith(("Pub", "Schedule")) else f"Form {form}"
        family = families[document]
        yield Made(guardrail.SUMMARY, family, f"What is {name} about?", _cites_first(family, families))


def _ask_for_documents(anchors: pl.DataFrame, families: Mapping[str, str]) -> Iterator[Made]:
    headings = anchors.filter(pl.col("kind").is_in(["section", "subsection"]) & pl.col("key").is_null())
    for document, heading in headings.select("document_id", "heading").iter_rows():
        words = heading.split()
        if LEAST_WORDS <= len(words) <= MOST_WORDS and not load_answers().unasked.matches(heading):
            topic, family = heading.rstrip(".?! "), families[document]
            yield Made(guardrail.DOCUMENTS, family, f"Which documents discuss {topic}?", _cites(family, families))


def _ask_for_unknown(anchors: pl.DataFrame, families: Mapping[str, str]) -> Iterator[Made]:
    """Yield the same questions with the longest word reversed: no document prints it, so none is on that topic."""
    for own in _ask_for_documents(anchors, families):
        longest = max(own.query.rstrip("?").split()[3:], key=len)
        query = own.query.replace(longest, longest[::-1].casefold())
        yield Made(own.kind, own.family, query, lambda answer: False)


def _ask_for_lacking(lacking: Sequence[str]) -> Iterator[Made]:
    for query in lacking:
        yield Made(guardrail.DOCUMENTS, query, f"Which documents discuss this: {query}", lambda answer: False)


def _ask_for_changes(revisions: pl.DataFrame, families: Mapping[str, str]) -> Iterator[Made]:
    rows = revisions.filter(~pl.col("is_routine") & ~pl.col("kind").str.contains("^(?:row|section) "))
    for row in rows.rows(named=True):
        place = row["key"].replace("_", " ") or row["heading_path"].rpartition(" > ")[2].rstrip(". ")
        text = row["after"] or row["before"]
        if not place or len(text.split()) < LEAST_WORDS:
            continue
        years = (row["from_revision"][:4], row["to_revision"][:4])
        name = row["form"] if row["form"].startswith(("Pub", "Schedule")) else f"Form {row['form']}"
        query = f"What changed in {place} of {name} between {years[0]} and {years[1]}?"
        yield Made(guardrail.CHANGES, families.get(row["to_document_id"], row["form"]), query, _quotes_part(text))


def _ask_for_cells(tables: pl.DataFrame, families: Mapping[str, str]) -> Iterator[Made]:
    for row in tables.filter(pl.col("has_headers") & (pl.col("title") != "")).iter_rows(named=True):
        for cell in row["cells"]:
            leaf, head = cell["row_path"].rpartition(" > ")[2], cell["col_path"].rpartition(" > ")[2]
            if cell["col_ix"] < 0 or not (leaf and head) or not load_answers().values.matches(cell["text"]):
                continue
            query = f"{row['title'].rstrip('. ')}: how much is {head} for {leaf}?"
            yield Made(guardrail.CELL, families[row["document_id"]], query, _says(cell["text"]))


def _cites_first(family: str, families: Mapping[str, str]) -> Callable[[Answer], bool]:
    return lambda answer: bool(answer.results) and families.get(answer.results[0].document) == family


def _cites(family: str, families: Mapping[str, str]) -> Callable[[Answer], bool]:
    return lambda answer: family in {families.get(answer.results[unit.rank - 1].document) for unit in answer.units}


def _quotes_part(text: str) -> Callable[[Answer], bool]:
    """Whether an answer quotes a text, or one of its lines."""
    lines = [line for line in text.splitlines() if len(line.split()) >= LEAST_WORDS] or [text]
    return lambda answer: any(is_quoted(line, answer.answer or "") for line in (text, *lines))


def _says(value: str) -> Callable[[Answer], bool]:
    return lambda answer: any(
        value in piece.text for unit in answer.units[:1] for piece in unit.pieces if piece.role == "cell"
    )


def fit_kind(outcomes: Sequence[KindOutcome]) -> dict[str, float]:
    """Fit one kind: the logistic of its signals; without signals or with one sort of outcome, its share of right ones.

    Args:
        outcomes: Questions of one kind.

    Returns:
        Weights by signal, and `bias`.
    """
    names = sorted(outcomes[0].signals)
    right = sum(own.is_right for own in outcomes)
    if not names or right in (0, len(outcomes)):
        return {"bias": math.log((right + 1) / (len(outcomes) - right + 1)), **dict.fromkeys(names, 0.0)}
    rows = [[own.signals[name] for name in names] for own in outcomes]
    from sklearn.linear_model import LogisticRegression  # loaded here: it takes a second

    fitted = LogisticRegression(C=INVERSE_PENALTY, tol=1e-6).fit(rows, [own.is_right for own in outcomes])
    return {"bias": float(fitted.intercept_[0]), **dict(zip(names, fitted.coef_[0].tolist(), strict=True))}


def score_fitted(weights: Mapping[str, float], outcome: KindOutcome) -> float:
    """Return the probability that an answer is right under some weights.

    Args:
        weights: Weights from `fit_kind`.
        outcome: The question.
    """
    logit = sum(weight * outcome.signals.get(name, 1.0) for name, weight in weights.items())
    return 1.0 / (1.0 + math.exp(-logit))
