"""Rule family `lexical`: how text becomes search terms."""

from __future__ import annotations

from functools import cache
from typing import Any

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Bm25(Section):
    """Values of `bm25`."""

    k1: float
    b: float
    heading_repeats: int
    context_repeats: int


class Lexical(Family):
    """Content of `rules/lexical.yaml`."""

    stopwords: tuple[str, ...]
    contractions: tuple[str, ...]
    suffixes: tuple[dict[str, Any], ...]
    bm25: Bm25
    rules: RuleList[Rule]


@cache
def load_lexical() -> Lexical:
    """Return the rules that decide how text becomes search terms."""
    return load_model("lexical", Lexical)
