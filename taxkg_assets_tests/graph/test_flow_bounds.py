"""Where the reading of a flow ends: at another case, another clause, another line, or a part of an amount."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from taxkg_assets.graph.flow_clauses import read_clauses
from taxkg_assets.graph.flow_labels import read_label_statements
from taxkg_assets.graph.flow_lists import introduces_sources
from taxkg_assets.graph.flow_statements import names_whole
from taxkg_assets.graph.places import Place, find_places
from tools.rule_switch import every_rule

OWN = "own"


@pytest.fixture(autouse=True, scope="module")
def _with_every_rule() -> Iterator[None]:
    """Rules with little support are off, but their reading is tested."""
    with every_rule():
        yield


def _name(place: Place | None) -> str:
    return OWN if place is None else f"{'/'.join(place.forms)}:{','.join(place.keys)}"


def _read(text: str, heading_kind: str) -> list[tuple[str, str]]:
    return [
        (_name(each.source), _name(each.target))
        for each in read_clauses(text, heading_kind=heading_kind)
        if names_whole(each, text)
    ]


@pytest.mark.parametrize(
    "later",
    [
        "If you do not file Form 2040, enter this amount on line 7.",
        "Form 2041 filers enter it on line 7.",
        "All others, enter it on line 7.",
        "Otherwise, enter this amount on line 7.",
        "Estates use Schedule G and include this amount on line 7.",
    ],
)
@pytest.mark.parametrize(
    "first", ["Form 2040. Enter this amount on line 5.", "When filing Form 2040, enter it on line 5."]
)
def test_a_form_named_alone_is_not_that_of_other_filers(first: str, later: str) -> None:
    assert ("own", "2040:5") in _read(f"{first} {later}", "boxes")
    assert "2040:7" not in {target for _, target in _read(f"{first} {later}", "boxes")}


def test_a_form_named_alone_is_that_of_later_sentences() -> None:
    text = "Form 2040. Enter this amount on line 5. Enter the total dues from line 8 on line 9."
    assert _read(text, "boxes") == [(OWN, "2040:5"), (":8", "2040:9")]


@pytest.mark.parametrize(
    ("text", "is_list"),
    [
        ("Examples of dues to include on line 9 follow.", True),
        ("Certain dues are included on this line. These dues are as follows.", True),
        ("Repayment of the following dues.", True),
        ("Examples of dues not to include on line 9 follow.", False),
        ("Certain dues are not included on this line. These dues are as follows.", False),
        ("None of the following dues.", False),
        ("Neither of the following dues.", False),
        ("Denial of the following credits.", False),
        ("Definitions of the following terms.", False),
    ],
)
def test_a_list_of_what_does_not_belong_has_no_sources(text: str, is_list: bool) -> None:
    assert introduces_sources(text) is is_list


def test_examples_belong_to_the_line_that_they_name() -> None:
    text = "Examples of dues to include on line 9 follow."
    assert introduces_sources(text, key="line_9")
    assert not introduces_sources(text, key="line_4")
    assert introduces_sources(text.replace("line 9", "this line"), key="line_4")


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Include on this line the dues, code D in box 12 of Form 2099.", [("2099:12", OWN)]),
        ("Enter the amount shown for code A in box 12 of Form 2099.", [("2099:12", OWN)]),
        ("Include the amount of code A in box 12 of Form 2099.", [("2099:12", OWN)]),
        ("Enter the dues using code 2 in box 7 of Form 2099.", []),
        ("Enter the dues if they have code 2 in box 7 of Form 2099.", []),
    ],
)
def test_a_code_may_name_the_amount_of_a_box(text: str, ends: list[tuple[str, str]]) -> None:
    assert _read(text, "lines") == ends


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Enter on line 8 from your Form 2099 the dues, and include them on line 9.", [":8", ":9"]),
        ("Enter on line 8 from your Form 2099 the dues and include them on line 9.", [":8", ":9"]),
        ("Enter on line 8 from your Form 2099 the dues, and add lines 6 and 7.", [":8", ":6,7"]),
        (
            "Enter on line 8 from your Form 2099 the dues, and compare them with Schedule A, line 5.",
            [":8", "Schedule A:5"],
        ),
        ("Enter on line 8 from your Forms 2099 the dues on Part II, line 5, and line 6.", [":8", "2099:5,6"]),
        ("Report the dues from line 3 on line 4, Form 8999 must be attached.", [":3", ":4"]),
        ("Complete lines 1 through 4, Form 2041, and Form 2042.", [":1,2,3,4"]),
        ("Enter the dues from line 9, Form 2040.", ["2040:9"]),
        ("Enter the dues from line 9, Form 2040, or line 6, Form 2041.", ["2040:9", "2041:6"]),
    ],
)
def test_a_form_is_that_of_the_lines_of_its_own_clause(text: str, names: list[str]) -> None:
    assert [_name(each) for each in find_places(text)] == names


@pytest.mark.parametrize(
    ("tail", "is_whole"),
    [
        (", but only the amount that is less than $500.", False),
        (", but only the dues of boats.", False),
        (", or your dues, the lesser of the two.", False),
        (", the larger of the two.", False),
        (", that you paid before June 1.", False),
        (", that is from boats.", False),
        (", that you should have paid.", False),
        (", but not less than zero.", True),
        (", that is shown in the column.", True),
        (", less any dues on line 10.", True),
    ],
)
def test_a_compared_or_restricted_amount_is_not_the_whole(tail: str, is_whole: bool) -> None:
    assert _read(f"Enter the amount from Form 2040, line 9{tail}", "lines") == [("2040:9", OWN)] * is_whole


@pytest.mark.parametrize(
    ("label", "is_moved"),
    [
        ("Add lines 3 and 4. Enter this amount on Form 2040, line 8", True),
        ("Add lines 3 and 4. Enter the tax on this amount on Form 2040, line 8", False),
        ("Add lines 3 and 4. Enter the credit for this amount on Form 2040, line 8", False),
        ("This amount was included on Form 2040, line 8", False),
    ],
)
def test_a_label_moves_its_own_amount_only(label: str, is_moved: bool) -> None:
    moved = [each for each in read_label_statements(label) if each.relation == "flows_to"]
    assert [(_name(each.source), _name(each.target)) for each in moved] == [(OWN, "2040:8")] * is_moved


@pytest.mark.parametrize("text", ["Add {}", "If you received dues, add {}"])
@pytest.mark.parametrize("kind", ["line", "box"])
def test_the_time_for_places_grows_with_the_text(text: str, kind: str) -> None:
    def measure(count: int) -> float:
        start = time.process_time()
        assert len(find_places(text.format(f"{kind} 5 and the " * count))) == count
        return time.process_time() - start

    measure(10)
    first = measure(1000)
    assert measure(4000) < 9 * first


@pytest.mark.parametrize(("words", "is_moved"), [(8, False), (60, True)])
def test_other_filers_are_named_near_the_place(words: int, is_moved: bool) -> None:
    text = f"For estates {'and ports ' * words}enter this amount on the “Other dues” line of your tax return."
    assert _read(text, "lines") == [(OWN, "return:")] * is_moved
