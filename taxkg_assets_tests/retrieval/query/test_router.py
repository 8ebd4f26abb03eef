"""What a question says about form, year, copy, box and place."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets.retrieval.query.router import (
    build_catalog,
    covers_key,
    find_lay_terms,
    find_missing_keys,
    find_route,
    map_lay_terms,
)
from taxkg_assets.rules.loader import load_family
from taxkg_assets.rules.models.lay_terms import load_lay_terms
from taxkg_assets.rules.models.router import load_router

CATALOG = build_catalog(
    [
        {"form": "1099-DIV", "doc_type": "form", "title": "Form 1099-DIV — Dividends and Distributions"},
        {"form": "1099-INT", "doc_type": "form", "title": "Form 1099-INT — Interest Income"},
        {"form": "W-2 and W-3", "doc_type": "filer_instructions", "title": "Instructions"},
        {"form": "Schedule B (Form 1040)", "doc_type": "form", "title": "Schedule B — Interest"},
        {"form": "Pub. 15-T", "doc_type": "publication", "title": "Publication 15-T"},
    ]
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("1099div box 3", {"forms": ("1099-DIV",), "keys": ("box_3",)}),
        ("which tables of publication 15T", {"forms": ("Pub. 15-T",)}),
        ("Sch. B, line 7a", {"forms": ("Schedule B (Form 1040)",), "keys": ("line_7a",)}),
        ("my dividend slip", {"forms": ("1099-DIV",), "perspective": "recipient"}),
        ("do we report it on the w2", {"forms": ("W-2",), "perspective": "filer"}),
        ("boxes 14-16", {"keys": ("box_14", "box_15", "box_16")}),
        ("1a versus 1b", {"keys": ("box_1a", "box_1b")}),
        ("code DD in box 12", {"keys": ("box_12", "code_DD")}),
        ("(Rev. 3-2023)", {"years": (2023,), "revisions": ("2023-03",)}),
        ("the April 2025 version", {"years": (2025,), "revisions": ("2025-04",)}),
        ("in 2025, and 2026?", {"years": (2025, 2026)}),
        ("paid $2,025 in total", {"years": ()}),
        ("the draft", {"wants_draft": True}),
        ("the January 2024 1099-INT", {"revisions": ("2024-01",), "forms": ("1099-INT",)}),
        ("paid in January 2024 by us", {"years": (2024,), "revisions": (), "perspective": "filer"}),
        ("as the shareholder, may I use it", {"perspective": "recipient"}),
        ("outside the US", {"perspective": ""}),
        ("a shop in Brooklyn", {"places": ("new_york_city",)}),
        ("an office in west virginia", {"places": ("west_virginia",)}),
        ("an office in Washington, D.C.", {"places": ("district_of_columbia",)}),
        ("an office in Arkansas", {"places": ("arkansas",)}),
        ("where do I report my barn", {"filers": ()}),
        ("our S corp sold a barn", {"filers": ("corporation",)}),
        ("the trust got a K-1", {"filers": ("corporation", "estate", "partnership")}),
        ("taxes on real estate", {"filers": ()}),
        ("our 1099-DIVs and W-2s", {"forms": ("1099-DIV", "W-2"), "unknown_forms": ()}),
        ("a 1099k or 1099int", {"unknown_forms": ("1099-k",), "forms": ("1099-INT",)}),
        ("two 1098-Ts", {"unknown_forms": ("1098-t",)}),
        ("a W-2S", {"unknown_forms": ("w-2s",), "forms": ()}),
        ("W-2 from 2020 or later, bonds bought before 1993", {"years": ()}),
        ("1098-T box 5", {"unknown_forms": ("1098-t",), "forms": ()}),
    ],
)
def test_route(question: str, expected: dict[str, Any]) -> None:
    route = find_route(question, catalog=CATALOG)
    assert {name: getattr(route, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("anchor_key", "keys", "covered"),
    [
        ("box_2e", ["box_2e"], True),
        ("box_2e", ["box_2f"], False),
        ("boxes_14-16", ["box_15"], True),
        ("boxes_14-16", ["box_17"], False),
        (None, ["box_1"], False),
        ("box_1", [], False),
    ],
)
def test_ranges_cover_their_keys(anchor_key: str | None, keys: list[str], covered: bool) -> None:
    assert covers_key(anchor_key, keys) is covered


def test_every_state_is_a_place_and_no_two_share_a_name() -> None:
    states = [rule for rule in load_router().places if "Census" in rule.source]
    assert len(states) == 50
    for state in states:
        assert find_route(state.examples[0], catalog=CATALOG).places == (state.id,)


def test_the_ranker_reads_place_patterns_as_the_router_does() -> None:
    for rule in load_router().places:
        texts = [*rule.examples, *rule.counter_examples]
        found = pl.Series(texts).str.contains(rule.source_pattern).to_list()
        assert found == [rule.pattern.search(text) is not None for text in texts], rule.id


def test_the_router_has_no_group_of_rules_that_nothing_reads() -> None:
    read = {
        "years",
        "forms",
        "drafts",
        "keys",
        "perspectives",
        "nicknames",
        "places",
        "amounts",
        "cities",
        "countries",
        "listed_codes",
    }
    assert set(load_family("router")) == read


def test_everyday_words_bring_the_printed_terms() -> None:
    for rule in load_lay_terms().rules:
        assert set(rule.extra["terms"].split()) <= set(find_lay_terms(rule.examples[0]).split())
    assert find_lay_terms("nothing to translate here") == ""


def test_printed_terms_belong_to_the_everyday_words_alone() -> None:
    printed = map_lay_terms("my boss wants to know")
    assert set(printed) == {"boss"}
    assert "employer" in printed["boss"]
    assert map_lay_terms("nothing to translate here") == {}


def test_a_box_that_one_form_alone_has_names_the_form() -> None:
    documents = [{"form": form, "title": "", "doc_type": "form"} for form in ("2077-ZED", "3000-Q")]
    keys = {"2077-ZED": frozenset({"box_1", "box_2e", "boxes_14-16"}), "3000-Q": frozenset({"box_1"})}
    catalog = build_catalog(documents, keys=keys)
    assert find_route("what is box 2e", catalog=catalog).forms == ("2077-ZED",)
    assert find_route("what is box 15", catalog=catalog).forms == ("2077-ZED",)
    assert find_route("what is box 1", catalog=catalog).forms == ()
    assert find_missing_keys(find_route("3000-Q box 2e", catalog=catalog), catalog) == ("box_2e",)
