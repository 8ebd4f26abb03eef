"""The table `flows`: where amounts go, as labels, instructions and explanations of boxes state it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.digests import digest, frame_digest
from taxkg_assets.graph.flow_ends import NO_LABEL, About, End, Lines, year_of
from taxkg_assets.graph.flow_labels import read_label_statements
from taxkg_assets.graph.flow_passages import read_headings, read_passages, select_passages
from taxkg_assets.graph.flow_rows import list_rows, make_row
from taxkg_assets.graph.flow_tables import read_tables, select_tables
from taxkg_assets.graph.memory import Memory, NoMemory, split_by_document
from taxkg_assets.graph.places import Place
from taxkg_assets.graph.schedule_scopes import read_owners

Row = Mapping[str, Any]
_ANSWERS = {"flows_to": "from_form", "from_form": "flows_to"}
"""By relation of a statement that one end makes: the relation by which the other end confirms it."""
_IDENTITY = ("document_id", "form", "part", "key", "column")
"""What two ends of a flow must share to be the same line."""


def build_flows(
    lines: dy.DataFrame[schemas.Lines],
    formulas: dy.DataFrame[schemas.Formulas],
    *,
    sections: dy.DataFrame[schemas.Sections],
    anchors: dy.DataFrame[schemas.Anchors],
    documents: dy.DataFrame[schemas.Documents],
    tables: dy.DataFrame[schemas.Tables],
    memory: Memory | None = None,
) -> dy.DataFrame[schemas.Flows]:
    """Extract every statement that an amount goes from one line to another, and resolve both lines.

    Args:
        lines: Numbered fields with their labels.
        formulas: How lines are computed.
        sections: Passages of instructions, publications and forms.
        anchors: Headings that own them.
        documents: Forms and revisions.
        tables: Tables with their cells.
        memory: Statements of documents from earlier runs; without it all are read.

    Returns:
        One row per statement and pair of ends; an end that is not exactly one line has the reason in `problem`.
    """
    known_lines = Lines(lines.to_dicts(), documents.to_dicts())
    stating = (select_passages(sections), select_tables(tables, sections))
    sources = _Sources(lines, formulas, *stating, anchors=anchors, documents=documents)
    memory = memory or NoMemory()
    rows = [
        row for document_id in documents["document_id"] for row in _recall(document_id, sources, known_lines, memory)
    ]
    memory.keep()
    unique: dict[str, dict[str, Any]] = {}
    for row in rows:
        if not _is_self(row):
            unique.setdefault(row["flow_id"], row)
    kept = list(unique.values())
    _find_named_lines(kept, known_lines)
    _compare(kept)
    frame = pl.DataFrame(kept, schema=schemas.dtypes(schemas.Flows)).sort("flow_id")
    return schemas.validated(frame, schemas.Flows)


class _Sources:
    """What the flows of each document are read from."""

    def __init__(
        self,
        lines: pl.DataFrame,
        formulas: pl.DataFrame,
        passages: pl.DataFrame,
        tables: pl.DataFrame,
        *,
        anchors: pl.DataFrame,
        documents: pl.DataFrame,
    ) -> None:
        read_tables = (lines, formulas, passages, tables, anchors, documents)
        self._tables = [(split_by_document(table), table.clear()) for table in read_tables]
        self.contents = {name: frame_digest(own) for name, own in self._tables[0][0].items()}
        """Digest of the lines of each document."""

    def of(self, document_id: str) -> list[pl.DataFrame]:
        """Return the inputs of a document: lines, formulas, passages, tables, anchors, and its row of `documents`."""
        return [rows.get(document_id, nothing) for rows, nothing in self._tables]


def _recall(document_id: str, sources: _Sources, known_lines: Lines, memory: Memory) -> Iterator[dict[str, Any]]:
    """Read what a document states, unless it was read before and all forms that it looked up are the same."""
    sources_of_document = sources.of(document_id)
    key = digest(*map(frame_digest, sources_of_document))
    cached = memory.recall(key)
    if cached is None or any(
        known_lines.describe(form, sources.contents) != said for form, said in cached["forms"].items()
    ):
        looked_up = known_lines.watch()
        rows = list(_read_document(*sources_of_document, known_lines=known_lines))
        cached = {
            "forms": {form: known_lines.describe(form, sources.contents) for form in sorted(looked_up)},
            "rows": rows,
        }
        memory.remember(key, cached)
    yield from map(dict, cached["rows"])


def _read_document(
    lines: pl.DataFrame,
    formulas: pl.DataFrame,
    passages: pl.DataFrame,
    tables: pl.DataFrame,
    anchors: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    known_lines: Lines,
) -> Iterator[dict[str, Any]]:
    """Read the statements of one document."""
    documents_by_id = {row["document_id"]: row for row in documents.iter_rows(named=True)}
    yield from _read_labels(lines, documents_by_id, known_lines)
    owners = read_owners(anchors)
    yield from read_headings(anchors, documents_by_id, known_lines, owners=owners)
    yield from read_passages(passages, anchors, documents_by_id, known_lines, owners=owners)
    yield from read_tables(tables, anchors, documents_by_id, known_lines, owners=owners)
    yield from _read_formulas(formulas, lines, documents_by_id, known_lines)


def find_flow_faults(flows: dy.DataFrame[schemas.Flows], lines: dy.DataFrame[schemas.Lines]) -> pl.DataFrame:
    """Return the flows whose end is not a line, flows of a line to itself, and unresolved ones without a reason.

    Args:
        flows: Statements with their ends.
        lines: Numbered fields.
    """
    known_lines = lines.select("document_id", "part", "key").unique()
    columns = ["flow_id", "source_key", "target_key"]
    faults = []
    for end in ("source", "target"):
        resolved = flows.filter(pl.col(f"{end}_line").is_not_null())
        end_columns = [f"{end}_document_id", f"{end}_part", f"{end}_key"]
        unmatched = resolved.join(known_lines, left_on=end_columns, right_on=["document_id", "part", "key"], how="anti")
        faults.append(unmatched.select(columns).with_columns(fault=pl.lit(f"{end} is no line")))
    is_same = pl.all_horizontal(pl.col(f"source_{name}") == pl.col(f"target_{name}") for name in _IDENTITY)
    to_itself = flows.filter(is_same & (pl.col("source_key") != ""))
    faults.append(to_itself.select(columns).with_columns(fault=pl.lit("flow to itself")))
    is_open = pl.col("source_line").is_null() | pl.col("target_line").is_null()
    silent = flows.filter(is_open != (pl.col("problem") != ""))
    faults.append(silent.select(columns).with_columns(fault=pl.lit("problem and ends differ")))
    return pl.concat(faults).sort("flow_id", "fault")


def _read_labels(
    lines: pl.DataFrame, documents_by_id: Mapping[str, Row], known_lines: Lines
) -> Iterator[dict[str, Any]]:
    for line in lines.iter_rows(named=True):
        about = About(line["form"], year_of(documents_by_id[line["document_id"]]), line["document_id"], line["part"])
        own_end = End(line["form"], line["key"], line["part"], "", line)
        stated = {**{name: line[name] for name in ("document_id", "page", "bbox")}, "element_id": None}
        for statement in read_label_statements(line["label"]):
            yield from list_rows(
                statement, own_end, about, known_lines=known_lines, printed_at=stated, text=line["label"]
            )


def _read_formulas(
    formulas: pl.DataFrame, lines: pl.DataFrame, documents_by_id: Mapping[str, Row], known_lines: Lines
) -> Iterator[dict[str, Any]]:
    line_by_key = {(row["document_id"], row["part"], row["key"]): row for row in lines.iter_rows(named=True)}
    for row in formulas.filter(pl.col("operation") != "unparsed").iter_rows(named=True):
        line = line_by_key[row["document_id"], row["part"], row["key"]]
        about = About(line["form"], year_of(documents_by_id[row["document_id"]]), row["document_id"], row["part"])
        target = End(line["form"], line["key"], line["part"], row["column"], line)
        for operand, part in zip(row["operands"], row["operand_parts"], strict=True):
            key, _, form = operand.partition(" (")
            number = key.partition("_")[2]
            place = Place((form.removesuffix(")"),) if form else (), (number,), "line", part, row["column"], "", 0, 1)
            source = known_lines.find(place, about, key=number, form=place.forms[0] if place.forms else "")
            stated = {name: row[name] for name in ("document_id", "page", "bbox", "start", "end", "evidence")}
            stated |= {"element_id": None, "rule_id": row["operation"]}
            yield make_row("computed_from", source, target, stated)


def _find_named_lines(rows: Sequence[dict[str, Any]], known_lines: Lines) -> None:
    """Find a line that a statement names by words that no label has: the line that says its amount is from there.

    `Enter line 9 on the “Other dues” line of Form 2889` finds line 30 of Form 2889, if that says `from Schedule 1, line
    9` and no other line does.

    Args:
        rows: Rows of `flows`; those with a found line are changed.
        known_lines: Lines of all documents.
    """
    # Lines (document, part, key) that take an amount from a source, by source and document of the target.
    takers: dict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
    for row in rows:
        if row["relation"] == "from_form" and not row["problem"] and row["document_id"] == row["target_document_id"]:
            source, target = _ends_of(row)
            takers[(*source[:3], target[0])].add(target[:3])
    for row in rows:
        if row["problem"] != f"target: {NO_LABEL}":
            continue
        revision = known_lines.find_revision(row["target_form"], known_lines.year_of(row["source_document_id"]))
        if revision is None:
            continue
        target_document_id, is_same_year = revision
        source, _ = _ends_of(row)
        lines = takers.get((*source[:3], target_document_id), set())
        if len(lines) != 1:
            continue
        document_id, part, key = next(iter(lines))
        line = known_lines.line_at(document_id, part, key)
        row |= {"target_document_id": document_id, "target_part": part, "target_key": key, "problem": ""}
        row |= {"target_line": line["canonical_id"], "agreement": "one_side"}
        row["is_same_year"] = row["is_same_year"] and is_same_year


def _is_self(row: Row) -> bool:
    """Decide whether a statement names its own line: a step of a worksheet says where to write its result."""
    return all(row[f"source_{name}"] == row[f"target_{name}"] for name in _IDENTITY) and bool(row["source_key"])


def _ends_of(row: Row) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return source and target of a flow, each as document, part, key and column."""
    source, target = (
        tuple(row[f"{end}_{name}"] for name in ("document_id", "part", "key", "column")) for end in ("source", "target")
    )
    return source, target


def _compare(rows: Sequence[dict[str, Any]]) -> None:
    """Mark what both ends state, and where the other end names another line of the same document.

    Line 9 says `to line 4 of Form 2889`: if that line says `from line 9`, both rows are `agreed`; if line 9 is instead
    the source of line 5 of Form 2889, they are `contradicted`.

    Args:
        rows: Rows of `flows`; `agreement` is changed.
    """
    resolved = [row for row in rows if not row["problem"] and row["relation"] in _ANSWERS]
    # By relation: what the rows state about each line (document, part, key) that makes the statement.
    stated: dict[str, dict[Any, set[Any]]] = {relation: defaultdict(set) for relation in _ANSWERS}
    for row in resolved:
        own_end, other_end = _own_end_first(row)
        stated[row["relation"]][own_end].add(other_end)
    for row in resolved:
        own_end, other_end = _own_end_first(row)
        stated_by_other = stated[_ANSWERS[row["relation"]]]
        # The line that the other relation starts from is the other end of this row.
        answers = stated_by_other[other_end]
        if own_end in answers:
            row["agreement"] = "agreed"
            continue
        own_document, _, own_key = own_end
        other_document, _, other_key = other_end
        keys = [key for document, _, key in answers if document == own_document != other_document]
        names_lines_only = all(key.startswith("line") for key in (*keys, own_key, other_key))
        if row["is_same_year"] and keys and names_lines_only:
            row["agreement"] = "contradicted"


def _own_end_first(row: Row) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the end that states a flow, then the other one: a source says `to`, a target says `from`."""
    source, target = (end[:3] for end in _ends_of(row))
    return (source, target) if row["relation"] == "flows_to" else (target, source)
