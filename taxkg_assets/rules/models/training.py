"""Rule family `training`: which texts make a pair, how many of each kind, and which passages are no negatives."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Split(Section):
    """Split of the form families.

    Attributes:
        dev_share: Share, 0 to 1, of the passages whose families are left out of training.
        seed: Seed of the draw.
    """

    dev_share: float
    seed: int


class NearDuplicates(Section):
    """When two passages are near-duplicates.

    Attributes:
        shingle_words: Words in a shingle.
        min_hashes: Smallest hashes of a passage by which candidates are found.
        max_bucket_size: Passages in a bucket above which all are compared with the first one only.
        min_jaccard: Jaccard similarity of shingles, 0 to 1, from which passages of two documents are duplicates.
        min_jaccard_in_document: The same for passages of one document.
    """

    shingle_words: int
    min_hashes: int
    max_bucket_size: int
    min_jaccard: float
    min_jaccard_in_document: float


class Query(Section):
    """Limits on the short side of a pair.

    Attributes:
        min_words: Minimum number of words.
        max_words: Maximum number of words.
        target_words: Words up to which sentences of a field's text are added.
        short_heading_words: Maximum number of words of a heading that is used together with its parent.
        max_passages: Passages below a heading among which the nearest one is taken.
        min_cosine: Least cosine of query and passage by kind of pair; `default` for the others.
        min_shared_words: Least share, 0 to 1, of the query's words in the passage by kind of pair; 0 for the others.
    """

    min_words: int
    max_words: int
    target_words: int
    short_heading_words: int
    max_passages: int
    min_cosine: dict[str, float]
    min_shared_words: dict[str, float]


class TableQuestions(Section):
    """Questions about table cells.

    Attributes:
        max_cells: Maximum number of cells of a table.
        max_offset: Characters of a passage within which a cell must be printed.
        min_title_words: Fewest words of a title that a question can name.
        max_title_words: Words after which a title is cut.
        max_header_words: Maximum number of words of the headers of a row or column.
        questions: Templates with `{table}`, `{row}` and `{column}`, by `rows` and `columns`.
    """

    max_cells: int
    max_offset: int
    min_title_words: int
    max_title_words: int
    max_header_words: int
    questions: dict[str, tuple[str, ...]]


class Leakage(Section):
    """Similarity of a query to an evaluation question from which its pair is left out.

    Attributes:
        min_shared_words: Jaccard similarity of the words, 0 to 1.
        min_cosine: Cosine of the vectors.
    """

    min_shared_words: float
    min_cosine: float


class Judge(Section):
    """Sizes of the samples that the judge grades.

    Attributes:
        pairs_per_kind: Pairs of each kind.
        negatives_per_source: Negatives of each source.
        batch: Rows of one request.
    """

    pairs_per_kind: int
    negatives_per_source: int
    batch: int


class Negatives(Section):
    """Which passages are negatives, and how many of each source.

    Attributes:
        max_steps: Steps in the graph from the positive within which a passage is no negative.
        max_similarity: Largest cosine with the positive; a more similar passage may be a positive itself.
        max_share_of_positive: Largest score, relative to the positive's; with more, a passage may be a positive.
        candidate_depth: Best passages of a retriever that are considered.
        dense: Maximum number of negatives of a pair that the encoder finds.
        bm25: Maximum number of negatives of a pair that BM25 finds.
        structural: Maximum number of negatives of a pair from the structure: sibling boxes, other copies or editions.
        max_reuse: Maximum number of pairs of which one passage is a negative.
    """

    max_steps: int
    max_similarity: float
    max_share_of_positive: float
    candidate_depth: int
    dense: int
    bm25: int
    structural: int
    max_reuse: int

    def count_of(self, source: str) -> int:
        """Return the maximum number of negatives of a pair from one source: `dense`, `bm25` or `structural`.

        Args:
            source: Negative source.
        """
        return {"dense": self.dense, "bm25": self.bm25, "structural": self.structural}[source]


class TableNumbers(RuleList[Rule]):
    """Rules of `table_numbers`."""

    number: Rule


class Amounts(RuleList[Rule]):
    """Rules of `amounts`."""

    amount: Rule


class Training(Family):
    """Content of `rules/training.yaml`, without its patterns.

    Attributes:
        caps: Maximum number of pairs by kind; `oversampling` is the number of candidates that are examined per pair.
        relation_questions: Template of a question by relation, with `{subject}`, `{thing}` and verbs that agree.
        definition_questions: Templates of a question about a `{term}`.
    """

    split: Split
    near_duplicates: NearDuplicates
    caps: dict[str, float]
    query: Query
    relation_questions: dict[str, str]
    definition_questions: tuple[str, ...]
    tables: TableQuestions
    leakage: Leakage
    judge: Judge
    negatives: Negatives
    heading_keys: RuleList[Rule]
    empty_headings: RuleList[Rule]
    definitions: RuleList[Rule]
    table_numbers: TableNumbers
    amounts: Amounts


@cache
def load_training() -> Training:
    """Return the rules that decide which texts make a training pair, and which passages are no negatives."""
    return load_model("training", Training)
