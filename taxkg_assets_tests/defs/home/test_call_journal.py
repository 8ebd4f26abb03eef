"""The journal of calls: nothing paid for is lost, nothing is queried twice, and a budget knows what is spent."""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from taxkg_assets.defs.home.call_journal import BudgetScope, Journal, UsageReader
from taxkg_assets.defs.home.proposers import open_budget, prune_journal
from taxkg_assets.defs.home.store import Store
from taxkg_assets.llm.budget import BudgetError, Price, Prices
from taxkg_assets.llm.exchange import compose, find_call_id
from taxkg_assets.llm.llm_calls import Call, build_llm_calls, find_altered_calls
from taxkg_assets.prompts.tasks import PAIR_JUDGING
from taxkg_assets.schemas import LlmCalls
from taxkg_assets.settings import Settings
from taxkg_assets_tests.llm.scripted import questions


def _call(user: str, **columns: Any) -> Call:
    queried = {"task": "hyde", "prompt_hash": "p", "model": "m", "max_tokens": 9}
    call_id = find_call_id(user_text=user, **queried)  # type: ignore[arg-type]
    row = {
        "call_id": call_id, "provider": "test", "item_count": 1, "input": user, "output": "a\u2028b\n",
        "stop": "complete", "input_tokens": 1, "output_tokens": 1, "cost_usd": None, "latency_ms": 1,
        "called_at": datetime.now(UTC),
    }  # fmt: skip
    return Call(**{**queried, **row, **columns})


def _fold(store: Store) -> None:
    journal = Journal(store).read()
    rows = build_llm_calls(old=LlmCalls.cast(store.read_or_empty("llm_calls")), journal=journal)
    store.write("llm_calls", rows, inputs="")


def _record_and_die(home: str) -> None:
    Journal(Store(home)).record(_call("paid for"))
    os._exit(9)


@pytest.mark.slow
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


def test_a_call_that_waits_while_the_journal_is_emptied_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader records while a build prunes: the file that it has opened is empty when its turn comes."""
    journal, path, lock = Journal(Store(tmp_path)), tmp_path / "cache" / "llm_calls.jsonl", fcntl.flock
    journal.record(_call("one"))

    def empty_and_lock(file: Any, operation: int) -> None:
        os.truncate(path, 0)
        lock(file, operation)

    monkeypatch.setattr("taxkg_assets.defs.home.call_journal.fcntl.flock", empty_and_lock)
    journal.record(_call("two"))
    monkeypatch.undo()
    assert [call.input for call in Journal(Store(tmp_path)).read()] == ["two"]


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


def test_a_process_sees_what_others_have_queried_since(tmp_path: Path) -> None:
    here, there = Journal(Store(tmp_path)), Journal(Store(tmp_path))
    assert here.find(_call("one").call_id) is None
    there.record(_call("one"))
    found = here.find(_call("one").call_id)
    assert found is not None
    assert found.input == "one"


def test_two_processes_spend_one_budget(tmp_path: Path) -> None:
    store, settings = Store(tmp_path), Settings(llm_budget_tokens=12_000)
    request = compose(PAIR_JUDGING, questions(1), model="m")
    budget = open_budget(store, settings, spender=BudgetScope.BUILD)
    with budget.admit(request):
        pass
    other = Journal(Store(tmp_path))  # all that two processes share is the file
    for number in range(10):
        other.record(_call(str(number), input_tokens=1000, output_tokens=100))
    with pytest.raises(BudgetError, match="TAXKG_LLM_BUDGET_TOKENS"), budget.admit(request):
        pytest.fail("the budget is spent")
    with open_budget(store, settings, spender=BudgetScope.READER).admit(request):
        pass  # readers have their own


def test_a_build_that_stopped_continues_with_what_is_left_until_its_calls_are_taken_up(tmp_path: Path) -> None:
    store, prices = Store(tmp_path), Prices({"m": Price(1.0, 10.0)})
    journal = Journal(store)
    journal.record(_call("before", input_tokens=1_000_000, output_tokens=0, cost_usd=1.0))
    spending = UsageReader(store, spender=BudgetScope.BUILD, prices=prices)
    assert spending.read() == (1_000_000, 1.0)
    journal.record(_call("without a price then", input_tokens=0, output_tokens=1_000_000))
    Journal(store, spender=BudgetScope.TRAINING).record(_call("trained"))
    assert spending.read() == (2_000_000, 11.0)
    _fold(store)
    prune_journal(store)
    journal.record(_call("next", input_tokens=7, output_tokens=0))
    assert spending.read() == UsageReader(store, spender=BudgetScope.BUILD, prices=prices).read() == (7, 7e-6)


def test_who_counts_from_a_moment_on_counts_nothing_before(tmp_path: Path) -> None:
    store, now = Store(tmp_path), datetime.now(UTC)
    journal = Journal(store, spender=BudgetScope.READER)
    journal.record(_call("before", called_at=now - timedelta(seconds=1)))
    journal.record(_call("after", called_at=now))
    assert UsageReader(store, spender=BudgetScope.READER, prices=Prices(), since=now).read() == (2, 0.0)
