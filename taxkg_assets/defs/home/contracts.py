"""The contract of each table: the schema that its rows are checked against before they are committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:  # schemas take a while to load, and a reader of a release's files reads no table
    import dataframely as dy

    Schema = type[dy.Schema]


class ContractError(Exception):
    """Rows that violate their table's schema; nothing was written."""


def schema_of(name: str) -> Schema:
    """Return the schema class of a table name: `schemas.EvalRuns` for `eval_runs`.

    Args:
        name: Table, in snake case.

    Raises:
        AttributeError: There is no such table.
    """
    from taxkg_assets import schemas

    schema: Schema = getattr(schemas, "".join(part.capitalize() for part in name.split("_")))
    return schema


def empty_frame(schema: Schema) -> pl.DataFrame:
    """Return an empty frame with a schema's columns.

    Args:
        schema: Schema class of the table.
    """
    return schema.create_empty()


def enforce_contract(schema: Schema, frame: pl.DataFrame) -> pl.DataFrame:
    """Validate a frame against its table's schema before it is written.

    Args:
        schema: Schema class of the table.
        frame: Rows, columns in any order.

    Returns:
        The rows sorted by primary key, columns in the schema's order.

    Raises:
        ContractError: A column is missing or unknown, or rows break a rule; the message counts them.
    """
    from dataframely.exc import SchemaError, ValidationError

    schema_columns = list(schema.columns())
    if missing_columns := [column for column in schema_columns if column not in frame.columns]:
        raise ContractError(f"The rows for the table {schema.__name__} lack columns: {', '.join(missing_columns)}.")
    if extra_columns := [column for column in frame.columns if column not in schema_columns]:
        raise ContractError(
            f"The rows for the table {schema.__name__} have unknown columns: {', '.join(extra_columns)}."
        )
    try:
        valid_rows = schema.validate(frame.select(schema_columns), cast=False)
    except (ValidationError, SchemaError) as broken:
        raise ContractError(f"The rows for the table {schema.__name__} are invalid: {broken}") from broken
    return valid_rows.sort(schema.primary_key())
