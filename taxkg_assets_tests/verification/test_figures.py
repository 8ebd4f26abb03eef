"""Whether a document prints the amounts and rates of a statement anywhere."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.verification.figures import Figures
from taxkg_assets_tests.verification.words import claim_of

NODE: dict[str, Any] = {
    "text": "The toll is $1,250, or half of the fee up to $2 million.",
    "heading_path": "Fees of 7%",
}
CELL = {"text": "$80", "row_path": "9,000 > 9,050", "col_path": "Barges"}
TABLE: dict[str, Any] = {"title": "Tolls", "cells": [CELL]}


@pytest.mark.parametrize(
    ("text", "is_possible"),
    [
        ("On Form 9999, the toll is $1,250.", True),
        ("On Form 9999, the toll is $1,260.", False),
        ("On Form 9999, the toll is 7% of the fee.", True),
        ("On Form 9999, the toll is 50% of the fee.", True),
        ("On Form 9999, the toll is 8% of the fee.", False),
        ("On Form 9999, the fee is at most $2,000,000.", True),
        ("On Form 9999, a barge with an income of $9,020 pays a toll of $80.", True),
        ("On Form 9999, a barge with an income of $9,060 pays a toll of $80.", False),
        ("On Form 9999, line 12 is due within 30 days.", True),
    ],
)
def test_a_document_without_an_amount_states_it_nowhere(text: str, is_possible: bool) -> None:
    assert Figures([NODE], [TABLE]).may_state(claim_of(text)) is is_possible
