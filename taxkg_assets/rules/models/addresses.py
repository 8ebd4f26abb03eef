"""Rule family `addresses`: addresses of the publisher's pages and files."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Pdfs(Section):
    """Paths of a PDF, with `{name}` and `{year}`.

    Attributes:
        dated: Path of the revision of a year.
        undated: Path of the current file.
        draft: Path of the draft.
    """

    dated: str
    undated: str
    draft: str


class Limits(Section):
    """Values of `limits`.

    Attributes:
        pages: Number of pages of a document on which its address is searched.
    """

    pages: int


class Addresses(Family):
    """Content of `rules/addresses.yaml`, without its patterns.

    Attributes:
        base_url: Address of the publisher.
        pages: Path of a product's page by type of document, with `{name}` and `{form}`.
        pdfs: Paths of PDFs.
        limits: Limits of the search.
        publishers: Names of the publisher.
        disclaimers: Statements that a document is not the publisher's.
        names: File stems of the publisher.
        form_codes: Forms that have a page of their own.
        products: Official addresses with the product that they contain.
    """

    base_url: str
    pages: dict[str, str]
    pdfs: Pdfs
    limits: Limits
    publishers: RuleList[Rule]
    disclaimers: RuleList[Rule]
    names: RuleList[Rule]
    form_codes: RuleList[Rule]
    products: RuleList[Rule]


@cache
def load_addresses() -> Addresses:
    """Return the rules that decide at which address the publisher has a document, page or file."""
    return load_model("addresses", Addresses)
