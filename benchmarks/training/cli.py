"""`python -m benchmarks training NAME`: which part of the proof to run."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown

from benchmarks.documents import CorpusError
from benchmarks.training.corpus import open_corpus
from benchmarks.training.near_misses import (
    MOST,
    find_forms,
    find_texts,
    open_near_misses,
    weigh_ranks,
    weigh_terms,
    weigh_tokens,
    weigh_vectors,
)
from benchmarks.training.report import render_accuracies
from taxkg_assets.evaluation.near_misses import describe_accuracy, score_near_misses
from taxkg_assets.settings import Settings


def main(arguments: Sequence[str]) -> int:
    """Run one part; 0 done, 1 where a home or a table is missing."""
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
    return 0


def build_parser() -> argparse.ArgumentParser:
    """The parts and their options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks training", description="Does training pay?")
    parser.add_argument("part", choices=sorted(PARTS))
    parser.add_argument("--home", default=Settings().home, help="a built home (default: TAXKG_HOME)")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="folder of the results")
    parser.add_argument("--most", type=int, default=MOST, help="near misses of one kind and wording")
    return parser


def run_near_misses(options: argparse.Namespace) -> tuple[str, Any]:
    """The stress test with the released encoder, no training."""
    corpus = open_corpus(options.home)
    near = open_near_misses(corpus, most=options.most)
    texts = find_texts(corpus, near)
    encoder = corpus.searcher.encoder
    margins = {
        "bm25": weigh_terms(corpus, near),
        "base": weigh_vectors(encoder, near, texts),
        "late interaction, base": weigh_tokens(encoder.model, near, texts),
        "full base": weigh_ranks(corpus.searcher, corpus, near),
    }
    accuracies = score_near_misses(near, margins, families=find_forms(near))
    return render_accuracies(accuracies), {
        "accuracies": [describe_accuracy(accuracy) for accuracy in accuracies],
        "near_misses": [asdict(item) | {"query": ""} for item in near],
    }


PARTS = {"near-misses": run_near_misses}
