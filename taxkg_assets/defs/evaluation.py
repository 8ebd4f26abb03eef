"""Assets of the stage `evaluation`: questions, ranked runs, the report; and the gate before a release."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_type_hints

import dagster as dg
import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.defs.home.index_files import open_catalogue, open_whole_index
from taxkg_assets.defs.home.models import defer_base, defer_encoder, is_tuned, model_hash
from taxkg_assets.defs.home.proposers import open_proposer, proposer_fingerprint
from taxkg_assets.defs.home.question_vectors import QuestionVectors
from taxkg_assets.defs.home.rerankers import open_reranker, reranker_hash
from taxkg_assets.defs.home.store import Store, digest
from taxkg_assets.defs.home.timing import read_times
from taxkg_assets.defs.home.token_cache import TokenCache
from taxkg_assets.defs.wiring.extraction_report import show_extraction, write_extraction_report
from taxkg_assets.defs.wiring.gates import gate
from taxkg_assets.defs.wiring.gold import gold_fingerprint, open_labels, open_query_sets
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.table_asset import table
from taxkg_assets.defs.wiring.verdicts import Verdict, table_metadata
from taxkg_assets.evaluation.ablation import Step, score_ablation
from taxkg_assets.evaluation.abstention import score_abstention
from taxkg_assets.evaluation.eval_queries import build_eval_queries
from taxkg_assets.evaluation.eval_report import build_eval_report, find_retrieval_faults
from taxkg_assets.evaluation.eval_runs import Ranking, build_eval_runs
from taxkg_assets.evaluation.family_figures import build_family_figures
from taxkg_assets.evaluation.family_gaps import compare_groups
from taxkg_assets.evaluation.metrics import build_metrics, render_metrics, score_runs
from taxkg_assets.evaluation.optional_components import describe_unmeasured
from taxkg_assets.evaluation.report import render_report
from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.records import PromotionRecord, RankedPassageRecord, iter_records
from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.answering.guardrail import read_confidence
from taxkg_assets.retrieval.encoding.encoder import Encoder
from taxkg_assets.retrieval.encoding.passage_scorer import Reranker
from taxkg_assets.retrieval.encoding.wrapped_encoders import RememberingEncoder
from taxkg_assets.retrieval.index.embeddings import align_vectors, embedded_text, stack_vectors
from taxkg_assets.retrieval.index.levels import build_units
from taxkg_assets.retrieval.index.passage_index import RememberingIndex, SearchIndex
from taxkg_assets.retrieval.index.token_match import build_token_index
from taxkg_assets.retrieval.query.components import DEFAULT_COMPONENTS, SearchComponents
from taxkg_assets.retrieval.ranking.baselines import build_baselines
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.tables.table_context import read_catalogue
from taxkg_assets.rules.floors import load_floors
from taxkg_assets.settings import Settings

eval_queries = table(
    schemas.EvalQueries,
    build_eval_queries,
    group="questions",
    resources={"query_sets": open_query_sets},
    fingerprint=gold_fingerprint,
)

System = Callable[[str], Ranking | list[RankedPassageRecord]]
RESULTS = 50
RECORDED = {"document", "page", "chunk_id", "text", "score"}
"""What is recorded of a result."""


FULL = "full"
WITHOUT_RERANKER, ON_BASE = "without reranker", "on the base model"
WITHOUT_HYDE = "without imagined passage"
DENSE_BASE = "dense, base model"
UNRERANKED = SearchComponents(reranker=False)
"""What a part adds is measured without a reranker, which takes longer than all parts together."""
LEFT_OUT: Mapping[str, SearchComponents] = {
    "without router": replace(UNRERANKED, router=False),
    "without lay terms": replace(UNRERANKED, lay_terms=False),
    "without features": replace(UNRERANKED, rerank=False),
    "without parents": replace(UNRERANKED, parents=False),
    "without cells": replace(UNRERANKED, cells=False),
    "without lexical retriever": replace(UNRERANKED, lexical=False),
    "without vector retriever": replace(UNRERANKED, vector=False),
}


@dataclass(frozen=True, slots=True)
class BaseEncoder:
    """The base encoder from which the encoder in use was trained, with its vectors."""

    encoder: Encoder
    embeddings: dy.DataFrame[schemas.Embeddings]
    summaries: dy.DataFrame[schemas.Summaries]


def open_compared_base(home: Home) -> BaseEncoder | None:
    """Return the base encoder for comparison; None if it is the encoder in use.

    Args:
        home: Home with the vectors of both encoders.
    """
    if not is_tuned(home):
        return None
    embeddings, summaries = (home.store.read(name) for name in ("embeddings", "summaries"))
    return BaseEncoder(defer_base(home), schemas.Embeddings.cast(embeddings), schemas.Summaries.cast(summaries))


def open_systems(searcher: Searcher, settings: Settings, questions: Sequence[str] = ()) -> Mapping[str, System]:
    """Return the systems to compare: retrievers, their fusion, the full search, and the search without one part.

    Args:
        searcher: Opened search.
        settings: Settings of the search.
        questions: Questions of the evaluation, whose tokens are encoded together.
    """
    assert isinstance(searcher.index, SearchIndex), "a build reads the index into memory"
    index = RememberingIndex.wrap(searcher.index)
    shared_searcher = replace(searcher, index=index, encoder=RememberingEncoder(searcher.encoder))
    shared_searcher.encode_questions(questions)

    def open_system(parts: SearchComponents, *, hyde: bool = searcher.parts.hyde) -> System:
        searcher_with_parts = shared_searcher.with_parts(replace(parts, hyde=hyde))

        def system(question: str) -> Ranking:
            answer = ask(searcher_with_parts, question, settings=settings, k=RESULTS, with_text=False)
            rows = [result.model_dump(include=RECORDED) for result in answer.results]
            return Ranking(results=rows, is_abstained=answer.abstained, confidence=answer.confidence)

        return system

    partial_systems = {name: open_system(parts) for name, parts in LEFT_OUT.items() if settings.ablation}
    if searcher.reranker is not None:
        partial_systems[WITHOUT_RERANKER] = open_system(UNRERANKED)
    if searcher.parts.hyde:
        partial_systems[WITHOUT_HYDE] = open_system(UNRERANKED, hyde=False)
    return {**build_baselines(shared_searcher), FULL: open_system(DEFAULT_COMPONENTS), **partial_systems}


def open_base_systems(
    searcher: Searcher, settings: Settings, questions: Sequence[str], *, base: BaseEncoder, token_cache: TokenCache
) -> Mapping[str, System]:
    """Return two systems on the base encoder: vector retrieval alone, and the search without a reranker.

    Args:
        searcher: Search with the encoder in use.
        settings: Settings of the search.
        questions: Questions of the evaluation, whose tokens are encoded together.
        base: Base encoder with its vectors.
        token_cache: Cached tokens of the passages.
    """
    assert isinstance(searcher.index, SearchIndex), "a build reads the index into memory"
    vectors = align_vectors(searcher.index.rows, base.embeddings, model_hash=base.encoder.model_hash)
    rows = searcher.index.rows.with_columns(vector=pl.Series(vectors.tolist(), dtype=pl.List(pl.Float32)))
    units = build_units(rows, summaries=base.summaries).sort("level", "document_id", "chunk_ix", "chunk_id")
    memory = token_cache.read(base.encoder.model_hash)
    texts = rows.select(text=embedded_text())["text"].to_list()
    tokens = build_token_index(texts, encoder=base.encoder, memory=memory)
    token_cache.keep(base.encoder.model_hash, memory)
    index = replace(
        searcher.index,
        vectors=vectors,
        model_hash=base.encoder.model_hash,
        units=units.drop("vector"),
        unit_vectors=stack_vectors(units["vector"]),
        # The columns of the rows are the same for any encoder; only the vectors differ.
        precomputed=replace(searcher.index.precomputed, document_vectors=None, section_means=None, tokens=tokens),
    )
    base_searcher = replace(searcher, index=index, encoder=base.encoder, reranker=None)
    systems = open_systems(base_searcher, settings, questions)
    return {DENSE_BASE: systems["dense"], ON_BASE: systems[FULL]}


# arguments: one per upstream table, as the wiring reads their names
def build_runs_on_index(
    eval_queries: dy.DataFrame[schemas.EvalQueries],
    index: dy.DataFrame[schemas.Index],
    tables: dy.DataFrame[schemas.Tables],
    *,
    settings: Settings,
    encoder: Encoder,
    store: Store,
    reader: Proposer | None,
    reranker: Reranker | None,
    base: BaseEncoder | None,
    questions: QuestionVectors,
) -> dy.DataFrame[schemas.EvalRuns]:
    """Answer the evaluation questions with each system, on the index that was just built and is not released yet.

    Args:
        eval_queries: Questions.
        index: Row of this index.
        tables: Tables with their cells.
        settings: Settings of the search.
        encoder: Encoder of the index.
        store: Files of the home.
        reader: Language model as readers use it; None where rules do its tasks.
        reranker: Reranker in use; None for none.
        base: Base encoder with its vectors; None if it is the encoder in use.
        questions: Cached vectors of the questions.

    Returns:
        One row per system, question and ranked passage.
    """
    wrapped_encoders = [encoder, *([base.encoder] if base is not None else [])]
    encoders = [
        RememberingEncoder(wrapped, questions.read(wrapped.model_hash), questions.read_tokens(wrapped.model_hash))
        for wrapped in wrapped_encoders
    ]
    path = index["path"].item()
    searcher = Searcher(
        index=open_whole_index(store, path, model_hash=index["model_hash"].item()),
        encoder=encoders[0],
        parts=replace(DEFAULT_COMPONENTS, hyde=settings.llm_hyde),
        proposer=reader,
        open_tables=lambda: read_catalogue(open_catalogue(store, path), tables=tables),
        reranker=reranker,
    )
    texts = eval_queries.filter(pl.col("is_resolved"))["query"].to_list()
    systems = open_systems(searcher, settings, texts)
    if base is not None:
        base_with_cache = replace(base, encoder=encoders[1])
        cache = TokenCache(store)
        systems = {**systems, **open_base_systems(searcher, settings, texts, base=base_with_cache, token_cache=cache)}
    runs = build_eval_runs(eval_queries, systems, ablated_systems=LEFT_OUT)
    for remembering_encoder in encoders:
        questions.keep(remembering_encoder.model_hash, remembering_encoder.questions)
        questions.keep_tokens(remembering_encoder.model_hash, remembering_encoder.question_tokens)
    return runs


def uses_model(home: Home) -> bool:
    """Return whether a language model takes part in searching or in the decision to answer.

    Args:
        home: Home with the settings.
    """
    settings = home.settings
    return settings.llm_provider != "rules" and (settings.llm_hyde or settings.llm_grading)


def open_judge(home: Home) -> Proposer | None:
    """Open the language model as readers use it, but without the fallback to rules if it is unavailable.

    Args:
        home: Home with the settings.

    Returns:
        The model; None if none takes part in searches.
    """
    return open_proposer(home) if uses_model(home) else None


def has_question_vectors(home: Home) -> bool:
    """Return whether question vectors of this encoder are cached, so that worker processes need not load the model.

    Args:
        home: Home with the cache.
    """
    cached_vectors = QuestionVectors(home.store)
    encoder_hash = model_hash(home)
    return bool(cached_vectors.read(encoder_hash)) and bool(cached_vectors.read_tokens(encoder_hash))


eval_runs = table(
    schemas.EvalRuns,
    build_runs_on_index,
    group="evaluation",
    after=("embeddings", "summaries"),
    optional=("model", "reranker"),
    divided_table="eval_queries",
    can_be_divided=has_question_vectors,
    resources={
        "encoder": defer_encoder,
        "store": lambda home: home.store,
        "questions": lambda home: QuestionVectors(home.store),
        "reader": open_judge,
        "reranker": open_reranker,
        "base": open_compared_base,
    },
    fingerprint=lambda home: digest(
        model_hash(home),
        reranker_hash(home),
        home.settings.answer_settings(),
        str(home.settings.ablation),
        proposer_fingerprint(home) if uses_model(home) else "",
    ),
)

OPTIONAL = (
    Step("tuned model, vectors alone", DENSE_BASE, "dense"),
    Step("tuned model", ON_BASE, WITHOUT_RERANKER),
    Step("tuned model", ON_BASE, FULL),
    Step("reranker", WITHOUT_RERANKER, FULL),
    Step("imagined passage", WITHOUT_HYDE, WITHOUT_RERANKER),
    Step("imagined passage", WITHOUT_HYDE, FULL),
)
"""SearchComponents that training makes or that use a model; the first one of a component that ran counts."""


def find_steps(systems: Collection[str]) -> list[Step]:
    """Return the comparisons of an ablation: what each component of the search adds.

    Args:
        systems: Names of the systems that answered the questions.

    Returns:
        A comparison for each component before reranking, then one for each optional component of which both systems
        answered.
    """
    all_parts = WITHOUT_RERANKER if WITHOUT_RERANKER in systems else FULL
    parts = [
        Step("vector retriever, retrievers alone", "bm25", "hybrid"),
        Step("lexical retriever, retrievers alone", "dense", "hybrid"),
        Step("everything after the retrievers", "hybrid", all_parts),
        *(Step(name.removeprefix("without "), name, all_parts) for name in LEFT_OUT if name in systems),
    ]
    measured_steps = [step for step in OPTIONAL if {step.system_without, step.system_with} <= set(systems)]
    return [*parts, *{step.component: step for step in reversed(measured_steps)}.values()]


def find_missing(steps: Collection[Step]) -> list[str]:
    """Return the names of the optional components that no comparison measured.

    Args:
        steps: Comparisons that were made, from `find_steps`.
    """
    return sorted({step.component for step in OPTIONAL} - {step.component for step in steps})


family_figures = table(
    schemas.FamilyFigures,
    build_family_figures,
    group="evaluation",
    resources={"labels": open_labels},
    fingerprint=gold_fingerprint,
    after=("document_quality", "fields", "quarantine"),
    publish=write_extraction_report,
    show=show_extraction,
)


@gate(on="family_figures", measures=True)
def left_out_families(family_figures: dy.DataFrame[schemas.FamilyFigures]) -> Verdict:
    """The score on form families left out of rule development stays close to the score on the others."""
    floors = load_floors("family_figures")
    comparison = compare_groups(family_figures, floors)
    judged_metrics = comparison.filter(pl.col("is_judged"))
    figures = {
        f"{row['metric']}, {group}": row[column]
        for row in comparison.iter_rows(named=True)
        for group, column in (("development", "development"), ("left out", "left_out"))
        if row[column] is not None
    }
    note = (
        ""
        if judged_metrics.height
        else "not measured: TAXKG_GOLD has no labels of left-out families for the documents in this home"
    )
    return Verdict(
        comparison.filter(~pl.col("is_within_bound")),
        int(judged_metrics["n_left_out"].sum()),
        note=note,
        figures=figures,
        is_measured=bool(judged_metrics.height),
        tables={"by family": family_figures},
        floors=floors,
    )


def read_trained(store: Store) -> dict[str, list[PromotionRecord]]:
    """Read the trained models with their gains, promoted or not.

    Args:
        store: Tables of the home.

    Returns:
        Rows of `model` and `reranker`, by name of the table.
    """
    columns = list(get_type_hints(PromotionRecord))
    return {
        name: list(iter_records(store.read_or_empty(name).select(columns), PromotionRecord))
        for name in ("model", "reranker")
    }


def build_report_and_pages(
    eval_queries: dy.DataFrame[schemas.EvalQueries],
    eval_runs: dy.DataFrame[schemas.EvalRuns],
    documents: dy.DataFrame[schemas.Documents],
    family_figures: dy.DataFrame[schemas.FamilyFigures],
    *,
    store: Store,
    settings: Settings,
) -> dy.DataFrame[schemas.EvalReport]:
    """Build the evaluation report with confidence intervals, and write it to the home as Markdown and HTML.

    Args:
        eval_queries: Questions.
        eval_runs: Ranked passages of each system.
        documents: Documents, by which confidence intervals are clustered.
        family_figures: Scores of form families, for the report.
        store: Files of the home.
        settings: Settings of the search.

    Returns:
        Rows of `eval_report`.
    """
    scores = score_runs(eval_queries, eval_runs)
    report = build_eval_report(eval_queries, eval_runs, documents=documents, scores=scores)
    steps = find_steps(eval_runs["system"].unique().to_list())
    ablation = score_ablation(eval_queries, eval_runs, documents=documents, steps=steps, scores=scores)
    pages = render_report(
        report,
        eval_queries=eval_queries,
        ablation=ablation,
        abstention=score_abstention(eval_queries, eval_runs, system=FULL, scores=scores),
        floors=load_floors("eval_report"),
        families=compare_groups(family_figures, load_floors("family_figures")),
        unmeasured=describe_unmeasured(find_missing(steps), read_trained(store)),
        guide_at=read_confidence(settings.guidance_relevance),
    )
    store.storage.write("reports/evaluation.md", pages.markdown.encode())
    store.storage.write("reports/evaluation.html", pages.html.encode())
    return report


PLOTTED = frozenset({"recall@5", "ndcg@10", "mrr"})
"""Metrics whose course over the builds the UI plots."""


def show_report(store: Store) -> dict[str, dg.MetadataValue]:
    """Return the evaluation report for the UI: figures by system, ablation, abstention, and the file with its plots.

    The figures of the full search are numbers of their own, which the UI plots over time.

    Args:
        store: Files of the home.
    """
    report = store.storage.read("reports/evaluation.md") or b""
    figures = store.read("eval_report").filter(pl.col("slice") == "all", pl.col("system") == FULL)
    return {
        "full search": table_metadata(figures.drop("slice", "system", "p_value")),
        **{
            f"{row['query_set']} {row['metric']}": dg.MetadataValue.float(round(row["value"], 4))
            for row in figures.iter_rows(named=True)
            if row["metric"] in PLOTTED and row["value"] is not None
        },
        "report": dg.MetadataValue.md(report.decode()),
        "report with plots": dg.MetadataValue.path(store.storage.uri_of("reports/evaluation.html")),
    }


eval_report = table(
    schemas.EvalReport,
    build_report_and_pages,
    group="evaluation",
    optional=("model", "reranker"),
    resources={"store": lambda home: home.store},
    fingerprint=lambda home: digest(json.dumps(read_trained(home.store), sort_keys=True)),
    show=show_report,
)


metrics = table(
    schemas.Metrics,
    build_metrics,
    group="evaluation",
    resources={"times": lambda home: read_times(home.store)},
    after=("index",),
    show=lambda store: {"figures": table_metadata(render_metrics(schemas.Metrics.cast(store.read("metrics"))))},
)


@gate(on="eval_report", measures=True)
def retrieval_floors(eval_report: dy.DataFrame[schemas.EvalReport]) -> Verdict:
    """The full search reaches the floors for retrieval on every query set whose gold passages are in this home."""
    floors = load_floors("eval_report")
    faults = find_retrieval_faults(eval_report, floors, system="full")
    figures = eval_report.filter(pl.col("slice") == "all", pl.col("system") == "full")
    shown_figures = {
        f"{row['query_set']} {row['metric']}": row["value"]
        for row in figures.iter_rows(named=True)
        if row["metric"] in {floor.metric for floor in floors} and row["value"] is not None
    }
    bound_figures = [
        row for row in figures.iter_rows(named=True) if any(floor.binds(row["query_set"]) for floor in floors)
    ]
    count = sum(row["n"] for row in bound_figures if row["metric"] == floors[0].metric)
    note = "" if count else "not measured: no query set was written for these documents; name one in TAXKG_GOLD"
    return Verdict(faults, count, note=note, figures=shown_figures, is_measured=bool(count), floors=floors)
