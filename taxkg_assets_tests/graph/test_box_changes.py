"""Boxes added, removed, renamed and renumbered."""

from __future__ import annotations

from taxkg_assets.graph.box_changes import find_box_changes
from taxkg_assets_tests.graph.corpora import face


def reported(before: dict[str, str], after: dict[str, str]) -> list[tuple[str, str, str, str]]:
    sides = [[face("f9", "9", f"box_{k}", label) for k, label in side.items()] for side in (before, after)]
    return [(r["kind"], r["key"], r["before"], r["after"]) for r in find_box_changes(*sides, years=1)]


def test_equal_faces_have_no_change() -> None:
    boxes = {"1": "Dues paid", "2": ""}
    assert reported(boxes, boxes) == []


def test_boxes_come_and_go() -> None:
    assert reported({"1": "Dues paid", "3": "Tolls"}, {"1": "Dues paid", "2": "Fees held back"}) == [
        ("box added", "box_2", "", "Fees held back"),
        ("box removed", "box_3", "Tolls", ""),
    ]


def test_a_label_under_another_key_was_renumbered() -> None:
    assert reported({"14": "Other", "15": "Port"}, {"14a": "Other", "15": "Port"}) == [
        ("box renumbered", "box_14a", "Other", "Other")
    ]


def test_a_renumbered_box_keeps_its_older_key() -> None:
    sides = [[face("f9", "9", key, "Other")] for key in ("box_14", "box_14a")]
    (row,) = find_box_changes(*sides, years=1)
    assert (row["previous_key"], row["key"]) == ("box_14", "box_14a")


def test_an_inserted_box_renumbers_those_after_it() -> None:
    assert reported({"5": "Port dues", "6": "Port"}, {"5": "Light dues", "6": "Port dues", "7": "Port"}) == [
        ("box added", "box_5", "", "Light dues"),
        ("box renumbered", "box_6", "Port dues", "Port dues"),
        ("box renumbered", "box_7", "Port", "Port"),
    ]


def test_a_label_that_is_twice_is_not_followed() -> None:
    assert reported({"1": "State", "2": "State"}, {"2": "State", "3": "State"}) == [
        ("box added", "box_3", "", "State"),
        ("box removed", "box_1", "State", ""),
    ]


def test_a_blank_box_put_to_use_was_renamed() -> None:
    assert reported({"3": ""}, {"3": "Golden anchors"}) == [("box renamed", "box_3", "", "Golden anchors")]
