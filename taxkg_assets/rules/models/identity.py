"""Rule family `identity`: form, type, revision and title that a document prints about itself."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Limits(Section):
    """Values of `limits`."""

    head_pages: int
    title_share: int
    footer_pages: int
    head_chars: int
    edge_frac: float
    large_pt: float
    masthead_frac: float
    name_ratio: float
    year_pt: float
    statute_pages: int
    statute_headings: int


class Designation(Rule):
    """Rule for the designation of a document.

    Attributes:
        doc_type: Document type.
        weight: Votes of one match.
        named: Designation with `{}` for the form; the printed words where empty.
    """

    doc_type: str
    weight: int
    named: str = ""


class Revisions(RuleList[Rule]):
    """Rules of `revisions`."""

    revised_month_name: Rule
    revised_month_number: Rule


class Years(RuleList[Rule]):
    """Rules of `years`."""

    designation_year: Rule
    title_year: Rule
    masthead_year: Rule


class CodeTitles(RuleList[Rule]):
    """Rules of `code_titles`."""

    numbered_title: Rule


class Recipients(RuleList[Rule]):
    """Rules of `recipients`."""

    instructions_for_recipient: Rule


class Identity(Family):
    """Content of `rules/identity.yaml`."""

    irs_stems: dict[str, str]
    limits: Limits
    designations: RuleList[Designation]
    revisions: Revisions
    years: Years
    drafts: RuleList[Rule]
    statutes: RuleList[Rule]
    code_titles: CodeTitles
    name_heads: RuleList[Rule]
    name_ends: RuleList[Rule]
    law_names: RuleList[Rule]
    recipients: Recipients
    not_names: RuleList[Rule]


@cache
def load_identity() -> Identity:
    """Return the rules that decide which form, revision and year a document is, by its printed text."""
    return load_model("identity", Identity)
