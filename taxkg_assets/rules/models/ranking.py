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
    """Values of `tokens`.

    Attributes:
        sample: Number of passages over which the vector of a token is averaged.
        reach: Distance to the best passage's tokens from which a passage counts as far.
    """

    sample: int
    reach: float


class Typos(Section):
    """Limits for correcting a word that no document prints to a word with one different letter.

    Attributes:
        letters: Least number of letters of the word.
        rows: Least number of passages with the corrected word.
        long: A shorter word is corrected only if the encoder has a token for the corrected word.
    """

    letters: int
    rows: int
    long: int


class Duplicates(Section):
    """Values of `duplicates`."""

    cosine: float
    overlap: float


class Windows(Section):
    """Limits for extending a hit by its surroundings.

    Attributes:
        words: Maximum number of words of the extended passage.
        neighbors: Maximum number of words up to which neighbors that are no candidates are added.
        ranked: Number of first candidates that are added if they are under the same heading or the heading above.
        wide: Number of first results that are extended like this.
        narrow: Maximum number of words of later results, to which only candidates are added.
    """

    words: int
    neighbors: int
    ranked: int
    wide: int
    narrow: int


class Codes(Section):
    """Limits of the vector search in an index that is too large for memory.

    Vectors of one bit per dimension are compared first, then vectors of one byte, then the exact ones.

    Attributes:
        compared: Number of rows to compare by bytes.
        thinned: If fewer than one in this many of the nearest rows passes a filter, only these rows are compared.
        oversize: Number of rows to compare exactly, as a multiple of the number of results.
        exact: Least number of rows to compare exactly.
    """

    compared: int
    thinned: int
    oversize: float
    exact: int = 0


class Cells(Section):
    """Limits for putting a table first whose cell answers the question.

    Attributes:
        least_score: Least match of the cell's headers with the question.
        least_unasked: Least match if the question asks for no figure.
        candidates: Number of first candidates that must contain a table.
        most_words: Maximum number of words of the cell; a longer one is a text.
        alike: Number of best cells among which the newest edition of the same cell is searched.
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
