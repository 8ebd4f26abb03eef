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
        deflate_ratio: Factor by which a compressed stream grows at most.
    """

    template_bytes: int
    template_nodes: int
    template_depth: int
    widgets_per_page: int
    deflate_ratio: int


class Trust(Section):
    """When a template is trusted.

    Attributes:
        joined_frac: Least share, 0 to 1, of the fields on the pages that it names.
        spoken_frac: Least share, 0 to 1, of these that it describes.
        alike_least: Number of equal descriptions up to which they are no reason to distrust it.
        alike_frac: Share, 0 to 1, of equal descriptions above which it describes none.
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
