"""Rule family `chunking`: sizes of retrieval units."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, Section, load_model


class Sizes(Section):
    """Sizes of chunks, in words.

    Attributes:
        target_words: Size up to which paragraphs are packed.
        short_words: A chunk below this size may exceed the target by one paragraph.
        max_words: Largest size of such a chunk and of one paragraph.
        table_words: Largest size of a chunk of table rows.
    """

    target_words: int
    short_words: int
    max_words: int
    table_words: int


class Tokens(Section):
    """Estimate of tokens.

    Attributes:
        letters_per_piece: Letters of a word per token.
    """

    letters_per_piece: int


class Tiers(Section):
    """Limits of the three-tier context.

    Attributes:
        forms: Maximum number of forms of the corpus to list.
        headings: Maximum number of headings of a document to list.
    """

    forms: int
    headings: int


class Chunking(Family):
    """Content of `rules/chunking.yaml`."""

    sizes: Sizes
    tokens: Tokens
    tiers: Tiers
    perspectives: dict[str, str]


@cache
def load_chunking() -> Chunking:
    """Return the rules that decide how large retrieval units are."""
    return load_model("chunking", Chunking)
