"""The headings of tables are those of their chunks, below the title of the document."""

from __future__ import annotations

import polars as pl

from taxkg_assets.retrieval.tables.table_context import list_headings


def test_tables_have_the_headings_of_their_chunks_and_untitled_documents_their_id() -> None:
    documents = pl.DataFrame({"document_id": ["berths", "towns"], "title": ["Berth Duty", ""]})
    chunks = pl.DataFrame(
        {
            "document_id": ["berths", "berths", "berths", "towns", "towns"],
            "level": ["paragraph", "table", "table", "table", "table"],
            "node_ids": [["e1"], ["t1"], ["t1"], ["t2"], ["t3"]],
            "heading_path": ["Berth Duty", "Berth Duty > Rates", "Berth Duty > Rates", "Fees", ""],
        }
    )
    wanted = {"t1": "Berth Duty > Rates", "t2": "towns > Fees", "t3": "towns"}
    assert list_headings(chunks, documents=documents) == wanted
