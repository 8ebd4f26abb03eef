"""What is drawn to be labeled: what no one has read, as much as is missing, by a draw that stays the same."""

from __future__ import annotations

import polars as pl

from benchmarks.training.corpus import Corpus
from benchmarks.training.label_samples import draw_naive, draw_negatives, draw_pairs
from benchmarks.training.labels import OURS, name_query

PAIRS = pl.DataFrame(
    [
        {
            "pair_id": f"{kind}:{n}",
            "kind": kind,
            "query": f"{kind} number {n}",
            "passage": f"text {n}",
            "passage_node_id": f"e{n}",
            "query_node_id": None,
            "relation": "",
        }
        for kind, count in (("a", 9), ("b", 2))
        for n in range(count)
    ]
)


def test_pairs_are_drawn_by_kind_up_to_what_is_missing() -> None:
    drawn = draw_pairs(PAIRS, [], of_kind=4)
    assert [row["kind"] for row in drawn] == ["a"] * 4 + ["b"] * 2
    labeled = [row | {"is_valid": True} for row in drawn[:3]]
    again = draw_pairs(PAIRS.reverse(), labeled, of_kind=4)
    assert [row["kind"] for row in again] == ["a", "b", "b"]
    assert again[0] == drawn[3], "the lot goes on where it stood"
    gone = {"kind": "a", "query": name_query("of another home"), "element": "e", "is_valid": True}
    assert len(draw_pairs(PAIRS, [gone], of_kind=4)) == len(drawn), "what is not here any more counts for nothing"


def test_negatives_are_drawn_by_source_with_what_they_are_judged_by() -> None:
    mined = pl.DataFrame(
        [
            {"pair_id": "a:1", "node_id": "n1", "source": "dense", "passage": "one"},
            {"pair_id": "a:2", "node_id": "n2", "source": "negated", "passage": "two"},
            {"pair_id": "gone", "node_id": "n3", "source": "dense", "passage": "three"},
        ]
    )
    drawn = draw_negatives(mined, [], pairs=PAIRS, of_source=5)
    assert [(row["source"], row["set"], row["texts"]) for row in drawn] == [
        ("dense", OURS, ["a number 1", "one", "text 1"]),
        ("negated", OURS, ["a number 2", "two", "text 2"]),
    ]
    assert draw_negatives(mined, [drawn[0]], pairs=PAIRS, of_source=1) == [drawn[1]]


def test_naive_negatives_are_the_best_hits_but_the_answer(corpus: Corpus) -> None:
    own = next(row for row in corpus.rows.iter_rows(named=True) if "berth duty of thirty" in row["text"])
    queried = [{"query": "duty for a berth", "chunk_id": own["chunk_id"], "passage": own["passage"]}]
    found = draw_naive(corpus, queried, depth=2)
    assert len(found) == 2
    assert own["node_ids"][0] not in {row["element"] for row in found}
