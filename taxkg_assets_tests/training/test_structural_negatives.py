from __future__ import annotations

import dataframely as dy
import polars as pl
import pytest

from taxkg_assets.schemas import Edges
from taxkg_assets.training.distances import read_distances
from taxkg_assets.training.structural_negatives import build_structural_miner
from taxkg_assets_tests.training import small


def _find_negated(edges: dy.DataFrame[Edges]) -> list[str]:
    """What says the opposite of the rent of lots, by heading."""
    corpus = small.corpus()
    structural = build_structural_miner(corpus, read_distances(edges, small.nodes()), edges=edges)
    negatives = structural.mine(corpus.passages["paragraph:b1:p"], "rent of a lot")
    return [found.chunk_id.split(":")[1] for found in negatives if found.source == "negated"]


@pytest.mark.parametrize(("target", "found"), [("b3", ["b4"]), ("i77--2024", [])])
def test_the_opposite_is_stated_about_the_same_field_and_not_of_a_whole_document(target: str, found: list[str]) -> None:
    moved = pl.when(pl.col("target_id") == "b3").then(pl.lit(target)).otherwise("target_id").alias("target_id")
    said = pl.col("relation").is_in(["portion_of", "excludes"])
    edges = small.edges()
    assert _find_negated(Edges.cast(edges.with_columns(pl.when(said).then(moved).otherwise("target_id")))) == found
