"""Definitions: whether an answer quotes the page where a term is defined, with definitions looked for and without."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from benchmarks.results import open_home, write_results
from taxkg_assets.retrieval.answering.answer import Answer, ask
from taxkg_assets.retrieval.answering.units import Unit
from taxkg_assets.retrieval.encoding.lexical import find_distinct_terms, find_terms
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

WORDINGS = ("What is {}?", "what does {} mean", "define {}", "what counts as {}", "definition of {}")
MOST_WORDS = 5
_SAYS_DEFINED = re.compile(r"(?i)^(?P<term>.+?),? defined$")
_IS_DEFINED = re.compile(r"(?i)^(?:defined|definition(?: of)?)$")
_DEFINITIONS = re.compile(r"(?i)^definitions?(?: of)?$")
_PROPER = re.compile(r"[A-Z]{2}|U\.S|Roth")

Place = tuple[str, int]
"""Document and page."""
Pages = Mapping[str, frozenset[int]]
"""Pages of each passage, by its id."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Answers that quote a page where the term is defined: first, or at all; and those given outright."""

    first: int
    quoted: int
    answered: int


@dataclass(frozen=True, slots=True)
class Report:
    """Figures with definitions and without, over the same questions."""

    questions: int
    without: Figures
    with_definitions: Figures

    def write(self, folder: Path) -> str:
        """Write `definitions.json` and `definitions.md`; gives the Markdown."""
        lines = ["# definitions", "", "| answers | questions | first | quoted | answered |", "|---|---|---|---|---|"]
        for name, own in (("without definitions", self.without), ("with definitions", self.with_definitions)):
            shares = (f"{count / self.questions:.2f}" for count in (own.first, own.quoted, own.answered))
            lines.append(f"| {name} | {self.questions} | {' | '.join(shares)} |")
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="definitions")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Ask for the meaning of the terms that indexes of TAXKG_HOME call defined; no repetitions."""
    released = open_home(Settings().home)
    searcher = released.searcher
    entries = released.table("links").filter(pl.col("kind") == "index")
    terms = find_defined_terms(entries.select("document_id", "term", "subterm", "target_page").iter_rows())
    pages = {
        chunk: frozenset(box["page"] for box in boxes)
        for chunk, boxes in released.table("chunks").select("chunk_id", "bboxes").iter_rows()
    }
    without = searcher.with_parts(replace(searcher.parts, openings=False))
    return Report(len(terms), *(score(own, terms, pages) for own in (without, searcher)))


def find_defined_terms(
    entries: Iterable[tuple[str, str | None, str | None, int | None]],
) -> dict[str, frozenset[Place]]:
    """Find the terms that index entries call defined, with the pages that they name.

    Args:
        entries: Document, term, subterm and target page of each link of an index.

    Returns:
        Places by term, in the order of the alphabet; terms that differ in number only count once.
    """
    found: dict[str, set[Place]] = defaultdict(set)
    for document, term, subterm, page in entries:
        name = re.sub(r"\s*\([^)]*\)", "", _read_entry((term or "").strip(), (subterm or "").strip())).strip()
        if page and len(name) > 3 and len(name.split()) <= MOST_WORDS and "efin" not in name:
            found[name].add((document, page))
    kept: dict[tuple[str, ...], str] = {}
    for name in sorted(found):
        kept.setdefault(tuple(find_terms(name)), name)
    return {name: frozenset(found[name]) for name in kept.values()}


def _read_entry(term: str, subterm: str) -> str:
    """Return what an index entry calls defined; empty for nothing."""
    if own := _SAYS_DEFINED.match(subterm):
        return own["term"]
    if _IS_DEFINED.match(subterm):
        return _SAYS_DEFINED.sub(r"\g<term>", term)
    if subterm:
        return subterm if _DEFINITIONS.match(term) else ""
    own = _SAYS_DEFINED.match(term)
    return own["term"] if own else ""


def score(searcher: Searcher, terms: Mapping[str, frozenset[Place]], pages: Pages) -> Figures:
    """Ask for the meaning of each term, and count.

    Args:
        searcher: Opened search.
        terms: Places of the definitions by term.
        pages: Pages of passages.
    """
    first = quoted = answered = 0
    for number, (term, places) in enumerate(terms.items()):
        name = term if _PROPER.match(term) else term[0].lower() + term[1:]
        answer = ask(searcher, WORDINGS[number % len(WORDINGS)].format(name), settings=Settings())
        right = [_is_from(unit, answer, term=term, places=places, pages=pages) for unit in answer.units]
        first += right[:1] == [True]
        quoted += any(right)
        answered += answer.outcome == "answer"
    return Figures(first, quoted, answered)


def _is_from(unit: Unit, answer: Answer, *, term: str, places: frozenset[Place], pages: Pages) -> bool:
    """Return whether a statement names the term and is printed on one of its pages; another edition has other pages."""
    result = answer.results[unit.rank - 1]
    own = {page for piece in unit.pieces for page in pages.get(piece.chunk_id, ())} or {result.page}
    family = result.document.partition("--")[0]
    return find_distinct_terms(term) <= find_distinct_terms(unit.text) and any(
        family == document.partition("--")[0] and (document != result.document or page in own)
        for document, page in places
    )
