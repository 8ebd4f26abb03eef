"""Questions about the terms of printed indexes, with single rules and without: answers that begin where the index says.

The terms of each publication are put into wordings that a rule for questions on a thing or on a meaning matches. A rule
gains where the answer begins at a place that an index names only with it. Publications of the check half of
`subject_sections` decide about no rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import TypeVar

import polars as pl

from benchmarks.definitions import WORDINGS as OF_MEANING
from benchmarks.definitions import find_defined_terms
from benchmarks.subject_sections import HALVES, MOST_WORDS, Question, find_family, find_right
from taxkg_assets.retrieval.answering import guardrail
from taxkg_assets.retrieval.answering.answer import ask_with_signals
from taxkg_assets.retrieval.encoding.lexical import find_distinct_terms
from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.support import Key, name_family
from taxkg_assets.serving.released import Released
from taxkg_assets.settings import Settings

GROUPS = ("definitions.questions", "definitions.comparisons", "subject_sections.questions")
OF_THINGS = (
    "Can I deduct {}?",
    "Are {} deductible?",
    "Are {} taxable?",
    "Do I have to pay tax on {}?",
    "Can I exclude {}?",
    "How do I report {}?",
)
OF_DIFFERENCES = ("What is the difference between {} and {}?", "{} vs {}")
OPENED = (guardrail.DEFINITION, guardrail.SUBJECT)
"""Kinds of answers that these rules open; without a rule that opens no answer, the answer is the same."""
TERMS = 6
"""Terms of each publication."""
Entry = tuple[str, str | None, str | None, int | None]
"""Document, term, subterm and target page of a link of an index."""
_Row = TypeVar("_Row")
Without = Callable[[Iterable[Key]], AbstractContextManager[None]]


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
    entries = list(links.select("document_id", "term", "subterm", "target_page").iter_rows())
    written = write_meanings(entries) if key[0] == "definitions" else write_things(entries)
    asked = [(family, own) for family, own in written if rule.pattern.search(own.text)]
    opened = [(family, own, was) for family, own in asked if (was := _score(released, own)) is not None]
    gains: dict[str, float] = defaultdict(float)
    with without([key]):
        for family, own, was in opened:
            gains[name_family(family)] += float(was) - float(_score(released, own, is_any=True) or False)
    return len(asked), gains


def write_things(entries: Sequence[Entry]) -> Iterator[tuple[str, Question]]:
    """Write questions for terms without subterms, in each wording.

    Args:
        entries: Links of indexes.

    Yields:
        Family of the publication whose index has the term, and the question with all places of the term.
    """
    places = defaultdict[frozenset[str], set[tuple[str, int]]](set)
    own: dict[str, dict[frozenset[str], str]] = defaultdict(dict)
    for document, term, subterm, page in entries:
        if page and term:
            terms = find_distinct_terms(f"{term} {subterm or ''}")
            places[terms].add((find_family(document), page))
            if not subterm and _is_name(term, most=MOST_WORDS):
                own[find_family(document)].setdefault(terms, term)
    for family, found in sorted(own.items()):
        if family not in HALVES["check"]:
            for terms, term in _draw(sorted(found.items(), key=lambda row: row[1])):
                for wording in OF_THINGS:
                    yield family, Question(term, wording.format(_in_text(term)), frozenset(places[terms]))


def write_meanings(entries: Iterable[Entry]) -> Iterator[tuple[str, Question]]:
    """Write questions for the meaning of terms that an index calls defined, and for differences of neighbors.

    Args:
        entries: Links of indexes.

    Yields:
        Family of the publication, and the question with the places of the definition.
    """
    own: dict[str, dict[str, frozenset[tuple[str, int]]]] = defaultdict(dict)
    for term, found in find_defined_terms(entries).items():
        places = frozenset((find_family(document), page) for document, page in found)
        own[min(places)[0]][term] = places
    for family, terms in sorted(own.items()):
        drawn = _draw(list(terms.items()))
        for term, places in drawn:
            for wording in OF_MEANING:
                yield family, Question(term, wording.format(_in_text(term)), places)
        for (one, first), (other, second) in pairwise(drawn):
            for wording in OF_DIFFERENCES:
                yield family, Question(one, wording.format(_in_text(one), _in_text(other)), first | second)


def _draw(rows: Sequence[_Row]) -> Sequence[_Row]:
    """Draw terms of one publication evenly."""
    return rows[:: max(1, -(-len(rows) // TERMS))]


def _is_name(term: str, *, most: int) -> bool:
    return term.replace(" ", "").replace("-", "").isalpha() and len(term) > 3 and len(term.split()) <= most


def _in_text(term: str) -> str:
    return term if any(map(str.isupper, term[1:])) else term[0].lower() + term[1:]


def _score(released: Released, question: Question, *, is_any: bool = False) -> bool | None:
    """Return whether an answer begins at a place of the index; None where no such rule opens it, unless any counts."""
    answer, kind, _ = ask_with_signals(released.searcher, question.text, settings=Settings())
    if not is_any and kind not in OPENED:
        return None
    return find_right(answer, question)[:1] == [True]
