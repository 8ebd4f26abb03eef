"""Laws of the tree: one name per artifact, types that survive the table store, imports that never go upwards."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import dataframely as dy
import polars as pl
import pytest

from taxkg_assets import schemas

ROOT = Path(__file__).resolve().parents[2]
STAGES = ("sources", "extraction", "chunking", "graph", "training", "retrieval", "evaluation", "llm")
SCHEMAS = {
    name: value
    for name, value in vars(schemas).items()
    if isinstance(value, type) and issubclass(value, dy.Schema) and value.__module__.startswith(schemas.__name__)
}


def table_name(schema_name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", schema_name).lower()


@cache
def find_builders() -> list[tuple[str, str, str]]:
    """Stage module, function and returned schema of every public builder that returns a validated table."""
    found = []
    for stage in STAGES:
        for path in sorted((ROOT / "taxkg_assets" / stage).glob("**/*.py")):
            for node in ast.parse(path.read_text(encoding="utf8")).body:
                if not isinstance(node, ast.FunctionDef) or node.returns is None:
                    continue
                returned = re.fullmatch(r"dy\.DataFrame\[(?:schemas\.)?(\w+)\]", ast.unparse(node.returns))
                if returned and node.name.startswith("build_"):
                    found.append((path.stem, node.name, returned.group(1)))
    return found


@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_table_has_one_builder_in_the_module_of_its_name(schema: str) -> None:
    name = table_name(schema)
    assert [row for row in find_builders() if row[2] == schema] == [(name, f"build_{name}", schema)]


def test_every_table_builder_is_named_after_a_schema() -> None:
    assert [row for row in find_builders() if row[2] not in SCHEMAS] == []


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_every_column_has_a_description_and_every_table_a_key(schema: type[dy.Schema]) -> None:
    assert schema.primary_key()
    assert [name for name, column in schema.columns().items() if not column.description] == []
    assert schema.__doc__


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_every_type_survives_a_delta_round_trip(schema: type[dy.Schema], tmp_path: Path) -> None:
    empty = schema.create_empty()
    row = {name: sample_value(dtype) for name, dtype in empty.schema.items()}
    frame = pl.DataFrame([row], schema=empty.schema)
    frame.write_delta(str(tmp_path / "table"))
    again = pl.read_delta(str(tmp_path / "table"))
    assert dict(again.schema) == dict(frame.schema)
    assert again.equals(frame)


def sample_value(dtype: pl.DataType) -> object:
    """A value of any type that a table may have; an unknown type fails, and has to be tried here first."""
    match dtype:
        case pl.Struct():
            return {field.name: sample_value(field.dtype) for field in dtype.fields}  # type: ignore[arg-type]
        case pl.List():
            return [sample_value(dtype.inner), sample_value(dtype.inner)]  # type: ignore[arg-type]
        case pl.Datetime():
            return pl.Series([1_893_456_000_000_000]).cast(dtype).item()
        case pl.String():
            return "§ “a”"
        case pl.Boolean():
            return True
        case pl.Int32() | pl.Int64():
            return 7
        case pl.Float32() | pl.Float64():
            return 0.25
    raise TypeError(f"{dtype} has not been tried against the table store")


def test_imports_keep_their_contracts() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
