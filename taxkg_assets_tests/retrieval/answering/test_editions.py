"""An answer is from the edition requested or the nearest one, else from the newest; several editions are named."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from taxkg_assets.retrieval.answering.editions import find_other_editions, name_editions
from taxkg_assets.retrieval.answering.units import Draft, draft_unit
from taxkg_assets.retrieval.index.passage_context import open_contexts
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Result
from taxkg_assets_tests.retrieval.answering.conftest import make_facts, state


@pytest.mark.parametrize(
    ("years", "is_old_reported"), [((), False), ((2031,), False), ((2030,), True), ((1999,), True), ((2044,), False)]
)
def test_other_editions_are_silent(searcher: Searcher, years: tuple[int, ...], is_old_reported: bool) -> None:
    ranking = searcher.rank("box 1a harbour rent of the 2077-ZED")
    results = searcher.assemble(ranking, k=30)
    editions = {row["document_id"]: row for row in searcher.facts.documents if not row["is_draft"]}
    stale = {name for name, row in editions.items() if row["is_stale"]} & {result.document for result in results}
    assert stale
    others = find_other_editions(results, replace(ranking.route, years=years), searcher.facts)
    assert bool(stale & others) is not is_old_reported


def draft(words: str, *, key: str | None = None) -> Draft:
    """A draft of one sentence, under a box where a key is given."""
    facts = make_facts(("Box 3. Rent" if key else "Rent", [words]), keys=[key])
    (own,) = state(open_contexts([0], facts)[0])
    return draft_unit(own, score=1.0)


def test_editions_of_one_product_and_boxes_of_several_forms_are_named(searcher: Searcher) -> None:
    results = searcher.assemble(searcher.rank("box 1a harbour rent of the 2077-ZED"), k=30)
    families = {row["document_id"]: row["family"] for row in searcher.facts.documents}
    first, same = next(
        (one, other)
        for one, other in permutations(results, 2)
        if families[one.document] == families[other.document] and one.revision != other.revision
    )
    other = first.model_copy(update={"form": "3088-YAW"})
    plain, boxed = draft("Enter the rent of berths."), draft("Enter the rent of barns.", key="box_3")

    def name(*quoted: tuple[Draft, Result], is_compared: bool = False) -> list[bool]:
        return [bool(own) for own in name_editions(quoted, searcher.facts, is_comparison=is_compared)]

    assert name((plain, first), (boxed, first)) == [False, False]
    assert name((plain, first), (plain, same)) == [True, True]
    assert name((plain, first), (boxed, other)) == [False, True]
    assert name((plain, first), is_compared=True) == [True]
    assert name_editions([(boxed, first), (plain, same)], searcher.facts, is_comparison=False)[0] == (
        f"{first.form} {first.revision}"
    )


def test_an_amount_that_a_newer_document_may_have_changed_is_named(searcher: Searcher) -> None:
    """One with its year, and a rule without an amount, need no name."""
    results = searcher.assemble(searcher.rank("box 1a harbour rent of the 2077-ZED"), k=30)
    stale = {row["document_id"] for row in searcher.facts.documents if row["is_stale"]}
    old = next(result for result in results if result.document in stale)
    texts = ("The rent of a berth is $40.", "For 2030, the rent of a berth is $40.", "Enter the rent of berths.")
    named = [bool(name_editions([(draft(own), old)], searcher.facts, is_comparison=False)[0]) for own in texts]
    assert named == [True, False, False]
