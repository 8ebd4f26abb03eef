"""Rule family `verification`: how the draft checker reads a statement and compares it with a passage."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


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
        verb_weight: Maximum weight of a word that names no thing (inverse document frequency).
        aligned_passages: Passages, best first, in whose words a statement is read.
        shortlist: Passages of a document that are compared word by word.
    """

    own_coverage: float
    doubted: float
    covered: float
    support: float
    support_by_words: float
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


class ValueRule(Rule):
    """Rule for a value.

    Attributes:
        kind: Kind of the value.
    """

    kind: str


class Operation(Rule):
    """Rule for words that state a computation.

    Attributes:
        operation: Operation, as in the table `formulas`.
    """

    operation: str


class TransferRule(Rule):
    """Rule for words that carry an amount from one line to another.

    Attributes:
        is_forward: Whether the line named first is the one that the amount comes from.
    """

    is_forward: bool


class Multipliers(RuleList[Rule]):
    """Rules of `multipliers`."""

    before: Rule
    after: Rule
    operand: Rule


class Asides(RuleList[Rule]):
    """Rules of `asides`."""

    opener: Rule
    aside: Rule


class Attachments(RuleList[Rule]):
    """Rules of `attachments`."""

    after: Rule
    before: Rule


class Placements(RuleList[Rule]):
    """Rules of `placements`."""

    on_line: Rule
    year_of_form: Rule


class Rewrite(Rule):
    r"""Rule with plainer words for what it matches.

    Attributes:
        written: Replacement; `\1` is the rule's first group.
    """

    written: str


class Years(RuleList[Rule]):
    """Rules of `years`."""

    after_title: Rule
    stated: Rule
    before_title: Rule
    bracketed: Rule


class Predicates(RuleList[Rule]):
    """Rules of `predicates`."""

    verb: Rule
    finite: Rule


class Denials(RuleList[Rule]):
    """Rules of `denials`."""

    negative_word: Rule
    forbidding_word: Rule


class NoDenials(RuleList[Rule]):
    """Rules of `no_denials`."""

    bound: Rule
    indifferent: Rule


class WordDenials(RuleList[Rule]):
    """Rules of `word_denials`."""

    not_: Rule
    failed: Rule


class ClauseEnds(RuleList[Rule]):
    """Rules of `clause_ends`."""

    joint: Rule
    coordinator: Rule
    stop: Rule
    case: Rule


class Numbers(RuleList[Rule]):
    """Rules of `numbers`."""

    only_one: Rule
    only_do_one: Rule
    both: Rule
    as_two: Rule
    part: Rule
    of_values: Rule
    as_both: Rule


class Offsets(RuleList[Rule]):
    """Rules of `offsets`."""

    counted: Rule
    ordered: Rule


class Prefixes(RuleList[Rule]):
    """Rules of `prefixes`."""

    denying: Rule


class Taxing(RuleList[Rule]):
    """Rules of `taxing`."""

    taxed: Rule
    free: Rule


class Lacks(RuleList[Rule]):
    """Rules of `lacks`."""

    without: Rule
    including: Rule


class Orders(RuleList[Rule]):
    """Rules of `orders`."""

    before: Rule
    after: Rule
    than: Rule


class Directions(RuleList[Rule]):
    """Rules of `directions`."""

    up: Rule
    down: Rule


class Sequences(RuleList[Rule]):
    """Rules of `sequences`."""

    before: Rule
    after: Rule


class Universals(RuleList[Rule]):
    """Rules of `universals`."""

    each: Rule
    single: Rule


class Relatives(RuleList[Rule]):
    """Rules of `relatives`."""

    which_one: Rule
    own_verb: Rule


class Imperatives(RuleList[Rule]):
    """Rules of `imperatives`."""

    order: Rule


class Conditions(RuleList[Rule]):
    """Rules of `conditions`."""

    case: Rule
    concession: Rule
    exception: Rule


class Exclusives(RuleList[Rule]):
    """Rules of `exclusives`."""

    limit: Rule
    only_these: Rule
    not_only: Rule
    marker: Rule


class Pointers(RuleList[Rule]):
    """Rules of `pointers`."""

    read_on: Rule
    refers: Rule
    aside: Rule
    index: Rule
    contrast: Rule


class Verification(Family):
    """Content of `rules/verification.yaml`."""

    limits: Limits
    thresholds: Thresholds
    support: Support
    scaffold_words: tuple[str, ...]
    small_words: tuple[str, ...]
    addressees: tuple[str, ...]
    light_weight: float
    light_words: tuple[str, ...]
    opposites: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, ...], ...]
    quantifiers: tuple[str, ...]
    senses: tuple[str, ...]
    alike: tuple[tuple[str, ...], ...]
    values: RuleList[ValueRule]
    keys: RuleList[ValueRule]
    years: Years
    abbreviations: RuleList[Rule]
    predicates: Predicates
    forces: RuleList[Rule]
    scaffold: RuleList[Rule]
    denials: Denials
    no_denials: NoDenials
    caps: RuleList[Rule]
    operations: RuleList[Operation]
    transfers: RuleList[TransferRule]
    multipliers: Multipliers
    asides: Asides
    attachments: Attachments
    placements: Placements
    rewrites: RuleList[Rewrite]
    word_denials: WordDenials
    clause_ends: ClauseEnds
    times: RuleList[Rule]
    numbers: Numbers
    deadlines: RuleList[Rule]
    offsets: Offsets
    prefixes: Prefixes
    taxing: Taxing
    lacks: Lacks
    orders: Orders
    directions: Directions
    sequences: Sequences
    universals: Universals
    relatives: Relatives
    imperatives: Imperatives
    conditions: Conditions
    exclusives: Exclusives
    pointers: Pointers


@cache
def load_verification() -> Verification:
    """Return the rules that decide how the draft checker reads a statement and compares it with a passage."""
    return load_model("verification", Verification)
