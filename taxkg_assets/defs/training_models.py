"""Assets of the stage `training` that are models: the tuned encoder and the reranker, and their gates."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import dataframely as dy
import numpy as np
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.defs.home.arithmetic import has_bfloat16, move_to_gpu, uses_gpu
from taxkg_assets.defs.home.index_files import has_catalogue, open_catalogue, open_whole_index
from taxkg_assets.defs.home.models import (
    MODELS,
    base_hash,
    model_hash,
    open_base,
    open_encoder,
    open_model_folder,
    open_untrained,
    read_chosen_encoder,
    weights_hash,
)
from taxkg_assets.defs.home.rerankers import open_scorer
from taxkg_assets.defs.home.store import digest
from taxkg_assets.defs.training import read_left_out
from taxkg_assets.defs.wiring.gates import gate
from taxkg_assets.defs.wiring.progress import stage_meter
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.table_asset import RERANKING, table
from taxkg_assets.defs.wiring.verdicts import Verdict
from taxkg_assets.evaluation.significance import score_interval
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.tables.table_context import read_catalogue
from taxkg_assets.sources.scan import sha256_of
from taxkg_assets.training.contrast import EncoderSettings, EncoderTrainer
from taxkg_assets.training.dense_scores import mean_of, score_dense
from taxkg_assets.training.examples import Example
from taxkg_assets.training.losses import LossSettings
from taxkg_assets.training.model import EncoderTrainingContext, build_model
from taxkg_assets.training.model_card import Provenance, render_cross_card
from taxkg_assets.training.promotion import MIN_KIND_GAIN
from taxkg_assets.training.reranker import (
    Candidate,
    RankedList,
    RerankerSettings,
    RerankerTrainingContext,
    build_reranker,
    describe_settings,
    train_reranker,
)
from taxkg_assets.training.sampling import sample_questions
from taxkg_assets.training.steps import StepSettings, seeded

DEV_PAIRS, DEV_QUESTIONS = 400, 160
REEVALUATED = 100
"""Development questions that the gate asks an encoder, and its base, once more."""
QUESTIONS = "scenario"
TRAINED_HERE = ("late", "cross", "none")


def encoder_settings(home: Home) -> EncoderSettings:
    """Return the settings with which this home trains its encoder.

    Args:
        home: Tables, files and settings of the home.
    """
    settings = home.settings
    return EncoderSettings(
        steps=StepSettings(epochs=settings.train_epochs, seed=settings.train_seed),
        loss=LossSettings(name=settings.train_loss),
        is_bfloat16=has_bfloat16() and not uses_gpu(home),
    )


def measure_interval(values: Sequence[float], clusters: Sequence[str]) -> tuple[float | None, float | None]:
    """Return the bootstrap confidence interval of a mean, resampled by form family.

    Args:
        values: Values to average.
        clusters: Form family of each value.

    Returns:
        Lower and upper end; None for a single family.
    """
    interval = score_interval(values, clusters, seed=0, stream=("training",))
    return interval.low, interval.high


def open_encoder_context(home: Home) -> EncoderTrainingContext:
    """Open the inputs for training the encoder.

    Args:
        home: Tables, files and settings of the home.
    """
    return EncoderTrainingContext(
        open_base=lambda: move_to_gpu(home, open_untrained(home)),
        base_name=open_base(home).model_name,
        base_hash=weights_hash(home),
        folder=home.store.folder("cache", "training"),
        keep=lambda folder, name: store_model(home, folder, name),
        interval=measure_interval,
        encoder=encoder_settings(home),
        pairs=home.settings.train_pairs,
        dev=DEV_PAIRS,
        progress=stage_meter("model"),
        origin=read_provenance(home),
    )


def read_provenance(home: Home) -> Provenance:
    """Return the versions of the tables that a model is trained on, the documents, and the excluded pairs.

    Args:
        home: Home with the tables that a training reads.
    """
    states = {name: home.store.state(name) for name in ("pairs", "hard_negatives", "chunks", "edges")}
    documents = home.store.read("documents")["document_id"].unique().sort().to_list()
    left_out = {row.pop("kind"): row for row in read_left_out(home.store).to_dicts()}
    versions = {
        name: f"version {state.version}, content {state.content[:12]}" for name, state in states.items() if state
    }
    return Provenance(tables=versions, documents=documents, left_out=left_out)


def store_model(home: Home, folder: Path, name: str) -> str:
    """Move a finished model into the home, and return its path there.

    Args:
        home: Home that gets the model.
        folder: Local folder with the model's files.
        name: Name of the model's folder in the home.
    """
    path = f"{MODELS}/{name}"
    home.store.storage.publish_folder(folder, path)
    return path


def open_reranker_context(home: Home) -> RerankerTrainingContext:
    """Open the inputs for evaluating rerankers.

    Args:
        home: Tables, files and settings of the home.
    """

    def read_lists(dev: Sequence[Example]) -> list[RankedList]:
        return rank_questions(home, [example for example in dev if example.kind == QUESTIONS][:DEV_QUESTIONS])

    def open_candidates(examples: Sequence[Example], dev: Sequence[Example]) -> list[Candidate]:
        name = home.settings.reranker
        if name == "none":
            return []
        if name not in TRAINED_HERE:
            scorer = open_scorer(home, kind="cross", path="", name=name)
            return [Candidate("cross", "", name, "", "{}", scorer.score)]
        candidates = [open_late_reranker(home)]
        return [*candidates, train_cross_encoder(home, examples, dev)] if name == "cross" else candidates

    return RerankerTrainingContext(
        read_lists=read_lists,
        open_candidates=open_candidates,
        interval=measure_interval,
        depth=home.settings.reranker_depth,
        pairs=home.settings.train_pairs,
        dev=DEV_PAIRS,
    )


def open_late_reranker(home: Home) -> Candidate:
    """Open the late-interaction reranker on the encoder in use.

    Args:
        home: Tables, files and settings of the home.
    """
    chosen_encoder = read_chosen_encoder(home)
    encoder = open_encoder(home)
    path = chosen_encoder["path"] if chosen_encoder is not None and encoder.model_name == chosen_encoder["name"] else ""
    scorer = open_scorer(home, kind="late", path=path, name=encoder.model_name)
    return Candidate("late", path, encoder.model_name, model_hash(home), "{}", scorer.score)


def train_cross_encoder(home: Home, examples: Sequence[Example], dev: Sequence[Example]) -> Candidate:
    """Train a cross-encoder initialized from the encoder in use.

    Args:
        home: Home that gets the model.
        examples: Training examples.
        dev: Development examples.

    Returns:
        The trained cross-encoder, as a candidate that is still to be evaluated.
    """
    from sentence_transformers import CrossEncoder

    reranker_settings = RerankerSettings(is_bfloat16=has_bfloat16() and not uses_gpu(home))
    settings = replace(
        reranker_settings,
        steps=replace(reranker_settings.steps, epochs=home.settings.train_epochs, seed=home.settings.train_seed),
    )
    chosen_encoder = read_chosen_encoder(home)
    base_folder = (
        str(home.store.storage.local_copy(chosen_encoder["path"]))
        if chosen_encoder
        else open_base(home).model[0].auto_model.name_or_path
    )
    with seeded(settings.steps):
        base_model = CrossEncoder(base_folder, num_labels=1, device="cpu")  # its head is initialized at random
    trained = train_reranker(
        examples,
        [example for example in dev if example.negatives],
        base=move_to_gpu(home, base_model),
        settings=settings,
        out=home.store.folder("cache", "training") / "cross",
        progress=stage_meter("reranker"),
    )
    base = chosen_encoder["name"] if chosen_encoder else open_base(home).model_name
    (trained.folder / "README.md").write_text(render_cross_card(trained, base=base, examples=examples), encoding="utf8")
    path = store_model(home, trained.folder, f"cross-{trained.sha256[:12]}")
    scorer = open_scorer(home, kind="cross", path=path, name=base)
    return Candidate("cross", path, base, trained.sha256, describe_settings(settings), scorer.score)


def rank_questions(home: Home, dev: Sequence[Example]) -> list[RankedList]:
    """Rank the development questions by the current search, as input for reranking; skip those it cannot answer.

    Empty if another encoder built the index, as that search will never be served. The next build makes a new index, and
    the following training evaluates the reranker.

    Args:
        home: Home with the index.
        dev: Development examples, of which the questions are ranked.
    """
    manifest = home.store.read("index")
    encoder = open_encoder(home)
    if manifest["model_hash"].item() != encoder.model_hash:
        return []
    store, path = home.store, manifest["path"].item()
    index = open_whole_index(store, path, model_hash=encoder.model_hash)
    searcher = Searcher(
        index=index,
        encoder=encoder,
        open_tables=(
            (lambda: read_catalogue(open_catalogue(store, path), tables=store.read_as_written("tables")))
            if has_catalogue(store, path)
            else None
        ),
    )
    positive_ids: dict[str, set[str]] = {}
    pairs = home.store.read("pairs").select("query", "chunk_id", "other_positive_ids").iter_rows()
    for query, chunk_id, other_ids in pairs:
        positive_ids.setdefault(query, set()).update([chunk_id, *other_ids])
    chunk_ids = index.rows["chunk_id"].to_list()
    lists = []
    for example in {example.query: example for example in dev}.values():
        candidates = searcher.rank(example.query).candidates[: home.settings.reranker_depth]
        is_right = np.array(
            [chunk_ids[candidate.row] in positive_ids[example.query] for candidate in candidates], dtype=np.bool_
        )
        if is_right.any():
            passages = tuple(searcher.read_passage(candidate.row) for candidate in candidates)
            scores = np.array([candidate.score for candidate in candidates])
            lists.append(RankedList(example.query, example.kind, example.family, passages, scores, is_right))
    return lists


model = table(
    schemas.Model,
    build_model,
    group="training",
    resources={"context": open_encoder_context},
    optional=("documents", "chunks", "edges"),
    code=(open_encoder_context,),
    fingerprint=lambda home: digest(
        weights_hash(home), home.settings.training_settings(), *_find_missing_folders(home, "model")
    ),
)
reranker = table(
    schemas.Reranker,
    build_reranker,
    group=RERANKING,
    optional=("index",),
    resources={"context": open_reranker_context},
    code=(open_reranker_context,),
    fingerprint=lambda home: digest(
        base_hash(home),
        home.settings.reranker_settings(),
        *_find_missing_folders(home, "reranker"),
        *_read_indexed(home),
    ),
)


def _read_indexed(home: Home) -> list[str]:
    """Return the encoder that the index was made with, since a reranker is evaluated with it."""
    return home.store.read_or_empty("index")["model_hash"].to_list()


def _find_missing_folders(home: Home, name: str) -> list[str]:
    """Return the missing folders of models that a table names: such a model is trained again."""
    paths = [path for path in home.store.read_or_empty(name)["path"].to_list() if path]
    return [path for path in paths if not home.store.storage.children(path)]


@gate(on="model", reads=("pairs", "hard_negatives"))
def encoder_beats_its_base(
    model: dy.DataFrame[schemas.Model],
    pairs: dy.DataFrame[schemas.Pairs],
    hard_negatives: dy.DataFrame[schemas.HardNegatives],
    home: Home,
) -> Verdict:
    """A trained encoder is in use only if it measurably beats its base.

    The confidence interval of its gain is above 0, its files are those evaluated, and a re-evaluation on sampled
    development questions is no worse than the base.
    """
    verdict = _check_gains(model, home)
    chosen_models = model.filter(pl.col("is_chosen"))
    if chosen_models.is_empty() or not verdict.offending.is_empty():
        return verdict
    sampled_questions = sample_questions(pairs, hard_negatives, count=REEVALUATED)
    settings = encoder_settings(home)

    def score_model(sentence_model: Any) -> float:
        return mean_of(score_dense(EncoderTrainer(sentence_model, settings).encode, sampled_questions).questions)

    base = score_model(open_untrained(home))
    tuned = score_model(open_model_folder(home.store.storage.local_copy(chosen_models["path"].item())))
    is_other_base = chosen_models["base_hash"].item() != weights_hash(home)
    return replace(
        verdict,
        offending=chosen_models.select(verdict.offending.columns).filter(is_other_base or tuned - base < MIN_KIND_GAIN),
        figures={**verdict.figures, f"{len(sampled_questions)} repeated: base": base, "the chosen encoder": tuned},
        note=f"trained from a different base than TAXKG_MODEL: run `taxkg train`. {verdict.note}"
        if is_other_base
        else verdict.note,
    )


@gate(on="reranker")
def reranker_beats_no_reranking(reranker: dy.DataFrame[schemas.Reranker], home: Home) -> Verdict:
    """A trained reranker is in use only if it measurably beats no reranking.

    The confidence interval of its gain is above 0, and its files are those evaluated.
    """
    return _check_gains(reranker, home)


def _check_gains(models: pl.DataFrame, home: Home) -> Verdict:
    chosen_models = models.filter(pl.col("is_chosen"))
    offending = [
        row["name"]
        for row in chosen_models.iter_rows(named=True)
        if (row["gain_low"] or 0.0) <= 0 or not _has_measured_weights(home, row["path"], row["sha256"])
    ]
    figures = {f"{row['name']} gain": row["gain"] for row in models.iter_rows(named=True)}
    reasons = "; ".join(f"{row['name']}: {row['reason']}" for row in models.iter_rows(named=True))
    note = reasons or (
        "nothing trained: too few pairs, no development families, or for a reranker an index of another encoder than "
        "the one in use (run `taxkg build`, then `taxkg train --kind reranker`)"
    )
    return Verdict(
        chosen_models.filter(pl.col("name").is_in(offending)).select("name", "gain", "gain_low", "path"),
        models.height,
        note=f"{note} (no question type may lose more than {-MIN_KIND_GAIN})",
        figures=figures,
    )


def _has_measured_weights(home: Home, path: str, hashed: str) -> bool:
    """Return whether the weights in the folder are those that were measured; other models have no folder."""
    if not path:
        return True
    weights = home.store.storage.local_copy(path) / "model.safetensors"
    return weights.is_file() and hashed.startswith(sha256_of(weights)[:16])
