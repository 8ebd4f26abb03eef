"""Signs that say nothing alone are no text, and what is signed is no callout."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from taxkg_assets.extraction.extract import extract
from taxkg_assets_tests.extraction.typeset import Booklet, filler


def test_a_rule_set_in_dashes_is_no_text() -> None:
    booklet = Booklet().head("Boats").lines(*filler(3), gap=4)
    booklet.lines("____________________", gap=8).lines(*filler(3), gap=8)
    sections = extract(booklet.bytes(), document_id="sample").frames["sections"]
    assert sections.height >= 1
    assert sections.filter(pl.col("text").str.contains("__")).is_empty()


@pytest.mark.parametrize("name", ["f1040--2017", "f1040--2020", "p503--2025"])
def test_arrows_and_signatures_of_real_documents(corpus: Path, name: str) -> None:
    data = (corpus / "library" / f"{name}.pdf").read_bytes()
    sections = extract(data, document_id=name).frames["sections"]
    assert sections.filter(~pl.col("text").str.contains(r"[\p{L}\p{N}]")).is_empty()
    assert sections.filter((pl.col("role") == "Callout") & pl.col("text").str.contains("signature")).is_empty()
