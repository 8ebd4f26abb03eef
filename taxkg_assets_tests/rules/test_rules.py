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


def _list_families() -> list[tuple[str, str]]:
    """Each list of rules: the name of its file, and its key there."""
    names = sorted(entry.name[:-5] for entry in files("taxkg_assets.rules").iterdir() if entry.name.endswith(".yaml"))
    return [
        (name, group)
        for name in names
        if isinstance(load_family(name), dict)
        for group, rows in load_family(name).items()
        if _is_rule_list(rows)
    ]


_FAMILIES = _list_families()


def find_faults(rule: Rule) -> list[str]:
    """What is wrong with a rule: its examples are not as its pattern says, or are missing."""
    words = rule.extra.get("words", [""])
    shape = rule.extra.get("shape", "")
    return [
        *(["no example"] if not rule.examples else []),
        *(["no source"] if not rule.source else []),
        *(f"missed: {text}" for text in rule.examples if rule.pattern.search(text) is None),
        *(f"caught: {text}" for text in rule.counter_examples if rule.pattern.search(text) is not None),
        *(f"none of its words: {text}" for text in rule.examples if not any(word in text.lower() for word in words)),
        *(f"another shape: {text}" for text in rule.examples if not re.search(shape, text)),
    ]


@pytest.mark.parametrize(("name", "group"), _FAMILIES, ids=[".".join(family) for family in _FAMILIES])
def test_patterns_match_their_examples_only(name: str, group: str) -> None:
    faults = {rule.id: find_faults(rule) for rule in read_rules(name, group)}
    assert faults
    assert {rule: said for rule, said in faults.items() if said} == {}


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({}, ""),
        ({"examples": []}, "no example"),
        ({"source": ""}, "no source"),
        ({"examples": ["a berth", "a pier"]}, "missed: a pier"),
        ({"counter_examples": ["no berth"]}, "caught: no berth"),
        ({"words": ["quay"]}, "none of its words: a berth"),
        ({"shape": "^b"}, "another shape: a berth"),
    ],
)
def test_a_fault_of_a_rule_is_named(monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], fault: str) -> None:
    row = {"id": "berth", "pattern": "berth", "examples": ["a berth"], "counter_examples": ["a pier"], "source": "test"}
    monkeypatch.setattr(loader, "load_family", lambda name: {"rules": [{**row, **changed}]})
    (rule,) = read_rules("any")
    assert find_faults(rule) == ([fault] if fault else [])


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
    ids = [(name, group, rule.id) for name, group in _FAMILIES for rule in read_rules(name, group)]
    assert len(ids) == len(set(ids))


def test_a_rule_that_is_switched_off_is_tested_but_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"pattern": "x", "examples": ["x"], "source": "test"}
    family = {"rules": [{"id": "on", **row}, {"id": "off", "enabled": False, **row}]}
    monkeypatch.setattr(loader, "load_family", lambda name: family)
    assert [(rule.id, rule.is_enabled) for rule in read_rules("any")] == [("on", True), ("off", False)]
    assert all("enabled" not in rule.extra for rule in read_rules("any"))
