"""Tables of the evaluation: gold questions, ranked runs, figures."""

from __future__ import annotations

import dataframely as dy

from taxkg_assets.schemas.columns import fraction_column, key_column, one_of, page_column, text_column
from taxkg_assets.schemas.values import QUERY_TYPES

_PASSAGE = {"document": dy.String(), "page": dy.Int32(nullable=True), "quote": dy.String()}


class EvalQueries(dy.Schema):
    """One evaluation question with its gold passages and near misses resolved on this corpus."""

    query_set = key_column("name of the set: file name without extension, and the folder it came from")
    query_id = key_column("id within the set")
    query = text_column("the question")
    type = dy.String(regex=one_of(QUERY_TYPES), description=" | ".join(QUERY_TYPES))
    gold = dy.List(dy.Struct({**_PASSAGE, "grade": dy.Int32()}), description="passages that answer the question")
    near_miss = dy.List(dy.Struct({**_PASSAGE, "why": dy.String()}), description="similar but wrong passages")
    coverage = dy.Float64(
        nullable=True, min=0.0, max=1.0, description="minimum share of passages of grade 2 or 3 to retrieve"
    )
    is_resolved = dy.Bool(description="whether every gold passage is in this home; other rows are not scored")
    note = text_column("why a question is not resolved")


class EvalRuns(dy.Schema):
    """One ranked result of one system for one question."""

    system = key_column("bm25, dense, hybrid, full, …")
    query_set = key_column("set of questions that was evaluated")
    query_id = key_column("question")
    rank = dy.Int32(
        primary_key=True, min=0, description="1-based rank; 0 in the row of an abstention, which has no results"
    )
    document_id = text_column("document", nullable=True)
    page = page_column("1-based PDF page where the passage begins", nullable=True)
    chunk_id = text_column("chunk that was ranked", nullable=True)
    text = text_column("text of the passage, as a language model would get it")
    score = dy.Float64(nullable=True, description="score of the system")
    is_abstained = dy.Bool(description="whether the system abstained")
    confidence = fraction_column("probability that the answer contains what is needed")


class EvalReport(dy.Schema):
    """One figure of the evaluation with its interval."""

    system = key_column("bm25, dense, hybrid, full, …")
    query_set = key_column("set of questions that was evaluated")
    slice = key_column("all, or a query type")
    metric = key_column("recall@5, mrr, …")
    value = dy.Float64(nullable=True, description="mean over the scored questions of the slice; null if there are none")
    low = dy.Float64(nullable=True, description="lower end of the 95 % bootstrap interval, clustered by document")
    high = dy.Float64(nullable=True, description="upper end of that interval")
    n = dy.Int32(min=0, description="questions that the value is computed from")
    n_dropped = dy.Int32(min=0, description="questions of the slice that could not be scored")
    p_value = dy.Float64(
        nullable=True, description="p-value of the paired randomization test against the strongest baseline"
    )


class FamilyFigures(dy.Schema):
    """One figure on one family of documents, and whether labels of that family support the rules."""

    metric = key_column("role_accuracy, structural_f1, ownership_accuracy, cell_accuracy, recall@5 or mrr")
    group = key_column("development: labels of the family support rules; left out: none do")
    family = key_column("a form with its instructions, or a publication, in all its revisions; all for the whole group")
    value = dy.Float64(
        nullable=True, min=0.0, max=1.0, description="value of the metric; null if it is undefined on these rows"
    )
    n = dy.Int32(min=1, description="number of labeled rows or questions behind the value")


class Metrics(dy.Schema):
    """One metric of the whole pipeline: size, quality or time."""

    metric = key_column("name of the metric, such as `chunks` or `sufficiency@3`")
    slice = key_column("all, a query set, or a document that was cut by meaning")
    value = dy.Float64(
        nullable=True, description="value of the metric; null for a time, which is `ended_at` minus `began_at`"
    )
    unit = text_column("count, tokens, share or time")
    k = dy.Int32(
        nullable=True, min=1, description="number of results that a retrieval metric counts; null for other metrics"
    )
    n = dy.Int32(min=0, description="chunks, questions or documents that the value is computed from")
    note = text_column("what to know about the value; may be empty")
    began_at = dy.Datetime(time_unit="us", time_zone="UTC", nullable=True, description="when the work began")
    ended_at = dy.Datetime(
        time_unit="us",
        time_zone="UTC",
        nullable=True,
        description="when the work ended: `began_at` plus the time spent",
    )
