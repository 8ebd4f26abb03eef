"""Assets of the stage `evaluation`: questions, ranked runs, the report; and the gate before a release."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.defs._table import SHOWN, Verdict, gate, table, table_metadata
from taxkg_assets.defs.gold import gold_fingerprint, open_query_sets
from taxkg_assets.defs.indexes import open_index
from taxkg_assets.defs.models import model_hash, open_encoder
from taxkg_assets.defs.proposers import open_proposer, proposer_fingerprint
from taxkg_assets.defs.resources import Home
from taxkg_assets.defs.store import Store, digest
from taxkg_assets.defs.timing import read_times
from taxkg_assets.evaluation.ablation import Step, score_ablation
from taxkg_assets.evaluation.eval_queries import build_eval_queries
from taxkg_assets.evaluation.eval_report import build_eval_report, find_retrieval_faults
from taxkg_assets.evaluation.eval_runs import Ranking, build_eval_runs
from taxkg_assets.evaluation.metrics import build_metrics, render_metrics
from taxkg_assets.evaluation.report import render_report
from taxkg_assets.evaluation.silence import score_silence
from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.retrieval.answer import ask
from taxkg_assets.retrieval.baselines import build_baselines
from taxkg_assets.retrieval.encoder import RememberingEncoder, SentenceEncoder
from taxkg_assets.retrieval.index import read_index
from taxkg_assets.retrieval.search import DEFAULT_PARTS, Parts, Searcher
from taxkg_assets.retrieval.table_context import build_catalogue
from taxkg_assets.rules.floors import load_floors
from taxkg_assets.settings import Settings

eval_queries = table(
    schemas.EvalQueries,
    build_eval_queries,
    group="evaluation",
    handles={"query_sets": open_query_sets},
    fingerprint=gold_fingerprint,
)

System = Callable[[str], Ranking | list[dict[str, Any]]]
RESULTS = 50


FULL, WITH_GRAPH = "full", "with graph"
NOT_BUILT = ("cross-encoder", "tuned model")
LEFT_OUT: Mapping[str, Parts] = {
    "without router": Parts(router=False),
    "without lay terms": Parts(lay_terms=False),
    "without features": Parts(rerank=False),
    "without parents": Parts(parents=False),
    "without cells": Parts(cells=False),
    "without lexical leg": Parts(lexical=False),
    "without vector leg": Parts(vector=False),
}


def open_systems(searcher: Searcher, settings: Settings) -> Mapping[str, System]:
    """The systems that are compared: legs, their fusion, the whole pipeline, and it with one part changed."""
    own = replace(searcher, encoder=RememberingEncoder(searcher.encoder))

    def open_system(parts: Parts) -> System:
        at_work = own.with_parts(replace(parts, hyde=searcher.parts.hyde))

        def system(question: str) -> Ranking:
            answer = ask(at_work, question, settings=settings, k=RESULTS, is_worded=False)
            rows = [result.model_dump() for result in answer.results]
            return Ranking(results=rows, is_abstained=answer.abstained, confidence=answer.confidence)

        return system

    parted = {name: open_system(parts) for name, parts in {**LEFT_OUT, WITH_GRAPH: Parts(graph=True)}.items()}
    return {**build_baselines(own), FULL: open_system(DEFAULT_PARTS), **parted}


def build_runs_on_index(
    eval_queries: dy.DataFrame[schemas.EvalQueries],
    index: dy.DataFrame[schemas.Index],
    edges: dy.DataFrame[schemas.Edges],
    documents: dy.DataFrame[schemas.Documents],
    tables: dy.DataFrame[schemas.Tables],
    nodes: dy.DataFrame[schemas.Nodes],
    sections: dy.DataFrame[schemas.Sections],
    *,
    settings: Settings,
    encoder: SentenceEncoder,
    store: Store,
    reader: Proposer | None,
) -> dy.DataFrame[schemas.EvalRuns]:
    """One ranked result of one system for one question, on the index that waits for its release."""
    searcher = Searcher(
        index=read_index(open_index(store, index["path"].item()), model_hash=index["model_hash"].item()),
        encoder=encoder,
        edges=edges,
        parts=replace(DEFAULT_PARTS, hyde=settings.llm_hyde),
        proposer=reader,
        open_tables=lambda: build_catalogue(tables=tables, documents=documents, nodes=nodes, sections=sections),
    )
    return build_eval_runs(eval_queries, open_systems(searcher, settings))


def asks_model(home: Home) -> bool:
    """Whether a model takes part in what is found for a reader, or in whether it is shown."""
    settings = home.settings
    return settings.llm_provider != "rules" and (settings.llm_hyde or settings.llm_grading)


def open_judge(home: Home) -> Proposer | None:
    """The model as readers would ask it; here nothing answers in its place where it cannot be asked."""
    return open_proposer(home) if asks_model(home) else None


eval_runs = table(
    schemas.EvalRuns,
    build_runs_on_index,
    group="evaluation",
    stages=("evaluation", "retrieval"),
    handles={"encoder": open_encoder, "store": lambda home: home.store, "reader": open_judge},
    fingerprint=lambda home: digest(
        model_hash(home), home.settings.judging(), proposer_fingerprint(home) if asks_model(home) else ""
    ),
)

ABLATION = (
    Step("vector leg", "bm25", "hybrid"),
    Step("lexical leg", "dense", "hybrid"),
    Step("all that follows the legs", "hybrid", FULL),
    *(Step(name.removeprefix("without "), name, FULL) for name in LEFT_OUT),
    Step("graph expansion", FULL, WITH_GRAPH),
)


def build_report_and_pages(
    eval_queries: dy.DataFrame[schemas.EvalQueries],
    eval_runs: dy.DataFrame[schemas.EvalRuns],
    documents: dy.DataFrame[schemas.Documents],
    *,
    store: Store,
    settings: Settings,
) -> dy.DataFrame[schemas.EvalReport]:
    """One figure of the evaluation with its interval; the report as Markdown and HTML lies in the home's reports."""
    report = build_eval_report(eval_queries, eval_runs, documents=documents)
    ablation = score_ablation(eval_queries, eval_runs, documents=documents, steps=ABLATION)
    pages = render_report(
        report,
        eval_queries=eval_queries,
        ablation=ablation,
        silence=score_silence(eval_queries, eval_runs, system=FULL),
        floors=load_floors("eval_report"),
        not_built=NOT_BUILT,
        guide_at=settings.guidance_relevance / 10,
    )
    store.place.write("reports/evaluation.md", pages.markdown.encode())
    store.place.write("reports/evaluation.html", pages.html.encode())
    return report


eval_report = table(
    schemas.EvalReport,
    build_report_and_pages,
    group="evaluation",
    stages=("evaluation",),
    handles={"store": lambda home: home.store},
)


metrics = table(
    schemas.Metrics,
    build_metrics,
    group="evaluation",
    handles={"times": lambda home: read_times(home.store)},
    after=("index",),
)


SHOWN["metrics"] = lambda store: {
    "figures": table_metadata(render_metrics(schemas.Metrics.cast(store.read("metrics"))))
}


@gate(on="eval_report")
def retrieval_floors(eval_report: dy.DataFrame[schemas.EvalReport]) -> Verdict:
    """The whole pipeline keeps the retrieval floors on every query set that resolves on this corpus."""
    floors = load_floors("eval_report")
    faults = find_retrieval_faults(eval_report, floors, system="full")
    figures = eval_report.filter(pl.col("slice") == "all", pl.col("system") == "full")
    shown = {
        f"{row['query_set']} {row['metric']}": row["value"]
        for row in figures.iter_rows(named=True)
        if row["metric"] in {floor.metric for floor in floors} and row["value"] is not None
    }
    bound = [row for row in figures.iter_rows(named=True) if any(floor.binds(row["query_set"]) for floor in floors)]
    asked = sum(row["n"] for row in bound if row["metric"] == floors[0].metric)
    note = "" if asked else "not measured: no query set written for this corpus; name one in TAXKG_GOLD"
    return Verdict(faults, asked, note=note, figures=shown)
