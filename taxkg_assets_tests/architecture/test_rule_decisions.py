"""Rules with little evidence: on with a measured gain, off without one, and used nowhere while off."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.rule_decisions import (
    Effect,
    find_unproven,
    list_decided,
    read_effects,
    write_effects,
)
from tools.rule_evidence import list_rules, read_evidence


def _effect(rule: str, gain: float, *, group: str = "rules", on: str = "written", metric: str = "mrr") -> Effect:
    return Effect("router", group, rule, 1, on, metric, 2, 0.5 + gain / 2, 0.5)


def test_every_rule_that_a_measurement_decides_on_is_as_measured() -> None:
    decided = list_decided(read_evidence())
    rules = {(family, group, rule.id): rule for family, group, rule in list_rules()}
    unproven = find_unproven(decided & rules.keys(), read_effects())
    off = {key for key, rule in rules.items() if not rule.is_enabled}
    assert off == unproven, "run `python -m benchmarks rule_effect` and set `enabled` as docs/rule-evidence.md says"


def test_no_list_is_emptied() -> None:
    enabled = {(family, group): False for family, group, _ in list_rules()}
    for family, group, rule in list_rules():
        enabled[family, group] |= rule.is_enabled
    assert [key for key, is_used in enabled.items() if not is_used] == []


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        ([_effect("a", 1.0)], set()),
        ([_effect("a", -0.5)], {"a"}),
        ([_effect("a", 1.0), _effect("a", -1.5, on="development")], {"a"}),
        ([_effect("a", 1.0, metric="speaks_on_answerable")], {"a"}),
        ([], {"a"}),
        ([_effect("a", -0.5), _effect("a", 1.0, on="check")], set()),
        ([_effect("a", 1.0), _effect("a", -1.5, on="shared")], set()),
    ],
    ids=[
        "gain",
        "loss",
        "more loss than gain",
        "gain that does not count",
        "fires nowhere",
        "held-out questions lose without it",
        "held-out questions choose nothing",
    ],
)
def test_a_rule_is_off_without_a_gain_if_held_out_questions_confirm_it(
    effects: list[Effect], expected: set[str]
) -> None:
    key = ("router", "rules", "a")
    assert {rule for _, _, rule in find_unproven([key], effects)} == expected


def test_held_out_questions_confirm_a_family_as_a_whole() -> None:
    effects = [_effect("a", -0.5), _effect("a", -1.0, on="check"), _effect("b", -0.5), _effect("b", 1.5, on="check")]
    assert find_unproven([("router", "rules", "a"), ("router", "rules", "b")], effects) == set()


def test_effects_are_read_as_they_were_written(tmp_path: Path) -> None:
    rows = [_effect("a", 0.25), Effect("roles", "", "", 3, "eval_pages", "roles role_accuracy", 188, 0.5, 0.25)]
    write_effects(rows, tmp_path / "effects.csv")
    assert read_effects(tmp_path / "effects.csv") == rows
    assert rows[0].total == pytest.approx(0.25)
