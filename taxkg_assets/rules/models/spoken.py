"""Rule family `spoken`: limits on the template of a form, and when its spoken texts are trusted."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Limits(Section):
    """Most of a template that is read.

    Attributes:
        template_bytes: Bytes of the template.
        template_nodes: Elements of the template.
        template_depth: Depth of its elements.
        widgets_per_page: Fields of one page.
        deflate_ratio: Largest factor by which a compressed stream may grow.
    """

    template_bytes: int
    template_nodes: int
    template_depth: int
    widgets_per_page: int
    deflate_ratio: int


class Trust(Section):
    """When a template is trusted.

    Attributes:
        joined_frac: Least share, 0 to 1, of the fields on the pages that the template names.
        spoken_frac: Least share, 0 to 1, of these fields that have a spoken text.
        alike_least: Number of equal spoken texts up to which a template is trusted.
        alike_frac: Largest share, 0 to 1, of equal spoken texts.
    """

    joined_frac: float
    spoken_frac: float
    alike_least: int
    alike_frac: float


class FirstLetters(RuleList[Rule]):
    """Rules of `first_letters`."""

    first_letter: Rule


class ColumnLetters(RuleList[Rule]):
    """Rules of `column_letters`."""

    letter: Rule


class Items(RuleList[Rule]):
    """Rules of `items`."""

    item: Rule
    last_number: Rule


class Spoken(Family):
    """Content of `rules/spoken.yaml`, without its patterns."""

    limits: Limits
    trust: Trust
    spelled: RuleList[Rule]
    fronts: RuleList[Rule]
    headings: RuleList[Rule]
    keys: RuleList[Rule]
    first_letters: FirstLetters
    columns: RuleList[Rule]
    column_letters: ColumnLetters
    items: Items
    noises: RuleList[Rule]
    formulas: RuleList[Rule]
    answers: RuleList[Rule]
    options: RuleList[Rule]


@cache
def load_spoken() -> Spoken:
    """Return the rules that decide when the accessible descriptions in a form's template are trusted."""
    return load_model("spoken", Spoken)
