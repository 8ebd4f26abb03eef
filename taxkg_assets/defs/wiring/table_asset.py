"""`table`: binds a pure builder to a Delta table.

A table is an asset; its builder's parameters name its upstream tables. What the builder's code reads (modules, rule
families, schemas) decides with the contents of those tables whether the table is current.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import dagster as dg
import dataframely as dy
import polars as pl

from taxkg_assets.defs.home.fingerprint import code_fingerprint
from taxkg_assets.defs.home.store import digest
from taxkg_assets.defs.home.stored_tables import TableState
from taxkg_assets.defs.wiring.code_references import code_references
from taxkg_assets.defs.wiring.early_tables import begin_tables, take_table, wait_until_prepared
from taxkg_assets.defs.wiring.output_rows import Rows, Unchanged
from taxkg_assets.defs.wiring.parts import Parts
from taxkg_assets.defs.wiring.registry import PIPELINE, Show, TableRecord
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.step_process import reads_much
from taxkg_assets.defs.wiring.table_builder import TableBuilder
from taxkg_assets.defs.wiring.table_processes import make_in_process, make_in_shares
from taxkg_assets.defs.wiring.table_step import TableStep

DOCUMENT_PARTITIONS = dg.DynamicPartitionsDefinition(name="document")
"""One partition a document; nothing after the extraction is partitioned."""

TRAINING, RERANKING = "training", "reranking"
TRAINING_GROUPS = (TRAINING, RERANKING)
"""Stages of the tables that `taxkg train` makes. Rerankers are trained on the index, which the encoder comes before."""

GROUPS: Mapping[str, str] = {
    "sources": "documents/sources",
    "extraction": "documents/extraction",
    "graph": "knowledge/graph",
    "quality": "knowledge/quality",
    "chunking": "knowledge/chunking",
    "questions": "knowledge/questions",
    TRAINING: "search/training",
    "retrieval": "search/retrieval",
    RERANKING: "search/reranking",
    "evaluation": "search/evaluation",
    "llm": "search/llm",
    "release": "search/release",
}
"""Group of each stage in the UI. Closed, the three outer groups fit a window at a zoom at which the UI writes their
status on them, from 0.6 on; twelve groups side by side do not."""


def snake(name: str) -> str:
    """Return the table name of a schema class: `eval_runs` for `EvalRuns`.

    Args:
        name: Name of the class.
    """
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def table_schema(schema: type[dy.Schema]) -> dg.TableSchema:
    """Convert a schema to the UI's table schema: columns with type, description and constraints, and the key.

    Args:
        schema: Schema of the table.
    """
    key = schema.primary_key()
    columns = [
        dg.TableColumn(
            name,
            type(column).__name__,
            description=column.description,
            constraints=dg.TableColumnConstraints(
                nullable=column.nullable,
                unique=key == [name],
                other=["part of the key"] if len(key) > 1 and name in key else [],
            ),
        )
        for name, column in schema.columns().items()
    ]
    return dg.TableSchema(columns, constraints=dg.TableConstraints(other=[f"one row per {', '.join(key)}"]))


def asset_arguments(
    schema: type[dy.Schema], build: Callable[..., Any], *, group: str, **more: Callable[..., Any]
) -> dict[str, Any]:
    """Return the asset arguments that document a table in the UI: description, columns and code links.

    Args:
        schema: Schema of the table.
        build: Builder of the table.
        group: Stage of the pipeline, a key of `GROUPS`.
        more: Further functions to link to, by label.
    """
    return {
        "group_name": GROUPS.get(group, group),
        "description": inspect.getdoc(schema),
        "kinds": {"deltalake", "polars"},
        "metadata": {
            "dagster/column_schema": table_schema(schema),
            "dagster/code_references": code_references(**more, builder=build),
        },
    }


def _digest_code(
    schema: type[dy.Schema],
    functions: Sequence[Callable[..., Any]],
    home: Home,
    *,
    has_settings: bool,
    resources: Callable[[Home], str] | None,
    drops_rows: bool,
) -> str:
    """Digest what decides the rows of a table besides its upstream: code, settings, and what its resources open.

    The largest share of rows that may be dropped counts for a table that has row checks.
    """
    return digest(
        code_fingerprint(*functions, schema=schema.__name__),
        home.settings.table_settings() if has_settings else "",
        resources(home) if resources else "",
        *([str(home.settings.withheld_share)] if drops_rows else []),
    )


# arguments: options of a declaration, nearly all with a default
def table(
    schema: type[dy.Schema],
    build: Callable[..., pl.DataFrame],
    *,
    group: str,
    resources: Mapping[str, Callable[[Home], Any]] | None = None,
    fingerprint: Callable[[Home], str] | None = None,
    after: Sequence[str] = (),
    optional: Sequence[str] = (),
    code: Sequence[Callable[..., Any]] = (),
    row_checks: Sequence[Callable[..., pl.DataFrame]] = (),
    publish: Callable[[Home, pl.DataFrame], None] | None = None,
    keep: Callable[[Home], None] | None = None,
    prepare: Callable[[Home], None] | None = None,
    show: Show | None = None,
    parts: Parts | None = None,
    divided_table: str = "",
    can_be_divided: Callable[[Home], bool] = lambda home: True,
    isolated: bool = False,
    requires: Sequence[Callable[..., pl.DataFrame]] = (),
) -> dg.AssetsDefinition:
    """Create the asset of a corpus-wide table, and register the table in `PIPELINE`.

    Args:
        schema: Schema of the table.
        build: Builder; parameters named after tables are its upstream, `settings` gets the settings.
        group: Stage of the pipeline, a key of `GROUPS`.
        resources: Functions that open the builder's other parameters, called only if there is something to build.
        fingerprint: Function that returns a digest of what the resources open.
        after: Further upstream tables, which the builder reads through a resource.
        optional: Tables that a resource reads if they exist; nothing waits for them.
        code: Further functions and classes that determine the rows, such as what resources open.
        row_checks: Functions of the table and its inputs that return invalid rows, which are dropped and counted.
        publish: Function that writes further outputs for the finished rows, such as a report.
        keep: Function that caches what later steps would compute again. It does not affect the rows, so changing it
            makes no table stale.
        prepare: Function that fills the home's cache in the background for this step. It does not affect the rows, so
            it starts once the inputs are written, before their gates have passed.
        show: Function that returns additional metadata for the UI.
        parts: How the table is built in parts, so that only parts of changed documents are rebuilt.
        divided_table: Upstream table whose rows may be divided among processes; not with `parts`, `row_checks` or
            `publish`.
        can_be_divided: Function that returns whether the division is worth its memory; otherwise one process builds the
            table.
        isolated: Whether documents on which the builder fails are left out, and flagged in `document_quality`, which
            must be downstream of the table; not with `divided_table`.
        requires: Functions of the table and its inputs that return invalid rows; an isolated table is built without the
            documents of these rows.

    Returns:
        The asset.
    """
    name, openers = snake(schema.__name__), dict(resources or {})
    parameters = list(inspect.signature(build).parameters)
    others = {"settings", *openers, parts.argument if parts else ""}
    read_tables = tuple(parameter for parameter in parameters if parameter not in others)
    upstream = tuple(dict.fromkeys((*read_tables, *after)))
    has_settings = "settings" in parameters
    functions: tuple[Callable[..., Any], ...] = (build, *code, *row_checks, *requires, *([publish] if publish else []))

    read_code = partial(
        _digest_code, schema, functions, has_settings=has_settings, resources=fingerprint, drops_rows=bool(row_checks)
    )
    builder = TableBuilder(build, read_tables, openers, has_settings)
    step = TableStep(
        name,
        schema,
        builder,
        row_checks,
        publish,
        parts,
        read_code,
        divided_table,
        can_be_divided,
        keep,
        prepare,
        isolated,
        requires,
    )
    record = TableRecord(
        name,
        upstream,
        optional=tuple(optional),
        is_training=group in TRAINING_GROUPS,
        fingerprint=partial(_digest_inputs, read_code=read_code, upstream=upstream),
        functions=functions,
        builder=step.builder,
        step=step,
        show=show,
    )
    return _make_asset(record, step, arguments=asset_arguments(schema, build, group=group))


def _digest_inputs(
    home: Home, states: Mapping[str, TableState], *, read_code: Callable[[Home], str], upstream: Sequence[str]
) -> str:
    """Return the digest of all that a table's rows depend on: code, settings, resources and upstream rows."""
    return digest(read_code(home), *(f"{n}={states[n].content}" for n in upstream))


def _make_asset(record: TableRecord, step: TableStep, *, arguments: Mapping[str, Any]) -> dg.AssetsDefinition:
    """Add a table to the pipeline and return its asset.

    Args:
        record: The table's entry of the pipeline.
        step: How the table is made.
        arguments: What the UI shows, from `asset_arguments`.
    """

    PIPELINE.add(record)

    def compute(context: dg.AssetExecutionContext, **inputs: TableState) -> Rows:
        home: Home = context.resources.home
        begin_tables(home, context.instance, current_table=record.name)
        states = {name: inputs[name] for name in record.upstream}
        made_from = _digest_inputs(home, states, read_code=step.read_code, upstream=record.upstream)
        wait_until_prepared(step.name)
        if early := take_table(step.name, made_from=made_from):
            return early
        return _make_stale(home, step, states, made_from=made_from, is_alone=record.is_training)

    asset: dg.AssetsDefinition = dg.asset(
        name=record.name,
        ins={name: dg.AssetIn(name) for name in record.upstream},
        deps=[dg.AssetKey(name) for name in record.optional],
        required_resource_keys={"home"},
        **arguments,
    )(compute)
    return asset


def _make_stale(
    home: Home, step: TableStep, states: Mapping[str, TableState], *, made_from: str, is_alone: bool
) -> Rows:
    """Make a table that is not current, in a process of its own where it reads many rows.

    Args:
        home: Tables, files and settings of the home.
        step: How the table is made.
        states: State of each upstream table.
        made_from: Digest of all that the rows depend on.
        is_alone: Whether it is made in this process in any case, as training is.
    """
    state = home.store.state(step.name)
    if state is not None and state.inputs == made_from:
        return Unchanged()
    if not is_alone and reads_much(home, step.builder.reads):
        make = make_in_shares if step.divided_table and step.can_be_divided(home) else make_in_process
        return make(home, step.name, states, made_from=made_from)
    return step.make(home, states, made_from=made_from)
