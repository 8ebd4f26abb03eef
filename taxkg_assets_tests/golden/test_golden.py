"""What the extraction makes of the bundled samples, row by row; `make golden` rewrites the files after a look."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from taxkg_assets.defs.home.contracts import schema_of
from taxkg_assets.extraction.extract import extract
from taxkg_assets.serving.build import SAMPLES

HERE = Path(__file__).parent
REWRITE = "TAXKG_REWRITE_GOLDEN"
COLUMNS = {
    "anchors": ["anchor_id", "kind", "key", "heading", "parent_anchor_id", "perspective"],
    "faces": ["document_id", "box_key", "label", "page"],
    "sections": ["element_id", "anchor_id", "role", "page", "text"],
    "tables": ["table_id", "title", "markdown"],
    "references": ["element_id", "start", "end", "kind", "target", "relation", "polarity", "is_self"],
}
DOCUMENTS = ("sample-f1099div--2024-01.pdf", "sample-i1099div--2024-01.pdf", "sample-statute-title-7.txt")


@pytest.fixture(scope="module")
def frames() -> dict[str, pl.DataFrame]:
    read = [
        extract((SAMPLES / name).read_bytes(), document_id=Path(name).stem, is_text=name.endswith(".txt")).frames
        for name in DOCUMENTS
    ]
    return {name: pl.concat([frame[name] for frame in read]) for name in COLUMNS}


@pytest.mark.parametrize("artifact", sorted(COLUMNS))
def test_samples_are_read_as_before(artifact: str, frames: dict[str, pl.DataFrame]) -> None:
    rows = frames[artifact].sort(schema_of(artifact).primary_key()).select(COLUMNS[artifact]).to_dicts()
    path = HERE / artifact / "samples.jsonl"
    if os.environ.get(REWRITE):
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(_line(row) for row in rows), encoding="utf8")
    assert [_line(row) for row in rows] == path.read_text(encoding="utf8").splitlines(keepends=True)


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def test_no_one_rewrites_in_ci() -> None:
    assert not (os.environ.get("CI") and os.environ.get(REWRITE)), f"{REWRITE} is set where tests must only compare"
