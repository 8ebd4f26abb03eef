"""The evaluation from the command line: figures of the home's report, or of the release on another file of gold."""

from __future__ import annotations

import json
from pathlib import Path

import dataframely as dy
import polars as pl

from taxkg_assets.defs.evaluation import FULL, find_missing, find_steps, open_systems, read_trained
from taxkg_assets.defs.home.store import Store
from taxkg_assets.evaluation.ablation import score_ablation
from taxkg_assets.evaluation.abstention import score_abstention
from taxkg_assets.evaluation.answer_metrics import Reply
from taxkg_assets.evaluation.answer_report import render_answers, score_replies
from taxkg_assets.evaluation.eval_queries import build_eval_queries
from taxkg_assets.evaluation.eval_report import build_eval_report
from taxkg_assets.evaluation.eval_runs import build_eval_runs
from taxkg_assets.evaluation.optional_components import describe_unmeasured
from taxkg_assets.evaluation.query_log import render_usage, summarize_usage
from taxkg_assets.evaluation.report import render_report
from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.answering.guardrail import read_confidence
from taxkg_assets.schemas import Anchors, Documents, EvalQueries, Feedback, QueryLog, Sections
from taxkg_assets.serving.batch import BatchError
from taxkg_assets.serving.released import Released, open_release
from taxkg_assets.settings import Settings


def read_report(home: str) -> tuple[pl.DataFrame, str]:
    """Read the evaluation of the last build.

    Args:
        home: Folder or bucket address of the home.

    Returns:
        Rows of `eval_report`, and the address of the report page.
    """
    store = Store(home)
    return store.read("eval_report"), store.storage.uri_of("reports/evaluation.html")


def report_usage(home: str) -> tuple[dict[str, int | float], str, str]:
    """Summarize the query log of a home.

    Args:
        home: Folder or bucket address of the home.

    Returns:
        Figures by name, the report as text, and the address where it was written.
    """
    store = Store(home)
    log = QueryLog.cast(store.read_or_empty("query_log"))
    feedback = Feedback.cast(store.read_or_empty("feedback"))
    text = render_usage(log, feedback)
    store.storage.write("reports/usage.md", text.encode())
    return summarize_usage(log, feedback), text, store.storage.uri_of("reports/usage.md")


def evaluate_answers(home: str) -> tuple[pl.DataFrame, str]:
    """Answer the home's evaluation questions from the release, score the answers, and write a report.

    Args:
        home: Folder or bucket address of the home.

    Returns:
        Figures by query set, type and metric, and the address of the page with the report.
    """
    released = open_release(home)
    queries = EvalQueries.cast(released.store.read("eval_queries"))
    # The questions may be newer than the release: it answers for the documents that it contains.
    served_documents = set(released.table("documents")["document_id"])
    is_known = [served_documents.issuperset(passage["document"] for passage in gold) for gold in queries["gold"]]
    answerable = EvalQueries.cast(queries.filter(pl.Series(is_known, dtype=pl.Boolean)))
    return _report_answers(released, answerable, name="answers")


def _report_answers(released: Released, queries: dy.DataFrame[EvalQueries], *, name: str) -> tuple[pl.DataFrame, str]:
    """Return the figures of the answers to resolved questions; the page is in the home's reports.

    Answers are quoted, also where a language model would word them for readers: a measurement makes no paid calls.
    """
    settings = Settings(llm_answers=False, llm_grading=False)
    replies: dict[str, dict[str, Reply]] = {}
    for row in queries.filter(pl.col("is_resolved")).iter_rows(named=True):
        answer = ask(released.searcher, row["query"], settings=settings)
        reply = Reply(text=answer.answer, confidence=answer.confidence, is_abstained=answer.abstained)
        replies.setdefault(row["query_set"], {})[row["query_id"]] = reply
    figures = score_replies(queries, replies, released.table("documents"))
    pages = render_answers(queries, replies, figures, title="Answer report")
    storage = released.store.storage
    storage.write(f"reports/{name}.html", pages.html.encode())
    storage.write(f"reports/{name}.md", pages.markdown.encode())
    return figures, storage.uri_of(f"reports/{name}.html")


def evaluate_gold(home: str, gold: Path) -> tuple[pl.DataFrame, str]:
    """Evaluate the release on a file of labeled questions.

    Args:
        home: Folder or bucket address of the home.
        gold: File of questions with gold passages, JSON Lines.

    Returns:
        Figures of retrieval and of answers, and the address of the page that shows those of retrieval.

    Raises:
        BatchError: The file is not JSON Lines.
        LabelError: A row lacks a field, or an id occurs twice.
    """
    released = open_release(home)
    try:
        rows = [json.loads(line) for line in gold.read_text(encoding="utf8").splitlines() if line.strip()]
    except json.JSONDecodeError as broken:
        raise BatchError(f"{gold}: not JSON Lines ({broken}). Correct the file and run it again.") from broken
    documents = Documents.cast(released.table("documents"))
    queries = build_eval_queries(
        {gold.stem: rows},
        documents,
        sections=Sections.cast(released.table("sections")),
        anchors=Anchors.cast(released.table("anchors")),
    )
    runs = build_eval_runs(queries, open_systems(released.searcher, Settings()))
    report = build_eval_report(queries, runs, documents=documents)
    steps = find_steps(runs["system"].unique().to_list())
    ablation = score_ablation(queries, runs, documents=documents, steps=steps)
    pages = render_report(
        report,
        eval_queries=queries,
        ablation=ablation,
        abstention=score_abstention(queries, runs, system=FULL),
        unmeasured=describe_unmeasured(find_missing(steps), read_trained(released.store)),
        guide_at=read_confidence(Settings().guidance_relevance),
        title=f"Retrieval on {gold.name}",
    )
    name = f"reports/evaluation-{gold.stem}"
    storage = released.store.storage
    storage.write(f"{name}.html", pages.html.encode())
    storage.write(f"{name}.md", pages.markdown.encode())
    answer_rows, _ = _report_answers(released, queries, name=f"answers-{gold.stem}")
    return pl.concat([report, answer_rows], how="diagonal"), storage.uri_of(f"{name}.html")
