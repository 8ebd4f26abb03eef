"""Rule family `aliases`: other names of the boxes of information returns."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import Family, Section, load_model


class Thresholds(Section):
    """Values of `thresholds`.

    Attributes:
        least_initials: Words whose initials make an abbreviation.
        akin_letters: Two words that begin with this many equal letters and end otherwise may be one.
        own_name_letters: A box's name of one word names it in its own form's instructions if it is no shorter.
        shared_words_frac: A heading of another document names the same field if it shares this many words with the
            label.
    """

    least_initials: int
    most_initials: int
    akin_letters: int
    own_name_letters: int
    shared_words_frac: float


class Aliases(Family):
    """Content of `rules/aliases.yaml`, without its lists of rules."""

    question_words: tuple[str, ...]
    spelled_words: tuple[str, ...]
    small_words: tuple[str, ...]
    thresholds: Thresholds


@cache
def load_aliases() -> Aliases:
    """Return the rules of `aliases`, read once per process."""
    return load_model("aliases", Aliases)
