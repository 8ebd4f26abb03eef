from __future__ import annotations

import polars as pl

from taxkg_assets.training.distances import Distances
from taxkg_assets.training.invariants import find_leaked_pairs, find_leaking_groups, find_near_negatives

_DISTANCES = Distances(
    neighbors={"p1": ("h",), "h": ("p1", "p2"), "p2": ("h",)}, related={"p1": frozenset({"p3"})}, paragraph_of={}
)
_PAIRS = pl.DataFrame({"pair_id": ["x"], "passage_node_id": ["p1"], "chunk_id": ["c1"], "other_positive_ids": [["c7"]]})
_CHUNKS = pl.DataFrame(
    {
        "chunk_id": ["c1", "c7", "c9", "two"],
        "node_ids": [["p0", "p1"], ["p7"], ["p9"], ["p9", "p2"]],
        "anchor_id": ["h0", "h7", "h9", "p3"],
    }
)


def _negative(chunk_id: str, *, source: str = "dense", similarity: float = 0.5, score: float = 0.4) -> pl.DataFrame:
    row = {
        "pair_id": "x",
        "rank": 0,
        "node_id": "p9",
        "chunk_id": chunk_id,
        "source": source,
        "similarity_to_positive": similarity,
    }
    return pl.DataFrame([row | {"score": score, "positive_score": 0.8}])


def _faults(negative: pl.DataFrame) -> list[str]:
    found = find_near_negatives(negative, _PAIRS, _CHUNKS, distances=_DISTANCES)  # type: ignore[arg-type]
    return found["fault"].to_list()


def test_a_search_result_near_in_the_graph_or_too_like_the_passage_is_a_fault() -> None:
    assert _faults(_negative("two")) == ["2 steps from the right passage"], "its second paragraph"
    assert _faults(_negative("c9", similarity=0.9)) == ["too similar to the right passage"]
    assert _faults(_negative("c9", score=0.79)) == ["nearly as similar to the question"]
    assert _faults(_negative("c1")) == _faults(_negative("c7")) == ["it is a right passage"]
    assert _faults(_negative("c9")) == []


def test_relatives_may_stand_near_but_not_be_related() -> None:
    assert _faults(_negative("c9", source="sibling_box", similarity=0.9, score=0.9)) == []
    assert _faults(_negative("two", source="sibling_box")) == ["a semantic relation with the right passage"]


def test_a_pair_that_repeats_an_evaluation_question_is_found() -> None:
    pairs = pl.DataFrame({"pair_id": ["a", "b"], "query": ["what is a sample lease?", "who owns the sample lot"]})
    queried = pl.DataFrame({"query": ["What is a sample lease"]})
    assert find_leaked_pairs(pairs, queried)["pair_id"].to_list() == ["a"]  # type: ignore[arg-type]


def test_a_family_or_a_near_duplicate_on_both_sides_is_found() -> None:
    def sides(**columns: list[str]) -> list[str]:
        base = {
            "split": ["train", "dev"],
            "family": ["f", "g"],
            "query_family": ["f", "g"],
            "near_duplicate_group": ["s", "t"],
        }
        return find_leaking_groups(pl.DataFrame(base | columns))["name"].to_list()  # type: ignore[arg-type]

    assert sides() == []
    assert sides(family=["f", "f"], query_family=["f", "f"]) == ["f", "f"]
    assert sides(query_family=["g", "g"]) == ["g"]
    assert sides(near_duplicate_group=["s", "s"]) == ["s"]
