"""Extraction report: how documents were read, which checks they fail, and scores on labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import dataframely as dy
import polars as pl

from taxkg_assets.evaluation.family_gaps import ALL, DEVELOPMENT, LEFT_OUT
from taxkg_assets.evaluation.page import Block, Cell, Heading, Paragraph, Plot, Table, render_html, render_markdown
from taxkg_assets.evaluation.plots import SHARES, Mark, render_intervals
from taxkg_assets.evaluation.quality_plot import count_outcomes
from taxkg_assets.evaluation.report import NOTHING, RenderedReport
from taxkg_assets.schemas import PAGE_SOURCES, DocumentQuality, Documents, FamilyFigures, Quarantine

COUNTED = ("elements", "anchors", "fields", "tables")
"""Tables whose rows are counted for each document."""

_TITLE = "Extraction report"
_NAMES = {"anchors": "Headings"}
_LEAST_CERTAIN = 15
_FIGURES = {
    "role_accuracy": "roles of elements",
    "structural_f1": "headings (F1)",
    "ownership_accuracy": "paragraphs under their heading",
    "cell_accuracy": "table cells with both headers",
}
_SOURCES = (
    "A page is read by its structure tags or its form template where it has trusted ones, and by its layout otherwise. "
    "The columns tags, template, layout and no text count pages; those without text are scanned or blank."
)
_CONFIDENCE = (
    "The confidence of a role is the chance that the role of an element (heading, text, table, …) is right, calibrated "
    "on labeled pages. Documents with the lowest mean come first: review these first."
)
_MEASURED = (
    "Development families have labels that support the rules; of left-out families no label does. The table "
    "family_figures has the figures of each family."
)
_NOT_MEASURED = (
    "Not measured: no labels of headings, owners, roles or cells are for documents of this home. Name a folder of "
    "labels in TAXKG_GOLD."
)


def render_extraction_report(
    documents: dy.DataFrame[Documents],
    *,
    quality: dy.DataFrame[DocumentQuality],
    quarantine: dy.DataFrame[Quarantine],
    figures: dy.DataFrame[FamilyFigures],
    counts: pl.DataFrame,
) -> RenderedReport:
    """Render the extraction report: how pages were read, document checks, rows to review, and scores on labels.

    Args:
        documents: Documents of the home.
        quality: Outcome of each document check.
        quarantine: Documents that could not be processed.
        figures: Figures on labels.
        counts: `document_id`, the number of rows in each table of `COUNTED`, and `role_confidence`, the mean over the
            document's elements, 0 to 1.

    Returns:
        The report as Markdown and HTML.
    """
    documents_with_counts = documents.join(counts, on="document_id", how="left").with_columns(
        pl.col(COUNTED).fill_null(0)
    )
    blocks: list[Block] = [
        Heading(_TITLE, level=1),
        Paragraph(_summarize(documents, quality, quarantine)),
        Heading("How documents were read"),
        Paragraph(_SOURCES),
        _write_types(documents_with_counts),
        Heading("Document checks"),
        _write_checks(quality),
        *_write_findings(quality, quarantine),
        *_write_figures(figures),
        *_write_least_certain(documents_with_counts),
    ]
    return RenderedReport(markdown=render_markdown(blocks), html=render_html(blocks, title=_TITLE))


def _summarize(
    documents: dy.DataFrame[Documents], quality: dy.DataFrame[DocumentQuality], quarantine: dy.DataFrame[Quarantine]
) -> str:
    flagged = quality.filter(pl.col("outcome") == "flagged")["document_id"].n_unique()
    return (
        f"Documents: {documents.height:,}, with {documents['page_count'].sum():,} pages. "
        f"Served with a flag: {flagged:,}. In quarantine: {quarantine.height:,}."
    )


def _write_types(read: pl.DataFrame) -> Table:
    rows = [
        _type_row(str(name), documents_of_type)
        for (name,), documents_of_type in sorted(
            read.group_by("doc_type"), key=lambda group: (-group[1].height, str(group[0]))
        )
    ]
    if len(rows) > 1:
        rows.append(_type_row("all", read, is_strong=True))
    columns = ("Document type", "Documents", "Pages", *(name.capitalize() for name in PAGE_SOURCES), "No text")
    return Table((*columns, *(_NAMES.get(name, name.capitalize()) for name in COUNTED), "Confidence"), tuple(rows))


def _type_row(name: str, documents: pl.DataFrame, *, is_strong: bool = False) -> tuple[Cell, ...]:
    sources = documents["page_sources"].explode().drop_nulls().struct.field("source")
    element_count = int(documents["elements"].sum())
    mean_confidence = (
        float((documents["elements"] * documents["role_confidence"].fill_null(0.0)).sum()) / element_count
        if element_count
        else None
    )
    numbers = (
        documents.height,
        documents["page_count"].sum(),
        *((sources == source).sum() for source in PAGE_SOURCES),
        documents["image_only_pages"].list.len().sum(),
        *(documents[counted].sum() for counted in COUNTED),
    )
    return (
        Cell(name.replace("_", " "), is_strong=is_strong),
        *(Cell(f"{number:,}") for number in numbers),
        Cell(NOTHING if mean_confidence is None else f"{mean_confidence:.3f}"),
    )


def _write_checks(quality: dy.DataFrame[DocumentQuality]) -> Table:
    rows = tuple(
        (
            Cell(row["law"].replace("_", " ")),
            Cell("holds back" if row["strength"] == "corrupt" else "flags", is_words=True),
            Cell(f"{row['passed']:,}"),
            *(Cell(f"{row[name]:,}", is_strong=row[name] > 0) for name in ("flagged", "withheld")),
        )
        for row in count_outcomes(quality).iter_rows(named=True)
    )
    return Table(("Check", "If it fails", "Passed", "Flagged", "Held back"), rows)


def _write_findings(quality: dy.DataFrame[DocumentQuality], quarantine: dy.DataFrame[Quarantine]) -> Iterator[Block]:
    is_in_quarantine = pl.col("document_id").is_in(quarantine["document_id"].implode()) & (
        pl.col("outcome") == "withheld"
    )
    failed_checks = quality.filter(pl.col("outcome") != "passed", ~is_in_quarantine)
    failed_checks = failed_checks.sort("outcome", "document_id", descending=[True, False])
    rows = [
        (row["document_id"], "quarantine", f"{row['stage']}: {row['reason']}", row["remedy"])
        for row in quarantine.sort("document_id").iter_rows(named=True)
    ]
    rows += [
        (row["document_id"], row["outcome"], row["message"], row["remedy"])
        for row in failed_checks.iter_rows(named=True)
    ]
    yield Heading("What to check")
    if not rows:
        yield Paragraph("Nothing: every document passes every check.")
        return
    cells = tuple(
        (Cell(name), Cell(state, is_words=True), Cell(finding, is_words=True), Cell(remedy, is_words=True))
        for name, state, finding, remedy in rows
    )
    yield Table(("Document", "State", "What was found", "What to do"), cells)


def _write_figures(figures: dy.DataFrame[FamilyFigures]) -> Iterator[Block]:
    yield Heading("Measured on labels")
    labeled = figures.filter(pl.col("metric").is_in(list(_FIGURES)), pl.col("value").is_not_null())
    totals = {(row["metric"], row["group"]): row for row in labeled.filter(pl.col("family") == ALL).to_dicts()}
    if not totals:
        yield Paragraph(_NOT_MEASURED)
        return
    yield Paragraph(_MEASURED)
    groups = (DEVELOPMENT, LEFT_OUT)
    rows = []
    for metric, name in _FIGURES.items():
        group_totals = [totals.get((metric, group)) for group in groups]
        if any(group_totals):
            shares = (Cell(f"{row['value']:.3f}" if row else NOTHING) for row in group_totals)
            rows.append((Cell(name), *shares, *(Cell(f"{row['n']:,}" if row else "0") for row in group_totals)))
    yield Table(("Share right", "Development", "Left out", "Labels", "Labels, left out"), tuple(rows))
    yield from _plot_families(
        labeled.filter(pl.col("metric") == "ownership_accuracy", pl.col("family") != ALL).to_dicts()
    )


def _plot_families(rows: Sequence[dict[str, object]]) -> Iterator[Plot]:
    """Plot the share of paragraphs under their heading for the families with the lowest shares."""
    caption = f"Paragraphs under their heading, by family: the {_LEAST_CERTAIN} lowest"
    lowest = sorted(rows, key=lambda row: (float(str(row["value"])), str(row["family"])))[:_LEAST_CERTAIN]
    marks = [
        Mark(str(row["family"]), float(str(row["value"])), None, None, f"{row['value']:.3f} of {row['n']}")
        for row in lowest
    ]
    if len(marks) > 1:
        yield Plot(caption, render_intervals(marks, SHARES, title=caption))


def _write_least_certain(read: pl.DataFrame) -> Iterator[Block]:
    rated = read.filter(pl.col("role_confidence").is_not_null()).sort("role_confidence", "document_id")
    if rated.is_empty():
        return
    rows = tuple(
        (
            Cell(row["document_id"]),
            Cell(f"{row['role_confidence']:.3f}"),
            Cell(f"{row['page_count']:,}"),
            Cell(f"{row['elements']:,}"),
            Cell("; ".join(row["warnings"]) or NOTHING, is_words=True),
        )
        for row in rated.head(_LEAST_CERTAIN).iter_rows(named=True)
    )
    yield Heading("Least certain documents")
    yield Paragraph(_CONFIDENCE)
    yield Table(("Document", "Confidence", "Pages", "Elements", "Repairs while reading"), rows)
