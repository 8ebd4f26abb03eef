"""Rules with little evidence: on with a measured gain, off without one, and used nowhere while off."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.rule_decisions import (
    Effect,
    find_unproven,
    list_decided,
    read_effects,
    sum_gains,
    write_effects,
)
from tools.rule_evidence import list_rules, read_evidence


def _effect(rule: str, gain: float, *, group: str = "rules", on: str = "check", metric: str = "mrr") -> Effect:
    return Effect("router", group, rule, 1, on, metric, 2, 0.5 + gain / 2, 0.5)


def test_every_rule_that_a_measurement_decides_on_is_as_measured() -> None:
    decided = list_decided(read_evidence())
    rules = {(family, group, rule.id): rule for family, group, rule in list_rules()}
    unproven = find_unproven(decided & rules.keys(), sum_gains(read_effects()))
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
        ([_effect("a", 1.0), _effect("a", -1.5, on="shared")], {"a"}),
        ([_effect("a", 1.0, on="development")], {"a"}),
        ([_effect("a", 1.0, metric="speaks_on_answerable")], {"a"}),
        ([], {"a"}),
    ],
    ids=["gain", "loss", "more loss than gain", "gain where it was tuned", "gain that does not count", "fires nowhere"],
)
def test_a_rule_stays_on_for_a_gain_on_left_out_questions(effects: list[Effect], expected: set[str]) -> None:
    key = ("router", "rules", "a")
    assert {rule for _, _, rule in find_unproven([key], sum_gains(effects))} == expected


def test_effects_are_read_as_they_were_written(tmp_path: Path) -> None:
    rows = [_effect("a", 0.25), Effect("roles", "", "", 3, "eval_pages", "roles role_accuracy", 188, 0.5, 0.25)]
    write_effects(rows, tmp_path / "effects.csv")
    assert read_effects(tmp_path / "effects.csv") == rows
    assert rows[0].total == pytest.approx(0.25)
