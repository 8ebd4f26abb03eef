"""The gate of the stage `sources`. Its tables are made where documents are read: `defs/extraction.py`."""

import polars as pl

import taxkg_assets.defs.extraction  # noqa: F401 - wires `documents` and `quarantine`
from taxkg_assets.defs.wiring.gates import gate
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.verdicts import OFFENDING_ROWS, Verdict
from taxkg_assets.sources.documents import find_hidden_texts
from taxkg_assets.sources.quarantine import find_withheld


@gate(on="documents", reads=("quarantine",))
def few_documents_withheld(documents: pl.DataFrame, quarantine: pl.DataFrame, home: Home) -> Verdict:
    """The share of documents withheld by document checks stays below TAXKG_WITHHELD_SHARE.

    Unreadable files do not count. Fewer than TAXKG_WITHHELD_LEAST documents never block. Shows excluded hidden text and
    suspected prompt injections.
    """
    settings = home.settings
    withheld, is_blocked = find_withheld(
        documents, quarantine, max_share=settings.withheld_share, least_count=settings.withheld_least
    )
    hidden_texts = find_hidden_texts(documents)
    figures = {
        "in quarantine": quarantine.height,
        "held back by document checks": withheld.height,
        "documents with hidden text": hidden_texts["document_id"].n_unique(),
        "suspected prompt injections": hidden_texts.filter("is_order")["document_id"].n_unique(),
    }
    names = ", ".join(withheld["document_id"].head(OFFENDING_ROWS))
    return Verdict(
        withheld,
        documents.height + quarantine.height,
        note=f"held back: {names}" if names else "",
        figures=figures,
        is_passed=not is_blocked,
        tables={"hidden text and suspected prompt injections": hidden_texts},
    )
