"""What rules and checks see of a text: content words, figures and keys, negation."""

from __future__ import annotations

import re

from taxkg_assets.prompts.contract import Block, Evidence
from taxkg_assets.rules.loader import load_family, load_rules

_WORD = re.compile(r"[^\W\d_][\w'’-]*|\d[\d,.]*\d|\d")


def find_content(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning; a stem is a word's first letters."""
    rules = load_family("llm")["words"]
    words = (match[0].casefold() for match in _WORD.finditer(text))
    return frozenset(word[: rules["stem_letters"]] for word in words if word not in rules["stop"])


def find_figures(text: str) -> frozenset[str]:
    """Numbers, amounts and keys such as 1a or 1099-DIV, in one spelling."""
    pattern = load_rules("llm", "figures")[0].pattern
    return frozenset(match[0].casefold().replace(",", "").rstrip(".-") for match in pattern.finditer(text))


def is_negative(text: str) -> bool:
    """Whether a text denies or forbids."""
    for rule in load_rules("polarity", "weak_negations"):
        text = rule.pattern.sub(" ", text)
    return any(rule.pattern.search(text) for rule in load_rules("polarity", "negations"))


def score_coverage(wanted: frozenset[str], held: frozenset[str]) -> float:
    """Share of the wanted words that are held; 0 where nothing is wanted."""
    return len(wanted & held) / len(wanted) if wanted else 0.0


def opening(block: Block) -> Evidence:
    """A block's first words as evidence."""
    words = list(re.finditer(r"\S+", block.text))[: load_family("llm")["words"]["opening"]]
    start, end = (words[0].start(), words[-1].end()) if words else (0, 0)
    place = f"{block.element_id}:{block.start + start}-{block.start + end}"
    return Evidence(pointer=place, quote=block.text[start:end])
