"""Numbers of the rule family `verification`: limits of drafts, bounds between the verdicts, weights of support."""

from __future__ import annotations

from taxkg_assets.rules.families import Section


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
        own_coverage: Weighted share, 0 to 1, of a statement's words in a passage that contradicts it.
        doubted: Weighted share, 0 to 1, of a statement's words in a passage from which doubts are looked for.
        covered: Weighted share, 0 to 1, of a statement's words that a passage that supports has or comes near to.
        support: Probability, 0 to 1, from which a passage supports.
        support_by_words: The same, for a passage that has all words of the statement itself.
        support_by_sense: The same, for a passage that has or comes near to nearly all of them.
        said: Weighted share, 0 to 1, of a statement's words that nearly all is.
        strange: Inverse document frequency from which a thing that a passage does not name leaves a statement open.
        blend: Weight, 0 to 1, of the encoder's similarity next to the coverage.
        score: Blended score, 0 to 1, of a passage that is near.
        missing_weight: Inverse document frequency from which a word must not be missing.
        agreement: Share, 0 to 1, of aligned words of the same polarity in a passage that supports.
        disagreement: Share up to which the polarity counts as opposite.
        contradiction: Blended score from which a difference contradicts.
        denial: Blended score from which the opposite polarity contradicts.
        evidence: Weight of shared words from which a differing value contradicts.
        beyond_graph: Weight of the things that a statement names beyond its lines, up to which the graph answers it.
        near_best: Blended score, 0 to 1, that a contradicting passage may lack to the best one.
        value_bonus: What a passage that states all values of a statement gains, 0 to 1, where passages are ordered.
        elsewhere: Blended score of a passage of another year or form.
        context: Weight, 0 to 1, of a word found only in headings or in the sentence before.
        alike: Cosine, 0 to 1, from which two words, each in its sentence, say the same, however common.
        rarer: What is taken off `alike` for each unit of a word's rarity (inverse document frequency).
        unlike: Cosine up to which two words say different things, however rare.
        synonym: Cosine from which a synonym of general English says the same.
        thing: Least cosine from which another word names the same thing.
        verb_weight: Most weight of a word that names no thing (inverse document frequency).
        aligned_passages: Passages, best first, in whose words a statement is read.
        shortlist: Passages of a document that are compared word by word.
    """

    own_coverage: float
    doubted: float
    covered: float
    support: float
    support_by_words: float
    support_by_sense: float
    said: float
    strange: float
    blend: float
    score: float
    missing_weight: float
    agreement: float
    disagreement: float
    contradiction: float
    denial: float
    evidence: float
    beyond_graph: float
    near_best: float
    value_bonus: float
    elsewhere: float
    context: float
    alike: float
    rarer: float
    unlike: float
    synonym: float
    thing: float
    verb_weight: float
    aligned_passages: int
    shortlist: int


class Support(Section):
    """Weights of a logistic regression: how likely a passage supports a statement that it does not contradict.

    Attributes:
        intercept: Added always.
        similarity: Of the cosine of both embeddings.
        values: Of the number of values that the passage states, 0 to 1.
        answered: Of the share of the nearest part's words that the statement has or is near to, 0 to 1.
        turns_whole: Where the whole passage denies what the statement affirms, or the reverse.
        found_elsewhere: Of the share of the statement's words that only another passage has, 0 to 1.
        rivalry: Of how much nearer a passage is that says otherwise, -0.5 to 0.5.
        behind: Of how much more similar the most similar passage is, 0 to 1.
        strange: Of the weight of a thing that the statement names and the passage does not, 0 to 1.
        replaced: Of how far a thing is from the one that the passage names in its place, 0 to 1.
    """

    intercept: float
    similarity: float
    values: float
    answered: float
    turns_whole: float
    found_elsewhere: float
    rivalry: float
    behind: float
    strange: float
    replaced: float
