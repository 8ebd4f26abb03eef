"""A home served with a model behind it: answers in its words, recorded, replayed, and done without in an outage."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from taxkg_assets.defs.home.call_journal import Journal
from taxkg_assets.defs.home.store import Store
from taxkg_assets.serving.service import Service
from taxkg_assets_tests.llm.providers.conversations import PROTOCOLS
from taxkg_assets_tests.llm.providers.loopback import Answer, Sent, loopback
from taxkg_assets_tests.llm.scripted import items_of

pytestmark = pytest.mark.slow


PROTOCOL = PROTOCOLS["openai"]
QUESTION = "What is entered in box 1a of Form 1099-DIV?"


def _quote_first(sent: Sent, number: int) -> Answer:
    """A model that repeats the first sentence of the first passage."""
    (item,) = items_of(PROTOCOL.said(sent)[1])
    block = next(block for block in item["blocks"] if block["role"] == "passage")
    quote = re.split(r"(?<=\.)\s", block["text"])[0]
    evidence = [{"pointer": f"{block['element_id']}:0-{len(quote)}", "quote": quote}]
    row: dict[str, Any] = {"item_id": item["item_id"], "confidence": 0.9, "evidence": evidence, "is_answerable": True}
    return PROTOCOL.wrap({"proposals": [{**row, "sentences": [{"text": quote, "evidence": evidence}]}]}, "")


def _serve(home: Path, monkeypatch: pytest.MonkeyPatch, provider: str, url: str = "") -> Service:
    settings = {"PROVIDER": provider, "MODEL": "m", "URL": url or "http://127.0.0.1:9/v1"}
    for name, value in settings.items():
        monkeypatch.setenv(f"TAXKG_LLM_{name}", value)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("TAXKG_GUARDRAIL", "false")
    return Service(str(home))


def test_a_served_model_words_answers_once_and_is_not_missed_when_it_is_gone(
    sample_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extractive = _serve(sample_home, monkeypatch, "rules").ask(QUESTION, k=3)
    assert (extractive.created_by, extractive.citations) == ("rule", [])

    gone = _serve(sample_home, monkeypatch, "openai")
    assert gone.ask(QUESTION, k=3) == extractive
    assert gone.ask(QUESTION, k=3) == extractive
    assert (gone.counts.hits, gone.counts.misses) == (0, 2), "an answer due to an outage is not remembered"

    with loopback(_quote_first) as server:
        service = _serve(sample_home, monkeypatch, "openai", f"{server.url}/v1")
        found = service.ask(QUESTION, k=3)
        assert service.ask(QUESTION, k=3) == found
        assert len(server.sent) == 1
        assert service.search(QUESTION, k=1, level="auto")
        assert len(server.sent) == 1
    assert (found.created_by, found.model) == ("llm", "m")
    assert found.answer is not None
    assert [citation.quote in found.results[citation.rank - 1].text for citation in found.citations] == [True]
    assert found.answer.endswith(f"[{found.citations[0].rank}]")
    (call,) = Journal(Store(sample_home)).read()
    assert (call.task, call.provider, call.model) == ("answers", "openai", "m")

    assert _serve(sample_home, monkeypatch, "replay").ask(QUESTION, k=3) == found
