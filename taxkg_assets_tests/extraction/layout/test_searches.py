"""Rules of a list joined to one search."""

from taxkg_assets.extraction.layout import paragraphs


def test_a_list_without_rules_that_are_on_matches_nothing() -> None:
    assert paragraphs.search_for.__wrapped__(())("Name of the boat") is None
