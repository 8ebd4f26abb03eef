"""References: what is named, where, and what the sentence says about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

from taxkg_assets.extraction.invariants import find_false_evidence
from taxkg_assets.extraction.references.clusters import find_places
from taxkg_assets.extraction.references.mentions import Headings, find_mentions
from taxkg_assets.extraction.references.printed_ranges import keep_printed_lines
from taxkg_assets.extraction.references.references import build_references
from taxkg_assets.extraction.references.worksheet_lines import attach_worksheets
from taxkg_assets.extraction.structure.identity import Identity
from taxkg_assets.schemas import Anchors, References, Sections
from tools.rule_switch import every_rule


@pytest.fixture(scope="module", autouse=True)
def _with_every_rule() -> Iterator[None]:
    """Rules with little support are off, but their reading is tested."""
    with every_rule():
        yield


_FORM = Identity("i1099zzz", "1099-ZZZ", "filer_instructions", "2031-01", None, False, "Instructions", "")
_STATUTE = Identity("", "", "statute", "", None, False, "Town code", "")


def _targets(text: str, headings: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    known = Headings({heading: ("section", heading.rstrip(".")) for heading in headings})
    return [(mention.kind, mention.target) for mention in find_mentions(text, headings=known)]


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("Add boxes 2b, 2c, and 2d.", ["box_2b", "box_2c", "box_2d"]),
        ("Skip boxes 14 through 16.", ["box_14", "box_15", "box_16"]),
        ("Use boxes 12a through 12d.", ["box_12a", "box_12b", "box_12c", "box_12d"]),
        ("Check boxes B through D.", ["box_B", "box_C", "box_D"]),
        ("Show it in boxes 1, 3 (up to the yearly base), and 5.", ["box_1", "box_3", "box_5"]),
        ("It is in box 1 or 3 days later.", ["box_1"]),
        ("Before you check Box D, E, or F below, read this.", ["box_D", "box_E", "box_F"]),
        ("Show it in boxes A (also for guests), B, and C.", ["box_A", "box_B", "box_C"]),
    ],
)
def test_lists_and_ranges_give_one_target_each(text: str, targets: list[str]) -> None:
    assert _targets(text) == [("box", target) for target in targets]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Attach Form 9999 or 9999-SR.", [("form", "Form 9999"), ("form", "Form 9999-SR")]),
        ("Use Form 99 to tell us.", [("form", "Form 99")]),
        ("Print Form 12 copies.", []),
        ("Check box K at the top.", [("box", "box_K")]),
        ("Complete Section A or B.", [("section", "Section A"), ("section", "Section B")]),
        (
            "Sign Section B of Form 9999.",
            [("section", "Section B (Form 9999)"), ("form", "Form 9999")],
        ),
        (
            "It is on Schedule Z-1 (Form 9991 or 9992-S).",
            [("form", "Schedule Z-1 (Form 9991)"), ("form", "Schedule Z-1 (Form 9992-S)")],
        ),
        ("With box A checked, or box C if you must.", [("box", "box_A"), ("box", "box_C")]),
        (
            "Use line 4b (if Box D is checked), or line 6.",
            [("line", "line_4b"), ("box", "box_D"), ("line", "line_6")],
        ),
        ("Add boxes 1a (see line 3) and 1b.", [("box", "box_1a"), ("line", "line_3"), ("box", "box_1b")]),
        ("Complete Parts II through V.", [("section", f"Part {number}") for number in ("II", "III", "IV", "V")]),
        (
            "Fill in lines A and B, and line C if you sail.",
            [("line", "line_A"), ("line", "line_B"), ("line", "line_C")],
        ),
        ("Enter it from Boat Limit Worksheet B.", [("section", "Boat Limit Worksheet B")]),
        ("Follow Pub. 999, chapter 3.", [("publication", "Pub. 999"), ("section", "chapter 3 (Pub. 999)")]),
        ("Follow Pub. 999 and chapter 3.", [("publication", "Pub. 999"), ("section", "chapter 3")]),
        ("Use Schedule Z (Form 9999).", [("form", "Schedule Z (Form 9999)")]),
        ("See the Schedule Z (Form 9999) instructions.", [("publication", "Instructions for Schedule Z (Form 9999)")]),
        ("See the instructions for Form 9999.", [("publication", "Instructions for Form 9999")]),
        (
            "See Pub. 999 and section 6 of Pub. 99-A.",
            [("publication", "Pub. 999"), ("section", "section 6 (Pub. 99-A)"), ("publication", "Pub. 99-A")],
        ),
        ("a section 998(k) or 999(b) plan", [("irc_section", "IRC 998(k)"), ("irc_section", "IRC 999(b)")]),
        ("See sections 998(b)(2)(B) and (C).", [("irc_section", f"IRC 998(b)(2)({x})") for x in "BC"]),
        ("sections 998(a), (b)(7), and (b)(8)", [("irc_section", f"IRC 998{x}") for x in ("(a)", "(b)(7)", "(b)(8)")]),
        ("section 998(a)(1)(i) through (iii)", [("irc_section", f"IRC 998(a)(1)({x})") for x in ("i", "ii", "iii")]),
        ("sections 998(a) through (c)", [("irc_section", f"IRC 998({x})") for x in "abc"]),
        ("either (1) under section 998(a)(1) or (2) by gift", [("irc_section", "IRC 998(a)(1)")]),
        ("section 998(c), (A) the boat", [("irc_section", "IRC 998(c)")]),
        ("See Regulations sections 1.9999-1, -2, and -6.", [("regulation", f"Regs 1.9999-{n}") for n in (1, 2, 6)]),
        (
            "See Regulations section 1.9999-14(j) through (l).",
            [("regulation", f"Regs 1.9999-14({x})") for x in "jkl"],
        ),
        ("See Notice 2031-4, 2031-5 I.R.B. 77.", [("notice_or_ruling", "Notice 2031-4")]),
        ("Treasury Decision 9999 is old.", [("notice_or_ruling", "T.D. 9999")]),
        ("File FinCEN Form 999.", [("form", "FinCEN Form 999")]),
        ("Go to www.example.gov/forms/.", [("url", "www.example.gov/forms")]),
        ("sections twelve hundred one and 9 of it", []),
        (
            "sections twelve hundred one and six thousand nine-b(c) of the internal revenue code",
            [("irc_section", "IRC 1201"), ("irc_section", "IRC 6009b(c)")],
        ),
        ("Use Form 9999, Schedule Z.", [("form", "Form 9999"), ("form", "Schedule Z (Form 9999)")]),
        ("under section 7 of the Imaginary Standards Act (ISA) of 1938", [("statute_section", "ISA section 7")]),
        (
            "See part Q in the General Instructions for Certain Information Returns.",
            [
                ("section", "part Q (General Instructions for Certain Information Returns)"),
                ("publication", "General Instructions for Certain Information Returns"),
            ],
        ),
    ],
)
def test_each_kind_has_its_own_name(text: str, expected: list[tuple[str, str]]) -> None:
    assert _targets(text) == expected


def test_a_heading_counts_only_where_a_cue_points_at_it() -> None:
    headings = ("Safe gains.", "Wild Losses")
    assert _targets("See Safe gains and Wild Losses, later.", headings) == [
        ("section", "Safe gains"),
        ("section", "Wild Losses"),
    ]
    assert _targets("Safe gains are taxed.", headings) == []


def test_a_box_knows_the_form_it_is_on() -> None:
    known = Headings({})
    (box, form) = find_mentions("Copy it from box 3 of Form 9999-Y.", headings=known)
    assert (box.target_form, form.target) == ("9999-Y", "Form 9999-Y")
    (_, line) = (
        find_mentions("Enter it on Schedule Z (Form 9999), Part II, line 4.", headings=known)[:1]
        + find_mentions("Enter it on Schedule Z (Form 9999), line 4.", headings=known)[-1:]
    )
    assert line.target_form == "Schedule Z (Form 9999)"
    line = find_mentions("Add Schedule Z (Form 9999 or 9999-SR), line 4.", headings=known)[-1]
    assert line.target_form == "Schedule Z (Form 9999)"
    line = find_mentions("See the Instructions for Forms 9999 and 9999-SR, line 4.", headings=known)[-1]
    assert line.target_form == "9999"


def test_conditions_in_parentheses_do_not_part_the_items_of_a_list() -> None:
    text = "Put the total on Form 9999, line 4 (if box A above is checked), line 5 (if box B is), or line 6."
    mentions = find_mentions(text, headings=Headings({}))
    places = {mention.target: place for mention, place in zip(mentions, find_places(text, mentions), strict=True)}
    assert len({places[f"line_{number}"].start for number in (4, 5, 6)} | {places["Form 9999"].start}) == 1
    assert places["box_A"].start > places["line_4"].start
    assert places["Form 9999"].kind == "line"


def test_an_amount_from_one_line_goes_to_a_form_that_names_its_own_line() -> None:
    references, _ = _build(
        _section(0, "Enter the amount from line 2a on Form 9998, line 7, or Form 9999, line 8.", anchor_id="doc#1"),
        key="line_2a",
    )
    assert set(references.select("target", "relation").rows()) == {
        ("line_2a", "references"),
        ("line_7 (Form 9998)", "portion_of"),
        ("Form 9998", "requires"),
        ("line_8 (Form 9999)", "portion_of"),
        ("Form 9999", "requires"),
    }
    mentions = find_mentions("Enter the amount from line 2a on Form 9998.", headings=Headings({}))
    assert mentions[0].target_form == "9998"


def test_a_range_from_a_lettered_line_has_the_other_letters_of_its_number() -> None:
    text = "Combine lines 1a through 4."
    mentions = find_mentions(text, headings=Headings({}))
    printed = [f"line_{key}" for key in ("1a", "1b", "1c", "2", "3", "4")]
    found = keep_printed_lines(mentions, text, printed_keys=printed)
    assert [mention.target for mention in found] == ["line_1a", "line_1b", "line_1c", "line_2", "line_3", "line_4"]


@pytest.mark.parametrize(("form", "is_self"), [("1099-ZZZ", True), ("9999-ZZ", False)])
def test_only_a_series_is_named_by_its_common_number(form: str, is_self: bool) -> None:
    identity = Identity("i", form, "filer_instructions", "2031", None, False, "Instructions", "")
    text = f"File Form {form.split('-')[0]} by May."
    references, _ = _build(_section(0, text, anchor_id=None), identity=identity)
    assert references["is_self"].to_list() == [is_self]


def _section(ix: int, text: str, *, anchor_id: str | None, role: str = "BodyText") -> dict[str, Any]:
    piece = {"start": 0, "end": len(text), "page": 3, "x0_pt": 0.0, "y0_pt": 0.0, "x1_pt": 9.0, "y1_pt": 9.0}
    return {
        "element_id": f"doc:p0003:e{ix:04d}",
        "anchor_id": anchor_id,
        "document_id": "doc",
        "page": 3,
        "paragraph_ix": ix,
        "source": "layout",
        "role": role,
        "table_id": None,
        "text": text,
        "element_ids": [f"doc:p0003:e{ix:04d}"],
        "pieces": [piece],
    }


def _build(
    *sections: dict[str, Any], identity: Identity = _FORM, key: str = "box_2a"
) -> tuple[pl.DataFrame, pl.DataFrame]:
    anchors = Anchors.sample(
        overrides={
            "anchor_id": ["doc#1"],
            "document_id": ["doc"],
            "kind": ["box"],
            "key": [key],
            "heading": ["Box 2a."],
            "parent_anchor_id": [None],
            "form": [""],
        }
    )
    frame = Sections.validate(pl.DataFrame(list(sections), schema=Sections.create_empty().schema))
    references = build_references(frame, anchors, identity=identity)
    assert find_false_evidence(references, frame).is_empty()
    return references, frame


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        (
            "Enter the amount from line 4 of the Boat Fee Worksheet.",
            ["line_4 (Boat Fee Worksheet)", "Boat Fee Worksheet"],
        ),
        ("See the Boat Fee Worksheet, line 5.", ["Boat Fee Worksheet", "line_5 (Boat Fee Worksheet)"]),
        (
            "Complete the Boat Fee Worksheet. Subtract line 6 from line 2 of that worksheet.",
            ["Boat Fee Worksheet", "line_6", "line_2 (Boat Fee Worksheet)"],
        ),
        ("Enter it on line 7 of the worksheet.", ["line_7 (worksheet)"]),
    ],
)
def test_a_worksheet_numbers_its_own_lines(text: str, targets: list[str]) -> None:
    mentions = find_mentions(text, headings=Headings({}))
    placed = [mention.target for mention in attach_worksheets(text, mentions)]
    assert sorted(placed) == sorted(targets)
    bare = attach_worksheets("on line 7 of the worksheet", mentions[-1:], is_in_worksheet=True)
    assert bare == mentions[-1:]


def test_rows_slice_back_and_know_themselves() -> None:
    references, frame = _build(
        _section(0, "Start here. Form 1099-ZZZ shows box 2a and box 2b.", anchor_id="doc#1"),
    )
    assert dict(zip(references["target"], references["is_self"], strict=True)) == {
        "Form 1099-ZZZ": True,
        "box_2a": True,
        "box_2b": False,
    }
    text = frame["text"][0]
    for row in references.to_dicts():
        assert text[row["mention_start"] : row["mention_end"]] in row["evidence"]


@pytest.mark.parametrize(
    ("key", "own"),
    [("boxes_7a-7d", "7a 7b 7c 7d"), ("boxes_3_4a-4b_6", "3 4a 4b 6"), ("boxes_14-16", "14 15 16"), ("box_c", "c")],
)
def test_a_group_knows_all_its_boxes(key: str, own: str) -> None:
    boxes = " ".join(f"See box {box}." for box in [*own.split(), "9"])
    references, _ = _build(_section(0, boxes, anchor_id="doc#1"), key=key)
    assert set(references.filter(references["is_self"])["target"]) == {f"box_{box}" for box in own.split()}


def test_a_box_placed_elsewhere_is_not_the_own_one() -> None:
    references, _ = _build(_section(0, "See Box 2a, earlier. Box 2a is shown.", anchor_id="doc#1"))
    assert references["is_self"].to_list() == [False, True]


def test_leave_to_omit_and_concession_bind_no_one() -> None:
    references, _ = _build(_section(0, "If box 5 is checked, boxes 7e–7f may be blank.", anchor_id=None))
    said = references.filter(references["target"] == "box_7f").select("relation", "polarity").rows()
    references, _ = _build(
        _section(0, "Even if you ask for more time to file Form 9998, you must pay now.", anchor_id=None)
    )
    assert [*said, *references.select("relation").rows()] == [("requires", "negative"), ("references",)]


def test_the_lead_of_a_list_counts_for_its_items() -> None:
    references, _ = _build(
        _section(0, "Do not include the following.", anchor_id="doc#1"),
        _section(1, "• Costs shown in box 6, or", anchor_id="doc#1", role="ListBlock"),
    )
    assert references.select("relation", "polarity").rows() == [("excludes", "negative")]


@pytest.mark.parametrize(
    ("lead", "item", "expected"),
    [
        ("Do not include the following. They are listed elsewhere.", "• Costs shown in box 6, or", "excludes-"),
        ("It is figured without regard to the following.", "• Costs shown in box 6, or", "excludes-"),
        ("The rules do not apply to:", "• Costs shown in box 6, or", "references"),
        ("Enter the costs that are not on another form, such as:", "• Costs shown in box 6, or", "includes"),
        ("Do not:", "1. File Form 9998 late.", "requires-"),
        ("You can do any of the following.", "• File Form 9998 late.", "references"),
        ("You must:", "• File Form 9998 early.", "requires"),
        ("Do not include:", "• Rent. Report it in box 6.", "requires"),
    ],
)
def test_what_a_lead_denies_none_of_its_items_is_granted(lead: str, item: str, expected: str) -> None:
    references, _ = _build(_section(0, lead, anchor_id="doc#1"), _section(1, item, anchor_id="doc#1", role="ListBlock"))
    (row,) = references.select("relation", "polarity").rows()
    assert row == (expected.rstrip("-"), "negative" if expected.endswith("-") else "positive")


def test_a_list_continues_behind_a_note_and_behind_an_inner_list() -> None:
    rows = [
        ("Do not include:", "BodyText"),
        ("• Costs of:", "ListBlock"),
        ("a. boats, and", "ListBlock"),
        ("b. nets.", "ListBlock"),
        ("This is a note.", "Callout"),
        ("• Costs shown in box 6, or", "ListBlock"),
    ]
    references, _ = _build(*(_section(ix, text, anchor_id="doc#1", role=role) for ix, (text, role) in enumerate(rows)))
    assert references.select("relation", "polarity").rows() == [("excludes", "negative")]


def test_an_item_may_lead_a_list_of_what_it_leaves_out() -> None:
    rows = [
        ("Include the following.", "BodyText"),
        ("1. Costs shown in box 3. But don’t include the following.", "ListBlock"),
        ("a. Costs shown in box 4, or", "ListBlock"),
        ("b. Costs shown in box 5.", "ListBlock"),
        ("2. Costs shown in box 6.", "ListBlock"),
    ]
    references, _ = _build(*(_section(ix, text, anchor_id="doc#1", role=role) for ix, (text, role) in enumerate(rows)))
    assert references.select("target", "relation").rows()[1:] == [
        ("box_4", "excludes"),
        ("box_5", "excludes"),
        ("box_6", "includes"),
    ]


def test_a_lead_without_words_counts_for_nothing() -> None:
    references, _ = _build(
        _section(0, "•", anchor_id="doc#1"),
        _section(1, "• Costs shown in box 6, or", anchor_id="doc#1", role="ListBlock"),
    )
    assert references["target"].to_list() == ["box_6"]


def test_a_statute_cites_itself_unless_it_names_the_tax_code() -> None:
    references, _ = _build(
        _section(
            0, "As subdivision a of section 9-303 says, section 501 of the internal revenue code holds.", anchor_id=None
        ),
        identity=_STATUTE,
    )
    assert references.select("kind", "target").rows() == [("statute_section", "sec_9-303"), ("irc_section", "IRC 501")]


@pytest.mark.parametrize(
    ("text", "identity", "targets"),
    [
        ("Under IRC §9045(g)(3)(A) and Code Sec. 971.", None, ["IRC 9045(g)(3)(A)", "IRC 971"]),
        ("See sections 9400Z-2(a)(1)(A) and 903.", None, ["IRC 9400Z-2(a)(1)(A)", "IRC 903"]),
        ("See 26 U.S.C. 9701(a) and 26 CFR 1.9045-1.", None, ["IRC 9701(a)", "Regs 1.9045-1"]),
        ("See 99 U.S.C. § 257 and § 1.9411-10(g) of the regulations.", None, ["99 U.S.C. 257", "Regs 1.9411-10(g)"]),
        ("See Rev. Procs. 2034-12 and 2035-9.", None, ["Rev. Proc. 2034-12", "Rev. Proc. 2035-9"]),
        ("Read boxes A, B, and C.", None, ["box_A", "box_B", "box_C"]),
        ("See Lines 4a Through 4c and parts 3 and 4 of Form 9999.", None,
         ["Form 9999", "line_4a", "line_4b", "line_4c", "part 3", "part 4"]),
        ("Waive Sec. 7.03 or Section 7.02(a). See 7.01.020.", _STATUTE, ["sec_7.01.020", "sec_7.02", "sec_7.03"]),
        ("As §§ 505 to 507 and § 504(a)(1)(B) say.", _STATUTE, ["sec_504", "sec_505", "sec_506", "sec_507"]),
        ("See Sec. 12-100(a)(1), Section 604, and Rule 12.3.", _STATUTE, ["sec_12-100", "sec_12.3", "sec_604"]),
        ("Officers designated in section 7.25 of the harbour procedure law.", _STATUTE,
         ["harbour procedure law section 7.25"]),
        ("Amended by Laws Ch. 12, Part B §§ 59, 60, 6/6/2035.", _STATUTE, []),
    ],
)  # fmt: skip
def test_law_is_cited_in_many_styles(text: str, identity: Identity | None, targets: list[str]) -> None:
    references, _ = _build(_section(0, text, anchor_id=None), **({"identity": identity} if identity else {}))
    assert sorted(references["target"]) == sorted(targets)


def test_building_twice_gives_the_same_rows() -> None:
    section = _section(0, "See boxes 2b through 2f, Pub. 999, and IRS.gov/Form9999.", anchor_id="doc#1")
    first, second = _build(section)[0], _build(section)[0]
    assert first.equals(second)
    assert first.select(References.primary_key()).rows() == sorted(first.select(References.primary_key()).rows())
