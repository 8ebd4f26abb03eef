"""Our figures are those of the scoring script, on runs that are made to sit on the edges of its rule."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from taxkg_assets.evaluation.eval_queries import build_eval_queries
from taxkg_assets.evaluation.eval_report import build_eval_report
from taxkg_assets.evaluation.eval_runs import Ranking, build_eval_runs
from taxkg_assets.evaluation.matching import is_quoted
from taxkg_assets.evaluation.metrics import score_runs
from taxkg_assets_tests.evaluation.corpus import anchors, document, documents, sections
from taxkg_assets_tests.evaluation.gold_folder import load_rows, load_script

pytestmark = pytest.mark.corpus

NAMES = {
    "recall_k": "recall@5",
    "recall_budget": "recall@2000tok",
    "mrr": "mrr",
    "hit1": "hit@1",
    "near_miss1": "near_miss@1",
    "wrong_doc1": "wrong_document@1",
}


def bend(text: str, draw: random.Random) -> str:
    """A text that is nearly a quote: words dropped, swapped, doubled or negated, with words of others around it."""
    words = text.split()
    for _ in range(draw.choice([0, 0, 1, 1, 2, 3, 5])):
        at = draw.randrange(len(words))
        words[at : at + 1] = draw.choice([[], [words[at]] * 2, ["not", words[at]], ["other"], [words[at], "7"]])
    around = ["filler"] * draw.choice([0, 3, 80, 380, 900])
    return " ".join([*around, *words, *around[:40]]) or "filler"


def mixed_results(query: dict[str, Any], others: list[dict[str, Any]], draw: random.Random) -> list[dict[str, Any]]:
    passages = [*query["gold"], *query.get("near_miss", []), *draw.choice(others)["gold"], *draw.choice(others)["gold"]]
    passages += draw.sample(passages, len(passages) // 2)
    draw.shuffle(passages)
    return [
        {"document": passage["document"], "page": 1, "text": bend(passage["quote"], draw), "score": 1.0}
        for passage in passages
    ][: draw.choice([0, 1, 3, 8])]


@pytest.mark.parametrize("seed", range(3))
def test_runs_score_alike(seed: int, corpus: Path, tmp_path: Path) -> None:
    draw, gold = random.Random(seed), load_rows(corpus / "eval", "queries")
    rankings = {
        query["query"]: Ranking(results=mixed_results(query, gold, draw), is_abstained=draw.random() < 0.3)
        for query in gold
    }
    run = tmp_path / "run.jsonl"
    run.write_text(
        "\n".join(
            json.dumps(
                {
                    "id": query["id"],
                    "results": rankings[query["query"]].results,
                    "abstained": rankings[query["query"]].is_abstained,
                }
            )
            for query in gold
        ),
        encoding="utf8",
    )
    theirs = load_script(corpus / "eval", "score").score(str(corpus / "eval" / "queries.jsonl"), str(run), 5, 2000)
    known = {p["document"] for query in gold for p in [*query["gold"], *query.get("near_miss", [])]}
    known_documents = documents(*(document(name) for name in sorted(known)))
    queried = build_eval_queries({"dev": gold}, known_documents, sections=sections(), anchors=anchors())
    runs = build_eval_runs(queried, {"full": rankings.__getitem__})
    ours = score_runs(queried, runs)
    for row in theirs["rows"]:
        mine = dict(ours.filter(pl.col("query_id") == row["id"]).select("metric", "value").iter_rows())
        assert {NAMES[name]: row[name] for name in NAMES if name in row} == {
            name: value for name, value in mine.items() if name in NAMES.values() and value is not None
        }, row["id"]
    report = build_eval_report(queried, runs, documents=known_documents).filter(pl.col("slice") == "all")
    means = {row["metric"]: row["value"] for row in report.iter_rows(named=True)}
    for name in (*NAMES.values(), "multi_hop_coverage", "abstain_on_unanswerable", "abstain_on_answerable"):
        assert means[name] == pytest.approx(theirs[name], abs=5e-5), name


def test_single_quotes_match_alike(corpus: Path) -> None:
    draw, script = random.Random(11), load_script(corpus / "eval", "score")
    quotes = [passage["quote"] for query in load_rows(corpus / "eval", "queries") for passage in query["gold"]]
    verdicts = set()
    for quote in draw.sample(quotes, 120):
        for is_row in (False, True):
            text = bend(quote, draw)
            verdict = is_quoted(quote, text, is_row=is_row)
            verdicts.add(verdict)
            assert verdict == script.found(quote, text, is_row), (quote, text)
    assert verdicts == {True, False}
