"""The record of calls in a home: nothing paid for is lost, nothing is asked twice, and settings say what is wrong."""

from __future__ import annotations

import json
import multiprocessing
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from taxkg_assets.defs.proposers import (
    Journal,
    ProposerSettingError,
    open_proposer,
    proposer_fingerprint,
    prune_journal,
)
from taxkg_assets.defs.resources import Home
from taxkg_assets.defs.store import Store
from taxkg_assets.llm.exchange import find_call_id
from taxkg_assets.llm.llm_calls import Call, build_llm_calls, find_altered_calls
from taxkg_assets.schemas import LlmCalls


def _call(user: str, **columns: Any) -> Call:
    asked = {"task": "hyde", "prompt_hash": "p", "model": "m", "max_tokens": 9}
    call_id = find_call_id(user=user, **asked)  # type: ignore[arg-type]
    row = {
        "call_id": call_id, "provider": "test", "item_count": 1, "input": user, "output": "a\u2028b\n",
        "stop": "complete", "input_tokens": 1, "output_tokens": 1, "cost_usd": None, "latency_ms": 1,
        "called_at": datetime.now(UTC),
    }  # fmt: skip
    return Call(**{**asked, **row, **columns})


def _fold(store: Store) -> None:
    journal = Journal(store).read()
    rows = build_llm_calls(old=LlmCalls.cast(store.read_or_empty("llm_calls")), journal=journal)
    store.write("llm_calls", rows, inputs="")


def _record_and_die(home: str) -> None:
    Journal(Store(home)).record(_call("paid for"))
    os._exit(9)


def test_a_killed_process_loses_no_call(tmp_path: Path) -> None:
    child = multiprocessing.get_context("spawn").Process(target=_record_and_die, args=(str(tmp_path),))
    child.start()
    child.join(60)
    assert child.exitcode == 9
    found = Journal(Store(tmp_path)).find(_call("paid for").call_id)
    assert found is not None
    assert found.output == "a\u2028b\n"


def test_half_a_line_hurts_neither_what_was_before_nor_what_comes_after(tmp_path: Path) -> None:
    journal = Journal(Store(tmp_path))
    journal.record(_call("one"))
    with (tmp_path / "cache" / "llm_calls.jsonl").open("a") as file:
        file.write('{"call_id": "torn')
    journal.record(_call("two"))
    assert [call.input for call in Journal(Store(tmp_path)).read()] == ["one", "two"]


@pytest.mark.parametrize("torn", [b'{"call_id": "\xe2\x80', b"{}", b'{"call_id": ["x"]}', b"[" * 200_000, b"\xff"])
def test_a_line_that_is_no_call_hinders_neither_reading_nor_pruning(tmp_path: Path, torn: bytes) -> None:
    store = Store(tmp_path)
    Journal(store).record(_call("one"))
    with (tmp_path / "cache" / "llm_calls.jsonl").open("ab") as file:
        file.write(torn)
    Journal(store).record(_call("two"))
    Journal(store).forget({_call("one").call_id})
    assert [call.input for call in Journal(store).read()] == ["two"]


def test_half_a_character_in_an_answer_that_was_paid_for_loses_nothing(tmp_path: Path) -> None:
    store, said = Store(tmp_path), json.dumps({"proposals": ["\ud83d"]})
    Journal(store).record(_call("one", output=json.dumps(json.loads(said), ensure_ascii=False)))
    _fold(store)
    assert json.loads(store.read("llm_calls")["output"].item()) == json.loads(said)
    assert Journal(store).find(_call("one").call_id) == Journal(store).read()[0]


def test_the_table_takes_up_the_journal_which_then_forgets_only_that(tmp_path: Path) -> None:
    store = Store(tmp_path)
    journal = Journal(store)
    journal.record(_call("one"))
    journal.record(_call("one", output="later"))
    _fold(store)
    journal.record(_call("two"))
    prune_journal(store)
    assert [call.input for call in Journal(store).read()] == ["two"]
    assert store.read("llm_calls")["output"].to_list() == ["a\u2028b\n"]
    again = Journal(store)
    assert all(again.find(_call(user).call_id) for user in ("one", "two"))


def test_an_altered_call_is_found() -> None:
    rows = build_llm_calls(old=LlmCalls.create_empty(), journal=[_call("one"), _call("two", model="other")])
    assert find_altered_calls(rows)["model"].to_list() == ["other"]


def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **settings: str) -> Home:
    for name, value in settings.items():
        monkeypatch.setenv(f"TAXKG_LLM_{name.upper()}", value)
    return Home(home=str(tmp_path))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"provider": "openai", "url": "http://x"}, "TAXKG_LLM_MODEL is empty"),
        ({"provider": "openai", "model": "m"}, "TAXKG_LLM_URL is empty"),
        ({"provider": "bedrock", "model": "m", "models": '{"poetry": "m"}'}, "no such task: poetry"),
        ({"provider": "replay", "model": "m", "prices": "nowhere.yaml"}, "no price list"),
    ],
)
def test_a_wrong_setting_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], message: str
) -> None:
    with pytest.raises(ProposerSettingError, match=message):
        open_proposer(_home(tmp_path, monkeypatch, **settings))


def test_the_fingerprint_follows_the_models_and_not_the_way_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = proposer_fingerprint(_home(tmp_path, monkeypatch))
    bedrock = proposer_fingerprint(_home(tmp_path, monkeypatch, provider="bedrock", model="m"))
    replay = proposer_fingerprint(_home(tmp_path, monkeypatch, provider="replay", concurrency="9", seconds="3"))
    other = proposer_fingerprint(_home(tmp_path, monkeypatch, model="n"))
    assert len({rules, bedrock, other}) == 3
    assert bedrock == replay
