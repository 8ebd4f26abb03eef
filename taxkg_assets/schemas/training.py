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
    also = strings_column("other passages that answer it as well, as its writer says")
    document_id = text_column("document of the passage")
    family = text_column("form family of the document; a split never cuts through one")
    register = dy.String(regex=one_of(REGISTERS), description=" | ".join(REGISTERS))
    generator = text_column("rule that made the question, `model`, or `written`")
    evidence = text_column("words of the passage that the question was made from; empty for a written one")
    round_trip_rank = dy.Int32(min=1, description="rank of the own passage by the better of both")
    lexical_rank = dy.Int32(min=1, description="rank by BM25 alone")
    dense_rank = dy.Int32(min=1, description="rank by the encoder alone")
    overlaps = text_column("evaluation question that it repeats, and why no pair is made of it; empty for nearly all")
    created_by = dy.String(regex=one_of(QUESTION_SOURCES), description=" | ".join(QUESTION_SOURCES))


class Pairs(dy.Schema):
    """One question or short text and the passage that belongs to it, as a model learns them."""

    pair_id = key_column("`<kind>:<hash of both texts>`")
    kind = dy.String(regex=one_of(PAIR_KINDS), description=" | ".join(PAIR_KINDS))
    query = text_column("short side: a question, a heading, a sentence that points, a term")
    passage = text_column("long side as the index embeds it: context, then text")
    query_node_id = text_column("node that the short side is from; null where it is a question", nullable=True)
    passage_node_id = text_column("node that the long side is from")
    chunk_id = text_column("passage")
    also = strings_column("other passages that belong to the short side as well: never negatives of it")
    document_id = text_column("document of the passage")
    query_family = text_column("form family that the short side is from")
    family = text_column("form family of the passage's document; a split never cuts through one")
    split = dy.String(regex=one_of(SPLITS), description=" | ".join(SPLITS))
    relation = text_column("relation of the edge that made the pair; empty where none did")
    polarity = dy.String(regex=one_of(POLARITIES), description="negative where the sentence negates or forbids")
    weight = fraction_column("what the pair counts in training: the confidence of what made it, shared among its twins")
    source = text_column("edge (`source>relation>target@start`), question or rule that made the pair")
    twin_group = text_column("passages that say the same in other years and places: id of the first of them")
    is_sound = dy.Bool(nullable=True, description="the judge's verdict; null outside the judged sample")
    judged_by = text_column("rules or a model's name; empty outside the judged sample")
    judgement = text_column("the judge's reason; empty outside the judged sample")


class HardNegatives(dy.Schema):
    """One passage that looks as if it belonged to a pair's short side, and does not."""

    pair_id = key_column("pair")
    rank = dy.Int32(primary_key=True, min=0, description="0-based order, the hardest first")
    node_id = text_column("paragraph or table of the passage")
    chunk_id = text_column("passage")
    document_id = text_column("document of the passage")
    family = text_column("form family of the document")
    passage = text_column("the passage as the index embeds it")
    source = dy.String(regex=one_of(NEGATIVE_SOURCES), description=" | ".join(NEGATIVE_SOURCES))
    score = dy.Float64(description="cosine of the short side and this passage")
    positive_score = dy.Float64(description="cosine of the short side and the pair's own passage")
    likeness = dy.Float64(description="cosine of this passage and the pair's own")
    distance = dy.Int32(nullable=True, min=1, description="steps in the graph from the pair's passage; null beyond 3")
    reason = text_column("edge or rule that names it, e.g. the `excludes` that negates it; empty for a search result")
    is_false = dy.Bool(nullable=True, description="the judge: it answers after all; null outside the judged sample")
    judged_by = text_column("rules or a model's name; empty outside the judged sample")
    judgement = text_column("the judge's reason; empty outside the judged sample")


class Model(dy.Schema):
    """One trained encoder, measured against its base on form families that it has not seen."""

    name = key_column("`encoder-` and the beginning of its hash")
    path = text_column("folder, relative to the home")
    base = text_column("model that it was tuned from")
    base_hash = text_column("SHA-256 of the base's weights, shortened")
    sha256 = text_column("SHA-256 of the weights")
    settings = text_column("JSON object: how it was trained")
    pairs = dy.Int32(min=1, description="pairs it learned from")
    steps = dy.Int32(min=0, description="steps of training, to the end or to the early stop")
    alpha = fraction_column("share of the tuned weights in the mixture with the base")
    dev_questions = dy.Int32(min=1, description="development questions")
    base_score = fraction_column("nDCG@10 of the base on the development questions")
    own_score = fraction_column("nDCG@10 of this model on the same")
    gain = dy.Float64(description="mean difference")
    gain_low = dy.Float64(nullable=True, description="lower end of its interval, by families; null if there is but one")
    gain_high = dy.Float64(nullable=True, description="upper end")
    gain_by_kind = text_column("JSON object: gain by kind of question")
    is_chosen = dy.Bool(description="in use from the next build on; otherwise the base is kept")
    reason = text_column("why it was chosen or not")


class Reranker(dy.Schema):
    """One model that looks at the best passages a second time, measured in the pipeline against doing without."""

    name = key_column("`late` or `cross`, and the beginning of its hash")
    kind = dy.String(regex=one_of(RERANKERS), description=" | ".join(RERANKERS))
    path = text_column("folder, relative to the home; empty where it is the base, or a model by name")
    base = text_column("model that it is, or was tuned from")
    sha256 = text_column("SHA-256 of the weights; empty for a model by name")
    settings = text_column("JSON object: how it was trained")
    depth = dy.Int32(min=1, description="passages that it looks at")
    weight = dy.Float64(min=0, description="what its score counts beside the ranker's")
    dev_questions = dy.Int32(min=1, description="development questions")
    base_score = fraction_column("nDCG@10 of the pipeline without it")
    own_score = fraction_column("nDCG@10 of the pipeline with it")
    gain = dy.Float64(description="mean difference")
    gain_low = dy.Float64(nullable=True, description="lower end of its interval, by families; null if there is but one")
    gain_high = dy.Float64(nullable=True, description="upper end")
    gain_by_kind = text_column("JSON object: gain by kind of question")
    is_chosen = dy.Bool(description="in use from the next build on")
    reason = text_column("why it was chosen or not")
