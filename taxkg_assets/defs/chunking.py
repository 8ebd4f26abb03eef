"""Assets of the stage `chunking` and their gates."""

from __future__ import annotations

import polars as pl

from taxkg_assets import schemas
from taxkg_assets.chunking.chunks import build_chunks, find_uncovered_sections
from taxkg_assets.defs._table import gate, table

chunks = table(schemas.Chunks, build_chunks, group="chunking")


@gate(on="chunks", reads=("sections",))
def every_section_in_a_chunk(chunks: pl.DataFrame, sections: pl.DataFrame) -> pl.DataFrame:
    """Every content element lies in at least one accepted chunk."""
    return find_uncovered_sections(schemas.Sections.cast(sections), schemas.Chunks.cast(chunks))
