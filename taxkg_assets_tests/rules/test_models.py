"""Typed rule families: every file fits its model, and a mistake in a file is named."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any, get_type_hints

import polars as pl
import pytest
from pydantic import TypeAdapter

from taxkg_assets.rules import families, loader, models
from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule, RuleFileError, load_family
from taxkg_assets.rules.models.chunking import Chunking

NAMES = sorted(module.name for module in pkgutil.iter_modules(models.__path__))


@pytest.mark.parametrize("name", NAMES)
def test_a_family_has_the_values_of_its_file(name: str) -> None:
    module = importlib.import_module(f"{models.__name__}.{name}")
    loaded = getattr(module, f"load_{name}")()
    assert isinstance(loaded, Family)
    for key in type(loaded).model_fields:
        value, written = getattr(loaded, key), load_family(name)[key]
        if isinstance(value, RuleList):
            assert list(value.rules_by_id) == [row["id"] for row in written]
        else:
            assert _plain(loaded.model_dump(include={key})[key]) == _plain(written), key
    assert getattr(module, f"load_{name}")() is loaded, "read once"


@pytest.mark.parametrize("name", NAMES)
def test_the_keys_of_a_rule_are_of_the_type_that_its_class_says(name: str) -> None:
    module = importlib.import_module(f"{models.__name__}.{name}")
    loaded = getattr(module, f"load_{name}")()
    for key in type(loaded).model_fields:
        for rule in getattr(loaded, key) if isinstance(getattr(loaded, key), RuleList) else ():
            for own, kind in get_type_hints(type(rule)).items():
                if own in rule.extra:
                    TypeAdapter(kind).validate_python(rule.extra[own], strict=True)


class Colors(RuleList[Rule]):
    """Two rules that code names."""

    red: Rule
    not_: Rule


class Sail(Rule):
    """Rule with a key of its own."""

    mast: int
    is_old: bool = False


class Boats(Family):
    """Family of a file about boats."""

    colors: Colors
    sails: RuleList[Sail]


ROW = {"pattern": "a boat", "examples": ["a boat"], "source": "plain English"}
SAILS = [{"id": "jib", "mast": 1, **ROW}]
COLORS = [{"id": "red", **ROW}, {"id": "not", **ROW, "enabled": False}]


def _load_boats(monkeypatch: pytest.MonkeyPatch, **lists: Any) -> Boats:
    content = {"colors": COLORS, "sails": SAILS, **lists}
    monkeypatch.setattr(families, "load_family", lambda name: content)
    monkeypatch.setattr(loader, "load_family", lambda name: content)
    return load_model("boats", Boats)


def test_a_named_rule_is_an_attribute_also_where_python_reserves_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    boats = _load_boats(monkeypatch)
    assert boats.colors.red.pattern.search("is it a boat?")
    assert [(sail.mast, sail.is_old) for sail in boats.sails] == [(1, False)]
    assert boats.sails.matches("a boat")
    assert [rule.id for rule in boats.sails.find_usable("A BOAT")] == ["jib"]


def test_a_rule_that_is_off_matches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    colors = _load_boats(monkeypatch).colors
    assert [rule.id for rule in colors] == ["red"]
    assert colors.not_.pattern.search("a boat") is None
    assert not pl.Series(["a boat", ""]).str.contains(colors.not_.source_pattern).any()
    assert not colors.not_.is_enabled


@pytest.mark.parametrize(
    ("lists", "place"),
    [
        ({"colors": COLORS[:1]}, r"colors\.not: the rule is missing"),
        ({"colors": [*COLORS, {"id": "green", **ROW}]}, r"colors\.green: Colors declares no such rule"),
        ({"sails": [{"id": "jib", **ROW}]}, r"sails\.jib\.mast: the key is missing"),
        ({"sails": [{**SAILS[0], "masts": 2}]}, r"sails\.jib\.masts: Sail has no such key"),
        ({"sails": [SAILS[0], SAILS[0]]}, r"sails\.jib: two rules have this id"),
        (
            {"sails": [{key: SAILS[0][key] for key in ("id", "mast", "pattern", "source")}]},
            r"sails\.jib\.examples: the",
        ),
        ({"sails": "none"}, r"sails: Input should be an instance of RuleList"),
        ({"oars": SAILS}, r"oars: Extra inputs are not permitted"),
    ],
    ids=[
        "no such rule",
        "an undeclared rule",
        "no such key",
        "an unknown key",
        "an id twice",
        "no examples",
        "no list",
        "an unknown list",
    ],
)
def test_a_mistake_in_a_list_of_rules_is_named(
    lists: dict[str, Any], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RuleFileError, match=rf"^rules/boats\.yaml: {place}"):
        _load_boats(monkeypatch, **lists)


def test_a_rule_may_not_have_the_name_of_a_method() -> None:
    with pytest.raises(TypeError, match=r"Rivals\.matches: this rule id is reserved, because every rule list"):

        class Rivals(RuleList[Rule]):
            matches: Rule  # type: ignore[assignment]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(value)
    if isinstance(value, list | tuple):
        plain = [_plain(each) for each in value]
        return sorted(plain) if all(isinstance(each, str) for each in plain) else plain
    return value


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"sizes": {"target_words": 1, "short_words": 1, "max_words": 1}}, "sizes.table_words"),
        ({"tokens": {"letters_per_piece": "many"}}, "tokens.letters_per_piece"),
        ({"size": 3}, "size"),
        ({"perspectives": {"face": True}}, "perspectives.face"),
    ],
    ids=["missing", "of another type", "unknown", "a word that YAML reads as true"],
)
def test_a_mistake_in_a_file_is_named(change: dict[str, Any], place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {**load_family("chunking"), **change}
    monkeypatch.setattr(families, "load_family", lambda name: changed)
    with pytest.raises(RuleFileError, match=rf"rules/chunking\.yaml: {place}: .*Correct the file"):
        load_model("chunking", Chunking)
