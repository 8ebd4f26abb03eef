"""Parts of a long passage that are compared with a statement on their own."""

from __future__ import annotations

from taxkg_assets.verification.passage_parts import split_passage


def test_a_short_text_has_no_parts() -> None:
    assert split_passage("The fee is due in May.") == []


def test_a_long_text_is_read_clause_by_clause_and_two_by_two() -> None:
    text = "If you moor a barge for a whole month, enter the harbor fee on line 4, but report the tide fee on line 9."
    found = split_passage(text)
    assert found[:3] == [
        "If you moor a barge for a whole month",
        "enter the harbor fee on line 4",
        "but report the tide fee on line 9",
    ]
    assert "If you moor a barge for a whole month, enter the harbor fee on line 4" in found
    assert all(len(own.split()) >= 6 for own in found)
