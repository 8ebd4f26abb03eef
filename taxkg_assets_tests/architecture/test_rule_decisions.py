"""Rules with little support: off unless a gain on left-out families is measured, and nowhere used while off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taxkg_assets.rules.support import load_policy, load_support
from tools.rule_decisions import Gain, list_undecided, read_gains, sum_gains, write_gains
from tools.rule_evidence import list_rules
from tools.rule_labels import read_development


def test_a_rule_with_little_support_is_on_only_with_a_gain_on_left_out_families() -> None:
    known = {(family, group, rule.id): rule.is_enabled for family, group, rule in list_rules()}
    gaining = {row.key for row in read_gains() if row.left_out_gain > 0}
    undecided = set(list_undecided())
    assert undecided, "some rules have little support"
    assert gaining, "some of them gain something"
    assert {key for key in undecided if known[key]} == gaining & undecided


def test_every_rule_with_little_support_has_a_row_of_gains() -> None:
    assert {row.key for row in read_gains()} == set(list_undecided())


def test_labels_that_are_held_out_support_no_rule(tmp_path: Path) -> None:
    rows = [{"document": "fboat--2031", "split": split} for split in ("dev", "held_out", "third_held_out", "check")]
    (tmp_path / "flows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "check.jsonl").write_text(json.dumps({"query": "Which boat?", "gold": [{"document": "p9--2031"}]}))
    assert read_development(tmp_path / "flows.jsonl") == rows[:1]
    assert read_development(tmp_path / "check.jsonl") == []


def test_a_rule_with_support_or_of_an_exempt_list_is_on() -> None:
    undecided, support = set(list_undecided()), load_support()
    for family, group, rule in list_rules():
        key = (family, group, rule.id)
        if key in support and key not in undecided:
            assert rule.is_enabled, key


def test_exempt_lists_exist_and_each_kind_has_a_reason() -> None:
    lists = {f"{family}.{group}" for family, group, _ in list_rules()}
    named = [name for row in load_policy().exempt for name in row.lists]
    assert set(named) <= lists
    assert len(named) == len(set(named))
    assert all(row.reason for row in load_policy().exempt)


def test_a_gain_of_one_family_is_none_without_it() -> None:
    rows = read_gains()
    assert all(row.left_out_gain <= max(row.gain, 0.0) or row.families > 1 for row in rows)


@pytest.mark.parametrize(
    ("by_family", "expected"),
    [
        ({"f1": 2.0, "p2": 3.0}, (5.0, 2.0)),
        ({"f1": 4.0}, (4.0, 0.0)),
        ({"f1": 4.0, "p2": -1.0}, (3.0, -1.0)),
        ({}, (0.0, 0.0)),
    ],
    ids=["two families", "one family", "a loss elsewhere", "nothing"],
)
def test_a_gain_is_what_remains_without_any_one_family(
    by_family: dict[str, float], expected: tuple[float, float]
) -> None:
    assert sum_gains(by_family) == expected


def test_gains_are_read_as_they_were_written(tmp_path: Path) -> None:
    rows = [Gain("roles", "titles", "boats", "labels, tags", 4, 2, 3.0, 1.0)]
    write_gains(rows, tmp_path / "gains.csv")
    assert read_gains(tmp_path / "gains.csv") == rows
