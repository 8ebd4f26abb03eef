"""Fetching from a server on loopback that speaks as real ones do: tags, 304, 429, 5xx, cut bodies, bad redirects."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from taxkg_assets.rules.models.fetching import Limits, load_fetching
from taxkg_assets.sources.fetch import Fetched, Fetcher, FetchError, Known, UnreachableError, find_urls

PDF = b"%PDF-1.7\n" + b"0123456789abcdef" * 4096
ETAG = '"one"'


@dataclass
class Site:
    """A server whose answers a test sets one after the other; the last one stays."""

    answers: list[Callable[[BaseHTTPRequestHandler], None]] = field(default_factory=list)
    queried: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.queried.append({**{k.lower(): v for k, v in handler.headers.items()}, "path": handler.path})
        (self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])(handler)


@pytest.fixture
def site() -> Iterator[Site]:
    own = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            own.answer(self)

        def log_message(self, *args: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    own.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield own
    server.shutdown()
    server.server_close()


def reply(status: int, body: bytes = b"", **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def send(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return send


def whole(handler: BaseHTTPRequestHandler) -> None:
    """The document, or the rest of it, or 304, as the headers ask."""
    if handler.headers.get("If-None-Match") == ETAG:
        reply(304, ETag=ETAG)(handler)
    elif handler.headers.get("If-Range") == ETAG:
        begin = int(handler.headers["Range"].removeprefix("bytes=").rstrip("-"))
        span = f"bytes {begin}-{len(PDF) - 1}/{len(PDF)}"
        reply(206, PDF[begin:], ETag=ETAG, Content_Range=span)(handler)
    else:
        reply(200, PDF, ETag=ETAG)(handler)


def cut(handler: BaseHTTPRequestHandler) -> None:
    """Half of the body, then nothing."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(PDF)))
    handler.send_header("ETag", ETAG)
    handler.end_headers()
    handler.wfile.write(PDF[: len(PDF) // 2])


def fetch(site: Site, folder: Path, *, naps: list[float] | None = None, **options: object) -> Fetched:
    changes = {"seconds_between": 0.0, "attempts": 3, "seconds_to_read": 2.0}
    changes |= {key: value for key, value in options.items() if key in Limits.model_fields}
    limits = load_fetching().limits.model_copy(update=changes)
    known_state = options.get("known_state")
    assert known_state is None or isinstance(known_state, Known)
    fetcher = Fetcher(site.url, limits=limits, sleep=(naps if naps is not None else []).append)
    return fetcher.fetch(find_urls("f1099div", base_url=site.url)[0], folder, known_state=known_state)


def test_a_new_document_comes_whole_and_asking_again_costs_nothing(site: Site, tmp_path: Path) -> None:
    site.answers = [whole]
    fetched = fetch(site, tmp_path)
    assert fetched.status == "new"
    assert fetched.path is not None
    assert fetched.path.read_bytes() == PDF
    assert site.queried[0]["path"] == "/pub/irs-pdf/f1099div.pdf"
    again = fetch(site, tmp_path, known_state=Known(etag=fetched.etag, sha256=fetched.sha256))
    assert again.status == "unchanged"
    assert site.queried[1]["if-none-match"] == ETAG


def test_equal_bytes_under_another_tag_are_unchanged(site: Site, tmp_path: Path) -> None:
    site.answers = [whole]
    fetched = fetch(site, tmp_path)
    site.answers = [reply(200, PDF, ETag='"two"')]
    assert fetch(site, tmp_path, known_state=Known(etag=ETAG, sha256=fetched.sha256)).status == "unchanged"


def test_a_body_that_is_interrupted_is_continued(site: Site, tmp_path: Path) -> None:
    site.answers = [cut, whole]
    fetched = fetch(site, tmp_path)
    assert fetched.path is not None
    assert fetched.path.read_bytes() == PDF
    assert site.queried[1]["range"] == f"bytes={len(PDF) // 2}-"


@pytest.mark.parametrize("span", ["bytes 500-65544/65545", "bytes 32772-65544/*", "", "bytes \u00b2-3/4"])
def test_a_part_that_was_not_requested_is_never_the_document(site: Site, tmp_path: Path, span: str) -> None:
    part = reply(206, PDF[500:], ETag=ETAG, Content_Range=span)
    site.answers = [cut, part, whole]
    fetched = fetch(site, tmp_path)
    assert fetched.path is not None
    assert fetched.path.read_bytes() == PDF
    assert "range" not in site.queried[2]
    fetched.path.unlink()
    site.answers = [reply(206, PDF[:1000], ETag=ETAG, Content_Range=f"bytes 0-999/{len(PDF)}")]
    with pytest.raises(FetchError, match="a byte range that was not requested"):
        fetch(site, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_rest_of_a_document_is_as_long_as_the_whole_says(site: Site, tmp_path: Path) -> None:
    half = len(PDF) // 2
    short = reply(206, PDF[half:-9], ETag=ETAG, Content_Range=f"bytes {half}-{len(PDF) - 1}/{len(PDF)}")
    site.answers = [cut, short, whole]
    fetched = fetch(site, tmp_path)
    assert fetched.path is not None
    assert fetched.path.read_bytes() == PDF


def test_a_body_without_a_length_must_have_an_end(site: Site, tmp_path: Path) -> None:
    def endless(body: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
        def send(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.end_headers()
            handler.wfile.write(body)

        return send

    site.answers = [endless(PDF[:1000]), endless(PDF + b"\n%%EOF\n")]
    fetched = fetch(site, tmp_path)
    assert fetched.path is not None
    assert fetched.path.read_bytes() == PDF + b"\n%%EOF\n"


@pytest.mark.parametrize(
    "begin", [f"HTTP/1.1 200 OK\r\nContent-Length: {len(PDF)}\r\n\r\n", "HTTP/1.1 200 OK\r\nX-Drip: "]
)
def test_a_body_or_a_header_that_drips_is_given_up(site: Site, tmp_path: Path, begin: str) -> None:
    gone = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(begin.encode())
        with suppress(OSError):
            while not gone.wait(0.02):
                handler.wfile.write(b"a")

    site.answers = [drip]
    with pytest.raises(FetchError, match=r"did not finish in 0 s after 1 attempt\."):
        fetch(site, tmp_path, seconds_in_all=0.2)
    gone.set()


def test_a_document_that_changed_meanwhile_is_taken_from_the_beginning(site: Site, tmp_path: Path) -> None:
    other = PDF.replace(b"abcdef", b"ABCDEF")
    site.answers = [cut, reply(200, other, ETag='"two"')]
    fetched = fetch(site, tmp_path)
    assert fetched.path is not None
    assert fetched.path.read_bytes() == other


def test_a_busy_server_is_waited_for_as_long_as_it_asks(site: Site, tmp_path: Path) -> None:
    naps: list[float] = []
    site.answers = [reply(429, Retry_After="7"), reply(503), whole]
    assert fetch(site, tmp_path, naps=naps).status == "new"
    assert 7.0 in naps


@pytest.mark.parametrize("queried", ["\u00b2", "soon", "9" * 5000, "Mon, 01 Jan 99999 00:00:00 GMT"])
def test_a_wait_that_is_no_number_is_no_wait(site: Site, tmp_path: Path, queried: str) -> None:
    site.answers = [reply(429, Retry_After=queried)]
    with pytest.raises(FetchError, match=r"answered 429|limits requests"):
        fetch(site, tmp_path)


def test_a_tag_that_no_request_may_hold_is_not_kept(site: Site, tmp_path: Path) -> None:
    site.answers = [reply(200, PDF, ETag='"\u00e9"', Last_Modified="\u00e9")]
    fetched = fetch(site, tmp_path)
    assert (fetched.status, fetched.etag, fetched.last_modified) == ("new", "", "")
    assert fetch(site, tmp_path, known_state=Known(etag='"\u00e9"', sha256=fetched.sha256)).status == "unchanged"


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:99999", "http://[::1", "ftp://x", "http://me:secret@x", "me:secret@x"]
)
def test_an_invalid_address_is_refused_and_no_password_repeated(address: str) -> None:
    with pytest.raises(FetchError) as refused:
        Fetcher(address)
    assert "secret" not in str(refused.value)


def test_a_server_that_stays_down_ends_in_one_message(site: Site, tmp_path: Path) -> None:
    site.answers = [reply(500)]
    with pytest.raises(FetchError, match="the server answered 500 after 3 attempts"):
        fetch(site, tmp_path)
    assert len(site.queried) == 3
    site.answers = [reply(429, Retry_After="86400")]
    with pytest.raises(FetchError, match="limits requests"):
        fetch(site, tmp_path)


def test_a_slow_server_is_given_up(site: Site, tmp_path: Path) -> None:
    gate = threading.Event()
    site.answers = [lambda handler: (gate.wait(5) and None) or None]
    with pytest.raises(FetchError, match="connection failed"):
        fetch(site, tmp_path, seconds_to_read=0.2, attempts=1)
    gate.set()


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("http://169.254.169.254/latest/meta-data", "the host is not allowed"),
        ("http://localhost:1/x.pdf", "the host is not allowed"),
        ("http://127.0.0.1:1/x.pdf", "port 1 of 127.0.0.1 is not allowed"),
        ("file:///etc/passwd", "addresses are allowed"),
        ("https://www.irs.gov@127.0.0.1/x.pdf", "an address with a user name is not allowed"),
        ("/pub/irs-pdf/f1099div.pdf", "more than 5 redirects"),
        ("http://127.0.0.1:99999/x.pdf", "is not an http"),
        ("http://[::1/x.pdf", "connection failed"),
        ("/\x01x.pdf", "invalid response|connection failed"),
    ],
)
def test_redirects_go_through_the_same_gate(site: Site, tmp_path: Path, target: str, reason: str) -> None:
    site.answers = [reply(302, Location=target)]
    with pytest.raises(FetchError, match=reason):
        fetch(site, tmp_path)


def test_a_listed_name_that_leads_to_a_private_address_is_refused(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("10.0.0.7", 443))])
    with pytest.raises(FetchError, match="not public"):
        Fetcher("https://www.irs.gov").fetch("https://www.irs.gov/pub/irs-pdf/p17.pdf", tmp_path)


def test_a_name_without_an_address_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resolved: list[str] = []

    def resolve(host: str, *_: object, **__: object) -> None:
        resolved.append(host)
        raise socket.gaierror(socket.EAI_AGAIN, "no network")

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    with pytest.raises(UnreachableError, match=r"the name www\.irs\.gov could not be resolved\. Check the network"):
        Fetcher("https://www.irs.gov").fetch("https://www.irs.gov/pub/irs-pdf/p17.pdf", tmp_path)
    assert resolved == ["www.irs.gov"]


def test_what_is_no_pdf_or_too_large_leaves_nothing(site: Site, tmp_path: Path) -> None:
    site.answers = [reply(200, b"<html>Sorry</html>", Content_Type="text/html")]
    with pytest.raises(FetchError, match="not a PDF"):
        fetch(site, tmp_path)
    site.answers = [whole]
    with pytest.raises(FetchError, match=r"more than 0.000954 MiB"):
        fetch(site, tmp_path, most_bytes=1000)
    assert list(tmp_path.iterdir()) == []


def test_what_the_server_does_not_have_is_absent(site: Site, tmp_path: Path) -> None:
    site.answers = [reply(404)]
    assert fetch(site, tmp_path).status == "absent"


def test_names_are_families_years_and_nothing_else() -> None:
    urls = find_urls("W2", base_url="https://x", years=(2024, 2025))
    assert "https://x/pub/irs-prior/fw2--2024.pdf" in urls
    assert len(urls) == 6
    with pytest.raises(FetchError, match="not a valid IRS file name"):
        find_urls("../secret", base_url="https://x")
    with pytest.raises(FetchError, match="not a valid year"):
        find_urls("w2", base_url="https://x", years=(2024, -5))
