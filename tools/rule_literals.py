"""Words without which a rule cannot match, derived from all patterns: `python -m tools.rule_literals` writes them.

Here: the file that a process reads instead of parsing every pattern. Not here: how the words are found
(`taxkg_assets/rules/required_literals.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from taxkg_assets.rules.loader import LITERALS, load_family, pattern_key, read_rules
from taxkg_assets.rules.required_literals import find_literal_groups

RULES = Path(__file__).resolve().parents[1] / "taxkg_assets" / "rules"


def derive_literals() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Derive the words of all rules.

    Returns:
        Groups of words by the key of the pattern, sorted by key.
    """
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for path in sorted(RULES.glob("*.yaml")):
        for group, rows in load_family(path.stem).items():
            if isinstance(rows, list) and rows and all(isinstance(row, dict) and "pattern" in row for row in rows):
                for rule in read_rules(path.stem, group):
                    found[pattern_key(rule.source_pattern)] = find_literal_groups(rule.source_pattern)
    return dict(sorted(found.items()))


def render_literals(found: Mapping[str, tuple[tuple[str, ...], ...]]) -> str:
    """Render the file, one pattern a line.

    Args:
        found: Result of `derive_literals`.
    """
    lines = (f"{json.dumps(key)}: {json.dumps(groups, ensure_ascii=False)}" for key, groups in found.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    (RULES / LITERALS).write_text(render_literals(derive_literals()), encoding="utf8")
