"""Typed rule families: every file fits its model, and a mistake in a file is named."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest

from taxkg_assets.rules import loader, models
from taxkg_assets.rules.loader import Family, RuleFileError, load_family, load_model
from taxkg_assets.rules.models.chunking import Chunking

NAMES = sorted(module.name for module in pkgutil.iter_modules(models.__path__))


@pytest.mark.parametrize("name", NAMES)
def test_a_family_has_the_values_of_its_file(name: str) -> None:
    module = importlib.import_module(f"{models.__name__}.{name}")
    loaded = getattr(module, f"load_{name}")()
    assert isinstance(loaded, Family)
    for key, value in loaded.model_dump().items():
        written = load_family(name)[key]
        assert _plain(value) == _plain(written), key
    assert getattr(module, f"load_{name}")() is loaded, "read once"


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
    monkeypatch.setattr(loader, "load_family", lambda name: changed)
    with pytest.raises(RuleFileError, match=rf"rules/chunking\.yaml: {place}: .*Correct the file"):
        load_model("chunking", Chunking)
