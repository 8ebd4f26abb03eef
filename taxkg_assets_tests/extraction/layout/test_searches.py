"""Rules of a group joined to one search."""

import pytest

from taxkg_assets.extraction.layout import paragraphs


def test_a_group_without_rules_that_are_on_matches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paragraphs, "load_rules", lambda family, group: ())
    assert paragraphs.search_for.__wrapped__("label_rows")("Name of the boat") is None
