"""Spoken texts of fields: what key, part, row, column, label and formula each states."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.extraction.forms.spoken import Spoken, find_entries, find_formula, join_letters, read_spoken


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1b. Kind of boat. $.", {"key": "1b", "label": "Kind of boat"}),
        ("Line 12. Rents. Attach a list. Dollars.", {"key": "12", "kind": "line", "label": "Rents. Attach a list"}),
        ("Line 12. Cents.", {"key": "12", "kind": "line"}),
        ("Box e. Owner of the boat.", {"key": "e", "kind": "box", "label": "Owner of the boat"}),
        ("c. Owner of the boat.", {"key": "c", "kind": "letter", "label": "Owner of the boat"}),
        (
            "Page 2. Part I I. Costs. 9a. Oil paid (see instructions). Dollars.",
            {"part": "II", "section": "Costs", "key": "9a", "label": "Oil paid (see instructions)"},
        ),
        (
            "See the guide. Part I. Boats. You must check one. (A) Boats that you own.",
            {"part": "I", "section": "Boats", "key": "A", "kind": "option", "label": "Boats that you own"},
        ),
        ("14. Open parenthesis. Loss from oil. Close parenthesis.", {"key": "14", "label": "Loss from oil"}),
        (
            "Row: 8b. Sum of boats. Column: (g) Changes from the other form, Part I I, line 2, column (g).",
            {
                "key": "8b",
                "label": "Sum of boats",
                "column": "g",
                "head": "Changes from the other form, Part II, line 2, column (g)",
            },
        ),
        ("Row: 3. Column: (b) Day of sale.", {"row": "3", "column": "b", "head": "Day of sale"}),
        (
            "Row: (1) Name. Column: Dependent 2. (a) Yes.",
            {
                "row": "(1) Name. Dependent 2",
                "entry": "Dependent 2",
                "column": "a",
                "head": "Yes",
            },
        ),
        ("1. Row: i i. Column: (a) Name.", {"key": "1ii", "row": "ii", "column": "a", "head": "Name"}),
        (
            "Row: 2. Column: Change, if any. Enter a code in column (f). See the guide. (f) Code.",
            {"row": "2", "column": "f", "head": "Code"},
        ),
        (
            "Line 1. Item 2. (B). Day of sale.",
            {"key": "1", "kind": "line", "row": "2", "column": "b", "head": "Day of sale"},
        ),
        ("Line 9. Open parentheses. (f). Close parentheses.", {"key": "9", "kind": "line", "column": "f"}),
        ("5. Amount. Line 3 of 15.", {"key": "5", "row": "3"}),
        ("Line 9. a. Rafts. Dollars.", {"key": "9a", "kind": "line", "label": "Rafts"}),
        ("8. Other boats: a. Open parenthesis. Rafts. Close parenthesis.", {"key": "8a", "label": "Rafts"}),
        (
            "Income. Attach a list here. Line 7. Rents.",
            {"key": "7", "kind": "line", "section": "Income", "label": "Rents"},
        ),
        ("Estates: 18a. Net rents.", {"key": "18a", "section": "Estates", "label": "Net rents"}),
        ("4(b). Oil.", {"step": "4", "key": "b", "label": "Oil"}),
        ("Step 4 (optional): Changes. (a). Oil.", {"step": "4", "section": "Changes", "key": "a", "label": "Oil"}),
        ("Read only copy. Page 1. Copy B. VOID.", {"copy": "B", "label": "VOID"}),
        ("2. Sum. Note: See the guide.", {"key": "2", "label": "Sum"}),
        ("OWNER'S T I N.", {"label": "OWNER'S TIN"}),
        ("", {}),
    ],
)
def test_a_spoken_text_states_what_its_field_is(text: str, said: dict[str, Any]) -> None:
    found = read_spoken(text)
    want = Spoken(**{**said, "formula": found.formula})
    assert found == want


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Box 5. Dues of the harbor. 2.", {"key": "5", "kind": "box", "row": "2", "label": "Dues of the harbor"}),
        ("Other rafts (list). 10.", {"row": "10", "label": "Other rafts (list)"}),
    ],
)
def test_the_number_of_an_entry_is_its_row(text: str, said: dict[str, Any]) -> None:
    assert read_spoken(text, is_entry=True) == Spoken(**said)


def test_a_number_at_the_end_counts_entries_where_others_count_from_one() -> None:
    rafts = [f"Other rafts (list). {number}." for number in range(1, 11)]
    assert find_entries([*rafts, "Dues, tolls. 1.", "Old dues. 7.", "Old dues. 8."]) == {*rafts}
    assert read_spoken("Dues, tolls. 1.").key == "1"


def test_the_formula_of_a_line_is_stated_in_whole_sentences() -> None:
    assert find_formula("Sum. Add lines 3 and 4. See the guide. Multiply line 5 by 20% (0.20).") == (
        "Add lines 3 and 4. Multiply line 5 by 20% (0.20)."
    )
    assert (
        read_spoken("13. Subtract line 12 from line 11. If zero, enter 0.").formula == "Subtract line 12 from line 11."
    )
    assert find_formula("Oil for boats.") == ""


def test_letters_that_are_spelled_are_joined() -> None:
    assert join_letters("a T I N in Part I V, Form 1040-S R, bonds of series I U.S. savings") == (
        "a TIN in Part IV, Form 1040-SR, bonds of series I U.S. savings"
    )
