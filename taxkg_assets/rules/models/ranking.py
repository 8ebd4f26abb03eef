"""Rule family `ranking`: weights of the feature ranker."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Retrievers(Section):
    """Values of `retrievers`."""

    depth: int
    expansion: float
    expanded_vector: float


class Tokens(Section):
    """Token vectors are means over `sample` passages.

    A passage whose tokens are `reach` farther than the best one's is far.
    """

    sample: int
    reach: float


class Typos(Section):
    """A word of `letters` or more that no document prints is corrected to the most frequent word one change away, of
    at least `rows` passages; one of fewer than `long` letters only where the encoder has a token for the
    corrected word.
    """

    letters: int
    rows: int
    long: int


class Duplicates(Section):
    """Values of `duplicates`."""

    cosine: float
    overlap: float


class Windows(Section):
    """A passage is the hit with what else of the first `ranked` candidates is under its heading or the heading
    above, and with its neighbors there: `words` altogether, with unranked neighbors up to `neighbors` only.
    After the first `wide` passages it has `narrow` words and no unranked neighbors: a reader with little room
    left sees many places there, not much of a few.
    """

    words: int
    neighbors: int
    ranked: int
    wide: int
    narrow: int


class Codes(Section):
    """The vector retriever of an index that is too large for memory.

    The bits of all rows are compared, then the bytes of the nearest `compared`; of these `oversize` times as many
    as are kept are compared exactly, and at least `exact`. Rows that pass a filter are compared by themselves where
    they are fewer than one in `thinned` of the nearest.
    """

    compared: int
    thinned: int
    oversize: float
    exact: int = 0


class Cells(Section):
    """A question whose cell the look-up finds with at least this header match is led by the table's unit.

    Written questions whose answer is no table hardly ever reach half of it; who asks for no figure has to be
    matched better. Only looked up where a table is among the first candidates. A cell of more words than
    `most_words` is a text, and no answer as it is. Of the best `alike` cells those of other editions with the
    same headers are compared: the newest leads.
    """

    least_score: float
    least_unasked: float
    candidates: int
    most_words: int
    alike: int


class Examples(RuleList[Rule]):
    """Rules of `examples`."""

    example: Rule


class Ranking(Family):
    """Content of `rules/ranking.yaml`."""

    retrievers: Retrievers
    weights: dict[str, float]
    boilerplate_families: int
    dated_years: int
    section_reach: float
    tokens: Tokens
    typos: Typos
    place_frac: float
    short_words: int
    duplicates: Duplicates
    windows: Windows
    codes: Codes
    cells: Cells
    examples: Examples
    navigation: RuleList[Rule]
    yes_or_no: RuleList[Rule]


@cache
def load_ranking() -> Ranking:
    """Return the rules that decide how much each feature counts when passages are ranked."""
    return load_model("ranking", Ranking)
