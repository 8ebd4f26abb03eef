"""Label files as the metrics read them."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.labeled import read_labeled
from taxkg_assets.evaluation.metrics import Result, score_query


def test_a_row_without_near_misses_and_coverage_is_scored(tmp_path: Path) -> None:
    gold = [{"document": "d", "page": 1, "quote": f"the {color} boat pays a berth duty", "grade": 3} for color in "ab"]
    path = tmp_path / "queries.jsonl"
    path.write_text(json.dumps({"id": "q", "query": "duty?", "type": "concept", "gold": gold}) + "\n\n")
    (question,) = read_labeled(path)
    found = score_query(question, [Result("d", gold[0]["quote"])], is_abstained=False)
    assert (found["recall@5"], found["multi_hop_coverage"]) == (0.5, 0.0)
