"""The wiring of the retrieval: what it does where there is nothing to search."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxkg_assets import schemas
from taxkg_assets.defs.home.index_parts import CurrentIndex
from taxkg_assets.defs.home.models import defer_base
from taxkg_assets.defs.home.token_cache import TokenCache
from taxkg_assets.defs.retrieval import NothingToSearchError, build_index_version
from taxkg_assets.defs.wiring.resources import Home


def test_without_a_passage_no_index_is_built_and_the_remedy_is_named(tmp_path: Path) -> None:
    home = Home(home=str(tmp_path))
    with pytest.raises(
        NothingToSearchError, match="`taxkg status` lists each refused document with its reason and remedy"
    ):
        build_index_version(
            schemas.Chunks.create_empty(),
            schemas.Documents.create_empty(),
            schemas.Embeddings.create_empty(),
            schemas.Summaries.create_empty(),
            schemas.Tables.create_empty(),
            schemas.Sections.create_empty(),
            settings=home.settings,
            encoder=defer_base(home),
            store=home.store,
            contents={},
            current=CurrentIndex(None, ""),
            token_cache=TokenCache(home.store),
        )
