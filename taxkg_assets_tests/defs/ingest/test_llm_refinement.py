"""References that the rules are not sure of go to a model as they are published, once; without one nothing changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import taxkg_assets.definitions  # noqa: F401 - registers how tables are made
from taxkg_assets.defs.home.call_journal import Journal
from taxkg_assets.defs.home.proposers import open_estimator
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.ingest.intake import admit_documents, publish
from taxkg_assets.defs.ingest.source_scan import scan_sources
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.serving.build import SAMPLES
from taxkg_assets_tests.llm.providers.conversations import PROTOCOLS
from taxkg_assets_tests.llm.providers.loopback import Answer, Sent, loopback
from taxkg_assets_tests.llm.scripted import items_of

pytestmark = pytest.mark.slow


PROTOCOL = PROTOCOLS["openai"]
DOCUMENT = "sample-statute-title-7"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home that has read one bundled document and published none of its tables."""
    made = Home(home=str(tmp_path / "home"))
    scan_sources(made, [SAMPLES / f"{DOCUMENT}.txt"])
    frame, states = admit_documents(made, [DOCUMENT]).documents
    made.store.replace_documents("documents", frame, documents=states)
    return made


def _publish(home: Home) -> int:
    """Commit what is stale of `references`; returns how many documents were."""
    stale = 0
    for frame, documents in publish(home, "references", [DOCUMENT]):
        home.store.replace_documents("references", frame, documents=documents)
        stale += len(documents)
    return stale


def _state(store: Store) -> Mapping[str, str]:
    state = store.state("references")
    assert state is not None
    return state.documents[DOCUMENT]


def _decide(sent: Sent, number: int) -> Answer:
    """A model that takes the first candidate, and calls the last of its items included and denied at once."""
    items = items_of(PROTOCOL.said(sent)[1])
    rows: list[dict[str, Any]] = []
    for item in items:
        block = item["blocks"][0]
        start = block.get("start", 0)
        quote = {"pointer": f"{block['element_id']}:{start}-{start + len(block['text'])}", "quote": block["text"]}
        row = {"item_id": item["item_id"], "confidence": 0.97, "evidence": [quote], "relation": "qualifies"}
        rows.append({**row, "target": item["candidates"][0]["target"], "polarity": "positive"})
    rows[-1] |= {"relation": "includes", "polarity": "negative"}
    return PROTOCOL.wrap({"proposals": rows}, "")


def test_unsure_references_are_settled_once_and_go_back_with_the_model(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _publish(home) == 1
    by_rule, state = home.store.read("references"), _state(home.store)
    assert "settler" not in state
    unsure = by_rule.filter(~pl.col("is_self"), pl.col("confidence") < 0.9)
    assert unsure.height == 3

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name, value in {"PROVIDER": "openai", "MODEL": "m", "ATTEMPTS": "1", "BATCH": "1"}.items():
        monkeypatch.setenv(f"TAXKG_LLM_{name}", value)
    with loopback(_decide) as server:
        monkeypatch.setenv("TAXKG_LLM_URL", f"{server.url}/v1")
        assert _publish(home) == 1
        refused = len(server.sent)
    assert home.store.read("references").equals(by_rule), "an inclusion that denies is no answer"

    monkeypatch.setenv("TAXKG_LLM_BATCH", "24")
    estimator = open_estimator(home)
    PIPELINE["references"].builder.make(home, proposer=estimator)
    assert [row.calls for row in estimator.estimates.values()] == [1]
    with loopback(_decide) as server:
        monkeypatch.setenv("TAXKG_LLM_URL", f"{server.url}/v1")
        assert _publish(home) == 1
        made = home.store.read("references")
        assert len(Journal(home.store).read()) == refused + len(server.sent)
    settled = made.filter(pl.col("created_by") == "llm")
    answer = ("qualifies", 0.97, "ambiguous_references")
    assert settled.select("relation", "confidence", "rule_id").rows() == [answer] * (unsure.height - 1)
    assert made.filter(pl.col("created_by") != "llm").height == by_rule.height - settled.height
    assert _state(home.store)["settler"]

    monkeypatch.setenv("TAXKG_LLM_PROVIDER", "replay")
    assert _publish(home) == 0
    (home.store.home / "tables" / "references").rename(home.store.home / "aside")
    assert _publish(home) == 1
    assert home.store.read("references").equals(made)

    monkeypatch.setenv("TAXKG_LLM_PROVIDER", "rules")
    assert _publish(home) == 1
    assert home.store.read("references").equals(by_rule)
    assert json.dumps(dict(_state(home.store))) == json.dumps(dict(state))
