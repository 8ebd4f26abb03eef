"""Rule family `router`: words of a question that name a form, year, copy or box."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class FormName(Rule):
    """Rule for a form that a question names.

    Attributes:
        is_mention: Whether the form may be a detail of the answer, and not the form that the question is about.
    """

    is_mention: bool = False


class KeyName(Rule):
    """Rule for a box, line or code that a question names.

    Attributes:
        kind: First part of the key: `box`, `line` or `code`.
    """

    kind: str


class Voice(Rule):
    """Rule for words of one perspective.

    Attributes:
        weight: Positive for words of filers, negative for words of recipients.
    """

    weight: float


class Nickname(Rule):
    """Rule for a form that is named by a word of its title.

    Attributes:
        forms: Pattern of the forms that it may be.
    """

    forms: str


class ListedCodes(RuleList[Rule]):
    """Rules of `listed_codes`."""

    code_and_dash: Rule


class Router(Family):
    """Content of `rules/router.yaml`."""

    years: RuleList[Rule]
    forms: RuleList[FormName]
    drafts: RuleList[Rule]
    keys: RuleList[KeyName]
    listed_codes: ListedCodes
    perspectives: RuleList[Voice]
    countries: RuleList[Rule]
    cities: RuleList[Rule]
    amounts: RuleList[Rule]
    nicknames: RuleList[Nickname]
    places: RuleList[Rule]


@cache
def load_router() -> Router:
    """Return the rules that decide which form, year, copy and box a question means."""
    return load_model("router", Router)
