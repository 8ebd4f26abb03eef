"""Every document check says what it is, and names the documents and the columns that it shows."""

from __future__ import annotations

import polars as pl
import pytest

from taxkg_assets.defs.home.contracts import schema_of
from taxkg_assets.defs.quality import ALL_CHECKS
from taxkg_assets.extraction.document_check import CORRUPT, DocumentCheck


def test_every_law_says_what_it_is() -> None:
    assert len({check.name for check in ALL_CHECKS}) == len(ALL_CHECKS)
    for check in ALL_CHECKS:
        assert check.broken, check
        assert check.remedy, check
        assert check.severity == CORRUPT or check.find is not None


@pytest.mark.parametrize(
    "check", [check for check in ALL_CHECKS if check.find is not None], ids=lambda check: check.name
)
def test_the_rows_of_a_law_name_their_document_and_the_columns_of_its_examples(check: DocumentCheck) -> None:
    failures = pl.DataFrame(schema=dict.fromkeys(("document_id", "table", "error"), pl.String))
    frames = {name: failures if name == "failures" else schema_of(name).create_empty() for name in check.reads}
    offending = check.find_offending(frames)
    assert {"document_id", *check.show} <= set(offending.columns)
