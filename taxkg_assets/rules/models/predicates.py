"""Rule family `predicates`.

Verbs by what they do with an amount or a form, and what the words right before a verb state about it.
"""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class Mood(Rule):
    """Rule for the words right before a verb.

    Attributes:
        mood: What they make of the verb, such as `duty`; `inherit`: as the verb before.
    """

    mood: str


class Predicates(Family):
    """Content of `rules/predicates.yaml`."""

    verbs: dict[str, tuple[str, ...]]
    irregular: dict[str, tuple[str, ...]]
    reach_characters: int
    label_verbs: tuple[str, ...]
    moods: RuleList[Mood]
    second_steps: RuleList[Rule]
    nouns: RuleList[Rule]
    label_starts: RuleList[Rule]
    relative: RuleList[Rule]
    denied_modifiers: RuleList[Rule]
    relative_pronouns: RuleList[Rule]
    gerunds: RuleList[Mood]
    passives: RuleList[Mood]


@cache
def load_predicates() -> Predicates:
    """Return the rules that decide which verbs move an amount or name a form."""
    return load_model("predicates", Predicates)
