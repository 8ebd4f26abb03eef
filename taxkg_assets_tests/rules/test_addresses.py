"""Official addresses of products, and products of addresses."""

from __future__ import annotations

import pytest

from taxkg_assets.rules.addresses import Addresses, find_addresses, find_product, is_published

_SITE = "https://www.irs.gov"


@pytest.mark.parametrize(
    ("irs_name", "form", "doc_type", "revision", "is_draft", "page", "pdf"),
    [
        ("p77", "77", "publication", "2031", False, "/publications/p77", "/pub/irs-prior/p77--2031.pdf"),
        ("i77a", "77-A", "filer_instructions", "2031-04", False, "/instructions/i77a", "/pub/irs-prior/i77a--2031.pdf"),
        ("f77a", "77-A", "form", "2031", False, "/forms-pubs/about-form-77-a", "/pub/irs-prior/f77a--2031.pdf"),
        ("f77sb", "Schedule B (Form 77)", "form", "2031", False, None, "/pub/irs-prior/f77sb--2031.pdf"),
        ("p77", "77", "publication", "", False, "/publications/p77", "/pub/irs-pdf/p77.pdf"),
        ("f77", "77", "form", "2031", True, "/forms-pubs/about-form-77", "/pub/irs-dft/f77--dft.pdf"),
        ("", "77", "form", "2031", False, None, None),
        ("../p77", "77", "publication", "2031", False, None, None),
    ],
)
def test_addresses(
    irs_name: str, form: str, doc_type: str, revision: str, is_draft: bool, page: str | None, pdf: str | None
) -> None:
    found = find_addresses(irs_name, form=form, doc_type=doc_type, revision=revision, is_draft=is_draft)
    assert found == Addresses(page and _SITE + page, pdf and _SITE + pdf)


@pytest.mark.parametrize(
    ("url", "product"),
    [
        (f"{_SITE}/pub/irs-pdf/p77.pdf", "p77"),
        (f"{_SITE}/pub/irs-prior/i77--2031.pdf", "i77"),
        (f"{_SITE}/publications/p77#en_US_2031_publink5", "p77"),
        (f"{_SITE}/Pub77a", "p77a"),
        (f"{_SITE}/form77div", "f77div"),
        (f"{_SITE}/payments", None),
        ("https://example.org/pub/irs-pdf/p77.pdf", None),
    ],
)
def test_products(url: str, product: str | None) -> None:
    assert find_product(url) == product


def test_only_who_names_the_publisher_may_have_addresses() -> None:
    assert is_published(["Title", "Department of the Treasury Internal Revenue Service"])
    assert not is_published(["Town of Somewhere", "Tax code"])


def test_a_copy_that_denies_that_it_is_the_publishers_has_no_addresses() -> None:
    assert not is_published(["Mock-up: not an IRS document", "See IRS.gov/Form77 for changes"])
    assert is_published(["Do not attach an IRS document", "See IRS.gov/Form77 for changes"])
