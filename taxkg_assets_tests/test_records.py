"""Records have the columns and types of the tables whose rows they are."""

from __future__ import annotations

import types
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import dataframely as dy
import pytest

from taxkg_assets import records, schemas

TABLES: dict[str, type[dy.Schema]] = {
    "AnchorRecord": schemas.Anchors,
    "BoxRecord": schemas.Registry,
    "DocumentRecord": schemas.Documents,
    "EdgeRecord": schemas.Edges,
    "ElementRecord": schemas.Elements,
    "EvalQueryRecord": schemas.EvalQueries,
    "FaceRecord": schemas.Faces,
    "FeedbackRecord": schemas.Feedback,
    "FieldRecord": schemas.Fields,
    "FormulaRecord": schemas.Formulas,
    "HardNegativeRecord": schemas.HardNegatives,
    "FlowRecord": schemas.Flows,
    "LineRecord": schemas.Lines,
    "ModelRecord": schemas.Model,
    "NodeRecord": schemas.Nodes,
    "PairRecord": schemas.Pairs,
    "QuarantineRecord": schemas.Quarantine,
    "QueryLogRecord": schemas.QueryLog,
    "ReferenceRecord": schemas.References,
    "ReleaseRecord": schemas.Release,
    "RerankerRecord": schemas.Reranker,
    "ReviewRecord": schemas.Reviews,
    "RevisionRecord": schemas.Revisions,
    "SectionRecord": schemas.Sections,
    "TableRecord": schemas.Tables,
}
PLAIN = {"String": "str", "Int32": "int", "Bool": "bool", "Float64": "float", "Datetime": "datetime"}
PARTS = {
    "CellRecord",
    "ChangedWordsRecord",
    "CornersRecord",
    "GoldPassageRecord",
    "HiddenTextRecord",
    "NearMissRecord",
    "PageSourceRecord",
    "PieceRecord",
    "PlacedBoxRecord",
    "PromotionRecord",
    "RankedPassageRecord",
}
"""Records inside of records or of two tables, and a passage as a system returns it."""


def describe_column(column: dy.Column) -> Any:
    """Return the type of a column by name, and whether it may be null; of a list or a struct those of its content."""
    if isinstance(column, dy.List):
        return [describe_column(column.inner)]
    if isinstance(column, dy.Struct):
        return {name: describe_column(own) for name, own in column.inner.items()}
    return PLAIN[type(column).__name__], column.nullable


def describe_type(hint: Any) -> Any:
    """Return the same of a type of a record."""
    if is_typeddict(hint):
        return {name: describe_type(own) for name, own in get_type_hints(hint).items()}
    if get_origin(hint) is list:
        return [describe_type(get_args(hint)[0])]
    if get_origin(hint) is types.UnionType:
        (own,) = (part for part in get_args(hint) if part is not type(None))
        return own.__name__, True
    return hint.__name__, False


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_record_has_the_columns_and_types_of_its_table(name: str) -> None:
    columns = {column: describe_column(own) for column, own in TABLES[name].columns().items()}
    assert describe_type(getattr(records, name)) == columns


def test_every_record_is_compared_with_its_table() -> None:
    assert {name for name in records.__all__ if name.endswith("Record")} == TABLES.keys() | PARTS
