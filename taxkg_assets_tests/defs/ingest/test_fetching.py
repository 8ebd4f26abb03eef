"""Names and records of fetched documents, against a server on loopback that holds the bundled samples."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copyfile

import httpx
import pytest

from taxkg_assets.defs.home.store import HomeBusyError
from taxkg_assets.defs.ingest.fetching import LOCK, RECORD, FetchResult, fetch, watch_releases
from taxkg_assets.serving.build import SAMPLES
from taxkg_assets.settings import Settings
from taxkg_assets.sources.fetch import Fetcher, Known

pytestmark = pytest.mark.slow

DRY = "planned"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Address of a server and the folder of its current PDFs."""
    folder = tmp_path / "site" / "pub" / "irs-pdf"
    folder.mkdir(parents=True)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "site"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    server.server_close()


def run(address: str, folder: Path, name: str, *, is_dry: bool = False) -> FetchResult:
    (line,) = fetch([name], folder=folder, settings=Settings(), base_url=address, is_dry=is_dry)
    return line


def test_a_document_is_named_after_its_revision_and_loaded_once(site: tuple[str, Path], tmp_path: Path) -> None:
    address, served = site
    inbox = tmp_path / "inbox"
    copyfile(SAMPLES / "sample-i1099div--2024-01.pdf", served / "i1099div.pdf")
    assert run(address, inbox, "i1099div", is_dry=True).status == DRY
    assert not inbox.exists()
    assert run(address, inbox, "i1099div") == FetchResult(
        f"{address}/pub/irs-pdf/i1099div.pdf", "new", "i1099div--2024-01.pdf"
    )
    assert run(address, inbox, "i1099div").status == "unchanged"
    assert sorted(path.name for path in inbox.iterdir()) == [RECORD, LOCK, "i1099div--2024-01.pdf"]
    (inbox / "i1099div--2024-01.pdf").unlink()
    assert run(address, inbox, "i1099div").status == "new", "what is no longer there is loaded again"


def test_a_correction_takes_the_place_of_what_could_not_be_opened(site: tuple[str, Path], tmp_path: Path) -> None:
    address, served = site
    inbox = tmp_path / "inbox"
    (served / "i1099div.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    assert run(address, inbox, "i1099div").file == "i1099div.pdf"
    assert run(address, inbox, "i1099div").status == "unchanged"
    (kept,) = json.loads((inbox / RECORD).read_text()).values()
    assert kept["etag"] == kept["last_modified"] == "", "a broken document is never asked for only if it changed"
    copyfile(SAMPLES / "sample-i1099div--2024-01.pdf", served / "i1099div.pdf")
    assert run(address, inbox, "i1099div").file == "i1099div--2024-01.pdf"
    assert sorted(path.name for path in inbox.glob("*.pdf")) == ["i1099div--2024-01.pdf"]


def test_what_somebody_put_there_is_neither_taken_away_nor_replaced_by_a_broken_one(
    site: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def name(now: Known, path: Path, url_path: str, **_: object) -> Known:
        is_valid = path.read_bytes().endswith(b"sound")
        file = "i1099div--2024-01.pdf" if is_valid else Path(url_path).name
        return replace(now, file=file, is_read=is_valid, is_named=is_valid)

    monkeypatch.setattr("taxkg_assets.defs.ingest.fetching._name_by_revision", name)
    address, served = site
    inbox = tmp_path / "inbox"
    (served / "i1099div.pdf").write_bytes(b"%PDF- broken")
    run(address, inbox, "i1099div")
    (inbox / "i1099div.pdf").write_bytes(b"%PDF- of my own")
    (served / "i1099div.pdf").write_bytes(b"%PDF- sound")
    assert run(address, inbox, "i1099div").file == "i1099div--2024-01.pdf"
    assert (inbox / "i1099div.pdf").read_bytes() == b"%PDF- of my own"
    (inbox / "p17.pdf").write_bytes(b"%PDF- of my own")
    (served / "p17.pdf").write_bytes(b"%PDF- broken")
    line = run(address, inbox, "p17")
    assert (line.status, "is kept" in line.reason) == ("failed", True)
    assert (inbox / "p17.pdf").read_bytes() == b"%PDF- of my own"
    assert not list(inbox.glob(".*.fetched"))


def test_two_fetches_never_fill_one_folder(site: tuple[str, Path], tmp_path: Path) -> None:
    address, _ = site
    first = fetch(["w2"], folder=tmp_path / "inbox", settings=Settings(), base_url=address)
    assert next(first).status == "absent"
    with pytest.raises(HomeBusyError, match="Another fetch is filling"):
        run(address, tmp_path / "inbox", "p17")
    assert run(address, tmp_path / "inbox", "p17", is_dry=True).status == DRY
    first.close()  # type: ignore[attr-defined]
    assert run(address, tmp_path / "inbox", "p17").status == "absent"


def test_the_daily_run_has_an_end() -> None:
    assert float(watch_releases.tags["dagster/max_runtime"]) > 0


def test_one_that_fails_stops_no_other(site: tuple[str, Path], tmp_path: Path) -> None:
    address, served = site
    (served / "fw2.pdf").write_bytes(b"<html>")
    copyfile(SAMPLES / "sample-f1099div--2026-01.pdf", served / "fw3.pdf")
    lines = list(fetch(["w2"], folder=tmp_path / "inbox", settings=Settings(), base_url=address))
    assert [line.status for line in lines] == ["failed", "new", "absent"]
    assert "not a PDF" in lines[0].reason
    assert len(json.loads((tmp_path / "inbox" / RECORD).read_text())) == 1


def test_a_host_that_cannot_be_reached_stops_all_and_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "no network")

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    (line,) = fetch(["1099", "w2"], folder=tmp_path / "home" / "inbox", settings=Settings())
    assert line.status == "failed"
    assert "could not be resolved" in line.reason
    assert not (tmp_path / "home").exists()


def test_a_folder_that_was_there_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise httpx.ConnectError("refused")

    monkeypatch.setattr("taxkg_assets.sources.fetch.Fetcher._open", refuse)
    hasty = partial(Fetcher, sleep=lambda _: None)
    monkeypatch.setattr("taxkg_assets.defs.ingest.fetching.Fetcher", hasty)
    (line,) = fetch(["1099", "w2"], folder=tmp_path, settings=Settings())
    assert "the connection failed (ConnectError) after 5 attempts" in line.reason
    assert tmp_path.exists()
