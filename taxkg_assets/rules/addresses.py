"""Official addresses of a product's web page and PDF, and the product of an address.

Only the publisher's own products have addresses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.models.addresses import load_addresses


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of a product.

    Attributes:
        page_url: Address of the web page; None if there is none.
        pdf_url: Address of the PDF; None if there is none.
    """

    page_url: str | None = None
    pdf_url: str | None = None


def is_published(texts: Iterable[str]) -> bool:
    """Return whether a document may be from the publisher: a text names the publisher, and no text is a disclaimer.

    Args:
        texts: Texts of a document, such as one per page.
    """
    rules, pages = load_addresses(), tuple(texts)
    return _match_any(rules.publishers, pages) and not _match_any(rules.disclaimers, pages)


def _match_any(rules: Iterable[Rule], texts: Iterable[str]) -> bool:
    return any(rule.pattern.search(text) for text in texts for rule in rules)


def find_addresses(irs_name: str, *, form: str, doc_type: str, revision: str, is_draft: bool) -> Addresses:
    """Build the official addresses of an IRS product.

    Args:
        irs_name: File stem of the publisher, such as `f1099div`.
        form: Form of the document, such as `1099-DIV`.
        doc_type: Type of the document, such as `form` or `publication`.
        revision: Revision, such as `2024-01`; may be empty.
        is_draft: Whether the document is a draft.

    Returns:
        Address of the web page, if documents of this type have one, and of the PDF of this revision; both None for a
        name that is not the publisher's.

    Source:
        rules/addresses.yaml.
    """
    if not any(rule.pattern.match(irs_name) for rule in load_addresses().names):
        return Addresses()
    rules = load_addresses()
    path_name = "dated" if revision else "undated"
    if is_draft:
        path_name = "draft"
    pdf_url = rules.base_url + getattr(rules.pdfs, path_name).format(name=irs_name, year=revision[:4])
    page_path = rules.pages.get(doc_type)
    has_page_name = any(rule.pattern.match(form) for rule in load_addresses().form_codes)
    if page_path is None or (doc_type == "form" and not has_page_name):
        return Addresses(None, pdf_url)
    return Addresses(rules.base_url + page_path.format(name=irs_name, form=form.lower()), pdf_url)


def find_product(url: str) -> str | None:
    """Parse the product from an official address.

    Args:
        url: Any URL.

    Returns:
        File stem of the product, such as `p550`; None for any other address.
    """
    for rule in load_addresses().products:
        match = rule.pattern.match(url)
        if match is not None:
            name = match["name"].lower()
            if rule.id == "short_publication":
                return name.replace("pub", "p", 1)
            return name.replace("form", "f", 1) if rule.id == "short_form" else name
    return None
