"""One training from the command line: pairs and negatives, encoder, reranker, each behind its gates; what came out."""

from __future__ import annotations

import time
from typing import get_type_hints

import dagster as dg
import polars as pl

from taxkg_assets.defs.home.recovery import report_dead_run
from taxkg_assets.defs.home.store import TRAINING, Store
from taxkg_assets.defs.wiring.alerts import alert_runs
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.records import PromotionRecord, iter_records
from taxkg_assets.serving.build import BuildResult, SelectionError, run_selection
from taxkg_assets.serving.instance import open_instance

LEARNED_FROM = ("scenario_queries", "pairs", "hard_negatives")
KINDS = {"encoder": ("model",), "reranker": ("reranker",), "all": ("model", "reranker")}


class TrainedRecord(PromotionRecord):
    """A trained model: a row of `model` or `reranker`, and the name of that table."""

    table: str
    name: str
    base: str


def train(home: str, *, kind: str, log_level: str = "CRITICAL") -> BuildResult:
    """Build training pairs, hard negatives and models from the tables of a built home; current ones are not rebuilt.

    A training has its own lock, so a build never waits for it.

    Args:
        home: Folder or bucket address of the home.
        kind: `encoder`, `reranker` or `all`.
        log_level: Lowest level of Dagster's messages to show.

    Returns:
        What was built, and the results of the gates.

    Raises:
        SelectionError: There is no built home yet.
        HomeBusyError: Another training of this home is running.
    """
    import taxkg_assets.definitions  # noqa: F401 - registers the tables and their gates

    store, started = Store(home), time.monotonic()
    with store.exclusive(work=TRAINING):
        if not store.exists("index"):
            raise SelectionError(f"{store.home} is not built yet: run `taxkg build` first.")
        model_tables = KINDS["all"] if kind == "reranker" and not store.exists("model") else KINDS[kind]
        result = BuildResult(is_done=True, seconds=0.0, run_ids=[])
        selection = dg.AssetSelection.assets(*LEARNED_FROM, *model_tables)
        with open_instance(store) as instance:
            report_dead_run(instance, store, work=TRAINING)
            run_selection(instance, store, selection=selection, result=result, log_level=log_level, work=TRAINING)
            alert_runs(instance, store, result.run_ids, settings=Home(home=str(store.home)).settings)
    result.is_released = store.exists("release")
    result.seconds = time.monotonic() - started
    return result


def read_models(home: str) -> list[TrainedRecord]:
    """List the trained models with their gain over the base model.

    Args:
        home: Folder or bucket address of the home.

    Returns:
        Encoders, then rerankers, with whether each is in use.
    """
    store = Store(home)
    tables = (store.read_or_empty(table).with_columns(table=pl.lit(table)) for table in KINDS["all"])
    return [row for rows in tables for row in iter_records(rows.select(*get_type_hints(TrainedRecord)), TrainedRecord)]
