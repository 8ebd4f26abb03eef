"""What a question says about form, year, copy, box and place."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.retrieval.router import build_catalog, covers_key, find_route

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
        ("a shop in Brooklyn", {"places": ("new_york_city",)}),
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
