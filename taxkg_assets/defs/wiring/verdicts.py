"""Verdicts of gates, and how the UI and the command line show them and the rows of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg
import polars as pl
import polars.selectors as cs

from taxkg_assets.rules.floors import Floor

CELL_CHARACTERS = 80
ID_CHARACTERS = 26
OFFENDING_ROWS = 20
FIGURE_DIGITS = 4
FLOORS = "floors"
"""Metadata of a gate's result: the bounds of its figures, and the figures that they were set from."""
MEASURED = "measured"
"""Metadata of a gate's result: false where the gate had nothing to measure."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a gate.

    Attributes:
        offending: Rows that break the condition.
        checked: Number of rows that were checked.
        note: Remark for the UI.
        figures: Measured figures by name.
        is_passed: Whether the gate passed; None if that depends on whether there are offending rows.
        is_measured: False if the gate needs labels or questions and found none.
        tables: Further rows for the UI, by title.
        floors: Bounds of the figures, shown next to them.
    """

    offending: pl.DataFrame
    checked: int
    note: str = ""
    figures: Mapping[str, float | int | str] = field(default_factory=dict)
    is_passed: bool | None = None
    is_measured: bool = True
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    floors: Sequence[Floor] = ()
    """Bounds of the figures, shown next to them."""

    @property
    def passed(self) -> bool:
        """Return whether the gate passed: as `is_passed` says, else if there are no offending rows."""
        return self.offending.is_empty() if self.is_passed is None else self.is_passed


def table_metadata(frame: pl.DataFrame) -> dg.TableMetadataValue:
    """Render a frame as metadata for the UI, with long texts truncated.

    Args:
        frame: Rows to show.

    Returns:
        Metadata value of Dagster.
    """
    columns = [dg.TableColumn(name, str(data_type.base_type())) for name, data_type in frame.schema.items()]
    records = [
        dg.TableRecord({column: _cell(value) for column, value in row.items()}) for row in frame.iter_rows(named=True)
    ]
    return dg.MetadataValue.table(records, schema=dg.TableSchema(columns))


def shortened(frame: pl.DataFrame) -> pl.DataFrame:
    """Prepare a frame for display: drop nested columns, and show only the end of long ids.

    Args:
        frame: Rows.

    Returns:
        The same rows with fewer columns and shorter ids.
    """
    tail = pl.format("…{}", pl.col(pl.String).str.tail(ID_CHARACTERS - 1)).name.keep()
    is_long_id = ~pl.col(pl.String).str.contains(" ") & (pl.col(pl.String).str.len_chars() > ID_CHARACTERS)
    return frame.select(~cs.nested()).with_columns(pl.when(is_long_id).then(tail).otherwise(pl.col(pl.String)))


def _cell(value: Any) -> str | int | float | bool | None:
    if isinstance(value, float):
        return round(value, 3)
    if value is None or isinstance(value, int):
        return value
    text = " ".join(_flatten(value).split())
    return text if len(text) <= CELL_CHARACTERS else text[: CELL_CHARACTERS - 1] + "…"


def _flatten(value: Any) -> str:
    """Return a nested value without its field names: a rectangle is `50.4 108.2 78.9 119.5`."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return " ".join(_flatten(v) for v in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _round_figure(figure: float | int | str) -> float | int | str:
    return round(figure, FIGURE_DIGITS) if isinstance(figure, float) else figure


def render_floors(floors: Sequence[Floor]) -> str:
    """Render the floors of a gate as a Markdown table, with the figures they were set from.

    Args:
        floors: Bounds of one gate.
    """
    lines = ["| figure | bound | when it was set | rows behind it | questions |", "|---|---|---|---|---|"]
    for floor in floors:
        measured = "not measured" if floor.measured is None else f"{floor.measured:g}"
        bound = f"{'≥' if floor.bound == 'min' else '≤'} {floor.floor:g}"
        lines.append(
            f"| {floor.metric} | {bound} | {measured} ({floor.date}) | {floor.n or ''} | {floor.query_set or ''} |"
        )
    return "\n".join(lines)


def verdict_metadata(verdict: Verdict) -> dict[str, Any]:
    """Return the metadata of a gate for the UI and the command line.

    Args:
        verdict: Verdict of the gate.

    Returns:
        Metadata by name: counts, first offending rows, figures, floors and note.
    """
    metadata: dict[str, Any] = {"rows checked": verdict.checked, "offending rows": verdict.offending.height}
    metadata |= {name: _round_figure(figure) for name, figure in verdict.figures.items()}
    if not verdict.is_measured:
        metadata[MEASURED] = False
    if verdict.note:
        metadata["note"] = verdict.note
    if verdict.floors:
        metadata[FLOORS] = dg.MetadataValue.md(render_floors(verdict.floors))
    if not verdict.offending.is_empty():
        metadata["first offending rows"] = table_metadata(verdict.offending.head(OFFENDING_ROWS))
    for name, rows in verdict.tables.items():
        if not rows.is_empty():
            metadata[name] = table_metadata(rows.head(OFFENDING_ROWS))
    return metadata
