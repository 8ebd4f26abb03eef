"""Destinations: whether an answer names the line that an amount goes to, with the graph's statements and without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import polars as pl

from benchmarks.results import open_home, write_results
from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

QUESTIONS = 60
SEED = 11
WORDINGS = (
    "Where does {key} of {form} go?",
    "Where do I report {key} of my {form}?",
    "What line does {key} from {form} go on?",
)
_SOURCE = ("source_form", "source_key", "source_code")
_PLACE = "^(?:line|box)_"

Place = tuple[str, str]
"""Form without its variant, and the number of a line or box."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Answers that name one of the lines that the documents state, and answers withheld."""

    named: int
    abstained: int


@dataclass(frozen=True, slots=True)
class Report:
    """Figures with the statements of the graph and without them, over the same questions."""

    questions: int
    without: Figures
    with_flows: Figures

    def write(self, folder: Path) -> str:
        """Write `destinations.json` and `destinations.md`; gives the Markdown."""
        lines = ["# destinations", "", "| answers | questions | name the line | withheld |", "|---|---|---|---|"]
        for name, own in (("by search alone", self.without), ("by the graph, too", self.with_flows)):
            lines.append(f"| {name} | {self.questions} | {own.named / self.questions:.2f} | {own.abstained} |")
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="destinations")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Ask for the lines that random flows between forms of TAXKG_HOME go to; no repetitions."""
    released = open_home(Settings().home)
    searcher = released.searcher
    questions = list(write_questions(released.table("flows"), count=QUESTIONS, seed=SEED))
    bare = replace(searcher, open_flows=None)
    bare.__dict__.update(index_context=searcher.index_context)
    return Report(len(questions), *(score(own, questions) for own in (bare, searcher)))


def write_questions(flows: pl.DataFrame, *, count: int, seed: int) -> Iterator[tuple[str, frozenset[Place]]]:
    """Write a question for each of some random lines that go to another form.

    Args:
        flows: Table `flows`.
        count: Number of questions.
        seed: Seed of the draw and of the wording.

    Yields:
        Question, and the places that the documents state.
    """
    places = flows.filter(
        pl.col("source_form") != pl.col("target_form"),
        pl.col("source_key").str.contains(_PLACE) & pl.col("target_key").str.contains(_PLACE),
    )
    drawn = places.unique(_SOURCE).sort(_SOURCE)
    random = Random(seed)
    for row in drawn.sample(min(count, drawn.height), seed=seed).iter_rows(named=True):
        own = places.filter(*(pl.col(name) == row[name] for name in _SOURCE))
        form, key = row["source_form"], row["source_key"].replace("_", " ")
        named = form.removesuffix(" (Form 1040)") if form.startswith("Schedule") else f"Form {form}"
        code = f" code {row['source_code']}" if row["source_code"] else ""
        question = random.choice(WORDINGS).format(key=key + code, form=named)
        yield question, frozenset(map(_read_place, own.select("target_form", "target_key").iter_rows()))


def _read_place(target: tuple[str, str]) -> Place:
    return target[0].partition(" (")[0].removesuffix("-SR"), target[1].partition("_")[2]


def names_place(answer: str, places: frozenset[Place]) -> bool:
    """Return whether one line of an answer names one of some places with its form.

    Args:
        answer: Text of an answer.
        places: Forms and numbers.
    """
    return any(
        form in line and re.search(rf"\b(?:lines?|box(?:es)?) [^.;]*?\b{re.escape(number)}\b", line)
        for line in answer.splitlines()
        for form, number in places
    )


def score(searcher: Searcher, questions: list[tuple[str, frozenset[Place]]]) -> Figures:
    """Answer questions, and count.

    Args:
        searcher: Opened search.
        questions: Questions with the places that are right.
    """
    replies = [(ask(searcher, question, settings=Settings()), places) for question, places in questions]
    named = sum(names_place(reply.answer or "", places) for reply, places in replies)
    return Figures(named, sum(reply.abstained for reply, _ in replies))
