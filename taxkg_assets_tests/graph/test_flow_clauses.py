"""Clauses move amounts from their sources to their targets; comparisons, parts and exclusions move none."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest

from taxkg_assets.graph.flow_clauses import read_clauses
from taxkg_assets.graph.flow_context import Said
from taxkg_assets.graph.flow_lists import find_listed_form, introduces_list, introduces_sources, read_source_item
from taxkg_assets.graph.flow_statements import read_heading, read_label
from taxkg_assets.graph.places import FACE, Place, find_places
from taxkg_assets.graph.schedule_scopes import find_line_keys
from tools.rule_switch import every_rule


@pytest.fixture(autouse=True, scope="module")
def _with_every_rule() -> Iterator[None]:
    """Rules with little support are off, but their reading is tested."""
    with every_rule():
        yield


OWN = "own"
Ends = list[tuple[str, str]]


def _name(place: Place | None) -> str:
    if place is None:
        return OWN
    column = f"({place.column})" if place.column else ""
    return f"{'/'.join(place.forms)}:{','.join(place.keys)}{column}"


def _read(text: str, heading_kind: str) -> Ends:
    return [(_name(each.source), _name(each.target)) for each in read_clauses(text, heading_kind=heading_kind)]


@pytest.mark.parametrize(
    ("text", "heading_kind", "ends"),
    [
        (
            "Enter the dues from line 39 on Form 2040, line 13; Form 2041, line 20; Form 290-T, line 9; and no others.",
            "",
            [(":39", "2040:13"), (":39", "2041:20"), (":39", "290-T:9")],
        ),
        (
            "Include on line 3a dues (if any) from Form 2797, line 17, that belong to a barge.",
            "",
            [("2797:17", ":3a")],
        ),
        ("Enter the result here and on line 8.", "lines", [("own", ":8")]),
        (
            "If the tax from line 14 of Form 2978 is negative, treat it as positive and add it to the total on line 2.",
            "",
            [("2978:14", ":2")],
        ),
        (
            "The dues from Form 2974, line 12 or, if applicable, line 18, are reported on line 9.",
            "lines",
            [("2974:12", ":9"), ("2974:18", ":9")],
        ),
        (
            "Pilots reporting dues on Schedule J (Form 2120), line 5f, must also include this amount on line 10b.",
            "lines",
            [("Schedule J (Form 2120):5f", ":10b")],
        ),
        (
            "Enter the dues from line 1a on Form 2120, line 16; enter the tax from line 1b on Form 2120, line 17.",
            "",
            [(":1a", "2120:16"), (":1b", "2120:17")],
        ),
        (
            "Report on line 6 amounts from tolls and any dues claimed on line 2 of Form 2478.",
            "lines",
            [("2478:2", ":6")],
        ),
        ("A pilot should include the line 5a amount on Form 2120, line 13.", "lines", [(":5a", "2120:13")]),
    ],
)
def test_a_clause_joins_its_sources_and_targets(text: str, heading_kind: str, ends: Ends) -> None:
    assert _read(text, heading_kind) == ends


def test_a_target_takes_every_source_named_after_it() -> None:
    text = "Report on line 6 any dues claimed on line 2 of Form 2478, and any tolls claimed on line 8 of Form 2864."
    assert _read(text, "lines") == [("2478:2", ":6"), ("2864:8", ":6")]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Enter any harbor dues allowed from Form 2834, Dues of Pilots and Crews, line 7.", [("2834:7", OWN)]),
        ("Enter the dues not paid before (from Schedule E (Form 2471), line 5).", [("Schedule E (Form 2471):5", OWN)]),
        (
            "This includes the dues reported last year on Schedule C (Form 2995), line 6, or Form 2996, line 16.",
            [("Schedule C (Form 2995):6", OWN), ("2996:16", OWN)],
        ),
        ("This should equal the sum of the dues reported on Form 2471, line 1b.", [("2471:1b", OWN)]),
        ("The amount reported on this line must be reported next year on Form 2995, line 3.", [(OWN, "2995:3")]),
        ("Also include this amount as dues on Form 2040, line 8z.", [(OWN, "2040:8z")]),
        ("Enter the dues from line 18a of the prior year form.", [(f"{FACE}:18a", OWN)]),
    ],
)
def test_a_clause_below_a_line_means_that_line(text: str, ends: Ends) -> None:
    assert _read(text, "lines") == ends


@pytest.mark.parametrize(
    "text",
    [
        "Do not enter the dues from Form 2834, line 7.",
        "Enter the smaller of the dues from Form 2834, line 7, or your costs.",
        "Enter the excess of the dues over the amount on Form 2834, line 7.",
        "Enter the dues other than those reported on Form 2834, line 7.",
        "If you report dues on Form 2834, line 7, you may be subject to a limit.",
        "Include the dues from Form 2834, line 7, on the appropriate line of your return.",
        "Report the harbor dues on Form 2040, line 8z.",
        "For example, enter the dues from Form 2834, line 7.",
        "The partner will enter the amount on Form 2990, line 43.",
        "Enter “Dues reported on Form 2040, line 1” and see the table.",
        "On line 2 of the Berth Worksheet, enter the amount from Form 2040, line 8z.",
        "Subtract line 3 from line 2. Enter the total on Form 2040, line 8z.",
        "Use it to figure the amount to enter on Form 2040, line 8z.",
    ],
)
def test_what_is_compared_excluded_or_elsewhere_moves_nothing(text: str) -> None:
    assert _read(text, "lines") == []


def test_the_second_amount_of_a_clause_does_not_take_the_first_one_along() -> None:
    text = "Report the dues from box 1 of Form 2099 on Form 2040, line 5a, and the taxable part on Form 2040, line 5b."
    assert _read(text, "") == [("2099:1", "2040:5a")]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Enter each pilot's distributive share of the dues in box 5 of Schedule K-1.", [(OWN, "Schedule K-1:5")]),
        ("Report each pilot’s share in box 11 using code E.", [(OWN, "Schedule K-1:11")]),
        (
            "Report the dues on Schedule K, line 13e. Report each pilot's share of the dues in box 13 of Schedule K-1.",
            [("Schedule K:13e", "Schedule K-1:13")],
        ),
        (
            "Report the dues on Form 2990, line 42. Report each pilot's share of the dues in box 13 of Schedule K-1.",
            [(OWN, "Schedule K-1:13")],
        ),
    ],
)
def test_a_share_goes_to_the_schedule_of_the_partner(text: str, ends: Ends) -> None:
    assert _read(text, "lines") == ends


def test_a_box_that_the_reader_fills_in_goes_where_its_recipient_must_report_it() -> None:
    text = (
        "Show the dues that the pilot must report on Form 2207, line 7, or the pilot can report on Form 2800, line 1b."
    )
    assert _read(text, "given") == [(OWN, "2207:7"), (OWN, "2800:1b")]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Enter the total reported in box 10 on Forms W-7.", [("W-7:10", OWN)]),
        (
            "Enter the total of all dues reported with codes D through H, S, and Y in box 12 on Forms W-7.",
            [("W-7:12", OWN)],
        ),
    ],
)
def test_a_box_that_the_reader_fills_in_takes_the_boxes_of_other_forms(text: str, ends: Ends) -> None:
    assert _read(text, "given") == ends


def test_this_amount_will_be_shown_where_it_comes_from() -> None:
    text = "Enter your dues. This amount will be reported either on line 3k of Form 2040, or in Form W-7, box 12."
    assert _read(text, "lines") == [("2040:3k", OWN), ("W-7:12", OWN)]
    other = "Include your dues on Form 2040, line 2a. This amount should be shown in box 12 of Form W-7."
    assert _read(other, "lines") == [("W-7:12", "2040:2a")]


def test_what_is_said_instead_is_about_the_same_amount() -> None:
    text = (
        "If any gain from Form 2797, line 7, is from a barge, it is no gain. Instead, report it on Schedule K, line 11."
    )
    assert _read(text, "") == [("2797:7", "Schedule K:11")]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("lines 2 through 4, 5a, and 7 of Form 2040", ("2", "3", "4", "5a", "7")),
        ("Form 2040-NR, lines 25d through 25f", ("25d", "25e", "25f")),
        ("Form 2471, lines 1(c) through 1(e)", ("1c", "1d", "1e")),
    ],
)
def test_a_range_names_every_line_between_its_ends(text: str, keys: tuple[str, ...]) -> None:
    (place,) = find_places(text)
    assert place.keys == keys


@pytest.mark.parametrize(
    ("text", "forms", "part", "column", "year"),
    [
        ("Form 2255, Certain Dues, Fees, and Tolls, Part I, line 3, column (q)", ("2255",), "I", "q", None),
        ("column (h) of Form 2800, Part III, line 6", ("2800",), "III", "h", None),
        ("page 1, line 23", (FACE,), "", "", None),
        ("line 48 of this form", (FACE,), "", "", None),
        ("Part IV, Section A, line 3", (), "IV", "", None),
        ("line 6 of your 2029 Form 2040", ("2040",), "", "", 2029),
        (
            "box 1 of Schedule K-1 (Form 2065 or Form 2120S)",
            ("Schedule K-1 (Form 2065)", "Schedule K-1 (Form 2120S)"),
            "",
            "",
            None,
        ),
        ("Schedule D (Form 2040 or 2040-SR), line 15", ("Schedule D (Form 2040)",), "", "", None),
    ],
)
def test_a_place_has_its_form_part_column_and_year(
    text: str, forms: tuple[str, ...], part: str, column: str, year: int | None
) -> None:
    (place,) = find_places(text)
    assert (place.forms, place.part, place.column, place.year) == (forms, part, column, year)


def test_that_schedule_is_the_one_named_before() -> None:
    places = find_places("Complete Schedule C (Form 2709) and enter the amount from line 5 of that schedule.")
    assert [(each.forms, each.keys) for each in places] == [(("Schedule C (Form 2709)",), ("5",))]


def test_a_heading_states_where_its_line_comes_from() -> None:
    (read,) = read_heading("Line 1e—Taxable Dues From Form 2441, Line 26")
    assert (_name(read.source), read.target) == ("2441:26", None)
    assert read_heading("Line 1d—Dues Not Reported on Form 2441, Line 26") == []


def test_a_label_takes_the_lines_of_other_forms_that_it_adds() -> None:
    read = read_label("Add Schedule 7, line 3, and line 12a and enter the total")
    assert [(each.relation, _name(each.source)) for each in read] == [("computed_from", "Schedule 7:3")]
    assert read_label("Add lines 51 and 52") == []


def test_a_paragraph_between_items_introduces_no_other_list() -> None:
    assert introduces_list("Also enter the following dues.")
    assert introduces_list("Dues of these kinds are included in the total on line 8:")
    assert not introduces_list("You may owe pilot tax. See the instructions for Schedule 7, line 8.")


def test_a_box_whose_amount_is_moved_elsewhere_does_not_go_to_the_line_of_its_heading() -> None:
    text = "Your exempt dues should be shown in box 8 of Form 2099."
    assert [each.target for each in read_clauses(text, heading_kind="lines")] == [None]
    (read,) = read_clauses(f"{text} Enter the total on line 2a of your Form 2040.", heading_kind="lines")
    assert read.source is not None
    assert read.target is not None
    assert (read.source.keys, read.target.keys) == (("8",), ("2a",))


def test_text_that_is_entered_is_no_amount_of_the_next_clause() -> None:
    assert not read_clauses("Enter “RIC” on line 16a and report the total on line 16b.", heading_kind="lines")


def test_an_amount_next_to_text_that_is_entered_moves() -> None:
    (read,) = read_clauses("Enter “RIC” and the amount from line 9 on Form 2040, line 7.", heading_kind="lines")
    assert read.source is not None
    assert read.target is not None
    assert (read.source.keys, read.target.keys) == (("9",), ("7",))


def test_no_text_introduces_no_list() -> None:
    assert not introduces_list("")


def test_a_part_goes_to_none_of_the_places_before_it() -> None:
    text = "If line 16 is a loss, enter here and on Form 2040, line 13, or Form 2041, line 14, the smaller of:"
    assert not read_clauses(text, heading_kind="")


def test_items_of_a_list_come_to_the_line_that_introduces_it() -> None:
    assert introduces_sources("Enter the total of the following amounts.")
    (read,) = read_source_item(
        "• Schedule K-1 (Form 2065), Share of Income, Dues, etc., box 15 (code AZ); and", forms=()
    )
    assert (_name(read.source), read.target) == ("Schedule K-1 (Form 2065):15", None)


@pytest.mark.parametrize("text", ["Do not include the following.", "Enter the smaller of the following."])
def test_a_list_that_leaves_something_out_introduces_no_sources(text: str) -> None:
    assert not introduces_sources(text)


@pytest.mark.parametrize(
    ("text", "heading_kind", "ends"),
    [
        (
            "The dues left over are shown on line 13 of Form 2062. Use them next year. "
            "Enter that amount on line 10 of your Form 2062 for the next year.",
            "",
            [("2062:13", "2062:10")],
        ),
        (
            "Attach your copy if box 4 shows dues withheld. Include the amount withheld in the total on line 25 of "
            "Form 2040.",
            "",
            [(":4", "2040:25")],
        ),
        (
            "Total your dues reported on Form 2099, box 8, and Form 2098, box 11. Add them to all other dues. "
            "Report the total on Form 2040, line 2a.",
            "",
            [("2099:8", "2040:2a"), ("2098:11", "2040:2a")],
        ),
        (
            "Combine the amounts on line 7 of your Schedule P (Form 2040) and enter the sum on Form 2040, line 12.",
            "",
            [("Schedule P (Form 2040):7", "2040:12")],
        ),
        ("On line 5b, include the dues from box 2 of Form 2042.", "lines", [("2042:2", ":5b")]),
        (
            "Include the dues withheld (as shown in box 2 of Form W-7) on Form 2040, line 25a.",
            "",
            [("W-7:2", "2040:25a")],
        ),
        ("The amount for this line is shown on Form 2684, Section B, Part II, line 39.", "lines", [("2684:39", OWN)]),
        (
            "Generally, this is the same as the amount entered on Schedule M-1, line 9.",
            "lines",
            [("Schedule M-1:9", OWN)],
        ),
        ("These payments should be shown in box 5 of Form 2099.", "lines", [("2099:5", OWN)]),
        (
            "This is what the port owes. Enter this income or loss on Schedule K, line 1.",
            "lines",
            [(OWN, "Schedule K:1")],
        ),
        (
            "Report these tolls on Schedule K, line 18c, and in box 18 of Schedule K-1 using code C.",
            "",
            [("Schedule K:18c", "Schedule K-1:18")],
        ),
        (
            "A port must report dues in box 1 of Form W-7, and you must report these dues on Form 2040, line 1a.",
            "",
            [("W-7:1", "2040:1a")],
        ),
        ("List the dues from line 8 of Part 1 of Schedule R in line 9.", "", [("Schedule R:8", ":9")]),
    ],
)
def test_a_later_sentence_moves_the_amount_that_an_earlier_one_names(text: str, heading_kind: str, ends: Ends) -> None:
    assert _read(text, heading_kind) == ends


@pytest.mark.parametrize(
    "text",
    [
        "Subtract the amount shown on Form 2098, box 2, from your dues. Enter the total on Form 2040, line 8z.",
        "The dues are shown in box 4 of Form 2099. Enter on Form 2040, line 5, the actual toll.",
        "If the dues on Form 2040, line 9, are more than your costs, enter on line 5, column A, the actual toll.",
        "These dues are reported on Form 2040, line 9.",
        "Enter the dues, included on lines 2 through 6 of Schedule R, that belong to a barge.",
    ],
)
def test_an_amount_that_no_sentence_before_names_goes_nowhere(text: str) -> None:
    assert _read(text, "lines") == []


def test_items_are_on_the_form_that_their_introduction_names() -> None:
    lead_in = "Include the following costs (from Schedule P (Form 2040)) that apply."
    assert introduces_sources(lead_in)
    forms = find_listed_form(lead_in)
    (read,) = read_source_item("2. Mooring (line 4). Check the box.", forms=forms)
    assert (_name(read.source), read.target) == ("Schedule P (Form 2040):4", None)
    assert read_source_item("2. Mooring (line 4).", forms=()) == []


def test_a_passage_moves_the_amount_that_the_passage_before_it_names() -> None:
    said = Said()
    first = "Dues should be shown in box 10 of your Form W-7. Tolls should be shown in box 13 of Form 2065."
    assert read_clauses(first, heading_kind="", said=said) == []
    read = read_clauses("Enter the amount of these dues on Form 2441, line 12.", heading_kind="", said=said)
    assert [_name(each.source) for each in read] == ["W-7:10", "2065:13"]
    assert read_clauses("Enter the amount of these dues on Form 2441, line 12.", heading_kind="", said=said) == []


def test_a_heading_with_a_code_names_its_line() -> None:
    row = {"document_id": "i9", "anchor_id": "a", "kind": "runin", "key": "code_C", "parent_anchor_id": None}
    anchors = pl.DataFrame([{**row, "heading": "Code C. Line 14c. Harbor Dues"}])
    assert find_line_keys(anchors) == {"a": "line_14c"}


def test_an_amount_kept_from_one_line_goes_to_another_one_instead() -> None:
    text = "Do not include the dues from Form 2849, line 15. Instead, include them on Form 2040, line 7."
    read = [(each.source, each.target) for each in read_clauses(text, heading_kind="lines")]
    assert [(source.keys, target.keys) for source, target in read if source and target] == [(("15",), ("7",))]


def test_an_amount_taken_from_a_box_goes_to_a_further_form() -> None:
    text = "Enter the total from box 5 of all your Forms 2099. Also enter this amount on Form 2040, line 6."
    read = [(each.source, each.target) for each in read_clauses(text, heading_kind="")]
    assert [(source.keys, target.keys) for source, target in read if source and target] == [(("5",), ("6",))]
    figured = "Enter the amount from Form 2849, line 15. Subtract line 2. Enter this amount on Form 2041, line 9."
    assert not read_clauses(figured, heading_kind="")


def test_codes_on_the_next_page_belong_to_the_line_of_the_codes_before() -> None:
    row = {"document_id": "i9", "kind": "runin", "parent_anchor_id": None}
    anchors = pl.DataFrame(
        [
            {**row, "anchor_id": "a", "key": "line_20c", "heading": "Line 20c. Other Items"},
            {**row, "anchor_id": "b", "key": "code_Z", "heading": "Code Z. Tolls", "parent_anchor_id": "a"},
            {**row, "anchor_id": "c", "key": "code_AA", "heading": "Code AA. Harbor Dues"},
            {**row, "anchor_id": "d", "key": "code_B", "heading": "Code B. Boats"},
            {**row, "anchor_id": "e", "key": "line_21", "heading": "Line 21. Taxes"},
            {**row, "anchor_id": "f", "key": "code_C", "heading": "Code C. Barges"},
        ]
    )
    assert find_line_keys(anchors) == {"b": "line_20c", "c": "line_20c"}


CODES = (
    ("a", "i9", "line_20c", "Line 20c. Other Items", None),
    ("b", "i9", "code_C", "Code C. Tolls", "a"),
    ("c", "i9", None, "Tolls of barges", "b"),
)


@pytest.mark.parametrize(
    ("following", "found"),
    [
        ([("d", "i9", "code_D", "Code D. Boats", None)], {"b", "c", "d"}),
        ([("d", "i9", None, "Other Dues", None), ("e", "i9", "code_A", "Code A. Boats", None)], {"b", "c"}),
        ([("d", "i9", None, "Other Dues", None), ("e", "i9", "code_G", "Code G. Boats", None)], {"b", "c"}),
        ([("d", "i9", None, "Form for Tolls", None), ("e", "i9", "code_D", "Code D. Boats", None)], {"b", "c", "e"}),
        (
            [("d", "i9", "codes_D-E", "Codes D and E. Piers", "a"), ("e", "i9", "code_F", "Code F", None)],
            {"b", "c", "e"},
        ),
        ([("d", "i10", "code_D", "Code D. Boats", None)], {"b", "c"}),
    ],
)
def test_codes_of_a_line_end_with_the_document_and_continue_past_other_headings_with_the_next_code_alone(
    following: list[tuple[str, str, str | None, str, str | None]], found: set[str]
) -> None:
    columns = ["anchor_id", "document_id", "key", "heading", "parent_anchor_id"]
    anchors = pl.DataFrame([*CODES, *following], schema=columns, orient="row").with_columns(kind=pl.lit("runin"))
    assert find_line_keys(anchors) == dict.fromkeys(found, "line_20c")


def test_a_code_in_parentheses_ends_with_its_place() -> None:
    text = "Harbor dues (Form W-7, box 12, code W) are reported on Form 2889, line 9."
    assert _read(text, "") == [("W-7:12", "2889:9")]


def test_a_line_that_an_amount_is_carried_to_is_no_end_of_a_range() -> None:
    assert _read("Carry the amount on line 8 to line 6 of Form 2040.", "lines") == [(":8", "2040:6")]
