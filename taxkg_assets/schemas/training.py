"""Tables of the training: questions, pairs, negatives, trained models."""

from __future__ import annotations

import dataframely as dy

from taxkg_assets.schemas.columns import fraction_column, key_column, one_of, strings_column, text_column
from taxkg_assets.schemas.values import (
    NEGATIVE_SOURCES,
    PAIR_KINDS,
    POLARITIES,
    QUESTION_SOURCES,
    REGISTERS,
    RERANKERS,
    SPLITS,
)


class ScenarioQueries(dy.Schema):
    """One question that a user might ask, and the passage that answers it."""

    query_id = key_column("`<generator>:<hash of question and passage>`; of a written question its own id")
    query = text_column("the question")
    node_id = text_column("paragraph or table that answers it")
    chunk_id = text_column("passage that holds the answer")
    other_positive_ids = strings_column("other chunks that answer it as well, according to its author")
    document_id = text_column("document of the passage")
    family = text_column("form family of the document; the split is by family")
    register = dy.String(regex=one_of(REGISTERS), description=" | ".join(REGISTERS))
    generator = text_column("rule that made the question, `model`, or `written`")
    evidence = text_column("words of the passage that the question was generated from; empty for a written question")
    round_trip_rank = dy.Int32(min=1, description="rank of the question's own passage by the better retriever")
    lexical_rank = dy.Int32(min=1, description="rank by BM25 alone")
    dense_rank = dy.Int32(min=1, description="rank of the question's own passage by the encoder")
    repeated_eval_query = text_column(
        "evaluation question that it repeats, so that no pair is made of it; mostly empty"
    )
    created_by = dy.String(regex=one_of(QUESTION_SOURCES), description=" | ".join(QUESTION_SOURCES))


class Pairs(dy.Schema):
    """One training pair: a query (a question or short text) and its positive passage."""

    pair_id = key_column("`<kind>:<hash of both texts>`")
    kind = dy.String(regex=one_of(PAIR_KINDS), description=" | ".join(PAIR_KINDS))
    query = text_column("query: a question, a heading, a sentence that refers to something, a term")
    passage = text_column("positive passage as the index embeds it: context, then text")
    query_node_id = text_column("node that the query is from; null for a question", nullable=True)
    passage_node_id = text_column("node that the passage is from")
    chunk_id = text_column("passage")
    other_positive_ids = strings_column("other chunks that answer the query as well: never its negatives")
    document_id = text_column("document of the passage")
    query_family = text_column("form family that the query is from")
    family = text_column("form family of the passage's document; the split is by family")
    split = dy.String(regex=one_of(SPLITS), description=" | ".join(SPLITS))
    relation = text_column("relation of the edge that the pair is made from; otherwise empty")
    polarity = dy.String(
        regex=one_of(POLARITIES), description="positive, or negative if the sentence negates or forbids"
    )
    weight = fraction_column("weight of the pair in the training loss: the confidence of its source")
    source = text_column("edge (`source>relation>target@start`), question or rule that the pair is made from")
    near_duplicate_group = text_column("chunk id of the first passage of its group of near-duplicates")
    is_valid_pair = dy.Bool(nullable=True, description="the judge's verdict; null outside the judged sample")
    judged_by = text_column("rules or a model's name; empty outside the judged sample")
    judgment = text_column("the judge's reason; empty outside the judged sample")


class HardNegatives(dy.Schema):
    """One passage that resembles a pair's positive passage and does not answer its query."""

    pair_id = key_column("pair")
    rank = dy.Int32(primary_key=True, min=0, description="0-based rank, the hardest negative first")
    node_id = text_column("paragraph or table of the passage")
    chunk_id = text_column("passage")
    document_id = text_column("document of the passage")
    family = text_column("form family of the document")
    passage = text_column("the passage as the index embeds it")
    source = dy.String(regex=one_of(NEGATIVE_SOURCES), description=" | ".join(NEGATIVE_SOURCES))
    score = dy.Float64(description="cosine of the query and this passage")
    positive_score = dy.Float64(description="cosine of the query and the positive passage")
    similarity_to_positive = dy.Float64(description="cosine of this passage and the positive passage")
    distance = dy.Int32(nullable=True, min=1, description="steps in the graph from the positive passage; null beyond 3")
    reason = text_column("edge or rule that it comes from, e.g. the `excludes` edge; empty for a search result")
    is_false_negative = dy.Bool(
        nullable=True,
        description="the judge's verdict whether the passage answers the query; null outside the judged sample",
    )
    judged_by = text_column("rules or a model's name; empty outside the judged sample")
    judgment = text_column("the judge's reason; empty outside the judged sample")


class Model(dy.Schema):
    """One trained encoder, evaluated against its base on held-out form families."""

    name = key_column("`encoder-` and the beginning of its hash")
    path = text_column("folder, relative to the home")
    base = text_column("base model that it was tuned from")
    base_hash = text_column("SHA-256 of the base's weights, shortened")
    sha256 = text_column("SHA-256 of the weights")
    settings = text_column("JSON object: settings of the training")
    pairs = dy.Int32(min=1, description="number of training pairs")
    steps = dy.Int32(min=0, description="number of training steps, until the end or early stopping")
    alpha = fraction_column("weight of the tuned parameters when interpolated with the base model (1 = fully tuned)")
    dev_questions = dy.Int32(min=1, description="number of development questions")
    base_score = fraction_column("nDCG@10 of the base on the development questions")
    candidate_score = fraction_column("nDCG@10 of this model on the same questions")
    gain = dy.Float64(description="mean difference of scores, this model minus the base")
    gain_low = dy.Float64(
        nullable=True,
        description="lower end of its 95 % confidence interval, clustered by family; null for a single family",
    )
    gain_high = dy.Float64(nullable=True, description="upper end")
    gain_by_kind = text_column("JSON object: gain by kind of question")
    is_chosen = dy.Bool(description="whether builds use this encoder instead of the base")
    reason = text_column("why it was promoted or not")


class Reranker(dy.Schema):
    """One reranker, evaluated in the pipeline against the pipeline without it."""

    name = key_column("`late` or `cross`, and the beginning of its hash")
    kind = dy.String(regex=one_of(RERANKERS), description=" | ".join(RERANKERS))
    path = text_column("folder, relative to the home; empty for the base model and for a model by name")
    base = text_column("model that it is, or base that it was tuned from")
    sha256 = text_column("SHA-256 of the weights; empty for a model by name")
    settings = text_column("JSON object: settings of the training")
    depth = dy.Int32(min=1, description="number of passages that it reranks")
    weight = dy.Float64(min=0, description="weight with which the reranker's score is added to the ranker's")
    dev_questions = dy.Int32(min=1, description="number of development questions")
    base_score = fraction_column("nDCG@10 of the pipeline without it")
    candidate_score = fraction_column("nDCG@10 of the pipeline with it")
    gain = dy.Float64(description="mean difference of scores, with the reranker minus without it")
    gain_low = dy.Float64(
        nullable=True,
        description="lower end of its 95 % confidence interval, clustered by family; null for a single family",
    )
    gain_high = dy.Float64(nullable=True, description="upper end")
    gain_by_kind = text_column("JSON object: gain by kind of question")
    is_chosen = dy.Bool(description="whether builds use this reranker")
    reason = text_column("why it was promoted or not")
