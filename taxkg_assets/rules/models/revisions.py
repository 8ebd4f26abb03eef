"""Rule family `revisions`: what counts as a change between two revisions, and the kind of the change."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Limits(Section):
    """Values of `limits`."""

    code_characters: int
    pair_similarity: float
    placed_similarity: float
    keyed_similarity: float
    heading_similarity: float
    merge_overlap: float
    merge_discount: float
    moved_similarity: float
    moved_words: int
    gap_cells: int
    shingle: int
    block_gap_pt: float


class Tokens(RuleList[Rule]):
    """Rules of `tokens`."""

    word_number_or_sign: Rule
    leader: Rule


class Citations(RuleList[Rule]):
    """Rules of `citations`."""

    address: Rule
    bulletin: Rule
    publication_date: Rule


class Lines(RuleList[Rule]):
    """Rules of `lines`."""

    line_key: Rule


class EditionLines(RuleList[Rule]):
    """Rules of `edition_lines`."""

    edition_line: Rule


class Labels(RuleList[Rule]):
    """Rules of `labels`."""

    icon_word: Rule


class Reserved(RuleList[Rule]):
    """Rules of `reserved`."""

    no_use: Rule


class ListEnds(RuleList[Rule]):
    """Rules of `list_ends`."""

    list_end: Rule


class Revisions(Family):
    """Content of `rules/revisions.yaml`."""

    number_words: tuple[str, ...]
    small_words: tuple[str, ...]
    limits: Limits
    sections: dict[str, float]
    tokens: Tokens
    masks: RuleList[Rule]
    natures: RuleList[Rule]
    periods: RuleList[Rule]
    citations: Citations
    stamps: RuleList[Rule]
    lines: Lines
    edition_lines: EditionLines
    labels: Labels
    reserved: Reserved
    list_ends: ListEnds
    finding_aids: RuleList[Rule]


@cache
def load_revisions() -> Revisions:
    """Return the rules that decide what counts as a change between two revisions, and of which kind it is."""
    return load_model("revisions", Revisions)
