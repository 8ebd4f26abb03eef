"""Deadlines that say the same in other words are not called different."""

from __future__ import annotations

import pytest

from taxkg_assets.verification.obligations import is_timed_otherwise


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("Pay the toll by May 1, 2031.", "Pay the toll after May 1, 2031.", True),
        ("Do not pay the toll before May 1, 2031.", "Pay the toll no earlier than May 1, 2031.", False),
        ("You can't pay before May 1, 2031.", "You may pay after May 1, 2031.", False),
        ("Pay the toll by May 1, 2031.", "Pay the toll before May 1, 2031.", False),
    ],
)
def test_a_time_is_a_deadline_or_a_beginning(claim: str, text: str, *, expected: bool) -> None:
    assert is_timed_otherwise(claim, text) is expected
    assert is_timed_otherwise(text, claim) is expected
