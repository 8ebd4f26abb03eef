"""`table`: binds a pure builder to a Delta table.

A table is an asset; its builder's parameters name its upstream tables. What the builder's code reads (modules, rule
families, schemas) decides with the contents of those tables whether the table is current.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg
import dataframely as dy
import polars as pl

from taxkg_assets.defs.code_references import code_references
from taxkg_assets.defs.early_gates import begin_gates
from taxkg_assets.defs.fingerprint import code_fingerprint
from taxkg_assets.defs.io_manager import Rows, Unchanged
from taxkg_assets.defs.parts import Parts
from taxkg_assets.defs.registry import PIPELINE, Maker, Show, TableRecord
from taxkg_assets.defs.resources import Home
from taxkg_assets.defs.step_process import reads_much
from taxkg_assets.defs.store import TableState, digest
from taxkg_assets.defs.table_step import TableStep, make_in_process, make_in_shares

DOCUMENT_PARTITIONS = dg.DynamicPartitionsDefinition(name="document")
"""One partition a document; nothing after the extraction is partitioned."""

TRAINING = "training"
"""Group of the tables that `taxkg train` makes."""


def snake(name: str) -> str:
    """`EvalRuns` is the table `eval_runs`."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def asset_arguments(
    schema: type[dy.Schema], build: Callable[..., Any], *, group: str, **more: Callable[..., Any]
) -> dict[str, Any]:
    """What the UI shows of a table: description, columns, and links to the builder and to the wiring.

    Args: more: further functions to link to, by label.
    """
    columns = [
        dg.TableColumn(name, type(column).__name__, description=column.description)
        for name, column in schema.columns().items()
    ]
    return {
        "group_name": group,
        "description": inspect.getdoc(schema),
        "kinds": {"deltalake", "polars"},
        "metadata": {
            "dagster/column_schema": dg.TableSchema(columns=columns),
            "dagster/code_references": code_references(**more, builder=build),
        },
    }


def table(
    schema: type[dy.Schema],
    build: Callable[..., pl.DataFrame],
    *,
    group: str,
    handles: Mapping[str, Callable[[Home], Any]] | None = None,
    fingerprint: Callable[[Home], str] | None = None,
    after: Sequence[str] = (),
    optional: Sequence[str] = (),
    code: Sequence[Callable[..., Any]] = (),
    own_laws: Sequence[Callable[..., pl.DataFrame]] = (),
    publish: Callable[[Home, pl.DataFrame], None] | None = None,
    show: Show | None = None,
    parts: Parts | None = None,
    dealt: str = "",
) -> dg.AssetsDefinition:
    """Make the asset of a corpus-wide table.

    Args:
        build: its parameters named after tables are its upstream; `settings` gets the settings.
        handles: opened things for the builder's other parameters, opened only when there is something to build.
        fingerprint: digest of what the handles stand for, part of what decides whether the table is current.
        after: further upstream tables, whose rows or files a handle opens.
        optional: tables that a handle reads where they are there; nothing waits for them.
        code: further functions and classes whose code decides what the table holds: what handles open.
        own_laws: functions of the table and its upstream that give rows of it that must not be in it: such rows are
            dropped, counted and shown with the table.
        publish: what else is to be written for the finished rows, such as a report.
        show: what the UI shows besides rows.
        parts: how the table is made in parts, if it is: only parts whose documents have changed are made anew.
        dealt: the table above whose rows are dealt out to several processes where there are many rows to read; what is
            made of a row must not depend on the others. Such a table has no parts, no laws of its own and no `publish`.
    """
    name = snake(schema.__name__)
    parameters = list(inspect.signature(build).parameters)
    opened = dict(handles or {})
    given = {"settings", *opened, parts.argument if parts else ""}
    read = tuple(p for p in parameters if p not in given)
    upstream = tuple(dict.fromkeys((*read, *after)))
    has_settings = "settings" in parameters
    functions: tuple[Callable[..., Any], ...] = (build, *code, *own_laws, *([publish] if publish else []))

    def read_code(home: Home) -> str:
        return digest(
            code_fingerprint(*functions, schema=schema.__name__),
            home.settings.shaping() if has_settings else "",
            fingerprint(home) if fingerprint else "",
        )

    def made_from_now(home: Home, states: Mapping[str, TableState]) -> str:
        return digest(read_code(home), *(f"{n}={states[n].content}" for n in upstream))

    maker = Maker(build, read, opened, has_settings)
    step = TableStep(name, schema, maker, own_laws, publish, parts, read_code, dealt)
    PIPELINE.add(
        TableRecord(
            name,
            upstream,
            optional=tuple(optional),
            is_training=group == TRAINING,
            fingerprint=made_from_now,
            functions=functions,
            maker=maker,
            step=step,
            show=show,
        )
    )

    def compute(context: dg.AssetExecutionContext, **inputs: TableState) -> Rows:
        home: Home = context.resources.home
        begin_gates()
        states = {n: inputs[n] for n in upstream}
        made_from = made_from_now(home, states)
        state = home.store.state(name)
        if state is not None and state.inputs == made_from:
            return Unchanged()
        if group != TRAINING and reads_much(home, read):
            making = make_in_shares if dealt else make_in_process
            return making(home, name, states, made_from=made_from)
        return step.make(home, states, made_from=made_from)

    made: dg.AssetsDefinition = dg.asset(
        name=name,
        ins={n: dg.AssetIn(n) for n in upstream},
        deps=[dg.AssetKey(n) for n in optional],
        required_resource_keys={"home"},
        **asset_arguments(schema, build, group=group),
    )(compute)
    return made
