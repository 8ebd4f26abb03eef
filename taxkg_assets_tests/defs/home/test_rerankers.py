"""Which reranker a home uses."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from taxkg_assets.defs.home import rerankers
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.schemas import Reranker
from taxkg_assets_tests.training import small


@pytest.mark.parametrize(("base", "is_used"), [("b", True), ("b-bf16", True), ("another", False)])
def test_a_reranker_that_reads_with_the_tokens_of_another_base_is_not_used(
    base: str, is_used: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(home=str(tmp_path))
    row = {"name": "late-b", "kind": "late", "path": "", "base": "m", "sha256": "b", "is_chosen": True}
    home.store.write("reranker", pl.DataFrame(small.fill(Reranker, [row | {"gain_by_kind": "{}"}])), inputs="")
    monkeypatch.setattr(rerankers, "base_hash", lambda home: base)
    assert bool(rerankers.reranker_hash(home)) is is_used
