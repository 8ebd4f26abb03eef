"""The change report: its order, its words, and that no document can write into it."""

from __future__ import annotations

from taxkg_assets.graph.change_page import render_change_page
from taxkg_assets.graph.change_report import (
    ADDED,
    REMOVED,
    SAME,
    ChangeReport,
    build_change_report,
    build_change_reports,
    find_segments,
    name_key,
    render_change_markdown,
    render_changes_overview,
)
from taxkg_assets_tests.graph.papers import Paper, changes_between, revisions_of

YEARS_AND_LABELS = (("2030", ""), ("2031", "Reserved for later"), ("2032", "Harbour dues"))
HOSTILE = "Pay <script>alert(1)</script> | **now** [here](http://x)"


def report(before: Paper, after: Paper) -> ChangeReport:
    return build_change_report(changes_between(before, after), before=before.document, after=after.document)


def two_forms() -> ChangeReport:
    before = Paper("f9--2030", "2030").box("1", "Dues")
    before.heading("Tolls").text("In 2030 each boat pays.", "The toll is $20.", "Ask the pilot about the tide.")
    after = Paper("f9--2031", "2031").box("1", "Harbour dues")
    after.heading("Tolls").text("In 2031 each boat pays.", "The toll is $30.", "Ask the master about the tide.")
    return report(before, after)


def test_boxes_come_first_and_routine_last() -> None:
    found = two_forms()
    assert [item.group for item in found.items] == ["Boxes", "Amounts", "Instructions", "Routine"]
    assert list(found.counts.values()) == [1, 0, 1, 0, 1, 1]
    assert (found.title, found.older, found.newer) == ("Form 9: what changed", "2030", "2031")


def test_a_line_of_a_form_is_reported_among_the_lines_and_what_is_stated_about_it_among_the_instructions() -> None:
    before = Paper("f9--2030", "2030").line("3", "Add the boats kept ashore").text("Line 3 counts old boats too.")
    after = Paper("f9--2031", "2031").line("3", "Add the boats kept afloat").text("Line 3 counts old rafts too.")
    assert [item.group for item in report(before, after).items] == ["Lines and codes", "Instructions"]


def test_added_and_removed_text_goes_where_changed_text_goes() -> None:
    before = Paper("f9--2030", "2030").heading("Tolls").text("Each boat pays.", "Pay the captain by May 3.")
    after = Paper("f9--2031", "2031").heading("Tolls").text("Each boat pays.", "A raft over 2,000 feet pays $31,000.")
    found = report(before, after)
    assert [(item.group, item.what) for item in found.items] == [("Amounts", "text added"), ("Dates", "text removed")]
    assert "$31,000" in render_changes_overview([found])


def test_the_overview_says_how_much_it_leaves_out() -> None:
    before = Paper("f9--2030", "2030").heading("Tolls").text("Each boat pays.")
    fees = [f"The {name} pays ${fee}." for fee, name in enumerate("abcdefghijklmnopqrst", 20)]
    after = Paper("f9--2031", "2031").heading("Tolls").text("Each boat pays.", *fees)
    overview = render_changes_overview([report(before, after)])
    assert overview.count("text added") == 12
    assert "12 of 20 shown" in overview


def test_a_reserved_box_with_a_label_is_put_to_use() -> None:
    empty, reserved, used = (Paper(f"f9--{y}", y).box("3", w) for y, w in YEARS_AND_LABELS)
    for before, after, what in (
        (empty, used, "put to use"),
        (reserved, used, "put to use"),
        (used, empty, "taken out"),
    ):
        (item,) = report(before, after).items
        assert (item.group, what in item.what) == ("Boxes", True)
        assert all("no label" not in text for _, text in item.words)


def test_words_that_stayed_stand_between_those_that_changed() -> None:
    row = {
        "kind": "text changed",
        "before": "The toll is $20 a boat.",
        "after": "The toll is $30 a boat.",
        "words": [{"before_start": 12, "before_end": 15, "after_start": 12, "after_end": 15, "nature": "amounts"}],
    }
    assert find_segments(row) == [(SAME, "The toll is "), (REMOVED, "$20"), (ADDED, "$30"), (SAME, " a boat.")]


def test_markdown_and_page_say_the_same_and_hold_no_markup_of_the_document() -> None:
    before = Paper("f9--2030", "2030").heading("Tolls").text("Each boat pays.")
    found = report(before, Paper("f9--2031", "2031").heading("Tolls").text("Each boat pays.", HOSTILE))
    page, markdown = render_change_page(found), render_change_markdown(found)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "src=" not in page
    assert "<script" not in markdown.replace(r"\<", "")
    assert r"\*\*now\*\*" in markdown
    assert r"\|" in markdown


def test_equal_texts_are_said_to_be_equal() -> None:
    before, after = (Paper(f"f9--2031{tail}", "2031").text("Each boat pays.") for tail in ("", "--again"))
    found = report(before, after)
    assert "No change" in render_change_page(found)
    assert "No change" in render_change_markdown(found)
    assert found.notes == ("Both files are the same revision: differences are corrections, not a new revision.",)


def test_a_draft_is_called_one() -> None:
    before = Paper("f9--2031-draft", "2031", is_draft=True).text("Each boat pays.")
    found = report(before, Paper("f9--2031", "2031").text("Each boat pays."))
    assert (found.older, found.newer) == ("2031 (draft)", "2031")
    assert "not for filing" in found.notes[0]


def test_a_revision_has_the_name_of_its_month_where_it_has_one() -> None:
    papers = [
        Paper(f"f9--{revision}", revision).text("Each boat pays.") for revision in ("2031-12", "2032-13", "2033-00")
    ]
    found = report(papers[0], papers[1])
    assert (found.older, found.newer) == ("December 2031", "2032-13")
    assert report(papers[1], papers[2]).newer == "2033-00"


def test_the_wrong_order_is_said() -> None:
    papers = [
        Paper(f"f9--{year}", year).text(f"Each boat pays {fee}.") for year, fee in (("2030", "20"), ("2031", "30"))
    ]
    assert report(*papers).notes == ()
    assert "additions are reported as removals" in report(papers[1], papers[0]).notes[0]


def test_the_overview_has_a_row_for_every_pair_and_states_what_systems_follow() -> None:
    before = Paper("f9--2030", "2030").box("1", "Dues").text("Each boat pays.")
    after = Paper("f9--2031", "2031").box("1", "Dues").box("2", "Tolls").text("Each boat pays.")
    revisions, frames = revisions_of(before, after)
    overview = render_changes_overview(build_change_reports(revisions, frames["documents"]))
    assert "| Form 9 | 2030 | 2031 | 1 | 0 | 0 | 0 | 0 | 0 |" in overview
    assert "**Box 2**, box added (p. 1): **Tolls**" in overview


def test_keys_are_named_as_people_say_them() -> None:
    assert [name_key(k) for k in ("box_1a", "boxes_5-7", "line_17b", "code_DD", "part_II", "")] == [
        "Box 1a",
        "Boxes 5–7",
        "Line 17b",
        "Code DD",
        "Part II",
        "",
    ]
