"""The labelled samples, and the rates that are read from them."""

from __future__ import annotations

from collections import Counter

import polars as pl

from benchmarks.training.corpus import Corpus
from benchmarks.training.labels import (
    NAIVE,
    OURS,
    find_texts,
    judge_negatives,
    open_labels,
    render_negatives,
    sample_naive,
    sample_pairs,
    score_false_negatives,
)
from taxkg_assets.evaluation.agreement import LABELS, OTHER_EDITION
from taxkg_assets.llm.rule_proposer import RuleProposer


def test_the_samples_are_large_enough_and_hold_no_text_and_no_row_twice() -> None:
    negatives, pairs = open_labels()
    sets = Counter(row["set"] for row in negatives)
    assert sets.keys() == {NAIVE, OURS}
    assert min(sets.values()) >= 100
    assert {row["label"] for row in negatives} <= set(LABELS)
    assert all(row.keys() == {"question", "element", "set", "source", "label"} for row in negatives)
    assert max(Counter((row["question"], row["element"], row["set"]) for row in negatives).values()) == 1
    assert len(pairs) == len({row["pair"] for row in pairs}) >= 100


def test_naive_negatives_are_false_more_often_than_ours() -> None:
    negatives, _ = open_labels()
    rates = score_false_negatives(negatives)
    assert rates[OURS].high is not None
    assert rates[NAIVE].low is not None
    assert rates[OURS].high < rates[NAIVE].low
    assert rates[OURS].high < 0.10


def test_a_rate_counts_answers_and_what_else_is_asked_for() -> None:
    rows = [{"question": f"q{n}", "set": NAIVE, "source": "bm25", "label": label} for n, label in enumerate(LABELS)]
    assert score_false_negatives(rows)[NAIVE].value == 1 / 4
    assert score_false_negatives(rows, also=[OTHER_EDITION])[NAIVE].value == 2 / 4
    assert "| naive: bm25 | 4 | 1 | 1 | 1 | 1 |" in render_negatives(rows)


def test_naive_negatives_are_the_best_hits_but_the_answer(corpus: Corpus) -> None:
    rows = corpus.rows
    own = next(row for row in rows.iter_rows(named=True) if "berth duty of thirty" in row["text"])
    asked = [{"question": "q", "query": "duty for a berth", "chunk_id": own["chunk_id"]}]
    found = sample_naive(corpus, asked, depth=2)
    assert len(found) == 2
    assert own["node_ids"][0] not in {row["element"] for row in found}


def test_labels_of_another_home_are_counted_and_left_out(corpus: Corpus) -> None:
    row = corpus.rows.row(0, named=True)
    pairs = pl.DataFrame(
        [
            {
                "pair_id": "scenario:1",
                "kind": "scenario",
                "query": "what of harbour rent?",
                "passage": row["passage"],
                "chunk_id": row["chunk_id"],
                "source": "written:q1",
            }
        ]
    )
    label = {"question": "q1", "element": row["node_ids"][0], "set": OURS, "source": "dense", "label": "answers"}
    texts, lost = find_texts(corpus, [label, label | {"element": "gone"}, label | {"question": "gone"}], pairs=pairs)
    assert (len(texts), lost) == (1, 2)
    assert judge_negatives(texts, RuleProposer()).both == 1


def test_pairs_are_drawn_by_kind() -> None:
    pairs = pl.DataFrame({"pair_id": [f"{n:02d}" for n in range(20)], "kind": ["a"] * 18 + ["b"] * 2})
    drawn = sample_pairs(pairs, of_kind=5, seed=1)
    assert drawn["kind"].to_list() == ["a"] * 5 + ["b"] * 2
    assert drawn.equals(sample_pairs(pairs, of_kind=5, seed=1))
