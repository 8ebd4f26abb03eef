"""Openings: how often what opens an answer is right, by kind, and whether answers say so.

Questions are made for each kind from the tables of TAXKG_HOME; counted are those that it opens. Right is: a standard
section of the booklet in question, a line that a document states, and for a term a page that an index names for it. The
last is a lower bound: other pages say the same.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from benchmarks import definitions, destinations, standard_sections
from benchmarks.answer_kinds import Made
from benchmarks.confidence import OFF
from benchmarks.questions import draw_folds
from benchmarks.results import open_home, write_results
from taxkg_assets.evaluation.answer_metrics import find_calibration_floor, score_calibration_error
from taxkg_assets.retrieval.answering import guardrail
from taxkg_assets.retrieval.answering.answer import Answer, ask_with_signals
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

DRAWN, SEED, FOLDS = 40, 11, 5
TABLES = ("documents", "anchors", "links", "flows")
Place = tuple[str, int]
"""Family of documents and page."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer of the kind that its question is for: what it states, and whether it is right."""

    kind: str
    family: str
    stated: float
    is_right: bool


@dataclass(frozen=True, slots=True)
class Report:
    """Outcomes by kind; `queried` counts the questions, also those that are answered in another way."""

    queried: dict[str, int]
    outcomes: list[Outcome]

    def write(self, folder: Path) -> str:
        """Write `openings.json` and `openings.md`; gives the Markdown."""
        lines = ["# openings", "", "| kind | questions | opened | right | stated | from other families |"]
        lines += ["|---|---|---|---|---|---|"]
        left_out = score_left_out(self.outcomes)
        for kind, queried in self.queried.items():
            own = [n for n, outcome in enumerate(self.outcomes) if outcome.kind == kind]
            if not own:
                lines.append(f"| {kind} | {queried} | 0 | | | |")
                continue
            right = sum(self.outcomes[n].is_right for n in own)
            stated, fitted = (
                sum(values[n] for n in own) / len(own) for values in ([o.stated for o in self.outcomes], left_out)
            )
            lines.append(f"| {kind} | {queried} | {len(own)} | {right / len(own):.3f} | {stated:.3f} | {fitted:.3f} |")
        for name, values in (("stated", [o.stated for o in self.outcomes]), ("from other families", left_out)):
            pairs = list(zip(values, (o.is_right for o in self.outcomes), strict=True))
            floor = find_calibration_floor(values)
            lines += [
                "",
                f"Calibration error, {name}: {score_calibration_error(pairs) or 0.0:.3f}; {floor:.3f} if exact.",
            ]
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="openings")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Ask questions for each kind of opening with the guardrail off; no repetitions."""
    released = open_home(Settings().home)
    made = make_questions({name: released.table(name) for name in TABLES})
    queried = {kind: sum(own.kind == kind for own in made) for kind in dict.fromkeys(own.kind for own in made)}
    return Report(queried, list(ask_made(released.searcher, made)))


def ask_made(searcher: Searcher, questions: Sequence[Made]) -> Iterator[Outcome]:
    """Ask questions; yield those that are answered as their kind.

    Args:
        searcher: Opened search.
        questions: Questions made from its tables.
    """
    for own in questions:
        answer, kind, _ = ask_with_signals(searcher, own.query, settings=OFF)
        if kind == own.kind:
            yield Outcome(kind, own.family, answer.confidence, own.is_right(answer))


def score_left_out(outcomes: Sequence[Outcome]) -> list[float]:
    """Score each outcome by the share of right ones of its kind in other families.

    Args:
        outcomes: Answers of all kinds.

    Returns:
        Probabilities in the order of the outcomes.
    """
    found = [math.nan] * len(outcomes)
    for fold in draw_folds([own.family for own in outcomes], FOLDS):
        for number, own in enumerate(outcomes):
            if own.family in fold:
                rest = [o.is_right for o in outcomes if o.kind == own.kind and o.family not in fold]
                found[number] = (sum(rest) + 1) / (len(rest) + 2)
    return found


def make_questions(tables: dict[str, pl.DataFrame], *, drawn: int = DRAWN) -> list[Made]:
    """Make questions for each kind of opening.

    Args:
        tables: Tables of a release by name, those of `TABLES`.
        drawn: Largest number of questions of a kind.

    Returns:
        Questions, by kind.
    """
    rng, found = random.Random(SEED), list[Made]()
    for make in (_ask_for_sections, _ask_for_destinations, _ask_for_terms):
        own = list(make(tables))
        rng.shuffle(own)
        found += own[:drawn]
    return found


def _ask_for_sections(tables: dict[str, pl.DataFrame]) -> Iterator[Made]:
    for own in standard_sections.write_questions(tables["documents"], tables["anchors"]):
        family = find_family(own.document_id)
        yield Made(guardrail.STANDARD_SECTION, family, own.text, partial(standard_sections.begins_in, question=own))


def _ask_for_destinations(tables: dict[str, pl.DataFrame]) -> Iterator[Made]:
    for query, places in destinations.write_questions(tables["flows"], count=DRAWN, seed=SEED + 1):
        family = query.partition(" of ")[2] or query
        yield Made(
            guardrail.DESTINATION,
            family,
            query,
            partial(_names_place, places=places),
        )


def _ask_for_terms(tables: dict[str, pl.DataFrame]) -> Iterator[Made]:
    rows = tables["links"].filter(pl.col("kind") == "index")
    terms = definitions.find_defined_terms(rows.select("document_id", "term", "subterm", "target_page").iter_rows())
    for number, (term, places) in enumerate(terms.items()):
        query = definitions.WORDINGS[number % len(definitions.WORDINGS)].format(term[0].lower() + term[1:])
        pages = frozenset((find_family(document), page) for document, page in places)
        yield Made(guardrail.DEFINITION, min(pages)[0], query, partial(_begins_at, places=pages))


def find_family(document: str) -> str:
    """Return the name of a document without its revision.

    Args:
        document: Id of a document.

    Returns:
        Name, such as `p550`.
    """
    return document.partition("--")[0]


def _begins_at(answer: Answer, places: frozenset[Place]) -> bool:
    """Return whether the first statement of an answer is printed at one of some places."""
    if not answer.units:
        return False
    result = answer.results[answer.units[0].rank - 1]
    pages = {result.page, *(box.page for box in result.bboxes)}
    return not places.isdisjoint((find_family(result.document), page) for page in pages)


def _names_place(answer: Answer, places: frozenset[destinations.Place]) -> bool:
    return destinations.names_place("\n".join(unit.text for unit in answer.units[:3]), places)
