"""The file of required literals says what the patterns say."""

from __future__ import annotations

from taxkg_assets.rules.loader import LITERALS, pattern_key
from taxkg_assets.rules.models.lay_terms import load_lay_terms
from tools.rule_literals import RULES, derive_literals, render_literals


def test_the_file_is_what_the_patterns_require() -> None:
    derived = derive_literals()
    written = (RULES / LITERALS).read_text(encoding="utf8")
    assert written == render_literals(derived), "run `python -m tools.rule_literals`"
    rule = next(iter(load_lay_terms().rules))
    assert rule.literal_groups == derived[pattern_key(rule.source_pattern)], "a rule reads its literals from the file"
