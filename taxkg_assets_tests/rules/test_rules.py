"""Every rule of every rule file: its pattern matches each example and no counter-example."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

import pytest
import yaml

from taxkg_assets.rules import loader
from taxkg_assets.rules.loader import Rule, hoist_first_letter, load_family, read_rules


def _is_rule_list(rows: Any) -> bool:
    return isinstance(rows, list) and bool(rows) and all(isinstance(row, dict) and "pattern" in row for row in rows)


def _collect() -> list[tuple[str, Rule]]:
    names = sorted(entry.name[:-5] for entry in files("taxkg_assets.rules").iterdir() if entry.name.endswith(".yaml"))
    return [
        (f"{name}.{group}", rule)
        for name in names
        if isinstance(load_family(name), dict)
        for group, rows in load_family(name).items()
        if _is_rule_list(rows)
        for rule in read_rules(name, group)
    ]


_RULES = _collect()


@pytest.mark.parametrize(("family", "rule"), _RULES, ids=[f"{family}.{rule.id}" for family, rule in _RULES])
def test_pattern_matches_its_examples_only(family: str, rule: Rule) -> None:
    assert rule.examples, f"{family}.{rule.id} has no example"
    assert rule.source, f"{family}.{rule.id} names no source"
    missed = [text for text in rule.examples if rule.pattern.search(text) is None]
    caught = [text for text in rule.counter_examples if rule.pattern.search(text) is not None]
    assert (missed, caught) == ([], [])
    words = rule.extra.get("words", [""])
    assert all(any(word in text.lower() for word in words) for text in rule.examples), (
        "an example has none of its words"
    )
    assert all(re.search(rule.extra.get("shape", ""), text) for text in rule.examples), "an example has another shape"


@pytest.mark.parametrize(
    "pattern", [r"\bform\b", r"\b[Bb]ox(?:es)?", r"(?:\bIRC|\bcode)s?", r"see \bb", r"\bx?y", r"\bo+n"]
)
def test_to_ask_for_the_letter_first_changes_no_match(pattern: str) -> None:
    texts = [
        "a form, forms, form",
        "inform box Boxes sandbox",
        "IRC IRCs XIRC code",
        "see b see bb",
        "y xy axy",
        "on oon moon",
    ]
    found = [[match.span() for match in re.finditer(pattern, text)] for text in texts]
    assert any(found)
    assert [[match.span() for match in re.finditer(hoist_first_letter(pattern), text)] for text in texts] == found


@pytest.mark.parametrize(
    "name", sorted(entry.name for entry in files("taxkg_assets.rules").iterdir() if entry.name.endswith(".yaml"))
)
def test_no_key_is_written_twice(name: str) -> None:
    root = yaml.compose(files("taxkg_assets.rules").joinpath(name).read_text(encoding="utf8"), yaml.CSafeLoader)
    keys = [key.value for key, _ in root.value] if isinstance(root, yaml.MappingNode) else []
    assert len(keys) == len(set(keys)), "YAML keeps the last of two equal keys and says nothing"


def test_ids_are_unique_within_a_family() -> None:
    ids = [(family, rule.id) for family, rule in _RULES]
    assert len(ids) == len(set(ids))


def test_a_rule_that_is_switched_off_is_tested_but_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"pattern": "x", "examples": ["x"], "source": "test"}
    family = {"rules": [{"id": "on", **row}, {"id": "off", "enabled": False, **row}]}
    monkeypatch.setattr(loader, "load_family", lambda name: family)
    assert [(rule.id, rule.is_enabled) for rule in read_rules("any")] == [("on", True), ("off", False)]
    assert all("enabled" not in rule.extra for rule in read_rules("any"))
