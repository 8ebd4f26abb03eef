"""The filers that a section is for, by its headings."""

from __future__ import annotations

import pytest

from taxkg_assets.retrieval.query.filers import find_filers, find_heading_filers


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        ("Booklet > Dues > Farmers and fishermen", {"farmer"}),
        ("Booklet > Dues > Decedent's final return.", {"estate"}),
        ("Booklet > Members of the clergy > Who must pay", {"clergy"}),
        ("Booklet > Clergy > Dues > Who must pay", set()),
        ("Booklet > Foreign Accounts and Trusts", set()),
        ("Booklet > U.S. Citizens or Resident Aliens", set()),
        ("Booklet > Social security or RRTA tax", set()),
        ("Guide for Farmers > Dues", set()),
        ("Booklet > Real estate", set()),
        ("Booklet > Boaters other than farmers", set()),
        ("Booklet > Trust fund penalty", set()),
        ("Booklet", set()),
    ],
)
def test_a_section_is_for_those_that_its_heading_alone_names(path: str, kinds: set[str]) -> None:
    assert find_heading_filers(path) == kinds


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("when are my dues due", ()),
        ("I own a ranch and a boat", ("farmer",)),
        ("deployed overseas", ("alien", "military")),
        ("we live in Puerto Rico", ("territory",)),
        ("the hurricane took our boat", ("disaster",)),
    ],
)
def test_a_question_names_its_filers(question: str, kinds: tuple[str, ...]) -> None:
    assert find_filers(question) == kinds
