"""Names that a message offers instead of one that does not exist."""

from __future__ import annotations

import pytest

from taxkg_assets.serving.known_names import list_names

KEPT = ["f9--2030", "f9--2031", "i9--2031", "p77--2031"]


@pytest.mark.parametrize(
    ("wanted", "listed"),
    [
        ("f9", "f9--2030, f9--2031, and 2 more"),
        ("I9-2031", "f9--2031, i9--2031, and 2 more"),
        ("zebra", "f9--2030, f9--2031, i9--2031, p77--2031"),
        ("", "f9--2030, f9--2031, i9--2031, p77--2031"),
    ],
)
def test_similar_names_are_listed_else_all(wanted: str, listed: str) -> None:
    assert list_names(KEPT, unknown_name=wanted) == listed


def test_a_long_list_is_cut_and_counted() -> None:
    assert list_names((f"f{number}" for number in range(50)), max_names=3) == "f0, f1, f2, and 47 more"


def test_empty_and_repeated_names_are_left_out() -> None:
    assert list_names(["", None, "f9", "f9"]) == "f9"
    assert list_names(["", None]) == "none"
