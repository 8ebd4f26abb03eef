"""The asset graph as it was agreed on.

A table, gate or upstream table that comes or goes shows here; TAXKG_REWRITE_GOLDEN=1 rewrites the file after a look.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from taxkg_assets.definitions import defs

HERE = Path(__file__).parent
REWRITE = "TAXKG_REWRITE_GOLDEN"


def read_graph() -> dict[str, dict[str, list[str]]]:
    """For each asset what it is made from, its gates with the further tables they read, and checks that never block."""
    graph = defs.resolve_asset_graph()
    found = {
        key.to_user_string(): {
            "upstream": sorted(k.to_user_string() for k in graph.get(key).parent_keys),
            "gates": [],
            "reports": [],
        }
        for key in sorted(graph.get_all_asset_keys())
    }
    for check in sorted(graph.asset_check_keys, key=lambda k: (k.asset_key, k.name)):
        spec = graph.get_check_spec(check)
        reads = sorted(dep.asset_key.to_user_string() for dep in spec.additional_deps)
        shown = f"{check.name}({', '.join(reads)})"
        found[check.asset_key.to_user_string()]["gates" if spec.blocking else "reports"].append(shown)
    return found


def test_the_asset_graph_is_the_one_agreed_on() -> None:
    path = HERE / "asset_graph.json"
    text = json.dumps(read_graph(), indent=1) + "\n"
    if os.environ.get(REWRITE):
        path.write_text(text, encoding="utf8")
    assert json.loads(text) == json.loads(path.read_text(encoding="utf8"))
