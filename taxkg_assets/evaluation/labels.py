"""Labels by persons as typed rows, merged from several folders; they only measure.

The caller reads the files. A folder has the files `anchors`, `ownership`, `references`, `references_scope`, `roles` and
`tables`, with one JSON object per line, and `boxes`, with one object that has the boxes of each form.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

Row = Mapping[str, Any]
LABEL_FILES = ("anchors", "boxes", "ownership", "references", "references_scope", "roles", "tables")


class LabelError(ValueError):
    """A file of labels or labeled questions has a wrong format; the message names file and row."""


@dataclass(frozen=True, slots=True)
class AnchorLabel:
    """One heading as printed; `is_parent_open` if a careful reader could choose another parent heading."""

    document_id: str
    page: int
    kind: str
    heading: str
    key: str | None
    parent: str | None
    is_optional: bool
    is_parent_open: bool


@dataclass(frozen=True, slots=True)
class BoxLabel:
    """One box of a form's face with its printed label and the label's parts."""

    document_id: str
    key: str
    label: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnershipLabel:
    """The beginning of a paragraph and the heading that owns it."""

    document_id: str
    page: int
    quote: str
    owner: str


@dataclass(frozen=True, slots=True)
class ReferenceLabel:
    """One sentence and one target that it refers to; `is_hard` if careful readers could disagree on the relation."""

    document_id: str
    page: int
    evidence: str
    kind: str
    targets: tuple[str, ...]
    relations: tuple[str, ...]
    polarity: str | None
    is_self: bool
    is_optional: bool
    is_hard: bool


@dataclass(frozen=True, slots=True)
class ScopeLabel:
    """The range of a document in which all references are labeled."""

    document_id: str
    first_heading: str
    last_heading: str
    pages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RoleLabel:
    """The text of one line or element, and its role."""

    document_id: str
    page: int
    text: str
    role: str


@dataclass(frozen=True, slots=True)
class CellLabel:
    """The value of a table cell, with its row and column header paths."""

    document_id: str
    page: int
    row: str
    column: str
    value: str


@dataclass(frozen=True, slots=True)
class Labels:
    """All labels of all folders, one field per label file."""

    anchors: tuple[AnchorLabel, ...] = ()
    boxes: tuple[BoxLabel, ...] = ()
    ownership: tuple[OwnershipLabel, ...] = ()
    references: tuple[ReferenceLabel, ...] = ()
    references_scope: tuple[ScopeLabel, ...] = ()
    roles: tuple[RoleLabel, ...] = ()
    tables: tuple[CellLabel, ...] = ()

    def within(self, document_ids: Collection[str]) -> Labels:
        """Return the labels of some documents only.

        Args:
            document_ids: Documents whose labels stay.
        """
        return Labels(
            **{
                field.name: tuple(row for row in getattr(self, field.name) if row.document_id in document_ids)
                for field in fields(self)
            }
        )


def read_label_file(name: str, text: str) -> list[dict[str, Any]]:
    """Parse one label file; `boxes` is flattened to one row per box.

    Args:
        name: Name of the file without extension.
        text: Content of the file.

    Returns:
        Rows of the file.

    Raises:
        LabelError: A line is not JSON; the message names file and line.
    """
    if name == "boxes":
        return [{"document": document, **box} for document, boxes in json.loads(text).items() for box in boxes]
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise LabelError(
                f"label file {name}, line {number} is not valid JSON: {error.msg}. Correct the file."
            ) from error
    return rows


def read_labels(folders: Mapping[str, Mapping[str, Sequence[Row]]]) -> Labels:
    """Merge the labels of several folders, dropping rows that an earlier folder has.

    Args:
        folders: By folder name and file name the rows of each label file, from `read_label_file`.

    Returns:
        Typed labels.

    Raises:
        LabelError: A row lacks a field; the message names folder, file, row and field.
    """
    return Labels(
        anchors=_merge(folders, "anchors", _read_anchor),
        boxes=_merge(folders, "boxes", _read_box),
        ownership=_merge(folders, "ownership", _read_ownership),
        references=_merge(folders, "references", _read_reference),
        references_scope=_merge(folders, "references_scope", _read_scope),
        roles=_merge(folders, "roles", _read_role),
        tables=_merge(folders, "tables", _read_cell),
    )


T = TypeVar("T")


def _merge(folders: Mapping[str, Mapping[str, Sequence[Row]]], name: str, read: Callable[[Row], T]) -> tuple[T, ...]:
    """Merge the rows of one label file over all folders.

    A file may repeat a row, as a page may have equal headings; a row of an earlier folder is dropped.
    """
    merged: list[T] = []
    for folder, files in sorted(folders.items()):
        rows = list(_read_rows(files.get(name, ()), read, place=f"{folder}/{name}"))
        earlier_rows = set(merged)
        merged += [row for row in rows if row not in earlier_rows]
    return tuple(merged)


def _read_rows(rows: Sequence[Row], read: Callable[[Row], T], *, place: str) -> Iterable[T]:
    for number, row in enumerate(rows, start=1):
        try:
            yield read(row)
        except KeyError as error:
            raise LabelError(f"{place}: row {number} lacks the field {error.args[0]}. Correct the file.") from error


def _read_anchor(row: Row) -> AnchorLabel:
    return AnchorLabel(
        document_id=row["document"],
        page=row["page"],
        kind=row["kind"],
        heading=row["heading"],
        key=row.get("key") or None,
        parent=row.get("parent") or None,
        is_optional=bool(row.get("optional")),
        is_parent_open=bool(row.get("parent_note")),
    )


def _read_box(row: Row) -> BoxLabel:
    return BoxLabel(
        document_id=row["document"], key=row["key"], label=row["label"], parts=tuple(row.get("parts") or ())
    )


def _read_ownership(row: Row) -> OwnershipLabel:
    return OwnershipLabel(document_id=row["document"], page=row["page"], quote=row["quote"], owner=row["owner"])


def _read_reference(row: Row) -> ReferenceLabel:
    return ReferenceLabel(
        document_id=row["document"],
        page=row["page"],
        evidence=row["evidence"],
        kind=row["kind"],
        targets=(row["target"], *(row.get("alt_targets") or ())),
        relations=(row["relation"], *(row.get("alt_relations") or ())),
        polarity=row.get("polarity"),
        is_self=bool(row.get("self")),
        is_optional=bool(row.get("optional")),
        is_hard=bool(row.get("hard")),
    )


def _read_scope(row: Row) -> ScopeLabel:
    return ScopeLabel(
        document_id=row["document"],
        first_heading=row["covered_from_heading"],
        last_heading=row["covered_to_heading"],
        pages=tuple(row.get("pages") or ()),
    )


def _read_role(row: Row) -> RoleLabel:
    return RoleLabel(document_id=row["document"], page=row["page"], text=row["text"], role=row["role"])


def _read_cell(row: Row) -> CellLabel:
    return CellLabel(
        document_id=row["document"], page=row["page"], row=row["row"], column=row["column"], value=row["value"]
    )
