"""Rule family `predicates`: verbs by their effect on an amount or form, and the mood of a verb (duty, ban, option)."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class Mood(Rule):
    """Rule for the words right before a verb.

    Attributes:
        mood: Mood of the verb, such as `duty`; `inherit` for the mood of the verb before.
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
