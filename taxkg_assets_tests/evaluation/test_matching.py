"""The quote rule, on statements whose polarity, keys and amounts are what a reader would trip over."""

from __future__ import annotations

import pytest

from taxkg_assets.evaluation.matching import count_tokens, cut_to_tokens, find_words, is_quoted, squash

QUOTE = "Enter in box 2e the rent of the back room, but do not include the part that the owner has paid back."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Before. {QUOTE} After.", True),
        (QUOTE.replace("back room", "back\nro-\nom").upper(), True),
        (QUOTE.replace("part", "share"), True),
        (QUOTE.replace("2e", "2f"), False),
        (QUOTE.replace("do not", "do"), False),
        (QUOTE.replace("has paid", "has not paid"), False),
        (QUOTE.replace("the rent of the back room", "some money"), False),
        (" ".join(reversed(QUOTE.split())), False),
        ("", False),
    ],
)
def test_a_quote_is_only_where_its_meaning_is(text: str, expected: bool) -> None:
    assert is_quoted(QUOTE, text) is expected


def test_a_row_may_carry_its_headers_between_the_cells() -> None:
    row = "Family of 3 45 percent $211.00 $84.40 weekly share for the second child in care"
    cells = "Family of 3; column income: 45 percent; column full time: $211.00; column part time: $84.40; "
    text = cells + "weekly share for the second child in care"
    assert is_quoted(row, text, is_row=True)
    assert not is_quoted(row, text.replace("$84.40", "$84.60"), is_row=True)
    assert not is_quoted(row, text)


def test_letter_forms_do_not_count() -> None:
    assert squash("The “ﬁrst” co-\nowner’s 28% (§ 12)") == "thefirstcoowners28%§12"
    assert find_words("Don’t pay $1,500.00, co-owner — see 12.") == (
        "don't", "pay", "1500.00", "coowner", "see", "12",
    )  # fmt: skip


def test_tokens_are_counted_by_words() -> None:
    assert count_tokens("one two three") == round(3 * 1.3)
    assert count_tokens("") == 1
    assert cut_to_tokens("a b c d e", 4) == "a b c"  # 4 / 1.3 = 3.08 words
    assert cut_to_tokens("a b", 0) == ""
