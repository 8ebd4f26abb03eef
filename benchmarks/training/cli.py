"""`python -m benchmarks training NAME`: which part of the proof to run."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown

from benchmarks.documents import CorpusError
from benchmarks.training import labels, throughput, trainer
from benchmarks.training.corpus import open_corpus
from benchmarks.training.cross_validation import Study, Tuner, identify_run, run_fold
from benchmarks.training.folds import Choice, Fold, build_folds
from benchmarks.training.label_samples import draw_naive, draw_negatives, draw_pairs
from benchmarks.training.near_misses import (
    MOST,
    find_texts,
    open_near_misses,
    weight_ranks,
    weight_terms,
    weight_tokens,
    weight_vectors,
)
from benchmarks.training.report import render_accuracies, render_summary
from benchmarks.training.summary import Found, gather_accuracies, read_folds, summarize
from taxkg_assets.evaluation.near_misses import describe_accuracy, score_near_misses
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.settings import Settings
from taxkg_assets.training.losses import LOSSES


def main(arguments: Sequence[str]) -> int:
    """Run one part; 0 done, 1 where a home or a table is missing or a fold failed."""
    options = build_parser().parse_args(arguments)
    try:
        text, found = PARTS[options.part](options)
    except CorpusError as error:
        print(f"training {options.part}: {error}", file=sys.stderr)
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    name = options.out / f"training-{options.part}"
    name.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf8")
    name.with_suffix(".md").write_text(text, encoding="utf8")
    Console().print(Markdown(text))
    return 1 if isinstance(found, dict) and found.get("failed") else 0


def build_parser() -> argparse.ArgumentParser:
    """The parts and their options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks training", description="Does training pay?")
    parser.add_argument("part", choices=sorted(PARTS))
    parser.add_argument("--home", default=Settings().home, help="a built home (default: TAXKG_HOME)")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="folder of the results")
    parser.add_argument("--most", type=int, default=MOST, help="near misses of one kind and wording")
    parser.add_argument("--sample", type=int, default=throughput.SAMPLE, help="throughput: passages")
    parser.add_argument("--gold", type=Path, help="folds, throughput: questions with gold, queries.jsonl of a folder")
    parser.add_argument("--folds", type=int, default=5, help="folds over form families")
    parser.add_argument("--only", type=int, nargs="*", help="folds: run these; several processes can share a folder")
    parser.add_argument("--pairs", type=int, default=4000, help="folds, trainer: most examples to learn from")
    parser.add_argument("--dev", type=int, default=120, help="folds, trainer: questions of the development families")
    parser.add_argument(
        "--pool", type=int, default=0, help="folds: passages of each retriever encoded again; 0 for all"
    )
    parser.add_argument("--epochs", type=float, help="folds: times that every example is seen")
    parser.add_argument("--source", default="", help="folds: learn from pairs whose source begins so, written: say")
    parser.add_argument("--without", default="", help="folds: learn from no pairs whose source begins so")
    parser.add_argument("--frozen", type=int, help="folds: lowest layers that keep their weights")
    parser.add_argument("--alphas", type=float, nargs="+", help="folds: shares of tuned weights that are tried")
    parser.add_argument("--questions", type=float, default=Choice().scenario_share, help="folds: share of questions")
    parser.add_argument("--rate", type=float, help="folds: learning rate")
    parser.add_argument("--late", type=float, help="folds: share of the loss that compares token by token")
    parser.add_argument("--loss", choices=LOSSES, help="folds: loss of the encoder")
    parser.add_argument("--models", type=Path, help="folds: folder of an earlier run's folds, whose models are opened")
    parser.add_argument("--draw", type=int, default=0, help="labels: write unread rows, up to N of each kind, to label")
    parser.add_argument("--seeds", type=int, default=3, help="folds: seeds of the first fold; trainer: seeds")
    return parser


def run_near_misses(options: argparse.Namespace) -> tuple[str, Any]:
    """The stress test with the released encoder, no training."""
    corpus = open_corpus(options.home)
    near = open_near_misses(corpus, most=options.most)
    texts = find_texts(corpus, near)
    margins = {
        "bm25": weight_terms(corpus, near),
        "base": weight_vectors(corpus.encoder, near, texts),
        "late interaction, base": weight_tokens(corpus.encoder.model, near, texts),
        "full base": weight_ranks(corpus.searcher, corpus, near),
    }
    accuracies = score_near_misses(near, margins, families=[corpus.families[item.document_id] for item in near])
    return render_accuracies(accuracies), {
        "accuracies": [describe_accuracy(accuracy) for accuracy in accuracies],
        "near_misses": [asdict(item) | {"query": ""} for item in near],
    }


def run_folds(options: argparse.Namespace) -> tuple[str, Any]:
    """Cross-validation; a fold that was run before is read, so that a killed run continues where it was."""
    from benchmarks.training.study import open_study  # needs tables that training makes
    from benchmarks.training.tuning import KeptTuner, open_tuner

    if options.gold is None:
        raise CorpusError("name the questions with gold: --gold FOLDER/queries.jsonl")
    choice = Choice(pairs=options.pairs, dev=options.dev, scenario_share=options.questions)
    corpus = open_corpus(options.home)
    study, left_out = open_study(
        corpus,
        options.gold,
        choice=choice,
        near_misses=options.most,
        pool=options.pool,
        source=options.source,
        without=options.without,
    )
    trainer = open_tuner(
        corpus,
        epochs=options.epochs,
        frozen=options.frozen,
        alphas=options.alphas,
        rate=options.rate,
        late=options.late,
        loss=options.loss,
    )
    tune = KeptTuner(corpus, options.models) if options.models else trainer
    folder = options.out / "folds"
    failed = train_folds(study, choose_runs(study, options), tune=tune, folder=folder)
    folds = read_folds(folder, run=identify_run(tune, choice=choice, pool=options.pool))
    if not folds:
        raise CorpusError("no fold came to its end: " + "; ".join(failed))
    text = render_summary(folds) + "".join(f"\nNot among these: {line}\n" for line in failed)
    return text, _describe_folds(folds) | {"left_out": left_out, "failed": failed}


def choose_runs(study: Study, options: argparse.Namespace) -> list[tuple[Fold, int]]:
    """Every fold once, then the further seeds of the first one, which are worth the least if time runs out."""
    folds = build_folds(study.questions, study.families, count=options.folds)
    runs = [(fold, 0) for fold in folds] + [(folds[0], seed) for seed in range(1, options.seeds)]
    return [(fold, seed) for fold, seed in runs if not options.only or fold.number in options.only]


def train_folds(study: Study, runs: Sequence[tuple[Fold, int]], *, tune: Tuner, folder: Path) -> list[str]:
    """Run each fold; a failure is reported and the others continue. Returns what failed and why."""
    failed = []
    for fold, seed in runs:
        name = f"fold {fold.number}, seed {seed}"
        try:
            found = run_fold(study, fold, tune=tune, seed=seed, out=folder)
        except Exception as error:  # whatever one model fell over says nothing of the others, which took hours
            traceback.print_exc()
            failed.append(f"{name}: {type(error).__name__}: {error}. The same command runs it again.")
        else:
            print(f"{name}: {found['examples']} examples, {found['seconds']:.0f} s", flush=True)
    return failed


def _describe_folds(folds: Sequence[Found]) -> dict[str, Any]:
    return {
        **{name: frame.to_dicts() for name, frame in summarize(folds).items()},
        "accuracies": [describe_accuracy(accuracy) for accuracy in gather_accuracies(folds)],
    }


def run_report(options: argparse.Namespace) -> tuple[str, Any]:
    """What the folds in a folder found so far."""
    folds = read_folds(options.out / "folds")
    if not folds:
        raise CorpusError(f"{options.out / 'folds'} holds no folds: run the part `folds` first.")
    return render_summary(folds), _describe_folds(folds)


def run_labels(options: argparse.Namespace) -> tuple[str, Any]:
    """False negatives and valid pairs by hand, and how far the rule judge agrees."""
    negatives, valid = labels.open_labels()
    corpus = open_corpus(options.home)
    pairs, hard_negatives, proposer = corpus.table("pairs"), corpus.table("hard_negatives"), RuleProposer()
    if options.draw:
        to_read = draw_pairs(pairs, valid, of_kind=options.draw)
        to_read += draw_negatives(hard_negatives, negatives, pairs=pairs, of_source=options.draw)
        to_read += draw_naive(corpus, pairs.sample(min(options.draw, pairs.height), seed=0).to_dicts(), depth=2)
        return f"{len(to_read)} rows to label.\n", to_read
    mined = labels.find_mined(negatives, pairs=pairs, hard_negatives=hard_negatives)
    texts, lost = labels.find_texts(corpus, mined, pairs=pairs)
    of_negatives = labels.judge_negatives(texts, proposer)
    of_pairs, lost_pairs = labels.judge_pairs(valid, proposer, pairs=pairs)
    limits = labels.score_limits(corpus, texts)
    evaluated = labels.weight_sources(mined, dict(hard_negatives.group_by("source").len().iter_rows()))
    gone = len(negatives) - len(mined) + lost
    parts = [
        labels.render_negatives(mined),
        f"Each source counting as much as it has negatives: ours {evaluated or 0:.3f}.\n",
        labels.render_limits(limits),
        labels.render_pairs(valid),
        labels.render_agreement("negatives", of_negatives),
        labels.render_agreement("pairs", of_pairs),
        f"Labeled, but not in this home (any more): {gone} negatives, {lost_pairs} pairs.\n",
    ]
    rates = {name: asdict(rate) for name, rate in labels.score_false_negatives(mined).items()}
    return "\n".join(parts), {
        "rates": rates | {"ours, evaluated by source": evaluated},
        "limits": [asdict(limit) for limit in limits],
        "negatives": {name: asdict(own) for name, own in of_negatives.items()},
        "pairs": {name: asdict(own) for name, own in of_pairs.items()},
    }


def run_throughput(options: argparse.Namespace) -> tuple[str, Any]:
    """Passages a second, each way to run the encoder."""
    speeds, scores = throughput.run(open_corpus(options.home), sample=options.sample, gold=options.gold)
    return throughput.render(speeds, scores), [asdict(speed) | scores.get(speed.name, {}) for speed in speeds]


def run_trainer(options: argparse.Namespace) -> tuple[str, Any]:
    """Compare the own training loop with the trainer of sentence-transformers."""
    sample = trainer.Sample(options.home, options.pairs, options.dev)
    found = trainer.compare(sample, seeds=options.seeds)
    return trainer.render(found), [asdict(row) for row in found]


PARTS = {
    "folds": run_folds,
    "labels": run_labels,
    "near-misses": run_near_misses,
    "report": run_report,
    "throughput": run_throughput,
    "trainer": run_trainer,
}
