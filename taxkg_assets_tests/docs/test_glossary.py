"""The glossary: one line per term, and nothing of the tables' contract that no page explains."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.schemas import values

DOCS = Path(__file__).resolve().parents[2] / "docs"
GLOSSARY = (DOCS / "glossary.md").read_text(encoding="utf8")
TABLES = (DOCS / "tables.md").read_text(encoding="utf8")
ENUMS = {name: value for name, value in vars(values).items() if isinstance(value, tuple)}


def _terms() -> list[str]:
    rows = re.findall(r"^\| (.+?) \|", GLOSSARY, re.MULTILINE)
    return [row for row in rows if row != "term"]


def test_terms_are_in_alphabetical_order_and_occur_once() -> None:
    terms = _terms()
    assert terms == sorted(terms, key=str.lower)
    assert len(set(terms)) == len(terms)


@pytest.mark.parametrize("name", sorted(ENUMS))
def test_every_value_of_a_column_is_explained(name: str) -> None:
    explained = set(re.findall(r"[\w-]+", GLOSSARY + TABLES))
    # `references_box` is explained as `references_<kind>`.
    missing = {value for value in ENUMS[name] if value and value.removeprefix("references_") not in explained}
    assert missing == set()


def test_every_table_is_explained() -> None:
    assert {name for name in PIPELINE.order() if f"## {name}\n" not in TABLES} == set()
