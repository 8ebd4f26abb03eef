"""Questions about the terms of printed indexes, with single rules and without: answers that begin where the index says.

The terms that the index of a publication calls defined are put into wordings that a rule for meanings matches. A rule
gains where the answer begins on a page that an index names only with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import polars as pl

from benchmarks.definitions import WORDINGS, find_defined_terms
from taxkg_assets.retrieval.answering import guardrail
from taxkg_assets.retrieval.answering.answer import Answer, ask_with_signals
from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.support import Key, name_family
from taxkg_assets.serving.released import Released
from taxkg_assets.settings import Settings

OF_QUESTIONS = ("definitions.questions", "definitions.comparisons")
GROUPS = (*OF_QUESTIONS, "definitions.headings", "definitions.openings", "definitions.statements")
DIFFERENCES = ("What is the difference between {} and {}?", "{} vs {}")
PLAIN = "define "
TERMS = 6
"""Terms of each publication."""
Entry = tuple[str, str | None, str | None, int | None]
"""Document, term, subterm and target page of a link of an index."""
Place = tuple[str, int]
"""Document without its revision, and page."""
_Row = TypeVar("_Row")
Without = Callable[[Iterable[Key]], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and where indexes say that its terms are defined."""

    text: str
    places: frozenset[Place]


def measure_indexes(key: Key, rule: Rule, released: Released, *, without: Without) -> tuple[int, dict[str, float]]:
    """Answer questions about terms of indexes with a rule and without it.

    Args:
        key: Family, group and id of the rule.
        rule: The rule, of one of `GROUPS`.
        released: Release that answers.
        without: Switches rules off.

    Returns:
        Number of questions, and the gain by family of publications: answers that begin at a place of the index only
        with the rule, less those that do so only without it.
    """
    links = released.table("links").filter(pl.col("kind") == "index")
    entries = links.select("document_id", "term", "subterm", "target_page").iter_rows()
    chosen = list(write_meanings(entries))
    if f"{key[0]}.{key[1]}" in OF_QUESTIONS:
        chosen = [(family, own) for family, own in chosen if rule.pattern.search(own.text)]
    else:  # what it reads are documents: one wording is as good as another
        chosen = [(family, own) for family, own in chosen if own.text.startswith(PLAIN)]
    before = [_ask(released, own) for _, own in chosen]
    gains: dict[str, float] = defaultdict(float)
    with without([key]):
        for (family, own), (is_opened, was_right) in zip(chosen, before, strict=True):
            # Without a rule that opens no answer, the answer is the same.
            gains[name_family(family)] += float(was_right) - float(_ask(released, own)[1]) if is_opened else 0.0
    return len(chosen), gains


def write_meanings(entries: Iterable[Entry]) -> Iterator[tuple[str, Question]]:
    """Write questions for the meaning of terms that an index calls defined, and for differences of neighbors.

    Args:
        entries: Links of indexes.

    Yields:
        Publication without its revision, and the question with the places of the definition.
    """
    own: dict[str, dict[str, frozenset[Place]]] = defaultdict(dict)
    for term, found in find_defined_terms(entries).items():
        places = frozenset((_name(document), page) for document, page in found)
        own[min(places)[0]][term] = places
    for publication, terms in sorted(own.items()):
        drawn = _draw(list(terms.items()))
        for term, places in drawn:
            for wording in WORDINGS:
                yield publication, Question(wording.format(_in_text(term)), places)
        for (one, first), (other, second) in pairwise(drawn):
            for wording in DIFFERENCES:
                yield publication, Question(wording.format(_in_text(one), _in_text(other)), first | second)


def _draw(rows: Sequence[_Row]) -> Sequence[_Row]:
    """Draw terms of one publication evenly."""
    return rows[:: max(1, -(-len(rows) // TERMS))]


def _in_text(term: str) -> str:
    return term if any(map(str.isupper, term[1:])) else term[0].lower() + term[1:]


def _name(document: str) -> str:
    return document.partition("--")[0]


def _ask(released: Released, question: Question) -> tuple[bool, bool]:
    """Return whether a definition opens the answer, and whether the answer begins at a place of the index."""
    answer, kind, _ = ask_with_signals(released.searcher, question.text, settings=Settings())
    return kind == guardrail.DEFINITION, _begins_at(answer, question.places)


def _begins_at(answer: Answer, places: frozenset[Place]) -> bool:
    for unit in answer.units[:1]:
        result = answer.results[unit.rank - 1]
        pages = {result.page, *(box.page for box in result.bboxes)}
        return any((_name(result.document), page) in places for page in pages)
    return False
