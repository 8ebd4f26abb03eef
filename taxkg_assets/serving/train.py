"""One training from the command line: pairs and negatives, encoder, reranker, each behind its gates; what came out."""

from __future__ import annotations

from typing import Any

from taxkg_assets.defs.store import Store
from taxkg_assets.serving.build import BuildResult, SelectionError, build

LEARNED_FROM = ("scenario_queries", "pairs", "hard_negatives")
KINDS = {"encoder": ("model",), "reranker": ("reranker",), "all": ("model", "reranker")}
SHOWN = (
    "name",
    "base",
    "dev_questions",
    "base_score",
    "own_score",
    "gain",
    "gain_low",
    "gain_high",
    "is_chosen",
    "reason",
)


def train(home: str, *, kind: str, log_level: str = "CRITICAL") -> BuildResult:
    """Bring pairs, negatives and models up to date with the built graph; what is current is left as it is.

    Raises: SelectionError where there is no built home yet.
    """
    store = Store(home)
    if not store.exists("index"):
        raise SelectionError(f"{store.home} is not built yet: run `taxkg build` first.")
    wanted = KINDS[kind]
    if kind == "reranker" and not store.exists("model"):
        wanted = KINDS["all"]
    return build(home, select=[*LEARNED_FROM, *wanted], log_level=log_level)


def read_models(home: str) -> list[dict[str, Any]]:
    """What each trained model is worth against its base, and whether it is in use."""
    store = Store(home)
    return [
        {"table": table, **{name: row[name] for name in SHOWN}}
        for table in KINDS["all"]
        for row in store.read_or_empty(table).iter_rows(named=True)
    ]
