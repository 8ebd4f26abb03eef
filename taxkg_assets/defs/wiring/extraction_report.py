"""The extraction report of a home: the tables that it reads, and the files that it is written to."""

import dagster as dg
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.evaluation.extraction_report import COUNTED, render_extraction_report

EXTRACTION = "reports/extraction"


def write_extraction_report(home: Home, figures: pl.DataFrame) -> None:
    """Write the extraction report to the home as Markdown and HTML.

    Args:
        home: Home whose documents were read.
        figures: Rows of `family_figures`.
    """
    store = home.store
    counts = store.scan("elements").group_by("document_id").agg(pl.len().alias("elements"), pl.mean("role_confidence"))
    for name in COUNTED[1:]:
        counts_of_table = store.scan(name).group_by("document_id").agg(pl.len().alias(name))
        counts = counts.join(counts_of_table, on="document_id", how="left")
    pages = render_extraction_report(
        schemas.Documents.cast(store.read("documents")),
        quality=schemas.DocumentQuality.cast(store.read("document_quality")),
        quarantine=schemas.Quarantine.cast(store.read_or_empty("quarantine")),
        figures=schemas.FamilyFigures.cast(figures),
        counts=counts.collect(),
    )
    store.storage.write(f"{EXTRACTION}.md", pages.markdown.encode())
    store.storage.write(f"{EXTRACTION}.html", pages.html.encode())


def show_extraction(store: Store) -> dict[str, dg.MetadataValue]:
    """Return the extraction report, for the Dagster UI, and the file with its plots.

    Args:
        store: Store of the home.
    """
    report = store.storage.read(f"{EXTRACTION}.md") or b""
    return {
        "report": dg.MetadataValue.md(report.decode()),
        "report with plots": dg.MetadataValue.path(store.storage.uri_of(f"{EXTRACTION}.html")),
    }
