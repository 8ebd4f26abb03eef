"""Rule family `references`: words of a text that refer to a form, box, line, section or law."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class Titled(Rule):
    """Rule for a heading that a text names.

    Attributes:
        words: Words in lower case, one of which every match contains.
        kind: Kind of the reference.
        shape: Pattern that every match contains; empty for none.
    """

    words: list[str]
    kind: str
    shape: str = ""


class Named(Titled):
    """Rule for something that a text names.

    Attributes:
        target: Target; named groups of the rule in braces.
        more: Pattern of a further item of a list; empty where there are no lists.
        separators: Pattern of the text between items; empty for commas, conjunctions and words of a range.
        short: Full name by short name.
        is_in_words: Whether the number is written in words.
    """

    target: str
    more: str = ""
    separators: str = ""
    short: Mapping[str, str] = MappingProxyType({})
    is_in_words: bool = False


class SectionCues(RuleList[Rule]):
    """Rules of `section_cues`."""

    see_before: Rule
    place_after: Rule


class Context(RuleList[Rule]):
    """Rules of `context`."""

    worksheet_heading: Rule
    column_heading: Rule
    example_heading: Rule
    not_section_titles: Rule
    form_before_schedule: Rule
    form_after: Rule
    amount_source_before: Rule
    form_of_instructions: Rule
    line_after_form: Rule
    worksheet_after: Rule
    form_before: Rule
    foreign_section_before: Rule
    foreign_section_after: Rule
    session_law_before: Rule
    code_named_before: Rule
    tax_code_after: Rule
    elsewhere_after: Rule
    own_section: Rule
    named_by_another_rule: Rule


class References(Family):
    """Content of `rules/references.yaml`."""

    separators: str
    range_words: str
    telling_letters: int
    number_words: dict[str, int]
    form_series: frozenset[str]
    min_heading_chars: int
    mentions: RuleList[Named]
    section_cues: SectionCues
    named_sections: RuleList[Titled]
    context: Context


@cache
def load_references() -> References:
    """Return the rules that decide which words of a text refer to a form, box, line, section or law."""
    return load_model("references", References)
