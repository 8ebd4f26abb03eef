"""Quotations: the same letters whatever the marks; places; words that differ."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taxkg_assets.verification.quotations import QuotationIndex, compare_words, reduce_text

ROWS = [
    ("d1", "n1", "Fees."),
    ("d1", "n2", "The owner’s fee isn’t due before May 1, 2031. It is 3.8% of the rent."),
    ("d1", "n3", "Pay it – in full – to the “harbor” office."),
    ("d2", "n4", "The owner pays."),
]


@pytest.fixture
def index() -> QuotationIndex:
    return QuotationIndex(ROWS)


@pytest.mark.parametrize(
    "quotation",
    [
        "The owner's fee isn't due before May 1, 2031.",
        "the  owner's fee\nisn't due",
        "The own-\ner's fee isn't due",
        "fee isn't due before … 3.8% of the rent",
        "The owner's fee [of this kind] isn't due before May 1",
        "3.8% of the rent. Pay it - in full",
        'Pay it – in full – to the "harbor" office',
    ],
)
def test_harmless_variations_are_verbatim(index: QuotationIndex, quotation: str) -> None:
    assert [match.document_id for match in index.find(quotation)] == ["d1"]


@pytest.mark.parametrize(
    "quotation",
    [
        "The owner's fee is due before May 1",
        "3.9% of the rent. Pay it",
        "38% of the rent. Pay it",
        "Fees",
        "office Pay it in full",
    ],
)
def test_other_words_are_not(index: QuotationIndex, quotation: str) -> None:
    assert index.find(quotation) == []


def test_the_place_slices_back(index: QuotationIndex) -> None:
    (match,) = index.find("isn't due before May 1")
    text = {node: text for _, node, text in ROWS}[match.node_id]
    assert text[match.start : match.end] == "isn’t due before May 1"


def test_the_words_that_differ_are_named() -> None:
    ratio, differences = compare_words("pay the fee in May", "You must pay the fee in June, at the latest.")
    assert ratio > 0.6
    assert differences == [("May", "June,")]


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet="abcAB 1.,-’“”$%é½\n", min_size=0, max_size=60))
def test_reducing_twice_changes_nothing(text: str) -> None:
    assert reduce_text(reduce_text(text)) == reduce_text(text)
