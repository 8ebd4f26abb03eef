"""The code of the how-to guides runs, and the site is built from the pages without a request to another host."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

pytestmark = pytest.mark.slow


ROOT = Path(__file__).resolve().parents[2]
_GATE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_the_gate_of_the_guide_finds_a_document_without_edges(built_samples: Path) -> None:
    code = _GATE.findall((ROOT / "docs" / "how-to.md").read_text(encoding="utf8"))[0]
    names: dict[str, object] = {"gate": lambda **_: lambda law: law}
    exec(code.replace("from taxkg_assets.defs.wiring.gates import gate\n", ""), names)
    law = names["every_document_has_edges"]
    assert callable(law)
    edges, documents = (pl.read_delta(str(built_samples / "tables" / name)) for name in ("edges", "documents"))
    assert law(edges, documents).is_empty()
    lost = documents["document_id"][0]
    others = edges.filter(~pl.col("source_id").str.starts_with(lost))
    assert law(others, documents)["document_id"].to_list() == [lost]


def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", str(ROOT / "mkdocs.yml")]
    done = subprocess.run([*command, "--site-dir", str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = {path.name: path.read_text(encoding="utf8") for path in tmp_path.glob("*.html")}
    assert {"index.html", "tutorial.html", "how-to.html", "tables.html", "benchmarks.html"} <= set(pages)
    assert (tmp_path / "examples" / "mcp_agent.py").exists()
    for name, page in pages.items():
        loaded = re.findall(r"<(?:script|img|iframe)[^>]+src=\"(https?:[^\"]+)|<link[^>]+href=\"(https?:[^\"]+)", page)
        assert loaded == [], name
