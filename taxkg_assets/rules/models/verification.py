"""Rule family `verification`: how the draft checker reads a statement and compares it with a passage."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import Family, Section, load_model


class Limits(Section):
    """What the checker takes in at most.

    Attributes:
        draft_bytes: Bytes of a draft.
        pdf_pages: Pages of a PDF.
        pdf_seconds: Seconds for reading a PDF.
        statements: Statements of a draft that are checked.
        statement_characters: Characters of one statement.
        quotation_words: Words from which text in quotation marks counts as a quotation.
    """

    draft_bytes: int
    pdf_pages: int
    pdf_seconds: int
    statements: int
    statement_characters: int
    quotation_words: int


class Thresholds(Section):
    """Bounds between the verdicts.

    Attributes:
        coverage: Weighted share, 0 to 1, of a statement's words in the passage that supports it.
        own_coverage: The same, in the passage itself, without its headings.
        clause_coverage: Least share, 0 to 1, of one clause of the statement.
        blend: Weight, 0 to 1, of the encoder's similarity next to the coverage.
        score: Blended score, 0 to 1, of a passage that supports.
        missing_weight: Inverse document frequency from which a word must not be missing.
        telling_weight: The same, for a passage that supports.
        agreement: Share, 0 to 1, of aligned words of the same polarity in a passage that supports.
        disagreement: Share up to which the polarity counts as opposite.
        contradiction: Blended score from which a difference contradicts.
        denial: Blended score from which the opposite polarity contradicts.
        asserted: Share, 0 to 1, of a statement's words in what a passage asserts, without its conditions.
        evidence: Weight of shared words from which a differing value contradicts.
        near_best: Blended score, 0 to 1, that a contradicting passage may lack to the best one.
        value_bonus: What a passage that states all values of a statement gains, 0 to 1, where passages are ordered.
        elsewhere: Blended score of a passage of another year or form.
        context: Weight, 0 to 1, of a word found only in headings or in the sentence before.
        shortlist: Passages of a document that are compared word by word.
    """

    coverage: float
    own_coverage: float
    clause_coverage: float
    blend: float
    score: float
    missing_weight: float
    telling_weight: float
    agreement: float
    disagreement: float
    contradiction: float
    denial: float
    asserted: float
    evidence: float
    near_best: float
    value_bonus: float
    elsewhere: float
    context: float
    shortlist: int


class Verification(Family):
    """Content of `rules/verification.yaml`, without its lists of rules."""

    limits: Limits
    thresholds: Thresholds
    scaffold_words: tuple[str, ...]
    addressees: tuple[str, ...]
    light_weight: float
    light_words: tuple[str, ...]
    opposites: tuple[tuple[str, ...], ...]
    senses: tuple[str, ...]
    alike: tuple[tuple[str, ...], ...]


@cache
def load_verification() -> Verification:
    """Return the rules of verification, read once per process."""
    return load_model("verification", Verification)
