"""Names and records of fetched documents, against a server on loopback that holds the bundled samples."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copyfile

import pytest

from taxkg_assets.defs.fetching import RECORD, Line, fetch
from taxkg_assets.serving.build import SAMPLES
from taxkg_assets.settings import Settings

DRY = "planned"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Address of a server and the folder of its current PDFs."""
    folder = tmp_path / "site" / "pub" / "irs-pdf"
    folder.mkdir(parents=True)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "site"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    server.server_close()


def run(address: str, folder: Path, name: str, *, is_dry: bool = False) -> Line:
    (line,) = fetch([name], folder=folder, settings=Settings(), base_url=address, is_dry=is_dry)
    return line


def test_a_document_is_named_after_its_revision_and_loaded_once(site: tuple[str, Path], tmp_path: Path) -> None:
    address, served = site
    inbox = tmp_path / "inbox"
    copyfile(SAMPLES / "sample-i1099div--2024-01.pdf", served / "i1099div.pdf")
    assert run(address, inbox, "i1099div", is_dry=True).status == DRY
    assert not inbox.exists()
    assert run(address, inbox, "i1099div") == Line(
        f"{address}/pub/irs-pdf/i1099div.pdf", "new", "i1099div--2024-01.pdf"
    )
    assert run(address, inbox, "i1099div").status == "unchanged"
    assert sorted(path.name for path in inbox.iterdir()) == [RECORD, "i1099div--2024-01.pdf"]
    (inbox / "i1099div--2024-01.pdf").unlink()
    assert run(address, inbox, "i1099div").status == "new", "what is no longer there is loaded again"


def test_a_file_that_cannot_be_read_keeps_the_name_of_the_server(site: tuple[str, Path], tmp_path: Path) -> None:
    address, served = site
    (served / "p17.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    assert run(address, tmp_path / "inbox", "p17").file == "p17.pdf"


def test_one_that_fails_stops_no_other(site: tuple[str, Path], tmp_path: Path) -> None:
    address, served = site
    (served / "fw2.pdf").write_bytes(b"<html>")
    copyfile(SAMPLES / "sample-f1099div--2026-01.pdf", served / "fw3.pdf")
    lines = list(fetch(["w2"], folder=tmp_path / "inbox", settings=Settings(), base_url=address))
    assert [line.status for line in lines] == ["failed", "new", "absent"]
    assert "no PDF" in lines[0].reason
    assert len(json.loads((tmp_path / "inbox" / RECORD).read_text())) == 1
