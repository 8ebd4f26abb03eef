"""Evidence holds only if its quote stands in the text, and a sentence only if it says no more than its quotes."""

from __future__ import annotations

import pytest

from taxkg_assets.llm.evidence import BlockEvidence
from taxkg_assets.prompts.contract import Block, Evidence

TEXT = "Enter the rent in box 3. Do not enter deposits of $500 or more; enter them in box 4."
CHECK = BlockEvidence(
    [Block(element_id="d:p1:e2", text=TEXT, start=100), Block(element_id="d:p1:e3", text="Enter it.")]
)


@pytest.mark.parametrize(
    ("pointer", "quote", "found"),
    [
        ("d:p1:e2:100-109", "Enter the", "d:p1:e2:100-109"),
        ("d:p1:e2:0-9", "Enter the", "d:p1:e2:100-109"),  # counted from the block instead of from the element
        ("d:p1:e2:164-174", "box 4", "d:p1:e2:178-183"),
        ("d:p1:e2:0-9", "enter", "d:p1:e2:132-137"),  # the nearest of several
        ("d:p1:e2:100-109", "Enter  the", None),
        ("d:p1:e2:100-109", "enter the rent", None),
        ("d:p1:e9:100-109", "Enter the", None),
        ("d:p1:e3:0-9", "Enter the", None),  # it stands in another element
        ("d:p1:e2:100-100", "", None),
        ("d:p1:e2:100-101", " ", None),
    ],
)
def test_a_quote_is_verbatim_or_nothing(pointer: str, quote: str, found: str | None) -> None:
    located = CHECK.locate(Evidence(pointer=pointer, quote=quote))
    assert (located.pointer if located else None) == found


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ("Do not enter deposits of $500 or more", True),
        ("Deposits of $500 or more are not entered there, but in box 4.", True),
        ("Deposits of $600 or more are not entered, but in box 4.", False),  # another amount
        ("Deposits of $500 or more are entered in box 4.", False),  # the negation is gone
        ("Do not enter deposits in box 5.", False),  # another box
        ("Landlords never pay penalties on deposits.", False),  # other words
        ("", False),
    ],
)
def test_a_sentence_says_no_more_than_its_quotes(claim: str, holds: bool) -> None:
    quoted = Evidence(pointer="d:p1:e2:125-183", quote=TEXT[25:])
    assert CHECK.supports(claim, [quoted]) is holds


RULES = (
    "Do not enter deposits. Report rent in boxes 3 and 3a if the tenant paid it; do not report fees. "
    "Only owners file. Losses go on line 4."
)


@pytest.mark.parametrize(
    ("claim", "quote", "holds"),
    [
        ("Enter deposits.", "enter deposits", False),  # what is quoted begins after the denial
        ("enter deposits", "enter deposits", False),
        ("Do not enter deposits.", "enter deposits", True),
        ("Report rent in box 3a if the tenant paid it.", "Report rent in boxes 3 and 3a if the tenant paid it", True),
        ("Report rent in boxes 3 and 3a.", "Report rent in boxes 3 and 3a", False),  # the condition is gone
        ("Report rent on line 3a if the tenant paid it.", "Report rent in boxes 3 and 3a if the tenant paid it", False),
        ("Report fees if the tenant paid.", "if the tenant paid it; do not report fees", False),
        ("Owners file.", "owners file", False),  # others do not
        ("Losses go in box 4.", "Losses go on line 4", False),
        ("Losses go on line 4.", "Losses go on line 4", True),
        ("Losses of every owner of a house go on line 4.", "Losses go on line 4", False),  # bolder than its source
    ],
)
def test_a_sentence_keeps_denials_conditions_and_keys_of_its_source(claim: str, quote: str, holds: bool) -> None:
    check = BlockEvidence([Block(element_id="e", text=RULES)])
    located = check.locate(Evidence(pointer="e:0-1", quote=quote))
    assert located is not None
    assert check.supports(claim, [located]) is holds
