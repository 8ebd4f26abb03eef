"""Rule family `verification`: how the draft checker reads a statement and compares it with a passage."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.models.verification_bounds import Limits, Support, Thresholds


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
    stop: Rule
    case: Rule


class Times(RuleList[Rule]):
    """Rules of `times`."""

    past: Rule


class Numbers(RuleList[Rule]):
    """Rules of `numbers`."""

    only_one: Rule
    only_do_one: Rule
    several: Rule
    one: Rule
    both: Rule
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
    marker: Rule
    not_only: Rule


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
    times: Times
    numbers: Numbers
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
