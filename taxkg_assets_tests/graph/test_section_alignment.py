"""How the sections of an invented booklet go on in its next revision."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets.graph.section_alignment import Section, align_sections, build_sections

DUES = "every owner of a boat that stays in the harbor overnight pays dues for each foot of its length"
PILOTS = "a pilot who brings in a ship by day may ask for a fee and by night for twice that fee"
BUOYS = "the harbor master paints each buoy in spring and counts all of them again before winter comes"
TOLLS = "a toll is due from every cart that crosses the bridge with goods that are sold in the market"


class Booklet:
    """Sections of one revision, written down in reading order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sections: list[Section] = []

    def add(self, heading: str, text: str = "", *, under: str = "", key: str = "", number: str = "") -> Booklet:
        """Add a section under an earlier one."""
        names = [" ".join(section.words) for section in self.sections]
        parent = names.index(under.lower()) if under else -1
        path = (*self.sections[parent].path, self.sections[parent].words) if under else ()
        anchor_id = f"{self.name}:{heading}"
        words = tuple(heading.lower().split())
        self.sections.append(Section(anchor_id, key, words, number, parent, path, text))
        return self


def continued(older: Booklet, newer: Booklet) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    found = align_sections(older.sections, newer.sections)
    name = {section.anchor_id: section.anchor_id.partition(":")[2] for section in (*older.sections, *newer.sections)}
    return {name[each.before]: (tuple(name[own] for own in each.after), each.changes) for each in found}


def old() -> Booklet:
    return Booklet("old")


def new() -> Booklet:
    return Booklet("new")


def test_the_same_words_at_the_same_place_are_the_same_section() -> None:
    assert continued(old().add("Dues", DUES), new().add("Dues", PILOTS)) == {"Dues": (("Dues",), ())}


def test_the_publishers_number_decides_before_words() -> None:
    older = old().add("Dues of owners", DUES, number="n1")
    newer = new().add("Dues of owners", BUOYS, number="n9").add("What owners pay", DUES, number="n1")
    assert continued(older, newer) == {"Dues of owners": (("What owners pay",), ("renamed",))}


def test_a_number_that_nothing_agrees_with_is_not_used() -> None:
    older = old().add("Dues of owners", DUES, number="n1")
    newer = new().add("Painted buoys", BUOYS, number="n1").add("Dues of owners", DUES, number="n2")
    assert continued(older, newer) == {"Dues of owners": (("Dues of owners",), ())}


def test_a_section_under_another_parent_has_moved() -> None:
    older = old().add("Boats").add("Dues for berths", DUES, under="Boats").add("Bridges")
    newer = new().add("Boats").add("Bridges").add("Dues for berths", DUES, under="Bridges")
    assert continued(older, newer)["Dues for berths"] == (("Dues for berths",), ("moved",))


def test_a_section_out_of_the_order_of_its_siblings_has_moved() -> None:
    older = old().add("Dues", DUES).add("Pilots", PILOTS).add("Buoys", BUOYS)
    newer = new().add("Buoys", BUOYS).add("Dues", DUES).add("Pilots", PILOTS)
    assert {name: changes for name, (_, changes) in continued(older, newer).items()} == {
        "Dues": (),
        "Pilots": (),
        "Buoys": ("moved",),
    }


def test_a_line_with_another_number_was_renumbered() -> None:
    older = old().add("Line 25 Berth dues", DUES, key="line_25").add("Line 26 Tolls", TOLLS, key="line_26")
    newer = new().add("Line 25a Berth dues", DUES, key="line_25a").add("Line 26 Tolls", TOLLS, key="line_26")
    assert continued(older, newer)["Line 25 Berth dues"] == (("Line 25a Berth dues",), ("renumbered",))


def test_another_line_under_the_old_number_is_new() -> None:
    older = old().add("Lines").add("Line 5 Berth dues", DUES, key="line_5", under="Lines")
    newer = new().add("Lines").add("Line 5 Painted buoys", BUOYS, key="line_5", under="Lines")
    assert continued(older, newer)["Line 5 Berth dues"] == ((), ())


def test_a_section_that_two_take_over_was_split() -> None:
    older = old().add("Harbor rules", f"{DUES} {DUES[::-1]} {PILOTS}")
    newer = new().add("Harbor rules", f"{DUES} {DUES[::-1]}").add("Fees of pilots", PILOTS)
    assert continued(older, newer) == {"Harbor rules": (("Harbor rules", "Fees of pilots"), ("split",))}


def test_a_text_that_gets_a_heading_below_its_own_is_no_split() -> None:
    older = old().add("Harbor rules", f"{DUES} {PILOTS}")
    newer = new().add("Harbor rules", DUES).add("Fees of pilots", PILOTS, under="Harbor rules")
    assert continued(older, newer) == {"Harbor rules": (("Harbor rules",), ())}


def test_a_text_that_alone_begins_alike_continues_under_a_new_heading() -> None:
    begins, ends = DUES.split()[:7], BUOYS.split()[3:]
    older = old().add("Boats", TOLLS).add("What owners owe", DUES, under="Boats")
    newer = new().add("Boats", TOLLS).add("My bill", " ".join([*begins, *ends]), under="Boats")
    assert continued(older, newer)["What owners owe"][0] == ("My bill",)


def test_texts_that_begin_alike_with_others_do_not_continue_each_other() -> None:
    begins, ends = " ".join(DUES.split()[:7]), " ".join(BUOYS.split()[3:])
    older = old().add("Boats", TOLLS).add("What owners owe", DUES, under="Boats")
    newer = new().add("Boats", TOLLS).add("My bill", f"{begins} {ends}", under="Boats")
    newer = newer.add("Painted", f"{begins} {PILOTS}", under="Boats")
    assert continued(older, newer)["What owners owe"][0] == ()


def test_what_nothing_continues_was_dropped() -> None:
    assert continued(old().add("Dues", DUES).add("Tolls", TOLLS), new().add("Dues", DUES))["Tolls"] == ((), ())


def test_a_parent_is_known_by_its_children() -> None:
    older = old().add("Before you sail").add("Berth dues", DUES, under="Before you sail")
    newer = new().add("Preparation").add("Berth dues", DUES, under="Preparation")
    assert continued(older, newer) == {
        "Before you sail": (("Preparation",), ("renamed",)),
        "Berth dues": (("Berth dues",), ()),
    }


@pytest.mark.parametrize(("kind", "perspective", "is_kept"), [("line", "face", False), ("line", "filer", True)])
def test_lines_of_a_face_are_no_sections(kind: str, perspective: str, is_kept: bool) -> None:
    row: dict[str, Any] = {
        "anchor_id": "d#1",
        "heading": "Line 4 Dues of 2031",
        "key": "line_4",
        "kind": kind,
        "perspective": perspective,
        "parent_anchor_id": None,
        "publisher_id": None,
    }
    texts = pl.DataFrame([{"anchor_id": "d#1", "text": "Enter 4.", "paragraph_ix": 0}])
    found = build_sections(pl.DataFrame([row], schema_overrides=dict.fromkeys(row, pl.String)), texts)
    assert [(own.words, own.title, own.text_words) for own in found] == (
        [(("line", "4", "dues", "of", "<year>"), ("dues", "of", "<year>"), ("enter", "4"))] if is_kept else []
    )
