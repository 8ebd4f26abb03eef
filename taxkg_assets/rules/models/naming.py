"""Rule family `naming`: when two headings, keys or targets name the same thing."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import Family, Section, load_model


class Thresholds(Section):
    """Limits in letters, words, characters, or as shares 0 to 1; see the comments in the file."""

    prefix_letters: int
    prefix_share: float
    label_f1: float
    evidence_share: float
    last_header_share: float
    path_share: float
    path_factor: int
    path_extra_words: int
    fragment_letters: int
    runin_characters: int
    runin_rest_letters: int
    role_share: float


class Naming(Family):
    """Content of `rules/naming.yaml`, without its patterns."""

    thresholds: Thresholds


@cache
def load_naming() -> Naming:
    """Return the rules of naming, read once per process."""
    return load_model("naming", Naming)
