"""Labels of lines: where their amount goes, by rules and by the grammar of clauses."""

from __future__ import annotations

import pytest

from taxkg_assets.graph.flow_labels import read_label_statements
from taxkg_assets.graph.places import Place
from tools.rule_switch import every_rule


def _name(place: Place | None) -> str:
    return f"{'/'.join(place.forms)}.{','.join(place.keys)}".lstrip(".") if place else "own"


@pytest.mark.parametrize(
    ("label", "flows"),
    [
        ("Harbor credit. Enter the smaller of line 3 or 4. Also include it on Form 2040, line 9", {("own", "2040.9")}),
        ("Add lines 1 and 2. Report this amount on Form 2800, Part III, line 4j", {("own", "2800.4j")}),
        ("Amount on Form 2040, line 4, minus Form 2049, line 5", set()),
        ("Amount on Form 2040, line 4, less dues", set()),
        ("Amount on Form 2040, line 4, or Form 2049, line 5, whichever is less", set()),
        ("Subtract line 3 from line 2. Include as income on Form 2040, line 1c", {("own", "2040.1c")}),
        ("Enter the sum of Form 2040, line 16; and Form 2041, line 3", {("2040.16", "own"), ("2041.3", "own")}),
        (
            "Add lines 7 and 9. Include this amount on Form 2040, line 16 (check box 2), or Form 2041, line 5",
            {("own", "2040.16"), ("own", "2041.5")},
        ),
        ("Otherwise, include the amount from line 7 in the total on Form 2040, line 16", {("7", "2040.16")}),
        ("Add lines 3 and 4. If line 3 is blank, also enter this amount on line 13", set()),
        ("Estates and trusts, enter the result on the “Other dues” line of your tax return", set()),
    ],
)
def test_a_label_says_where_its_amount_goes(label: str, flows: set[tuple[str, str]]) -> None:
    read = read_label_statements(label)
    assert {(_name(each.source), _name(each.target)) for each in read if each.relation != "computed_from"} == flows


def test_an_amount_on_another_form_is_the_lines_where_its_rule_is_on() -> None:
    """The rule has little support, so it is off, but its reading is tested."""
    with every_rule():
        (read,) = read_label_statements("Amount on Form 2040, line 4, if any")
    assert (_name(read.source), _name(read.target)) == ("2040.4", "own")
