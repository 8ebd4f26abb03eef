"""A comparison reports for both sides and names each."""

from __future__ import annotations

from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

OPEN = Settings(guardrail=False)


def test_both_editions_are_reported_and_named(searcher: Searcher) -> None:
    question = "how does box 1a of the 2077-ZED differ, harbour rent in 2030 versus 2031"
    found = ask(searcher, question, settings=OPEN, k=20)
    reported = {found.results[unit.rank - 1].revision for unit in found.units}
    assert {revision[:4] for revision in reported} >= {"2030", "2031"}
    assert found.answer is not None
    assert all(f"2077-ZED {revision}" in found.answer for revision in reported)


def test_both_boxes_are_reported(searcher: Searcher) -> None:
    found = ask(searcher, "what is the difference between box 1a and box 1b of the 2031 2077-ZED", settings=OPEN)
    said = " ".join(unit.text for unit in found.units)
    assert "harbour rent" in said
    assert "foreign vessels" in said
