"""What a reference names: an address as printed, or that of a link whose words name the page otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.graph.addresses import find_named_target


@pytest.mark.parametrize(
    ("kind", "target", "url", "expected"),
    [
        ("url", "example.gov/hives", "https://www.example.gov/late", "example.gov/hives"),
        ("url", "Rights of Keepers", "https://www.example.gov/rights/", "www.example.gov/rights"),
        ("url", "Rights of Keepers", None, "Rights of Keepers"),
        ("url", "https://Example.gov", "https://www.example.gov/late", "https://Example.gov"),
        ("url", "U.S", "https://www.example.gov/late", "www.example.gov/late"),
        ("url", "2.1", "https://www.example.gov/late", "www.example.gov/late"),
        ("url", "1.5%", "https://www.example.gov/late", "www.example.gov/late"),
        ("url", "St.Hive", "https://www.example.gov/late", "www.example.gov/late"),
        ("url", "Form9999.pdf", "https://www.example.gov/late", "www.example.gov/late"),
        ("section", "Late Harvest", "https://www.example.gov/late", "Late Harvest"),
    ],
)
def test_a_link_gives_the_address_that_is_not_printed(kind: str, target: str, url: str | None, expected: str) -> None:
    row: Any = {"kind": kind, "target": target, "target_url": url}
    assert find_named_target(row) == expected
