"""A unit holds all that its statement needs, and says what it leaves out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from taxkg_assets_tests.retrieval.answering.conftest import make_facts, quote

Reported = Callable[..., str]


def test_an_item_is_never_reported_without_its_lead_in(reported: Reported) -> None:
    assert reported(("Rent", ["Do not include in this box:", "• Barns, or", "• Stalls."]), of="• Stalls") == (
        "Do not include in this box: • Barns, or • Stalls."
    )


def test_of_a_lead_in_paragraph_the_last_sentence_leads_in(reported: Reported) -> None:
    lines = ["Rent is due in May of the year that follows the berth. The following do not count.", "• Boats of guests."]
    assert reported(("Rent", lines), of="• Boats") == "The following do not count. • Boats of guests."


def test_a_list_that_is_too_long_says_how_much_is_left_out(reported: Reported) -> None:
    items = [f"• Item number {number} of a list that has many items of several words each" for number in range(30)]
    found = reported(("Rent", ["You may count any of these:", *items]), of="• Item number 7 ")
    assert found.startswith("You may count any of these: • Item number 7 of")
    assert found.endswith("(29 more in this list)")


def test_conditions_that_hold_together_are_reported_together(reported: Reported) -> None:
    items = [f"• The berth passes test {number} of the harbor's own rules" for number in range(9)]
    found = reported(("Rent", ["It is free if all of the following apply:", *items]), of="• The berth passes test 3")
    assert "test 0" in found
    assert "test 8" in found


@pytest.mark.parametrize("opening", ["However, guests", "In that case, guests", "These guests", "Otherwise, guests"])
def test_a_sentence_that_leans_on_another_brings_it(reported: Reported, opening: str) -> None:
    lines = ["Members pay no rent for a berth. " + f"{opening} pay half of it."]
    assert reported(("Rent", lines), of=opening).startswith("Members pay no rent for a berth.")


def test_what_a_colon_announces_comes_with_its_announcement(reported: Reported) -> None:
    lines = ["Until 1990, the toll is due at these rates:", "A barge pays $4 a day at the gate of the harbor."]
    assert "Until 1990" in reported(("Toll", lines), of="A barge")


def test_an_exception_follows_its_rule(reported: Reported) -> None:
    lines = ["Enter all the rent of the year. Do not enter rent of barns. The form is due in May of the next year."]
    found = reported(("Rent", lines), of="Enter all")
    assert found == "Enter all the rent of the year. Do not enter rent of barns."


def test_an_exception_follows_its_rule_past_an_example(reported: Reported) -> None:
    """Without it "you can claim both" would permit what the third sentence forbids."""
    both = "You can claim both the berth and the toll for one boat."
    rest = "For example, a sloop may claim $9 and $7. But, you can't claim both for the same day."
    other = "Guests pay at the gate each day of the season."
    assert reported(("Rent", [f"{both} {rest} {other}"]), of="You can") == f"{both} {rest}"
    assert reported(("Rent", [f"{both} For example, a sloop may claim $9. {other}"]), of="You can") == both


def test_what_is_under_a_denying_heading_says_so(reported: Reported) -> None:
    found = reported(("Amounts that do not count", ["Rent of a barn for less than a day."]), of="Rent of")
    assert found == "Amounts that do not count: Rent of a barn for less than a day."


def test_what_is_under_a_box_names_it() -> None:
    facts = make_facts(("Box 3. Rent", ["Enter the rent that was paid for berths."]), keys=["box_3"])
    unit = quote(facts, "Enter the rent")
    assert unit.quote() == "Box 3. Rent: Enter the rent that was paid for berths. [1]"
    assert [piece.role for piece in unit.pieces] == ["label", "sentence"]
    assert unit.pieces[1].node_id == "e0-0"


def test_half_a_sentence_is_not_reported(reported: Reported) -> None:
    first = ("Rent", ["Rent of berths that are held for the"])
    rest = ("Rent", ["whole season is due in May. Guests pay at the gate each day."])
    assert reported(first, rest, of="Guests pay", is_whole=True).startswith(
        "Rent of berths that are held for the whole season"
    )
    assert reported(rest, of="Guests pay", is_whole=True) == "Guests pay at the gate each day."


def test_a_row_of_a_table_is_reported_with_its_headers() -> None:
    facts = make_facts(("Rates", ["Table 1. Rent", "Length| Rent", "12 feet| $40", "20 feet| $60"]), level="table")
    assert quote(facts, "20 feet").quote() == "Table 1. Rent — Length: 20 feet; Rent: $60 [1]"


def test_a_note_of_a_table_is_reported_under_its_caption() -> None:
    facts = make_facts(
        ("Rates", ["Table 1. Rent", "Length| Rent", "12 feet| $40", "Half of it in May."]), level="table"
    )
    assert quote(facts, "Half of it").quote() == "Table 1. Rent — Half of it in May. [1]"
    without_cells = make_facts(("Rates", ["Table 1. Rent", "$0 – $40 for boats that are free in May;"]), level="table")
    assert quote(without_cells, "$0").quote() == "Table 1. Rent — $0 – $40 for boats that are free in May; [1]"


def test_long_lists_take_a_line_for_each_item() -> None:
    facts = make_facts(("Rent", ["Do not include:", "• Barns,", "• Stalls,", "• Boats."]))
    assert quote(facts, "• Stalls").quote().splitlines() == [
        "Do not include: [1]",
        "• Barns, [1]",
        "• Stalls, [1]",
        "• Boats. [1]",
    ]


def test_a_heading_that_excludes_is_named_from_further_up() -> None:
    facts = make_facts(("Subject to duty > Sheds", ["• Barns of wood are counted here.", "• Barns of stone too."]))
    assert quote(facts, "• Barns of wood").text.startswith("Sheds:")
    denied = make_facts(("Not subject to duty > Sheds", ["• Barns of wood are counted here.", "• Barns of stone too."]))
    assert quote(denied, "• Barns of wood").text.startswith("Not subject to duty, Sheds:")


TOLLS = ["Tolls of the harbor by boat", "Boat| Toll:", "Sloop| $4", "Ketch| $6"]


@pytest.mark.parametrize(
    ("opening", "shown"),
    [
        (
            "The tolls of each boat are shown next.",
            ["Tolls of the harbor by boat — Boat: Sloop; Toll: $4", "Boat: Ketch; Toll: $6"],
        ),
        ("Pay the tolls in the Tolls of the harbor by boat chart.", []),
        ("Tolls of the harbor by boat", ["Boat: Sloop; Toll: $4", "Boat: Ketch; Toll: $6"]),
        ("The tolls are due in May.", []),
    ],
)
def test_a_sentence_that_announces_a_table_brings_it(opening: str, shown: list[str]) -> None:
    facts = make_facts(("Tolls", [opening]), ("Tolls", TOLLS), levels=["paragraph", "table"])
    lines = quote(facts, opening).lines
    assert lines == [f"{opening} {shown[0]}", *shown[1:]] if shown else lines == [opening]


def test_a_table_of_another_heading_or_a_long_one_is_not_announced() -> None:
    text = "The tolls of each boat are shown next."
    other = make_facts(("Tolls", [text]), ("Dues", TOLLS), levels=["paragraph", "table"])
    assert quote(other, "The tolls").lines == [text]
    rows = [*TOLLS, *(f"Boat {number}| ${number}" for number in range(20))]
    long = make_facts(("Tolls", [text]), ("Tolls", rows), levels=["paragraph", "table"])
    assert quote(long, "The tolls").lines == [text]


@pytest.mark.parametrize(
    ("lines", "table"),
    [
        (["• Boats of guests."], TOLLS),
        (["Guests pay at the gate.", "Members pay in May of the year."], TOLLS),
        ([], ["Worksheet for tolls", *TOLLS[1:]]),
        ([], ["Tolls", "1st quarter| $4", "2nd quarter| $6", "3rd quarter| $8"]),
    ],
)
def test_what_a_sentence_does_not_announce_is_left_out(lines: list[str], table: list[str]) -> None:
    """A list or two paragraphs lie between, somebody has to fill it in, or it has no header."""
    text = "The tolls of each boat are shown next."
    facts = make_facts(("Tolls", [text, *lines]), ("Tolls", table), levels=["paragraph", "table"])
    assert not any("Toll:" in line or "$" in line for line in quote(facts, "The tolls").lines)
