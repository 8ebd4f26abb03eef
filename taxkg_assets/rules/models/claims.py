"""Rule family `claims`: what is compared between a generated sentence and the sentences that it quotes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Numbers(Section):
    """Number words with their values."""

    units: dict[str, int]
    scales: dict[str, int]
    alone: frozenset[str]

    def read(self, words: Iterable[str]) -> int:
        """Return the number that words such as `two hundred fifty thousand` name.

        Args:
            words: Number words in lower case.
        """
        total, below_thousand = 0, 0
        for word in words:
            if word in self.units:
                below_thousand += self.units[word]
            elif self.scales[word] == min(self.scales.values()):  # hundred
                below_thousand = max(1, below_thousand) * self.scales[word]
            else:
                total += max(1, below_thousand) * self.scales[word]
                below_thousand = 0
        return total + below_thousand


class Spelling(Rule):
    r"""Rule with the common spelling of what it matches.

    Attributes:
        written: Replacement; `\1` is the rule's first group.
    """

    written: str


class Marker(Rule):
    """Rule for words that decide what a clause states.

    Attributes:
        family: What the words decide, such as `force`; markers of one family exclude each other.
        means: Id of another marker with the same meaning; empty for none.
        can_be_left_out: Whether a claim may omit the words.
    """

    family: str
    means: str = ""
    can_be_left_out: bool = False

    @property
    def meaning(self) -> str:
        """Return the id of the marker with the same meaning."""
        return self.means or self.id


class Comparator(Marker):
    """Rule for words that make a figure a bound.

    Attributes:
        side: Side of the words on which the figure is: `left` or `right`.
    """

    side: str


class Join(Rule):
    """Rule for words between two things.

    Attributes:
        joins: `both` if the words connect the things on both sides, `right` if the thing on the right with the verb.
    """

    joins: str


class Act(Rule):
    """Rule for what is done to a thing.

    Attributes:
        actor_after: Word before the actor: `by` in "paid by the broker".
    """

    actor_after: str


class Joints(RuleList[Rule]):
    """Rules of `joints`."""

    ends_a_piece: Rule


class Claims(Family):
    """Content of `rules/claims.yaml`."""

    numbers: Numbers
    condition_ends: str
    voice: str
    addressee: str
    side_ends: str
    passive: str
    free: tuple[str, ...]
    alike: tuple[tuple[str, ...], ...]
    endings: tuple[str, ...]
    shortest_stem: int
    side_words: int
    bound_reach: int
    spellings: RuleList[Spelling]
    measures: RuleList[Rule]
    comparators: RuleList[Comparator]
    forces: RuleList[Marker]
    contrasts: RuleList[Marker]
    conditions: RuleList[Marker]
    joints: Joints
    relation_cues: RuleList[Rule]
    directions: RuleList[Rule]
    joins: RuleList[Join]
    acts: RuleList[Act]


@cache
def load_claims() -> Claims:
    """Return the rules that decide whether a generated sentence says the same as the sentences that it quotes."""
    return load_model("claims", Claims)
