"""The real documents, from bytes to release, held to their gold by the product's own gates."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from taxkg_assets.defs.store import Store
from taxkg_assets.serving.build import build


def test_the_real_corpus_passes_its_gates_on_the_gold(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAXKG_GOLD", str(corpus / "eval"))
    result = build(str(tmp_path), roots=[corpus / "corpus"])
    failed = [(gate.table, gate.check, gate.figures) for gate in result.gates if not gate.is_passed]
    assert (result.is_done, failed, result.errors, result.quarantine) == (True, [], [], [])
    store = Store(tmp_path)
    documents = {path.stem for path in (corpus / "corpus").iterdir() if path.suffix in (".pdf", ".txt")}
    assert set(store.read("documents")["document_id"]) == documents
    statutes = store.read("anchors").filter(pl.col("kind") == "statute_section")
    assert dict(statutes.group_by("document_id").len().iter_rows()) == {"nyc-admin-code-title-11": 819}
    measured = {gate.check: gate.figures["labelled rows"] for gate in result.gates if "labelled rows" in gate.figures}
    assert all(rows > 0 for rows in measured.values())
    assert len(measured) == 6
    before = {name: store.version(name) for name in result.rows}
    again = build(str(tmp_path))
    assert (again.is_done, again.built) == (True, [])
    assert before == {name: store.version(name) for name in before}
