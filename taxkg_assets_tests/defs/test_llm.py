"""Who asks a model, and for what: every table with a proposer is known to the record, and every task has one."""

from __future__ import annotations

import taxkg_assets.definitions  # noqa: F401 - registers how tables are made
from taxkg_assets.defs.llm import CALLERS, LATER_CALLERS, READER_TASKS
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.prompts.tasks import TASKS


def test_every_table_that_may_ask_a_model_is_known_to_the_record() -> None:
    asking = {r.name for r in PIPELINE.records() if r.builder and {"proposer", "reader"} & set(r.builder.resources)}
    assert asking == {*CALLERS, *LATER_CALLERS}
    assert set(LATER_CALLERS) <= PIPELINE.trained()
    assert PIPELINE.trained().isdisjoint(CALLERS)
    assert set(PIPELINE.upstream("llm_calls")) == set(CALLERS)


def test_every_task_has_somebody_who_asks() -> None:
    queried = {task.name for tasks in (*CALLERS.values(), *LATER_CALLERS.values(), READER_TASKS) for task in tasks}
    assert queried == set(TASKS)
