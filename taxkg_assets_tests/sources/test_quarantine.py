"""Quarantine: one row per refused document, and how many withheld ones are too many."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from dataframely.exc import ValidationError

from taxkg_assets.schemas import Documents
from taxkg_assets.sources.quarantine import build_quarantine, find_withheld


def _refusal(document_id: str, *, is_check_failure: bool = True) -> dict[str, Any]:
    return {
        "document_id": document_id,
        "sha256": "0" * 64,
        "source_uri": f"memory/{document_id}",
        "stage": "sections" if is_check_failure else "open",
        "reason": "An element has two owners." if is_check_failure else "The file is encrypted.",
        "remedy": "Look at the page.",
        "is_check_failure": is_check_failure,
        "code_version": "1",
        "first_seen_at": datetime(2031, 1, 1, tzinfo=UTC),
    }


@pytest.mark.parametrize(
    ("total", "withheld", "unreadable", "blocks"),
    [
        (10, 0, 0, False),
        (10, 4, 0, False),  # fewer than five never block, though they are 40 %
        (10, 5, 0, True),
        (200, 3, 0, False),
        (200, 20, 0, False),  # 10 % exactly is still allowed
        (200, 21, 0, True),
        (200, 30, 0, True),
        (30, 0, 20, False),
        (30, 3, 20, False),
        (30, 5, 5, True),
    ],
)
def test_too_many_documents_withheld_by_laws_block(total: int, withheld: int, unreadable: int, blocks: bool) -> None:
    names = [f"d{ix:03}" for ix in range(total)]
    refused = names[: withheld + unreadable]
    quarantine = build_quarantine([_refusal(name, is_check_failure=ix < withheld) for ix, name in enumerate(refused)])
    documents = Documents.sample(overrides=[{"document_id": name} for name in names[len(refused) :]])
    found, is_blocked = find_withheld(documents, quarantine, max_share=0.1, least_count=5)
    assert found["document_id"].to_list() == names[:withheld]
    assert is_blocked is blocks


def test_a_document_that_is_served_in_an_older_version_counts_once() -> None:
    names = [f"d{ix:03}" for ix in range(100)]
    documents = Documents.sample(overrides=[{"document_id": name} for name in names])
    for withheld, blocks in ((10, False), (11, True)):
        quarantine = build_quarantine([_refusal(name) for name in names[:withheld]])
        assert find_withheld(documents, quarantine, max_share=0.1, least_count=5)[1] is blocks


def test_rows_leave_sorted_and_once_per_document() -> None:
    assert build_quarantine([_refusal("b"), _refusal("a")])["document_id"].to_list() == ["a", "b"]
    assert build_quarantine([]).is_empty()
    with pytest.raises(ValidationError, match="primary_key"):
        build_quarantine([_refusal("a"), _refusal("a", is_check_failure=False)])
