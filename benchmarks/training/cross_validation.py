"""One fold: tune on the other families, ask the held out ones, write every question's figures down."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.in_memory import index_in_memory, replace_vectors
from benchmarks.labeled import LabeledQuestion
from benchmarks.training.corpus import Corpus
from benchmarks.training.folds import Choice, Fold, choose_examples, filter_examples, find_family
from benchmarks.training.near_misses import (
    find_texts,
    weight_ranks,
    weight_terms,
    weight_tokens,
    weight_vectors,
)
from taxkg_assets.evaluation.metrics import Result, find_required, score_query
from taxkg_assets.evaluation.near_misses import NearMiss
from taxkg_assets.retrieval.encoding.encoder import Vectors
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.encoding.passage_scorer import Reranker
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder
from taxkg_assets.retrieval.encoding.wrapped_encoders import RememberingEncoder
from taxkg_assets.retrieval.index.token_match import build_token_index
from taxkg_assets.retrieval.ranking.baselines import build_baselines
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.training.examples import Example

METRICS = ("ndcg@10", "recall@5", "mrr", "hit@1", "near_miss@1", "wrong_document@1")
RESULTS = 50
FORMAT = 2
"""Of what a fold writes down: files of an older one are not read."""
RIDGE = 0.3
"""How strongly the map from the base's vectors to tuned ones is tied to small weights."""
System = Callable[[str], Sequence[Result]]


@dataclass(frozen=True)
class Tuned:
    """What a fold's training gave: an encoder, a reranker if there is one, and how it went."""

    encoder: SentenceEncoder
    reranker: Reranker | None
    facts: Mapping[str, Any]


class Tuner(Protocol):
    """Whatever trains on examples; `dev` is of families that training may see, for its own choices."""

    def __call__(self, train: Sequence[Example], dev: Sequence[Example], *, seed: int, out: Path) -> Tuned: ...

    @property
    def identity(self) -> str: ...


@dataclass(frozen=True)
class Study:
    """What all folds share."""

    corpus: Corpus
    questions: Sequence[LabeledQuestion]
    families: Mapping[str, str]
    examples: Sequence[Example]
    dev_families: frozenset[str]
    query_families: Mapping[str, str]
    near_misses: Sequence[NearMiss]
    choice: Choice
    written: frozenset[str] = frozenset()
    """Ids of the pairs with a written question."""
    pool: int = 0
    """Passages of each retriever that a fold's questions are ranked against, besides gold; 0 for all there are."""
    repeats: Mapping[str, int] = field(default_factory=dict)
    """Pairs of each kind that are not among the examples, as they repeat a question of any fold."""

    @property
    def family_of_text(self) -> dict[str, str]:
        """Family of each passage of the index as it is encoded."""
        names = [self.families[document_id] for document_id in self.corpus.rows["document_id"]]
        return dict(zip(self.corpus.passages, names, strict=True))


def run_fold(study: Study, fold: Fold, *, tune: Tuner, seed: int, out: Path) -> dict[str, Any]:
    """Train and ask, unless the same was done before: then read what was written.

    Returns: the fold's figures, which `out` then holds as JSON too; no text of a document is among them.
    """
    queried = [question for question in study.questions if question["id"] in set(fold.questions)]
    kept, removed = filter_examples(
        study.examples,
        fold=fold,
        queried=queried,
        family_of_text=study.family_of_text,
        query_families=study.query_families,
    )
    train, dev = choose_examples(kept, dev_families=study.dev_families, choice=study.choice, written=study.written)
    run = identify_run(tune, choice=study.choice, pool=study.pool)
    identity = _identify(train, dev, queried, run=run, seed=seed)
    path = out / f"fold-{fold.number}-seed-{seed}.json"
    if path.exists() and (held_out := json.loads(path.read_text(encoding="utf8")))["identity"] == identity:
        return dict(held_out)
    began = time.monotonic()
    tuned = tune(train, dev, seed=seed, out=out / f"model-{fold.number}-{seed}")
    trained = time.monotonic() - began
    near = [item for item in study.near_misses if study.families[item.document_id] in fold.families]
    pool = find_pool(study, queried, near)
    base, other = open_searchers(study.corpus, tuned, pool=pool)
    systems = open_systems(base, other, tuned=tuned)
    found = {
        "identity": identity,
        "run": run,
        "fold": fold.number,
        "seed": seed,
        "families": list(fold.families),
        "examples": len(train),
        "kinds": dict(Counter(example.kind for example in train)),
        "dev": len(dev),
        "pool": len(pool),
        "removed": removed,
        "repeats": dict(study.repeats),
        "training_s": trained,
        "training": dict(tuned.facts),
        "scores": [row for question in queried for row in score_systems(question, systems, families=study.families)],
        "unseen": [question["id"] for question in queried if _is_unseen(question, fold, study.families)],
        "near_misses": [_describe(item, study.families[item.document_id]) for item in near],
        "margins": weight_systems(study.corpus, near, base=base, other=other, tuned=tuned) if near else {},
        "seconds": time.monotonic() - began,
    }
    out.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(found) + "\n", encoding="utf8")
    part.replace(path)
    return found


def find_pool(study: Study, queried: Sequence[LabeledQuestion], near: Sequence[NearMiss]) -> list[int]:
    """Rows that the tuned encoder encodes: what either retriever brings up for any question of the fold, and gold.

    Of the others a near vector is enough: what neither retriever finds for any of many questions would hardly become
    the best answer to one; the base has all rows to be right about, and to be wrong with.
    """
    corpus = study.corpus
    if not study.pool:
        return list(range(len(corpus.passages)))
    index, encoder = corpus.index, corpus.searcher.encoder
    rows = {corpus.row_of[chunk_id] for item in near for chunk_id in (item.right, item.near)}
    places = {(passage["document"], passage["page"]) for question in queried for passage in question["gold"]}
    on_page = corpus.rows.select("document_id", "page").iter_rows()
    rows |= {row for row, place in enumerate(on_page) if place in places}
    for question in queried:
        by_vector = index.vectors @ encoder.encode_query(question["query"])
        by_term = index.lexical.score_rows(find_terms(question["query"]))
        for scores in (by_vector, by_term):
            rows |= set(np.argsort(-scores, kind="stable")[: study.pool].tolist())
    return sorted(rows)


def open_searchers(corpus: Corpus, tuned: Tuned, *, pool: Sequence[int]) -> tuple[Searcher, Searcher]:
    """The search as released, and the same with the tuned encoder's vectors; questions are encoded once."""
    base = replace(corpus.searcher, encoder=RememberingEncoder(corpus.searcher.encoder))
    found = tuned.encoder.encode_passages([corpus.passages[row] for row in pool])
    index = replace_vectors(
        corpus.index,
        fill_vectors(corpus.index.vectors, found, pool=pool),
        model_hash=tuned.encoder.model_hash,
        tokens=build_token_index(corpus.passages, encoder=tuned.encoder) if corpus.index.tokens is not None else None,
    )
    return base, replace(base, index=index, encoder=RememberingEncoder(tuned.encoder))


def fill_vectors(base: Vectors, tuned: Vectors, *, pool: Sequence[int]) -> Vectors:
    """Tuned vectors of all rows: those of the pool as encoded, the others by the linear map that fits the pool best.

    Sections and documents are the mean directions of their passages, so that none may be blank. Where the lowest layers
    are kept the map is near: of passages that it was not fitted on the cosine with the true vector is 0.98.
    """
    known = base[list(pool)].astype(np.float64)
    moved = np.linalg.solve(known.T @ known + RIDGE * np.eye(known.shape[1]), known.T @ tuned.astype(np.float64))
    vectors = base @ moved.astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    vectors[list(pool)] = tuned
    filled: Vectors = vectors
    return filled


def open_systems(base: Searcher, other: Searcher, *, tuned: Tuned) -> dict[str, System]:
    """Vectors alone and the whole search, with the base and the tuned encoder, with and without the reranker."""
    systems = {
        "dense base": _open_dense(base),
        "dense tuned": _open_dense(other),
        "full base": _open_full(base),
        "full tuned": _open_full(other),
    }
    if tuned.reranker is not None:
        systems["dense tuned + rerank"] = _open_dense(other, tuned.reranker)
        systems["full base + rerank"] = _open_full(replace(base, reranker=tuned.reranker))
        systems["full tuned + rerank"] = _open_full(replace(other, reranker=tuned.reranker))
    return systems


def _open_dense(searcher: Searcher, reranker: Reranker | None = None) -> System:
    """Nearest vectors; the first N in the order of a reranker, which has no other score to be combined with."""
    dense = build_baselines(searcher)["dense"]
    row_of = {chunk_id: row for row, chunk_id in enumerate(index_in_memory(searcher).rows["chunk_id"])}

    def find(query: str) -> list[Result]:
        found = dense(query)
        if reranker is not None:
            first = found[: reranker.depth]
            scores = reranker.scorer.score(query, [searcher.read_passage(row_of[row["chunk_id"]]) for row in first])
            found[: reranker.depth] = [first[place] for place in np.argsort(-scores, kind="stable")]
        return [Result(row["document_id"], row["text"]) for row in found]

    return find


def _open_full(searcher: Searcher) -> System:
    return lambda query: [Result(row.document, row.text) for row in searcher.assemble(searcher.rank(query), k=RESULTS)]


def score_systems(
    question: LabeledQuestion, systems: Mapping[str, System], *, families: Mapping[str, str]
) -> list[dict[str, Any]]:
    """One row per system and metric; `family` is the form family of what the question asks for, held out with it."""
    rows = []
    for name, system in systems.items():
        scores = score_query(question, system(question["query"]), is_abstained=False)
        rows += [
            {
                "system": name,
                "query_id": question["id"],
                "type": question["type"],
                "family": find_family(question, families),
                "metric": metric,
                "value": scores.get(metric),
            }
            for metric in METRICS
        ]
    return rows


def weight_systems(
    corpus: Corpus, near: Sequence[NearMiss], *, base: Searcher, other: Searcher, tuned: Tuned
) -> dict[str, list[float]]:
    """Margins of every system over the near misses of a fold."""
    texts = find_texts(corpus, near)
    margins = {
        "bm25": weight_terms(corpus, near),
        "base": weight_vectors(corpus.encoder, near, texts),
        "tuned": weight_vectors(tuned.encoder, near, texts),
        "late interaction, base": weight_tokens(corpus.encoder.model, near, texts),
        "late interaction, tuned": weight_tokens(tuned.encoder.model, near, texts),
        "full base": weight_ranks(base, corpus, near),
        "full tuned": weight_ranks(other, corpus, near),
    }
    if tuned.reranker is not None:
        margins["full tuned + rerank"] = weight_ranks(replace(other, reranker=tuned.reranker), corpus, near)
    return margins


def _is_unseen(question: LabeledQuestion, fold: Fold, families: Mapping[str, str]) -> bool:
    """Whether every passage that the answer needs is of a held out family."""
    return all(families[passage["document"]] in fold.families for passage in find_required(question))


def identify_run(tune: Tuner, *, choice: Choice, pool: int) -> str:
    """Digest of the settings that all folds of one run share: only folds of one run are reported together."""
    return _digest([str(FORMAT), tune.identity, repr(choice), str(pool)])


def _identify(
    train: Sequence[Example], dev: Sequence[Example], queried: Sequence[LabeledQuestion], *, run: str, seed: int
) -> str:
    """Digest of all that decides what a fold finds."""
    said = [run, str(seed), *(question["id"] for question in queried)]
    for example in (*train, *dev):
        said += [example.query, example.positive, *example.negatives, str(example.weight)]
    return _digest(said)


def _digest(said: Sequence[str]) -> str:
    return hashlib.sha256("\x1f".join(said).encode()).hexdigest()[:32]


def _describe(item: NearMiss, family: str) -> dict[str, str]:
    """A near miss without its texts."""
    return {"form": item.form, "family": family, "kind": item.kind, "wording": item.wording}
