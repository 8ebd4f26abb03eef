"""What changed between two documents of a home: which two are meant, and the report in the terminal."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Protocol

import polars as pl
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from taxkg_assets.graph.change_report import (
    ADDED,
    GROUPS,
    REMOVED,
    ChangeReport,
    Item,
    build_change_report,
)
from taxkg_assets.graph.revisions import find_consecutive, find_revision_changes
from taxkg_assets.records import DocumentRecord, RevisionRecord, iter_records
from taxkg_assets.serving.known_names import list_names

COMPARED = ("sections", "anchors", "tables", "faces", "elements")
_STYLES = {REMOVED: "red strike", ADDED: "green"}
_MARKS = {REMOVED: "[-{}-]", ADDED: "{{+{}+}}"}
"""Marks of changed words without color, as in git."""


class RevisionNotFoundError(Exception):
    """No such form, or no such revision of it; the message lists the existing ones."""


class Readable(Protocol):
    """A source of tables: the current home, or a release of it."""

    def read(self, name: str) -> pl.DataFrame:
        """Return a whole table.

        Args:
            name: Name of the table, e.g. `sections`.
        """

    def read_documents(self, name: str, document_ids: Collection[str]) -> pl.DataFrame:
        """Return the rows of some documents.

        Args:
            name: Name of the table, e.g. `sections`.
            document_ids: Documents whose rows are read.
        """


def compare(tables: Readable, name: str, older: str = "", newer: str = "") -> tuple[list[RevisionRecord], ChangeReport]:
    """Compare two revisions of a form or publication.

    Args:
        tables: Tables of the home.
        name: IRS file stem such as f1099nec, or a form such as 1099-NEC if only one product matches.
        older: Revision such as 2024-01 or 2021-draft, or a document id; empty for the newest final pair.
        newer: Newer revision or document id; empty if `older` is.

    Returns:
        Changes as rows of `revisions`, and the report.

    Raises:
        RevisionNotFoundError: There is no such product or revision; the message lists them.
    """
    documents = tables.read("documents")
    before, after = resolve_revision_pair(documents, name, older=older, newer=newer)
    ids = (before["document_id"], after["document_id"])
    rows = find_revision_changes(before, after, frames={table: tables.read_documents(table, ids) for table in COMPARED})
    return rows, build_change_report(rows, before=before, after=after)


def resolve_revision_pair(
    documents: pl.DataFrame, name: str, *, older: str = "", newer: str = ""
) -> tuple[DocumentRecord, DocumentRecord]:
    """Find the documents of the two revisions to compare.

    Args:
        documents: Rows of `documents`.
        name: IRS name of a product, or a form.
        older: Older revision, or a document id. If both are empty, the two newest final revisions are compared.
        newer: Newer revision, or a document id.

    Returns:
        Rows of the older and of the newer document.

    Raises:
        RevisionNotFoundError: Only one revision is given, or one is unknown, ambiguous, or the same as the other.
    """
    if bool(older) != bool(newer):
        raise RevisionNotFoundError("Give two revisions, or none to compare the two newest.")
    products = _find_products(documents, name)
    pairs_by_product = []
    for product in products:
        documents_of_product = documents.filter(pl.col("irs_name") == product)
        if not older:
            consecutive_pairs = find_consecutive(documents_of_product)
            pair = (
                [_by_id(documents_of_product, document_id) for document_id in consecutive_pairs[-1]]
                if consecutive_pairs
                else []
            )
        else:
            pair = [
                row
                for revision_name in (older, newer)
                if (row := _find_revision(documents_of_product, revision_name)) is not None
            ]
            if len({row["document_id"] for row in pair}) == 1:
                # Both names lead to one document, as its revision and as the end of its id: only ids count.
                pair = [
                    row
                    for revision_name in (older, newer)
                    if (row := _find_named(documents_of_product, revision_name)) is not None
                ]
        if len(pair) == 2:
            pairs_by_product.append((pair[0], pair[1]))
    if len(pairs_by_product) == 1:
        before, after = pairs_by_product[0]
        if before["document_id"] == after["document_id"]:
            revision_names = _revisions_of(documents, before["irs_name"])
            same = f"{older!r} and {newer!r} are the same document, {before['document_id']}"
            raise RevisionNotFoundError(f"{same}. Name two of these: {revision_names}.")
        return before, after
    revision_lists = "; ".join(f"{product}: {_revisions_of(documents, product)}" for product in products)
    revision_name = f"with the revisions {older} and {newer}" if older else "with two final revisions to compare"
    if pairs_by_product:
        raise RevisionNotFoundError(
            f"{name!r} matches several documents: {', '.join(products)}. Use one of these names."
        )
    remedy = "" if older else " Fetch another revision, for example with `taxkg fetch NAME --year YEAR`."
    raise RevisionNotFoundError(
        f"There is no document of {name!r} {revision_name}. Revisions: {revision_lists}.{remedy}"
    )


def _find_products(documents: pl.DataFrame, name: str) -> list[str]:
    names = documents.filter(pl.col("irs_name") != "")
    products = names.filter(pl.col("irs_name") == name.strip().lower())
    if products.is_empty():
        form_name = _bare(name)
        is_of_form = pl.col("form").map_elements(
            lambda form: form_name in map(_bare, form.split(" and ")), return_dtype=pl.Boolean
        )
        products = names.filter(is_of_form)
    if products.is_empty():
        similar_names = list_names(names["irs_name"].unique().sort(), unknown_name=name)
        raise RevisionNotFoundError(f"The library has no document of {name!r}. Names: {similar_names}.")
    return products["irs_name"].unique().sort().to_list()


def _bare(form: str) -> str:
    return re.sub(r"[^a-z0-9]", "", re.sub(r"^(form|pub\.?|publication)\s+", "", form.strip().lower()))


def _by_id(documents: pl.DataFrame, document_id: str) -> DocumentRecord:
    (row,) = iter_records(documents.filter(pl.col("document_id") == document_id), DocumentRecord)
    return row


def _find_revision(documents: pl.DataFrame, revision_name: str) -> DocumentRecord | None:
    """Return a document by its id, else the last final build of a revision, else one whose name fits."""
    ids = documents["document_id"].to_list()
    documents_of_revision = documents.filter(pl.col("revision") == revision_name).sort("pdf_modified_on", "document_id")
    final_documents = documents_of_revision.filter(~pl.col("is_draft"))
    if revision_name not in ids and final_documents.height:
        return _by_id(final_documents, final_documents["document_id"][-1])
    named_document = _find_named(documents, revision_name)
    if named_document is not None or not documents_of_revision.is_empty():
        return named_document or _by_id(documents_of_revision, documents_of_revision["document_id"][-1])
    matching_ids = [document_id for document_id in ids if document_id.partition("--")[2].startswith(revision_name)]
    return _by_id(documents, matching_ids[0]) if len(matching_ids) == 1 else None


def _find_named(documents: pl.DataFrame, name: str) -> DocumentRecord | None:
    """Return a document by its id, or by the part of it after `--`."""
    matching_ids = [
        document_id for document_id in documents["document_id"] if name in (document_id, document_id.partition("--")[2])
    ]
    return _by_id(documents, matching_ids[0]) if matching_ids else None


def _revisions_of(documents: pl.DataFrame, product: str) -> str:
    rows = documents.filter(pl.col("irs_name") == product).sort("revision", "document_id")
    names = zip(rows["document_id"], rows["revision"], strict=True)
    return ", ".join(document.partition("--")[2] or revision or document for document, revision in names)


def show(report: ChangeReport, *, has_routine: bool, out: Console) -> None:
    """Print a change report; markup in document text is escaped.

    Args:
        report: Changes of two documents.
        has_routine: Whether routine changes are printed.
        out: Console to print to.
    """
    out.print(Text(report.title, style="bold"))
    out.print(Text(f"{report.older} → {report.newer}"), highlight=False)
    for note in report.notes:
        out.print(Text(note, style="yellow"))
    if not report.items:
        out.print("[green]No change:[/] both documents have the same text.")
        return
    counts = Table(*report.counts, box=None, pad_edge=False)
    counts.add_row(*map(str, report.counts.values()))
    out.print(Padding(counts, (1, 0, 0, 0)))
    for name, why in GROUPS:
        items = [item for item in report.items if item.group == name]
        if name == "Routine" and items and not has_routine:
            hidden = "1 routine change is" if len(items) == 1 else f"{len(items)} routine changes are"
            out.print(f"\n[dim]{hidden} not shown; --all shows {'it' if len(items) == 1 else 'them'}.[/]")
        elif items:
            out.print(Text.assemble("\n", (name, "bold cyan"), (f"  {why}", "dim")))
            for item in items:
                _show_item(item, out=out)


def _show_item(item: Item, *, out: Console) -> None:
    name = item.name or item.path.split(" › ")[-1]
    out.print(Text.assemble((name or "Face", "bold"), (f"  {item.what}, {item.places}", "dim")), highlight=False)
    marks = {} if out.color_system else _MARKS
    words = Text.assemble(
        *((marks.get(op, "{}").format(text.replace("\n", " ")), _STYLES.get(op, "")) for op, text in item.words)
    )
    out.print(Padding(words, (0, 0, 0, 4)))
