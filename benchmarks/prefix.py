"""What the context before a passage adds: the same index with passages encoded and searched by their own words alone.

`TAXKG_HOME=HOME python -m benchmarks.prefix` encodes all passages of a release once more, so it is no part of a build's
ablation nor of `make bench`.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import polars as pl
from rich.console import Console
from rich.markdown import Markdown

from benchmarks.accuracy import read_queries, render_gains
from benchmarks.in_memory import index_in_memory
from taxkg_assets.defs.evaluation import FULL, open_systems
from taxkg_assets.evaluation.ablation import Step, score_ablation
from taxkg_assets.evaluation.eval_runs import build_eval_runs
from taxkg_assets.retrieval.index.index import find_row_terms
from taxkg_assets.retrieval.index.passage_index import PrecomputedFacts
from taxkg_assets.retrieval.index.token_match import build_token_index
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.schemas import Documents
from taxkg_assets.serving.released import NotReleasedError, open_release
from taxkg_assets.settings import Settings

COMPARED = ("bm25", "dense", "hybrid", FULL)


def drop_prefix(searcher: Searcher) -> Searcher:
    """The search over the same passages without their context, in terms and in vectors."""
    index = index_in_memory(searcher)
    rows = index.rows.with_columns(context=pl.lit(""))
    columns = rows.select("text", "heading_path", "context").iter_rows()
    terms = [find_row_terms(text, heading_path=path, context=context) for text, path, context in columns]
    rows = rows.with_columns(terms=pl.Series(terms))
    texts = [f"\n{text}" for text in rows["text"]]
    vectors = searcher.encoder.encode_passages(texts)
    # Nothing known of the index is kept: postings and tokens are of the words with the context.
    known = PrecomputedFacts(
        tokens=None if index.tokens is None else build_token_index(texts, encoder=searcher.encoder)
    )
    return replace(searcher, index=replace(index, rows=rows, vectors=vectors, precomputed=known))


def main() -> int:
    """Ask every query set with and without; print what the context adds to each system."""
    settings = Settings()
    try:
        released = open_release(settings.home)
    except NotReleasedError as missing:
        print(missing, file=sys.stderr)
        return 1
    queries = read_queries(released, settings)
    given = open_systems(released.searcher, settings)
    bare = open_systems(drop_prefix(released.searcher), settings)
    systems = {**{name: given[name] for name in COMPARED}, **{f"{name}, bare": bare[name] for name in COMPARED}}
    gains = score_ablation(
        queries,
        build_eval_runs(queries, systems),
        documents=Documents.cast(released.table("documents")),
        steps=[Step(f"context prefix, {name}", f"{name}, bare", name) for name in COMPARED],
    )
    Console().print(Markdown(render_gains(gains)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
