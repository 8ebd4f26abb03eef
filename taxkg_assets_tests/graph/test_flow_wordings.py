"""Statements on amounts in many wordings, written for the tests in eighteen sets, most before any rule read it.

A line of `flow_wordings.jsonl` has the text, what its heading explains (`under`), and its flows from a source to a
target: `own` is the line of the heading, `2040.8` line 8 of Form 2040. Lines with `is_open` are not read yet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from taxkg_assets.graph.flow_clauses import read_clauses
from taxkg_assets.graph.flow_statements import names_whole, pair_in_turn, read_passage
from taxkg_assets.graph.places import Place
from tools.rule_switch import every_rule


@pytest.fixture(autouse=True, scope="module")
def _with_every_rule() -> Iterator[None]:
    """Rules with little support are off, but their reading is tested."""
    with every_rule():
        yield


FILE = Path(__file__).with_name("flow_wordings.jsonl")
WORDINGS: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text(encoding="utf8").splitlines()]
LEAST_READ = 0.88


def _name(place: Place | None, key: str) -> str:
    if place is None:
        return "own"
    return f"{place.forms[0]}.{key}" if place.forms else key


def _list_keys(place: Place | None) -> tuple[str, ...]:
    return place.keys or (place.label,) if place else ("",)


def _read(text: str, heading_kind: str) -> set[tuple[str, str]]:
    statements = [*read_passage(text, heading_kind=heading_kind), *read_clauses(text, heading_kind=heading_kind)]
    return {
        (_name(part.source, source), _name(part.target, target))
        for each in statements
        if names_whole(each, text)
        for part in pair_in_turn(each, text)
        for source in _list_keys(part.source)
        for target in _list_keys(part.target)
    }


@pytest.mark.parametrize("wording", [each for each in WORDINGS if not each["is_open"]], ids=lambda each: each["text"])
def test_a_statement_is_read_in_its_wording(wording: dict[str, Any]) -> None:
    assert _read(wording["text"], wording["under"]) == {tuple(pair) for pair in wording["flows"]}


def test_few_wordings_are_open() -> None:
    read = [each for each in WORDINGS if not each["is_open"]]
    assert len(read) / len(WORDINGS) >= LEAST_READ
