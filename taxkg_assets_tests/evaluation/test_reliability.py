"""Confidence is compared with what was right, and what is not sure is listed, the least sure first."""

from __future__ import annotations

import polars as pl
import pytest

from taxkg_assets import schemas
from taxkg_assets.evaluation.reliability import (
    find_unsure,
    find_unsure_owners,
    find_unsure_tables,
    list_outcomes,
    score_reliability,
)
from taxkg_assets.rules.confidence import read_confidence
from taxkg_assets.rules.loader import load_family, read_rules


def test_reliability_is_precision_by_bin() -> None:
    outcomes = list_outcomes([(0.85, True), (0.85, False), (1.0, True), (0.97, True)])
    assert score_reliability(outcomes).rows() == [
        ("0.80 to 0.90", 2, 1 / 2, 0.85),
        ("0.95 to 1.00", 2, 2 / 2, pytest.approx((1.0 + 0.97) / 2)),
    ]


def test_the_least_sure_comes_first_and_the_sure_do_not_come() -> None:
    rows = pl.DataFrame(
        {"document_id": ["a", "a", "b"], "page": [1, 2, 1], "said": ["x", "y", "z"], "confidence": [0.8, 0.9, 0.5]}
    )
    assert find_unsure(rows, text="said").rows() == [("b", 1, "z", 0.5), ("a", 1, "x", 0.8)]


def test_documents_without_headings_and_tables_leave_nothing_to_inspect() -> None:
    sections = schemas.Sections.sample(overrides=[{"anchor_id": None, "table_id": None}])
    assert find_unsure_owners(sections, schemas.Anchors.create_empty()).is_empty()
    assert find_unsure_tables(schemas.Tables.create_empty()).is_empty()


def test_confidence_is_the_share_that_was_right() -> None:
    family = load_family("confidence")
    right, n = family["roles"]["BodyText 0.80"]
    assert read_confidence("roles", "BodyText 0.80") == round((right + 1) / (n + 2), 3)
    seldom = [count for count in family["roles"].values() if count[1] < family["seldom"]]
    shared = round((sum(count[0] for count in seldom) + 1) / (sum(count[1] for count in seldom) + 2), 3)
    assert read_confidence("roles", "DocTitle 0.90") == shared == read_confidence("roles", "never seen")


def test_every_count_is_of_an_existing_rule() -> None:
    groups = ("cues", "leading_conditions", "subjects", "duties")
    cues = {rule.id for group in groups for rule in read_rules("relations", group)}
    cues |= set(load_family("relations")["decisions"])
    mentions = {rule.id for group in ("mentions", "named_sections") for rule in read_rules("references", group)}
    family = load_family("confidence")
    assert set(family["reference_cues"]) <= cues
    assert set(family["reference_mentions"]) <= mentions | {"known_heading", "inherited_form"}
    counts = [count for group in family.values() if isinstance(group, dict) for count in group.values()]
    assert all(0 <= right <= n for right, n in counts)
