"""Subject sections: whether answers on a thing of an index begin on the page that the index names for it.

"Can I deduct …?" and "Is … taxable?" are put about the terms in the indexes of publications, by whether a publication
is about deductions or about income. An answer is right if it begins on a page that an index names for the term.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from benchmarks.results import open_home, write_results
from taxkg_assets.retrieval.answering import guardrail
from taxkg_assets.retrieval.answering.answer import Answer, ask_with_signals
from taxkg_assets.retrieval.encoding.lexical import find_distinct_terms
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

WORDINGS = {
    "deduct": ("Can I deduct {}?", "Are {} deductible?", "can i write off {}"),
    "tax": ("Do I have to pay tax on {}?", "Are {} taxable?", "do i have to report {}"),
}
HALVES = {
    "development": {"p502": "deduct", "p525": "tax"},
    "check": {"p526": "deduct", "p530": "deduct", "p527": "deduct", "p550": "tax", "p559": "tax", "p17": "tax"},
}
"""Families of publications by half, and what is requested about their terms."""
MOST_WORDS, MOST_QUESTIONS = 4, 150

Place = tuple[str, int]
"""Family of a document, and page."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question for a thing, and the places that indexes name for it."""

    term: str
    text: str
    places: frozenset[Place]


@dataclass(frozen=True, slots=True)
class Figures:
    """Answers that begin at such a place, that quote one at all, and those that a section on the thing opens.

    Attributes: opened: answers that a section on the thing opens; opened_right: those of them that begin at the place;
                stated: their mean confidence.
    """

    questions: int
    first: int
    quoted: int
    opened: int
    opened_right: int
    stated: float


@dataclass(frozen=True, slots=True)
class Report:
    """Figures by half, by search alone and with openings."""

    halves: dict[str, tuple[Figures, Figures]]

    def write(self, folder: Path) -> str:
        """Write `subject_sections.json` and `subject_sections.md`; gives the Markdown."""
        lines = ["# subject_sections", "", "| half | questions | first | quoted | opened | of these right | stated |"]
        lines += ["|---|---|---|---|---|---|---|"]
        for half, both in self.halves.items():
            for name, own in zip(("by search alone", "now"), both, strict=True):
                shares = f"{own.first / own.questions:.3f} | {own.quoted / own.questions:.3f}"
                opened = f"{own.opened} | {own.opened_right} | {own.stated:.2f}"
                lines.append(f"| {half}, {name} | {own.questions} | {shares} | {opened} |")
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="subject_sections")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Ask for the terms of indexes in TAXKG_HOME; no repetitions."""
    released = open_home(Settings().home)
    searcher = released.searcher
    bare = searcher.with_parts(replace(searcher.parts, openings=False))
    entries = released.table("links").filter(pl.col("kind") == "index")
    rows = list(entries.select("document_id", "term", "subterm", "target_page").iter_rows())
    halves = {}
    for half in HALVES:
        questions = write_questions(rows, HALVES[half])
        halves[half] = (score(bare, questions), score(searcher, questions))
    return Report(halves)


def find_family(document: str) -> str:
    """Return the name of a document without its revision.

    Args:
        document: Id of a document.
    """
    return document.partition("--")[0]


def write_questions(
    entries: Iterable[tuple[str, str | None, str | None, int | None]], kinds: Mapping[str, str]
) -> list[Question]:
    """Write a question for each term of some indexes that has no subterms.

    Args:
        entries: Document, term, subterm and target page of each link of an index.
        kinds: What is requested about the terms of a family of documents: `deduct` or `tax`.

    Returns:
        Questions in the order of the alphabet, evenly drawn where there are many.
    """
    entries = list(entries)
    places: dict[frozenset[str], set[Place]] = defaultdict(set)
    for document, term, subterm, page in entries:
        if page and (name := f"{term or ''} {subterm or ''}".strip()):
            places[find_distinct_terms(name)].add((find_family(document), page))
    found: dict[tuple[str, ...], Question] = {}
    ordered = sorted((term, document) for document, term, subterm, page in entries if term and not subterm and page)
    for number, (term, document) in enumerate(ordered):
        kind, terms = kinds.get(find_family(document)), find_distinct_terms(term)
        is_name = term.replace(" ", "").replace("-", "").isalpha() and len(term) > 3 and len(term.split()) <= MOST_WORDS
        if kind is not None and is_name:
            name = term if any(map(str.isupper, term[1:])) else term[0].lower() + term[1:]
            text = WORDINGS[kind][number % len(WORDINGS[kind])].format(name)
            found.setdefault(tuple(sorted(terms)), Question(term, text, frozenset(places[terms])))
    questions = list(found.values())
    step = max(1, -(-len(questions) // MOST_QUESTIONS))
    return questions[::step]


def score(searcher: Searcher, questions: list[Question]) -> Figures:
    """Ask the questions, and count.

    Args:
        searcher: Opened search.
        questions: Questions with their places.
    """
    first = quoted = opened = opened_right = 0
    stated = 0.0
    for own in questions:
        answer, kind, _ = ask_with_signals(searcher, own.text, settings=Settings())
        right = find_right(answer, own)
        first += right[:1] == [True]
        quoted += any(right)
        if kind == guardrail.SUBJECT:
            opened += 1
            opened_right += right[:1] == [True]
            stated += answer.confidence
    return Figures(len(questions), first, quoted, opened, opened_right, stated / max(1, opened))


def find_right(answer: Answer, question: Question) -> list[bool]:
    """Return for each unit of an answer whether it is printed at a place that an index names for the thing.

    Args:
        answer: The answer.
        question: The question.
    """
    places = []
    for unit in answer.units:
        result = answer.results[unit.rank - 1]
        boxes = [box.page for box in result.bboxes] or [result.page]
        places.append({(find_family(result.document), page) for page in (*boxes, result.page)})
    return [not own.isdisjoint(question.places) for own in places]
