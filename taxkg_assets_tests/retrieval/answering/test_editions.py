"""An answer speaks from the edition asked for, else from the newest, and from another one where there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taxkg_assets.retrieval.answering.editions import find_other_editions
from taxkg_assets.retrieval.ranking.search import Searcher


@pytest.mark.parametrize(("years", "is_old_told"), [((), False), ((2031,), False), ((2030,), True), ((1999,), True)])
def test_other_editions_are_silent(searcher: Searcher, years: tuple[int, ...], is_old_told: bool) -> None:
    ranking = searcher.rank("box 1a harbour rent of the 2077-ZED")
    results = searcher.assemble(ranking, k=30)
    editions = {row["document_id"]: row for row in searcher.facts.documents if not row["is_draft"]}
    stale = {name for name, row in editions.items() if row["is_stale"]} & {result.document for result in results}
    assert stale
    others = find_other_editions(results, replace(ranking.route, years=years), searcher.facts)
    assert bool(stale & others) is not is_old_told
