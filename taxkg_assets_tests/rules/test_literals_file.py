"""The file of required literals says what the patterns say."""

from __future__ import annotations

from taxkg_assets.rules.loader import LITERALS, pattern_key
from taxkg_assets.rules.models.lay_terms import load_lay_terms
from tools.rule_literals import RULES, derive_literals, render_literals


def test_the_file_is_what_the_patterns_require() -> None:
    written = (RULES / LITERALS).read_text(encoding="utf8")
    assert written == render_literals(derive_literals()), "run `python -m tools.rule_literals`"


def test_a_rule_reads_its_literals_from_the_file() -> None:
    rule = next(iter(load_lay_terms().rules))
    assert rule.literal_groups == derive_literals()[pattern_key(rule.source_pattern)]
