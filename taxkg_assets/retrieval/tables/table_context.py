"""Context of each table: its document, its headings, the sentences that mention it or lead to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from taxkg_assets.records import TableRecord, iter_records
from taxkg_assets.retrieval.index.cell_columns import CellColumns
from taxkg_assets.retrieval.index.precomputed import CATALOGUE
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue, TableContext, TableEntry, build_table_catalogue
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.tables import load_tables

_SENTENCE = re.compile(r"(?<=[.!?:])\s+")
MENTIONS = 4


def build_catalogue(
    *, tables: pl.DataFrame, documents: pl.DataFrame, headings: Mapping[str, str], sections: pl.DataFrame
) -> TableCatalogue:
    """Parse all tables of a corpus with the text around them, for cell look-ups.

    Args:
        tables: Table `tables`.
        documents: Table `documents`.
        headings: Heading paths by table id.
        sections: Table `sections`, for mentions.

    Returns:
        The catalogue.
    """
    contexts = build_contexts(tables=tables, documents=documents, headings=headings, sections=sections)
    return build_table_catalogue(iter_records(tables, TableRecord), contexts)


def list_catalogue(catalogue: TableCatalogue) -> pl.DataFrame:
    """Convert a catalog to rows for storage.

    Args:
        catalogue: Surroundings and search terms of each table.

    Returns:
        Columns of `CATALOGUE`: the surroundings and the search terms of each table.
    """
    rows = [
        {"table_id": entry.row["table_id"], **asdict(entry.context), "words": sorted(entry.words)}
        for entry in catalogue.entries
    ]
    return pl.DataFrame(rows, schema=CATALOGUE).sort("table_id")


def read_catalogue(listed: pl.DataFrame, *, tables: pl.DataFrame) -> TableCatalogue:
    """Restore a catalog from its rows; the cells of a table are parsed when a question first selects it.

    Args:
        listed: Rows of `list_catalogue`.
        tables: The tables themselves, in any order.

    Returns:
        The same catalog that `list_catalogue` wrote.

    Raises:
        ValueError: The rows are of other tables.
    """
    sorted_tables = tables.sort("table_id")
    if not sorted_tables["table_id"].equals(listed["table_id"]):
        raise ValueError("the table catalog of the index does not match the tables of the release: run `taxkg build`")
    columns = CellColumns(sorted_tables)
    return TableCatalogue(
        tuple(
            TableEntry(
                TableRow(columns, number),
                TableContext(
                    document=row["document"],
                    headings=row["headings"],
                    mentions=tuple(row["mentions"]),
                    forms=tuple(row["forms"]),
                    is_federal=row["is_federal"],
                    years=tuple(row["years"]),
                ),
                known_words=frozenset(row["words"]),
            )
            for number, row in enumerate(listed.iter_rows(named=True))
        ),
        word_counts=dict(listed["words"].explode().drop_nulls().value_counts().iter_rows()),
    )


@dataclass(frozen=True, slots=True)
class TableRow(Mapping[str, Any]):
    """One row of a frame whose cells are read on first access."""

    columns: CellColumns
    number: int

    def __getitem__(self, name: str) -> Any:
        return self.columns[name][self.number]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns.names)

    def __len__(self) -> int:
        return len(self.columns.names)


def list_headings(chunks: pl.DataFrame, *, documents: pl.DataFrame) -> dict[str, str]:
    """List the heading path of each table.

    Args:
        chunks: Table `chunks`; a table takes the headings of its rows' chunks.
        documents: Table `documents`: an untitled one is named by its id.

    Returns:
        Heading paths by table id; a table without a chunk has none.
    """
    untitled = documents.filter(pl.col("title") == "").select("document_id", name=pl.col("document_id") + " > ")
    rows = chunks.filter(pl.col("level") == "table").join(untitled, on="document_id", how="left")
    paths = pl.col("name").fill_null("") + pl.col("heading_path")
    return dict(rows.select(pl.col("node_ids").list.first(), paths.str.strip_suffix(" > ")).iter_rows())


def build_contexts(
    *, tables: pl.DataFrame, documents: pl.DataFrame, headings: Mapping[str, str], sections: pl.DataFrame
) -> dict[str, TableContext]:
    """Collect the surrounding text of every table by table id.

    Args:
        tables: Table `tables`.
        documents: Table `documents`.
        headings: Heading paths by table id.
        sections: Table `sections`, for mentions.

    Returns:
        Contexts by table id.
    """
    document_of = {row["document_id"]: row for row in documents.iter_rows(named=True)}
    prose = sections.select("document_id", "paragraph_ix", "table_id", "text")
    prose = prose.join(tables, on="document_id", how="semi").sort("document_id", "paragraph_ix")
    by_document = {key[0]: frame.rows(named=True) for key, frame in prose.group_by("document_id", maintain_order=True)}
    cells = tables.select(
        "table_id", "document_id", "page", text=pl.col("cells").list.eval(pl.element().struct["text"])
    )
    on_page: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in cells.rows(named=True):
        on_page.setdefault((row["document_id"], row["page"]), []).append(row)
    return {
        row["table_id"]: TableContext(
            document=_about(document_of[row["document_id"]]),
            forms=split_forms(document_of[row["document_id"]]["form"]),
            headings=headings.get(row["table_id"], ""),
            is_federal=bool(document_of[row["document_id"]]["irs_name"]),
            mentions=tuple(_mentions(row, by_document.get(row["document_id"], []), nearby=_nearby_lines(row, on_page))),
            years=_years(document_of[row["document_id"]]),
        )
        for row in tables.select("table_id", "document_id", "title", "page").iter_rows(named=True)
    }


def _about(document: dict[str, Any]) -> str:
    return " ".join(str(document[name]) for name in ("document_id", "form", "title"))


def _years(document: dict[str, Any]) -> tuple[int, ...]:
    """Return the years that a document covers: its tax year, its revision, and those in its title."""
    printed = f"{document['title']} {document['revision']}"
    found = {int(year) for year in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", printed)}
    named = re.findall(r"(?<![a-z\d])[a-z]{2,4}-?(2\d)(?!\d)", document["document_id"].lower())
    found |= {2000 + int(year) for year in named}
    return tuple(sorted(found | ({document["tax_year"]} if document["tax_year"] else set())))


def _nearby_lines(table: dict[str, Any], on_page: dict[tuple[str, int], list[dict[str, Any]]]) -> list[str]:
    """Return the cells of the other tables on a table's page: a worksheet line states the use of a nearby table."""
    others = on_page[table["document_id"], table["page"]]
    return [text for other in others if other["table_id"] != table["table_id"] for text in other["text"]]


def _mentions(table: dict[str, Any], prose: list[dict[str, Any]], *, nearby: list[str]) -> list[str]:
    """Return sentences and worksheet lines with the table's number, and the last sentence before the table."""
    found: list[str] = []
    caption = load_tables().captions.numbered_table.pattern.search(table["title"])
    if caption:
        label = " ".join(caption[0].split()[:2]).rstrip(".:—–")
        pattern = re.compile(rf"\b{re.escape(label)}\b(?![-–.]?\w)")
        for row in prose:
            if row["table_id"] is None and label in row["text"] and pattern.search(row["text"]):
                found += [part for part in _SENTENCE.split(row["text"]) if pattern.search(part) and part[-1:] in ".:?!"]
        found = [*(text for text in nearby if pattern.search(text)), *found]
    at = next((i for i, row in enumerate(prose) if row["table_id"] == table["table_id"]), None)
    before = prose[at - 1] if at else None
    if before and before["table_id"] is None:
        found.append(_SENTENCE.split(before["text"])[-1])
    return found[:MENTIONS]
