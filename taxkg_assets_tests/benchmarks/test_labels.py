"""The labeled samples, and the rates that are read from them."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

from benchmarks.training.corpus import Corpus
from benchmarks.training.labels import (
    NAIVE,
    OURS,
    find_mined,
    find_texts,
    judge_negatives,
    name_pair,
    name_query,
    open_labels,
    render_agreement,
    render_negatives,
    score_false_negatives,
    weight_sources,
)
from taxkg_assets.evaluation.agreement import LABELS, OTHER_EDITION
from taxkg_assets.llm.rule_proposer import RuleProposer


def test_the_samples_are_large_enough_and_hold_no_text_and_no_row_twice() -> None:
    negatives, pairs = open_labels()
    sets = Counter(row["set"] for row in negatives)
    assert sets.keys() == {NAIVE, OURS}
    assert min(sets.values()) >= 100
    assert {row["label"] for row in negatives} <= set(LABELS)
    assert all(row.keys() == {"query", "element", "set", "source", "label"} for row in negatives)
    assert max(Counter((row["query"], row["element"], row["set"]) for row in negatives).values()) == 1
    assert len(pairs) == len({name_pair(row) for row in pairs})
    assert min(Counter(row["kind"] for row in pairs).values()) >= 40
    sources = Counter(row["source"] for row in negatives if row["set"] == OURS)
    assert (
        min(count for source, count in sources.items() if source != "other_year") >= 40
    )  # there are 16 of those in all


def test_naive_negatives_are_false_more_often_than_ours() -> None:
    negatives, _ = open_labels()
    rates = score_false_negatives(negatives)
    assert rates[OURS].high is not None
    assert rates[NAIVE].low is not None
    assert rates[OURS].high < rates[NAIVE].low
    assert rates[OURS].high < 0.10


def test_a_rate_counts_answers_and_what_else_is_requested() -> None:
    rows = [{"query": f"q{n}", "set": NAIVE, "source": "bm25", "label": label} for n, label in enumerate(LABELS)]
    assert score_false_negatives(rows)[NAIVE].value == 1 / 4
    assert score_false_negatives(rows, also=[OTHER_EDITION])[NAIVE].value == 2 / 4
    assert "| naive: bm25 | 4 | 1 | 1 | 1 | 1 |" in render_negatives(rows)


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
    label = {"query": name_query("What of harbour rent"), "element": row["node_ids"][0], "set": OURS}
    label |= {"source": "dense", "label": "answers"}
    texts, lost = find_texts(corpus, [label, label | {"element": "gone"}, label | {"query": "gone"}], pairs=pairs)
    assert (len(texts), lost) == (1, 2)
    found = judge_negatives(texts, RuleProposer())
    assert (found["all"].both, found["ours: dense"].both) == (1, 1)
    assert "| ours: dense | 1 | 100 % |" in render_agreement("negatives", found)
    mined = pl.DataFrame({"pair_id": ["scenario:1"], "node_id": [row["node_ids"][0]]})
    others = [label | {"element": "gone"}, label | {"set": NAIVE, "element": "gone"}]
    assert find_mined([label, *others], pairs=pairs, hard_negatives=mined) == [label, others[1]]


def test_a_source_counts_as_much_as_it_has_negatives() -> None:
    rows = [{"set": OURS, "source": "dense", "label": label} for label in ("answers", "related", "related", "related")]
    rows += [
        {"set": OURS, "source": "negated", "label": "answers"},
        {"set": NAIVE, "source": "dense", "label": "answers"},
    ]
    assert weight_sources(rows, {"dense": 90, "negated": 10, "bm25": 1000}) == pytest.approx(0.9 * 0.25 + 0.1)
    assert weight_sources([], {"dense": 9}) is None
