"""Whatever is among them: every valid document of a folder is released."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from taxkg_assets.serving.build import build
from taxkg_assets.serving.released import open_release
from taxkg_assets_tests.defs.breaking import write_page
from taxkg_assets_tests.defs.hostile import DAMAGED, MALICIOUS, valid_pdf

pytestmark = pytest.mark.slow

GOOD = 12


def test_damaged_hostile_disputed_and_closed_sources_cost_no_valid_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAXKG_DOCUMENT_SECONDS", "60")
    monkeypatch.setenv("TAXKG_DOCUMENT_MEMORY_MB", "256")
    folder, other, closed = (tmp_path / name for name in ("corpus", "other", "closed"))
    valid = {write_page(folder, number) for number in range(GOOD)}
    (folder / "sound.pdf").write_bytes(valid_pdf())
    assert (len(DAMAGED), len(MALICIOUS)) == (10, 10)
    for name, make in {**DAMAGED, **MALICIOUS}.items():
        (folder / f"{name}.pdf").write_bytes(make())
    write_page(other, 900)
    write_page(folder, 900, more="Another wording.")  # two of one name
    write_page(closed, 901)
    close(closed, monkeypatch)
    result = build(str(tmp_path / "home"), roots=[folder, other, closed])
    assert result.is_done, result.errors
    assert [str(closed) in said for said in result.closed] == [True]
    refused = {row["document_id"]: row for row in result.quarantine}
    assert not refused.keys() & {*valid, "sound"}
    assert "pennies-900" in refused
    assert {"bomb", "locked", "empty-file", "error-page"} <= refused.keys()
    assert all(row["reason"] and row["remedy"] for row in refused.values())
    assert not [row for row in refused.values() if row["stage"] == "extract"], "no file meets a defect"
    released = open_release(str(tmp_path / "home"))
    served = set(released.table("documents")["document_id"])
    assert {*valid, "sound"} <= served
    assert served.isdisjoint(refused)
    quality = released.table("document_quality")
    assert set(quality.filter(outcome="withheld")["document_id"]) == refused.keys()
    assert quality.filter(outcome="flagged").select("document_id", "law").rows() == [("orders", "no_prompt_injection")]


def close(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder unreadable for this test: the user who runs it may be allowed to read everything."""
    plain = Path.iterdir

    def iterdir(self: Path) -> Iterator[Path]:
        if self == folder:
            raise PermissionError(13, "Permission denied", str(self))
        return plain(self)

    monkeypatch.setattr(Path, "iterdir", iterdir)
