"""Rows of tables as typed dictionaries, for code that reads them one at a time.

A record has the columns and types of its table's schema, which a test compares; `taxkg_assets/schemas` describes the
columns. Code that reads whole columns uses the frame instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Protocol, TypeVar, cast

from taxkg_assets.records.evaluation import EvalQueryRecord, GoldPassageRecord, NearMissRecord, RankedPassageRecord
from taxkg_assets.records.extraction import (
    AnchorRecord,
    DocumentRecord,
    ElementRecord,
    FaceRecord,
    FieldRecord,
    QuarantineRecord,
    ReferenceRecord,
    SectionRecord,
    TableRecord,
)
from taxkg_assets.records.graph import (
    BoxRecord,
    EdgeRecord,
    FlowRecord,
    FormulaRecord,
    LineRecord,
    NodeRecord,
    RevisionRecord,
)
from taxkg_assets.records.service import FeedbackRecord, QueryLogRecord, ReleaseRecord, ReviewRecord
from taxkg_assets.records.structs import (
    CellRecord,
    ChangedWordsRecord,
    CornersRecord,
    HiddenTextRecord,
    PageSourceRecord,
    PieceRecord,
    PlacedBoxRecord,
    copy_place,
)
from taxkg_assets.records.training import HardNegativeRecord, ModelRecord, PairRecord, PromotionRecord, RerankerRecord

__all__ = [
    "AnchorRecord",
    "BoxRecord",
    "CellRecord",
    "ChangedWordsRecord",
    "CornersRecord",
    "DocumentRecord",
    "EdgeRecord",
    "ElementRecord",
    "EvalQueryRecord",
    "FaceRecord",
    "FeedbackRecord",
    "FieldRecord",
    "FlowRecord",
    "FormulaRecord",
    "GoldPassageRecord",
    "HardNegativeRecord",
    "HiddenTextRecord",
    "LineRecord",
    "ModelRecord",
    "NearMissRecord",
    "NodeRecord",
    "PageSourceRecord",
    "PairRecord",
    "PieceRecord",
    "PlacedBoxRecord",
    "PromotionRecord",
    "QuarantineRecord",
    "QueryLogRecord",
    "RankedPassageRecord",
    "ReferenceRecord",
    "ReleaseRecord",
    "RerankerRecord",
    "ReviewRecord",
    "RevisionRecord",
    "SectionRecord",
    "TableRecord",
    "copy_place",
    "iter_records",
]

R = TypeVar("R")


class Frame(Protocol):
    """The part of a polars frame that this package needs, so that it imports no table library."""

    def iter_rows(self, *, named: Literal[True]) -> Iterator[object]:
        """Iterate over the rows by the names of their columns.

        Args:
            named: True, to get mappings instead of tuples.

        Returns:
            Rows as mappings.
        """


def iter_records(frame: Frame, record: type[R]) -> Iterator[R]:
    """Iterate over the rows of a table as records.

    Args:
        frame: Rows of the table.
        record: Type of the record, such as `AnchorRecord`.

    Returns:
        One record per row, in the order of the frame.
    """
    return cast(Iterator[R], frame.iter_rows(named=True))
