"""Whatever is among them: every valid document of a folder is released, and every other refused with a remedy."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from taxkg_assets.defs.home.store import Store
from taxkg_assets.graph import flows
from taxkg_assets.serving.build import SAMPLES
from taxkg_assets.serving.cli import app
from taxkg_assets.serving.cli.application import QUARANTINED
from taxkg_assets.serving.released import open_release
from taxkg_assets_tests.defs.breaking import write_page
from taxkg_assets_tests.defs.hostile import DAMAGED, MALICIOUS, image_only, valid_pdf

pytestmark = pytest.mark.slow

GOOD = 12
FORM = "sample-f1099div--2024-01"


def test_damaged_hostile_disputed_and_closed_sources_cost_no_valid_document(
    begin_home: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAXKG_DOCUMENT_SECONDS", "60")
    monkeypatch.setenv("TAXKG_DOCUMENT_MEMORY_MB", "256")
    folder, other, closed = (tmp_path / name for name in ("corpus", "other", "closed"))
    valid = {write_page(folder, number) for number in range(GOOD)} | write_valid(folder) | write_odd(folder)
    halves = write_halves(folder)
    assert (len(DAMAGED), len(MALICIOUS)) == (10, 10)
    invalid = {**DAMAGED, **MALICIOUS, "scan": image_only}
    for name, make in invalid.items():
        (folder / f"{name}.pdf").write_bytes(make())
    write_page(other, 900)
    write_page(folder, 900, more="Another wording.")  # two of one name
    write_page(closed, 901)
    close(closed, monkeypatch)
    home = begin_home(tmp_path / "home")
    status, result = run_build(home, *(f"--corpus={each}" for each in (folder, other, closed)))
    assert (status, result["is_done"]) == (QUARANTINED, True), result["errors"]
    assert [str(closed) in said for said in result["closed"]] == [True]
    refused = {row["document_id"]: row for row in result["quarantine"]}
    assert refused.keys() <= {*halves, *invalid, "pennies-900"}
    assert {"bomb", "locked", "empty-file", "error-page", "scan", "cut-early", "pennies-900"} <= refused.keys()
    assert all(row["reason"].endswith(".") and row["remedy"].endswith(".") for row in refused.values())
    assert not [row for row in refused.values() if row["stage"] == "extract"], "no file meets a defect"
    assert refused["bomb"]["stage"] == "limits"
    assert {refused[name]["stage"] for name in refused.keys() & halves} == {"open"}
    assert not any(row["is_check_failure"] for row in refused.values()), "unreadable, not unlawful"
    documents = Store(home).read("documents")
    assert documents.height + len(refused) == len({*valid, *halves, *invalid, "pennies-900"})
    assert "rebuilt" in documents.filter(document_id="xref-gone")["warnings"][0][0]
    released = open_release(str(home))
    served = set(released.table("documents")["document_id"])
    assert valid <= served
    assert served.isdisjoint(refused)
    quality = released.table("document_quality")
    assert set(quality.filter(outcome="withheld")["document_id"]) == refused.keys()
    assert quality.filter(outcome="flagged").select("document_id", "law").rows() == [
        ("chapters", "passages_are_related"),
        ("chapters", "references_lead_to_a_place"),
        ("orders", "no_prompt_injection"),
        ("page-of-nothing", "documents_have_passages"),
        ("puerto", "passages_are_related"),
    ]
    status, again = run_build(home)
    assert (status, again["built"], again["quarantine"]) == (QUARANTINED, [], result["quarantine"])
    monkeypatch.undo()
    _, opened = run_build(home)
    assert opened["closed"] == [], "the folder was recorded while it was closed, and is read now"
    assert "pennies-901" in Store(home).read("documents")["document_id"]


def test_a_document_on_which_a_builder_fails_is_flagged_and_the_others_are_released(
    begin_home: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, plain = tmp_path / "corpus", flows._read_document
    valid = {write_page(folder, number) for number in range(GOOD)}

    def fail_on_one(*frames: Any, **arguments: Any) -> Iterator[dict[str, Any]]:
        if any("pennies-003" in frame["document_id"] for frame in frames):
            raise IndexError("list index out of range")
        return plain(*frames, **arguments)

    monkeypatch.setattr(flows, "_read_document", fail_on_one)
    home = begin_home(tmp_path / "home")
    status, result = run_build(home, f"--corpus={folder}")
    assert (status, result["is_done"]) == (0, True), result["errors"]
    released = open_release(str(home))
    assert set(released.table("documents")["document_id"]) == valid
    flagged = released.table("document_quality").filter(law="tables_can_be_built", outcome="flagged")
    assert flagged["document_id"].to_list() == ["pennies-003"]
    assert "table flows, error IndexError: list index out of range (test_damaged.py:" in flagged["examples"][0][0]
    assert [row["document_id"] for row in result["flagged"]] == ["pennies-003"]


def run_build(home: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Exit status of `taxkg build`, and what it prints."""
    done = CliRunner().invoke(app, ["build", "--home", str(home), "--json", *arguments])
    return done.exit_code, json.loads(done.stdout)


def write_valid(folder: Path) -> set[str]:
    """Write a sample, another valid file, and one with an odd name; returns their document ids."""
    shutil.copy(SAMPLES / f"{FORM}.pdf", folder)
    (folder / "sound.pdf").write_bytes(valid_pdf())
    Path(os.fsdecode(bytes(folder) + b"/in\xff 'quoted'.pdf")).write_bytes(valid_pdf(pages=3))
    return {FORM, "sound", "in? 'quoted'"}


def write_odd(folder: Path) -> set[str]:
    """Write a document that refers to chapters it lacks, and a longer one in Spanish; returns their document ids."""
    chapters = [
        f"Boats of class {number} pay dues by list {number}, see chapter {number + 10}." for number in range(60)
    ]
    tasas = [f"Cada barco del grupo {number} paga {number} centavos en el puerto viejo." for number in range(600)]
    (folder / "chapters.txt").write_text("Harbor dues\n\n" + "\n\n".join(chapters), encoding="utf8")
    (folder / "puerto.txt").write_text("Tasas del puerto\n\n" + "\n\n".join(tasas), encoding="utf8")
    return {"chapters", "puerto"}


def write_halves(folder: Path) -> set[str]:
    """Write the first half of each sample; returns their document ids."""
    halves = set()
    for path in SAMPLES.glob("*.pdf"):
        data = path.read_bytes()
        (folder / f"half-{path.name}").write_bytes(data[: len(data) // 2])
        halves.add(f"half-{path.stem}")
    return halves


def close(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder unreadable for this test: the user who runs it may be allowed to read everything."""
    plain = Path.iterdir

    def iterdir(self: Path) -> Iterator[Path]:
        if self == folder:
            raise PermissionError(13, "Permission denied", str(self))
        return plain(self)

    monkeypatch.setattr(Path, "iterdir", iterdir)
