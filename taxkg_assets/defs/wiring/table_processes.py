"""Steps of tables in processes of their own, which find the step by the table's name."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from threadpoolctl import threadpool_limits

from taxkg_assets.defs.home.stored_tables import TableState
from taxkg_assets.defs.wiring.io_manager import write_whole
from taxkg_assets.defs.wiring.output_rows import WholeTable, Written
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.step_process import run_in_process, run_shares


def prepare_in_process(home: Home, name: str) -> None:
    """Run the preparation of a table in a child process.

    Args:
        home: Tables, files and settings of the home.
        name: Table with a preparation.
    """
    run_in_process(f"the preparation of {name}", _prepare, home.home, name)


def _prepare(home_name: str, name: str) -> None:
    step = PIPELINE[name].step
    assert step is not None
    assert step.prepare is not None
    step.prepare(Home(home=home_name))


def make_in_process(home: Home, name: str, states: Mapping[str, TableState], *, made_from: str) -> Written:
    """Build and write a table in a child process.

    Args:
        home: Tables, files and settings of the home.
        name: Table.
        states: States of the upstream tables, at the versions to read.
        made_from: Digest of all inputs of the rows.

    Returns:
        Digest of the content, and the metadata that the UI shows.
    """
    return run_in_process(f"the table {name}", _make_and_write, home.home, name, dict(states), made_from)


def _make_and_write(home_name: str, name: str, states: Mapping[str, TableState], made_from: str) -> Written:
    home = Home(home=home_name)
    step = PIPELINE[name].step
    assert step is not None
    return write_whole(home.store, name, step.make(home, states, made_from=made_from))


def make_in_shares(home: Home, name: str, states: Mapping[str, TableState], *, made_from: str) -> WholeTable:
    """Build the rows of a table, divided over several processes.

    Args:
        home: Tables, files and settings of the home.
        name: Table.
        states: States of the upstream tables, at the versions to read.
        made_from: Digest of all inputs of the rows.

    Returns:
        Rows of all shares.
    """
    shares = run_shares(f"the table {name}", _make_share, home.home, name, dict(states), made_from)
    return WholeTable(pl.concat(shares), made_from)


def _make_share(
    home_name: str, name: str, states: Mapping[str, TableState], made_from: str, *share: int
) -> pl.DataFrame:
    step = PIPELINE[name].step
    assert step is not None
    with threadpool_limits(1):  # threads that wait for each other would take the other share's time
        return step.make(Home(home=home_name), states, made_from=made_from, share=(share[0], share[1])).frame
