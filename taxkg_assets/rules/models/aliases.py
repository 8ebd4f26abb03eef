"""Rule family `aliases`: other names of the boxes of information returns."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import Family, Section, load_model


class Thresholds(Section):
    """Values of `thresholds`.

    Attributes:
        least_initials: Words whose initials make an abbreviation.
        shared_prefix_letters: Two words that begin with this many equal letters and end otherwise may be one.
        min_single_word_alias_letters: A box's name of one word names it in its own form's instructions if it has as
            many letters.
        shared_words_frac: A heading of another document names the same field if it shares this many words with the
            label.
    """

    least_initials: int
    most_initials: int
    shared_prefix_letters: int
    min_single_word_alias_letters: int
    shared_words_frac: float


class Aliases(Family):
    """Content of `rules/aliases.yaml`, without its lists of rules."""

    question_words: tuple[str, ...]
    initialism_stopwords: tuple[str, ...]
    small_words: tuple[str, ...]
    thresholds: Thresholds


@cache
def load_aliases() -> Aliases:
    """Return the rules of `aliases`, read once per process."""
    return load_model("aliases", Aliases)
