"""Official addresses of sections."""

import polars as pl
import pytest

from taxkg_assets.serving.addresses import SectionAddresses

ANCHORS = pl.DataFrame(
    {
        "anchor_id": ["part", "part.berths", "part.moorings", "loop-a", "loop-b", "bare"],
        "parent_anchor_id": [None, "part", "part", "loop-b", "loop-a", None],
        "official_url": ["https://example.org/code", "https://example.org/code#berths", None, None, None, None],
    }
)


@pytest.mark.parametrize(
    ("anchor_id", "address"),
    [
        ("part.berths", "https://example.org/code#berths"),
        ("part.moorings", "https://example.org/code"),
        ("loop-a", None),
        ("bare", None),
        ("unknown", None),
        (None, None),
    ],
)
def test_a_section_has_its_own_address_or_that_above(anchor_id: str | None, address: str | None) -> None:
    assert SectionAddresses(ANCHORS).get(anchor_id) == address
