"""Drafts: statements with headings and lead-ins, quotations, places that slice back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taxkg_assets.verification.draft import read_draft

MEMO = """# Rent

Report **rent** in box 1. See [the guide](https://example.gov).

## Fees
Leave out:

- fees of the city
2. fees of the state

| year | fee |
|---|---|
| 2031 | $5 |

```
code: $7
```
> Words that are quoted
> over two lines here
"""


def test_statements_know_their_headings_and_lead_ins() -> None:
    found = {own.text: (own.headings, own.lead_in) for own in read_draft(MEMO).statements}
    assert found["Report rent in box 1."] == (("Rent",), "")
    assert found["See the guide."] == (("Rent",), "")
    assert found["fees of the city"] == (("Rent", "Fees"), "Leave out:")
    assert found["fees of the state"] == (("Rent", "Fees"), "Leave out:")
    assert found["2031 $5"] == (("Rent", "Fees"), "")
    assert not any("code" in text for text in found)


def test_quotations_are_found_in_marks_and_blocks() -> None:
    draft = read_draft('It says “report all of the rent” and "pay the fee in full"; “too short”.\n' + MEMO)
    assert [own.text for own in draft.quotations] == [
        "report all of the rent",
        "pay the fee in full",
        "Words that are quoted over two lines here",
    ]
    first = draft.quotations[0]
    assert draft.text[first.start : first.end] == first.text
    assert "report all" not in first.around
    assert first.around.startswith("It says")


@pytest.mark.parametrize("marks", ['""', "“”"])
def test_a_quotation_may_go_on_in_the_next_line_but_not_in_the_next_paragraph(marks: str) -> None:
    left, right = marks
    (found,) = read_draft(f"It says {left}pay the whole fee\nby the end{right} of May.").quotations
    assert found.text == "pay the whole fee\nby the end"
    assert read_draft(f"A {left}fee is due at once.\n\nPay it by the end{right} of May.").quotations == ()


def test_a_quoted_block_is_introduced_by_the_sentence_before_it() -> None:
    draft = read_draft("Form 9999 (2031) says:\n\n> Pay the fee in full\n")
    assert draft.quotations[0].around == "Form 9999 (2031) says:"


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet='Aa .:\n-*#>|“”"`$1é\U0001f600', max_size=120))
def test_any_text_is_read_and_places_lie_within_it(text: str) -> None:
    draft = read_draft(text)
    places = [(own.start, own.end) for own in draft.statements] + [(own.start, own.end) for own in draft.quotations]
    assert all(0 <= start < end <= len(text) for start, end in places)


def test_a_long_draft_is_read_in_time_that_grows_with_its_length() -> None:
    line = 'Box 2 of Form 9999 (2031) shows $5 of rent. It says "pay the whole fee at once".\n'
    draft = read_draft(line * 5_000)
    assert (len(draft.statements), len(draft.quotations)) == (10_000, 5_000)
    assert all(own.around.startswith("It says") for own in draft.quotations)


@pytest.mark.parametrize("text", ["", "\n\n", "```\n$5\n```"])
def test_nothing_is_found_where_nothing_is_stated(text: str) -> None:
    assert read_draft(text).statements == ()


@pytest.mark.parametrize("head", ["To: The harbor master\nFrom: B. Quay\nDate: May 3, 2031\nRe: Box 2 of Form 9\n"])
def test_the_head_of_a_memo_states_nothing(head: str) -> None:
    texts = [own.text for own in read_draft(f"{head}\nReport rent in box 1.\n").statements]
    assert texts == ["Report rent in box 1."]
    bold = head.replace("To:", "**To:**").replace("Re:", "**Re**:")
    assert len(read_draft(f"{bold}\nReport rent in box 1.\n").statements) == 1
    for title in ("MEMORANDUM", "**Office memo**"):
        assert len(read_draft(f"{title}\n\n{head}\nReport rent in box 1.\n").statements) == 1


def test_one_line_with_a_word_and_a_colon_is_a_statement() -> None:
    assert [own.text for own in read_draft("Date: file Form 9 by May 3, 2031.\n").statements]
    (only,) = read_draft("Send copies of the letter\nTo: the harbor master by May 3.\n").statements
    assert only.text == "Send copies of the letter To: the harbor master by May 3."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("From: box 2a of Form 9999.\nTo: line 4 of Form 8888.\n", 2),
        ("Send the letter\nTo: the harbor master\nDate: May 3, 2031\n", 1),
        ("Re: Form 9999. Report the amount of\nbox 2a on line 4.\n", 2),
        ("Rent is due in May.\n\nSubject: box 2 of Form 9.\nDate: May 3, 2031.\n", 3),
    ],
)
def test_lines_like_the_head_of_a_memo_are_statements_elsewhere(text: str, expected: int) -> None:
    statements = read_draft(text).statements
    assert len(statements) == expected
    assert not any(own.text.endswith("amount of") for own in statements), "a wrapped sentence is whole"
