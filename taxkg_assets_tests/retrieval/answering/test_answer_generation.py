"""A model's answer is sentence by sentence; its opinion and its imagination count only where they are requested."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from taxkg_assets.llm.exchange import COMPLETE, AccessError, Reply, Request
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.answering.guardrail import grade_confidence, read_confidence
from taxkg_assets.retrieval.query.components import DEFAULT_COMPONENTS
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings
from taxkg_assets_tests.llm.scripted import Scripted, items_of, proposer

QUESTION = "what do we enter in box 1a of the 2077-ZED, and are repair fees part of it"
OPEN = Settings(guardrail=False)
QUOTE = "Do not include repair fees."
LIE = "Captains always owe the sheriff a parrot."


def _model(**columns: Any) -> Scripted:
    """Answers every item with these columns; quotes are looked for among its blocks."""

    def answer(request: Request) -> Reply:
        (item,) = items_of(request.user)
        said = {"item_id": item["item_id"], "confidence": 0.9, "evidence": [], **columns}
        if "quotes" in said:
            said["evidence"] = [_cite(item, quote) for quote in said.pop("quotes")]
        if "claims" in said:
            claims = said.pop("claims")
            said["sentences"] = [{"text": text, "evidence": [_cite(item, quote)]} for text, quote in claims]
            said["evidence"] = [row for sentence in said["sentences"] for row in sentence["evidence"]]
        return Reply(json.dumps({"proposals": [said]}), COMPLETE, 100, 10)

    return Scripted(answer)


def _cite(item: Mapping[str, Any], quote: str) -> dict[str, str]:
    holding = [block for block in item["blocks"] if quote in block["text"]]
    block = (holding or item["blocks"])[0]
    return {"pointer": f"{block['element_id']}:0-{len(quote)}", "quote": quote}


def _without_model(searcher: Searcher) -> str | None:
    return ask(searcher, QUESTION, settings=OPEN).answer


def test_sentences_that_hold_are_shown_with_their_quotes_and_others_are_dropped(searcher: Searcher) -> None:
    claims = [("Repair fees are not included.", QUOTE), (LIE, QUOTE), ("Repair fees are included.", QUOTE)]
    model = _model(is_answerable=True, claims=claims)
    found = ask(replace(searcher, proposer=proposer(model)), QUESTION, settings=OPEN)
    (citation,) = found.citations
    assert found.answer == f"Repair fees are not included. [{citation.rank}]"
    assert citation.quote == QUOTE
    assert QUOTE in found.results[citation.rank - 1].text
    assert (found.created_by, found.model, len(model.queried)) == ("llm", "m", 1)


@pytest.mark.parametrize(
    "columns",
    [
        {"is_answerable": True, "claims": [(LIE, QUOTE)]},
        {"is_answerable": True, "claims": [("Repair fees are not included.", "Repair fees stay out")]},
        {"is_answerable": False, "sentences": []},
        {"is_answerable": "perhaps"},
    ],
    ids=["nothing holds", "no quote", "no answer", "no proposal"],
)
def test_where_nothing_holds_the_passages_speak(searcher: Searcher, columns: dict[str, Any]) -> None:
    found = ask(replace(searcher, proposer=proposer(_model(**columns))), QUESTION, settings=OPEN)
    assert (found.answer, found.created_by, found.citations) == (_without_model(searcher), "rule", [])


def test_readers_get_an_answer_when_the_model_is_out_of_reach(searcher: Searcher) -> None:
    def refuse(request: Request) -> Reply:
        raise AccessError("no such model")

    out_of_reach = replace(searcher, proposer=proposer(Scripted(refuse), is_lenient=True))
    assert ask(out_of_reach, QUESTION, settings=OPEN).answer == _without_model(searcher)


def test_no_one_is_queried_by_rule_or_where_the_settings_say_no(searcher: Searcher) -> None:
    assert ask(replace(searcher, proposer=RuleProposer()), QUESTION, settings=OPEN).created_by == "rule"
    model = _model(is_answerable=False, sentences=[])
    settings = Settings(guardrail=False, llm_answers=False)
    ask(replace(searcher, proposer=proposer(model)), QUESTION, settings=settings)
    assert model.queried == []


@pytest.mark.parametrize(
    ("columns", "share"),
    [({"grade": 0.0}, 0.0), ({"grade": 10.0, "quotes": [QUOTE]}, 10.0), ({"grade": 10.0, "quotes": ["parrot"]}, None)],
    ids=["a low grade", "a high grade that is shown", "a high grade that is not"],
)
def test_a_second_opinion_meets_the_guardrail_halfway(
    searcher: Searcher, columns: dict[str, Any], share: float | None
) -> None:
    settings = Settings(llm_grading=True, llm_answers=False)
    alone = ask(searcher, QUESTION, settings=settings).confidence
    found = ask(replace(searcher, proposer=proposer(_model(**columns))), QUESTION, settings=settings)
    own = grade_confidence(alone)
    expected = alone if share is None else read_confidence((own + share) / 2)
    assert found.confidence == pytest.approx(expected, abs=1e-3)


def test_an_imagined_passage_is_searched_with_where_that_is_on(searcher: Searcher) -> None:
    question = "what must a skipper settle at the quay"
    passage = "A person who keeps a berth in Manhattan pays a berth duty of cents a foot."
    model = _model(passage=passage, terms=["berth duty", "cents a foot"])
    queried = replace(searcher, proposer=proposer(model))
    assert queried.search(question, k=1) == searcher.search(question, k=1)
    assert model.queried == []
    imagining = replace(queried, parts=replace(DEFAULT_COMPONENTS, hyde=True))
    assert imagining.search(question, k=1)[0].document == "town-code"
    assert len(model.queried) == 1
    by_rule = replace(imagining, proposer=RuleProposer())
    assert by_rule.search(question, k=1) == searcher.search(question, k=1)
