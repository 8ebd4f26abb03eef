"""The real documents, from bytes to release, tied to their gold by the product's own gates."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from taxkg_assets.defs.home.store import Store
from taxkg_assets.extraction.extract import extract
from taxkg_assets.serving.build import build

pytestmark = pytest.mark.slow


STATUTE = "nyc-admin-code-title-11"
KEPT_OF = 12
"""One section of the statute in N is built: its text is twice that of all other documents together."""


def test_the_real_statute_has_all_its_sections(corpus: Path) -> None:
    data = (corpus / "corpus" / f"{STATUTE}.txt").read_bytes()
    anchors = extract(data, document_id=STATUTE, is_text=True).frames["anchors"]
    assert anchors.filter(pl.col("kind") == "statute_section").height == len(split_sections(data.decode())) == 819


def test_the_real_corpus_passes_its_gates_on_the_gold(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAXKG_GOLD", str(corpus / "eval"))
    folder, home = tmp_path / "corpus", tmp_path / "home"
    sections = write_shorter(corpus, folder)
    result = build(str(home), roots=[folder])
    failed = [(gate.table, gate.check, gate.figures) for gate in result.gates if not gate.is_passed]
    assert (result.is_done, failed, result.errors, result.quarantine) == (True, [], [], [])
    store = Store(home)
    documents = {path.stem for path in (corpus / "corpus").iterdir() if path.suffix in (".pdf", ".txt")}
    assert set(store.read("documents")["document_id"]) == documents
    statutes = store.read("anchors").filter(pl.col("kind") == "statute_section")
    assert dict(statutes.group_by("document_id").len().iter_rows()) == {STATUTE: sections}
    measured = {gate.check: gate.figures["labeled rows"] for gate in result.gates if "labeled rows" in gate.figures}
    assert all(rows > 0 for rows in measured.values())
    assert len(measured) == 6
    before = {name: store.version(name) for name in result.rows}
    again = build(str(home))
    assert (again.is_done, again.built) == (True, [])
    assert before == {name: store.version(name) for name in before}


def split_sections(text: str) -> list[str]:
    """The sections of the statute, in order."""
    return re.split(r"(?m)^(?=§ 11-)", text)[1:]


def write_shorter(corpus: Path, folder: Path) -> int:
    """Link all documents into a folder, the statute as an excerpt: what is requested, and some of the rest.

    Returns: the number of its sections.
    """
    folder.mkdir()
    for path in (corpus / "corpus").iterdir():
        if path.stem != STATUTE:
            (folder / path.name).symlink_to(path)
    queried = [json.loads(line) for line in (corpus / "eval" / "queries.jsonl").read_text(encoding="utf8").splitlines()]
    quotes = [_fold(gold["quote"]) for query in queried for gold in query["gold"] if gold["document"] == STATUTE]
    sections = split_sections((corpus / "corpus" / f"{STATUTE}.txt").read_text(encoding="utf8"))
    kept = [
        section
        for number, section in enumerate(sections)
        if not number % KEPT_OF or any(quote in _fold(section) for quote in quotes)
    ]
    assert quotes
    (folder / f"{STATUTE}.txt").write_text("".join(kept), encoding="utf8")
    return len(kept)


def _fold(text: str) -> str:
    return " ".join(text.split())
