"""Context of each table: its document, its headings, the sentences that mention or introduce it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import polars as pl

from taxkg_assets.digests import digest_documents, find_unchanged
from taxkg_assets.records import TableRecord, iter_records
from taxkg_assets.retrieval.index.cell_columns import CellColumns
from taxkg_assets.retrieval.index.precomputed import CATALOGUE
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue, TableContext, TableEntry, build_table_catalogue
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.tables import load_tables

_SENTENCE = re.compile(r"(?<=[.!?:])\s+")
MAX_MENTIONS = 4
"""Sentences about a table that its context keeps."""


def build_catalogue(
    *, tables: pl.DataFrame, documents: pl.DataFrame, headings: Mapping[str, str], sections: pl.DataFrame
) -> TableCatalogue:
    """Parse all tables of a corpus with the text around them, for cell look-ups.

    Args:
        tables: Table `tables`.
        documents: Table `documents`.
        headings: Heading paths by table id.
        sections: Table `sections`, whose sentences may mention a table.

    Returns:
        All tables with their contexts.
    """
    contexts = build_contexts(tables=tables, documents=documents, headings=headings, sections=sections)
    return build_table_catalogue(iter_records(tables, TableRecord), contexts)


def list_catalogue(catalogue: TableCatalogue) -> pl.DataFrame:
    """Convert a catalog to rows for storage.

    Args:
        catalogue: Tables with their contexts and search terms.

    Returns:
        Columns of `CATALOGUE`, one row per table.
    """
    rows = [
        {
            "table_id": entry.row["table_id"],
            **{
                context_field.name: getattr(entry.context, context_field.name) for context_field in fields(TableContext)
            },
            "words": sorted(entry.words),
        }
        for entry in catalogue.entries
    ]
    return pl.DataFrame(rows, schema=CATALOGUE).sort("table_id")


@dataclass(frozen=True, slots=True)
class StoredCatalogue:
    """The rows of a catalog that was built before.

    Attributes:
        digests: Digest of what the rows of each document were built from, by its id.
        rows: Rows of `list_catalogue`.
    """

    digests: Mapping[str, str]
    rows: pl.DataFrame


def digest_sources(
    *, tables: pl.DataFrame, documents: pl.DataFrame, chunks: pl.DataFrame, sections: pl.DataFrame
) -> dict[str, str]:
    """Compute for each document a digest of what the catalog of its tables is built from.

    Args:
        tables: Table `tables`.
        documents: Table `documents`.
        chunks: Table `chunks`.
        sections: Table `sections`.

    Returns:
        Digest by document id.
    """
    return digest_documents(
        tables,
        documents.select("document_id", "form", "title", "revision", "tax_year", "irs_name"),
        chunks.filter(pl.col("level") == "table").select(
            "document_id", "heading_path", pl.col("node_ids").list.first()
        ),
        sections.select("document_id", "paragraph_ix", "table_id", "text"),
    )


def update_catalogue(
    *,
    tables: pl.DataFrame,
    documents: pl.DataFrame,
    chunks: pl.DataFrame,
    sections: pl.DataFrame,
    digests: Mapping[str, str],
    stored: StoredCatalogue | None,
) -> pl.DataFrame:
    """List the catalog of the tables of changed documents, and take over the rows of the other documents.

    Args:
        tables: Table `tables`.
        documents: Table `documents`.
        chunks: Table `chunks`.
        sections: Table `sections`.
        digests: Digests of `digest_sources`.
        stored: Rows of an older index; None to build all rows.

    Returns:
        The rows of `list_catalogue` over all tables.
    """
    kept_documents = [] if stored is None else find_unchanged(digests, stored.digests)
    is_kept = tables["document_id"].is_in(kept_documents)
    headings = list_headings(chunks, documents=documents)
    catalogue = build_catalogue(
        tables=tables.filter(~is_kept), documents=documents, headings=headings, sections=sections
    )
    rows = list_catalogue(catalogue)
    if stored is not None and kept_documents:
        rows = pl.concat([stored.rows.join(tables.filter(is_kept), on="table_id", how="semi"), rows])
    return rows.sort("table_id")


def read_catalogue(rows: pl.DataFrame, *, tables: pl.DataFrame) -> TableCatalogue:
    """Restore a catalog from its rows; a table's cells are parsed when a question first selects the table.

    Args:
        rows: Rows of `list_catalogue`.
        tables: The tables themselves, in any order.

    Returns:
        The same catalog that `list_catalogue` wrote.

    Raises:
        ValueError: The rows are those of other tables.
    """
    sorted_tables = tables.sort("table_id")
    if not sorted_tables["table_id"].equals(rows["table_id"]):
        raise ValueError("the table catalog of the index does not match the tables of the release: run `taxkg build`")
    columns = CellColumns(sorted_tables)
    return TableCatalogue(
        tuple(
            TableEntry(
                TableRow(columns, table_ix),
                TableContext(
                    document=row["document"],
                    headings=row["headings"],
                    mentions=tuple(row["mentions"]),
                    forms=tuple(row["forms"]),
                    is_federal=row["is_federal"],
                    years=tuple(row["years"]),
                ),
                stored_words=frozenset(row["words"]),
            )
            for table_ix, row in enumerate(rows.iter_rows(named=True))
        ),
        word_counts=dict(rows["words"].explode().drop_nulls().value_counts().iter_rows()),
    )


@dataclass(frozen=True, slots=True)
class TableRow(Mapping[str, Any]):
    """One row of a frame; each cell is read when it is first used."""

    columns: CellColumns
    row_ix: int

    def __getitem__(self, name: str) -> Any:
        return self.columns[name][self.row_ix]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns.names)

    def __len__(self) -> int:
        return len(self.columns.names)


def list_headings(chunks: pl.DataFrame, *, documents: pl.DataFrame) -> dict[str, str]:
    """List the heading path of each table.

    Args:
        chunks: Table `chunks`; a table takes the headings of its rows' chunks.
        documents: Table `documents`; the headings of an untitled document begin with its id.

    Returns:
        Heading paths by table id; a table without a chunk has none.
    """
    untitled_names = documents.filter(pl.col("title") == "").select("document_id", name=pl.col("document_id") + " > ")
    rows = chunks.filter(pl.col("level") == "table").join(untitled_names, on="document_id", how="left")
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
        sections: Table `sections`, whose sentences may mention a table.

    Returns:
        Contexts by table id.
    """
    document_by_id = {row["document_id"]: row for row in documents.iter_rows(named=True)}
    paragraphs = sections.select("document_id", "paragraph_ix", "table_id", "text")
    paragraphs = paragraphs.join(tables, on="document_id", how="semi").sort(
        "document_id", "paragraph_ix", maintain_order=True
    )
    paragraphs_by_document = {
        key[0]: frame.rows(named=True) for key, frame in paragraphs.group_by("document_id", maintain_order=True)
    }
    cell_texts = tables.select(
        "table_id", "document_id", "page", text=pl.col("cells").list.eval(pl.element().struct["text"])
    )
    tables_by_page: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in cell_texts.rows(named=True):
        tables_by_page.setdefault((row["document_id"], row["page"]), []).append(row)
    return {
        row["table_id"]: TableContext(
            document=_join_names(document_by_id[row["document_id"]]),
            forms=split_forms(document_by_id[row["document_id"]]["form"]),
            headings=headings.get(row["table_id"], ""),
            is_federal=bool(document_by_id[row["document_id"]]["irs_name"]),
            mentions=tuple(
                _find_mentions(
                    row,
                    paragraphs_by_document.get(row["document_id"], []),
                    nearby_lines=_nearby_lines(row, tables_by_page),
                )
            ),
            years=_find_years(document_by_id[row["document_id"]]),
        )
        for row in tables.select("table_id", "document_id", "title", "page").iter_rows(named=True)
    }


def _join_names(document: dict[str, Any]) -> str:
    """Return the id, the form and the title of a document as one text."""
    return " ".join(str(document[name]) for name in ("document_id", "form", "title"))


def _find_years(document: dict[str, Any]) -> tuple[int, ...]:
    """Return the years that a document covers: its tax year, and those in its title, revision and id."""
    title_and_revision = f"{document['title']} {document['revision']}"
    years = {int(year) for year in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", title_and_revision)}
    id_years = re.findall(r"(?<![a-z\d])[a-z]{2,4}-?(2\d)(?!\d)", document["document_id"].lower())
    years |= {2000 + int(year) for year in id_years}
    return tuple(sorted(years | ({document["tax_year"]} if document["tax_year"] else set())))


def _nearby_lines(table: dict[str, Any], on_page: dict[tuple[str, int], list[dict[str, Any]]]) -> list[str]:
    """Return the cells of other tables on a table's page, as a line of a worksheet may say how to use the table."""
    page_tables = on_page[table["document_id"], table["page"]]
    return [
        text for page_table in page_tables if page_table["table_id"] != table["table_id"] for text in page_table["text"]
    ]


def _find_mentions(table: dict[str, Any], paragraphs: list[dict[str, Any]], *, nearby_lines: list[str]) -> list[str]:
    """Return sentences and worksheet lines with the table's number, and the last sentence before the table."""
    mentions: list[str] = []
    caption = load_tables().captions.numbered_table.pattern.search(table["title"])
    if caption:
        label = " ".join(caption[0].split()[:2]).rstrip(".:—–")
        pattern = re.compile(rf"\b{re.escape(label)}\b(?![-–.]?\w)")
        for row in paragraphs:
            if row["table_id"] is None and label in row["text"] and pattern.search(row["text"]):
                mentions += [
                    sentence
                    for sentence in _SENTENCE.split(row["text"])
                    if pattern.search(sentence) and sentence[-1:] in ".:?!"
                ]
        mentions = [*(text for text in nearby_lines if pattern.search(text)), *mentions]
    table_ix = next((i for i, row in enumerate(paragraphs) if row["table_id"] == table["table_id"]), None)
    paragraph_before = paragraphs[table_ix - 1] if table_ix else None
    if paragraph_before and paragraph_before["table_id"] is None:
        mentions.append(_SENTENCE.split(paragraph_before["text"])[-1])
    return mentions[:MAX_MENTIONS]
