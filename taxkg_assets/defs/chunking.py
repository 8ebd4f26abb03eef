"""Assets of the stage `chunking` and their gates."""

import dataframely as dy

from taxkg_assets import schemas
from taxkg_assets.chunking.chunks import build_chunks, find_uncovered_sections
from taxkg_assets.defs._table import Verdict, gate, table

chunks = table(schemas.Chunks, build_chunks, group="chunking")


@gate(on="chunks", reads=("sections",))
def every_section_in_a_chunk(chunks: dy.DataFrame[schemas.Chunks], sections: dy.DataFrame[schemas.Sections]) -> Verdict:
    """Every content element lies in at least one accepted chunk."""
    return Verdict(find_uncovered_sections(sections, chunks), chunks.height)
