"""Download of one document: only if it changed, and stored as a whole or not at all.

A server does not decide where this program connects (server-side request forgery, DNS rebinding): only listed hosts are
allowed, the address of the host is checked and then used, and each redirect is checked in the same way.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import SplitResult, urljoin, urlsplit

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_random_exponential

from taxkg_assets.rules.models.fetching import Limits, load_fetching
from taxkg_assets.sources.connection import limit_connection, load_certificates, pin_address, request_options

PDF_MARK = b"%PDF-"
MARK_WITHIN = 1024
PDF_END = b"%%EOF"
BUSY = (408, 425, 429, 500, 502, 503, 504)
ABSENT = (404, 410)
FIRST_YEAR, LAST_YEAR = 1800, 2199
_SPAN = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18})", re.ASCII)


class FetchError(Exception):
    """A document that could not be fetched; the message names the address and the remedy."""


class UnreachableError(FetchError):
    """The host of a document cannot be resolved or connected: its other documents cannot be fetched either."""


class _TryAgainError(Exception):
    """A failure that may be temporary.

    Attributes:
        wait_s: Delay in seconds that the server requests; 0 for none.
        is_connected: Whether there was a connection to the server.
    """

    def __init__(self, reason: str, *, wait_s: float = 0.0, is_connected: bool = True) -> None:
        super().__init__(reason)
        self.wait_s = wait_s
        self.is_connected = is_connected


@dataclass(frozen=True, slots=True)
class Known:
    """State of a document after an earlier request, so that the server can answer that nothing changed.

    Attributes:
        etag: Header `ETag` of the response.
        last_modified: Header `Last-Modified` of the response.
        sha256: SHA-256 of the file.
        file: Name of the file.
        is_read: Whether the file could be opened.
        is_named: Whether the name of the file contains the revision on its pages.
    """

    etag: str = ""
    last_modified: str = ""
    sha256: str = ""
    file: str = ""
    is_read: bool = True
    is_named: bool = True


@dataclass(frozen=True, slots=True)
class Fetched:
    """Outcome of one request.

    Attributes:
        url: Address of the document.
        status: `new` (no such bytes before), `unchanged`, `absent` (the server has no such document) or `planned` (dry
            run).
        path: Downloaded file; None unless the document is new.
        sha256: SHA-256 of the file; empty for `absent` and `planned`.
        etag: Header `ETag` of the response.
        last_modified: Header `Last-Modified` of the response.
    """

    url: str
    status: str
    path: Path | None = None
    sha256: str = ""
    etag: str = ""
    last_modified: str = ""


def find_urls(name: str, *, base_url: str, years: tuple[int, ...] = (), is_draft: bool = False) -> list[str]:
    """Build the URLs of a product, or of the members of a family.

    Args:
        name: File stem of the IRS such as `f1099div`, or a family in rules/fetching.yaml.
        base_url: Address of the server.
        years: Years of earlier revisions; empty for the current file.
        is_draft: Whether the draft is wanted; `years` are then ignored.

    Returns:
        Addresses in the order of the family's members and years.

    Raises:
        FetchError: The name is not that of an IRS file, or a year is not between 1800 and 2199.
    """
    rules = load_fetching()
    members = {str(family): list(stems) for family, stems in rules.families.items()}
    names = members.get(name.lower(), [name])
    if wrong_names := [stem for stem in names if not stem.isascii() or not stem.replace("-", "").isalnum()]:
        raise FetchError(
            f"{wrong_names[0]!r} is not a valid IRS file name. Give a name like f1099div, or a family: "
            f"{', '.join(members)}."
        )
    if wrong_years := [year for year in years if not FIRST_YEAR <= year <= LAST_YEAR]:
        raise FetchError(f"{wrong_years[0]} is not a valid year. Give the year of a revision, like 2024.")
    paths = rules.paths
    if is_draft:
        return [base_url.rstrip("/") + paths.draft.format(name=stem) for stem in names]
    if years:
        return [base_url.rstrip("/") + paths.prior.format(name=stem, year=year) for stem in names for year in years]
    return [base_url.rstrip("/") + paths.current.format(name=stem) for stem in names]


@dataclass
class Fetcher:
    """A client that downloads from the listed hosts and from the host of `base_url`, one request at a time.

    Attributes:
        base_url: Address of the server, whose host need not be public.
        limits: Limits of size, time and attempts.
        sleep: Function that waits for some seconds; tests replace it.

    Raises:
        FetchError: The base address contains a user or a password, or is not an HTTP address.
    """

    base_url: str
    limits: Limits = field(default_factory=lambda: load_fetching().limits)
    sleep: Callable[[float], None] = time.sleep
    _requested_at: float = field(default=-1e9, init=False)
    _due_at: float = field(default=float("inf"), init=False)

    def __post_init__(self) -> None:
        if "@" in self.base_url:  # the message does not repeat the address, which contains a password
            raise FetchError(
                "The address of the server contains a user name or a password. Give the address without them."
            )
        parts = _parts(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise FetchError(f"{self.base_url!r} is not an http(s) address. Correct --base-url.")
        self._schemes = {"https", parts.scheme}
        self._hosts = {*load_fetching().hosts, parts.hostname}

    def fetch(self, url: str, folder: Path, *, known_state: Known | None = None, is_dry: bool = False) -> Fetched:
        """Download a document into a folder as `.<name>.fetched`, if it changed; the caller renames it.

        Args:
            url: Address of the document; its host must be listed.
            folder: Folder of the result, created if needed.
            known_state: State from an earlier request; with it the request is conditional.
            is_dry: Whether to request nothing.

        Returns:
            Status and, for a new document, its path.

        Raises:
            UnreachableError: The host cannot be resolved or connected.
            FetchError: The address is not allowed, the response is unusable, or all attempts failed.
        """
        self._allow(url)
        if is_dry:
            return Fetched(url, "planned")
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f".{Path(urlsplit(url).path).name}.part"
        self._due_at = time.monotonic() + self.limits.seconds_in_all
        attempt_count = 0
        try:
            for attempt in self._retrying():
                attempt_count = attempt.retry_state.attempt_number
                with attempt:
                    return self._attempt(url, partial, known_state=known_state or Known())
        except _TryAgainError as failed:
            error = FetchError if failed.is_connected else UnreachableError
            raise error(
                f"{url}: {failed} after {attempt_count} {'attempt' if attempt_count == 1 else 'attempts'}. "
                "Run the same command later: it resumes where it stopped."
            ) from failed
        except (httpx.InvalidURL, ValueError) as error:
            raise FetchError(f"{url}: the server sent an invalid response ({error}). Try again later.") from error
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _retrying(self) -> Retrying:
        backoff = wait_random_exponential(multiplier=self.limits.seconds_between, max=30)

        def wait(state: RetryCallState) -> float:
            failed = state.outcome.exception() if state.outcome else None
            requested = failed.wait_s if isinstance(failed, _TryAgainError) else 0.0
            return max(requested, backoff(state))

        return Retrying(
            retry=retry_if_exception_type(_TryAgainError),
            stop=lambda state: state.attempt_number >= self.limits.attempts or self._is_overdue(),
            wait=wait,
            sleep=self.sleep,
            reraise=True,
        )

    def _is_overdue(self) -> bool:
        return time.monotonic() >= self._due_at

    def _make_timeout(self) -> _TryAgainError:
        return _TryAgainError(f"the download did not finish in {self.limits.seconds_in_all:.0f} s")

    def _attempt(self, url: str, partial: Path, *, known_state: Known) -> Fetched:
        """Make one attempt: conditional if the document is known, and from the byte where the last attempt ended."""
        tag_file = partial.with_suffix(".tag")
        partial_size = partial.stat().st_size if partial.exists() and tag_file.exists() else 0
        headers = _conditions(known_state)
        if partial_size:
            headers |= {"Range": f"bytes={partial_size}-", "If-Range": tag_file.read_text(encoding="ascii")}
        try:
            with self._open(url, headers) as reply:
                return self._read_reply(url, reply, partial, partial_size=partial_size, known_state=known_state)
        except httpx.TransportError as broken:
            if self._is_overdue():
                raise self._make_timeout() from broken
            is_connected = not isinstance(broken, httpx.ConnectError | httpx.ConnectTimeout)
            raise _TryAgainError(
                f"the connection failed ({type(broken).__name__})", is_connected=is_connected
            ) from broken

    def _read_reply(
        self, url: str, reply: httpx.Response, partial: Path, *, partial_size: int, known_state: Known
    ) -> Fetched:
        if reply.status_code == 304:
            return Fetched(
                url,
                "unchanged",
                sha256=known_state.sha256,
                etag=known_state.etag,
                last_modified=known_state.last_modified,
            )
        if reply.status_code in ABSENT:
            return Fetched(url, "absent")
        if reply.status_code == 416 or (partial_size and reply.status_code == 200):
            partial_size = 0  # the document changed meanwhile: from the beginning
            partial.unlink(missing_ok=True)
        if reply.status_code in (*BUSY, 416):
            raise _TryAgainError(f"the server answered {reply.status_code}", wait_s=self._wait_of(reply))
        if reply.status_code not in (200, 206):
            raise FetchError(f"{url}: the server answered {reply.status_code}. Check the name, or try again later.")
        total_size = None
        if (
            reply.status_code == 206
            and (total_size := _find_total_size(reply, partial, partial_size=partial_size)) is None
        ):
            _delete_partial(partial)  # these bytes do not continue the partial file
            raise _TryAgainError("the server sent a byte range that was not requested")
        self._receive(url, reply, partial, partial_size=partial_size, total_size=total_size)
        return self._finish(url, reply, partial, known_state=known_state)

    def _receive(
        self, url: str, reply: httpx.Response, partial: Path, *, partial_size: int, total_size: int | None
    ) -> None:
        """Append the body to the partial file; after an interruption, the next attempt continues that file.

        `total_size`: size of the whole document in bytes; None if unknown.
        """
        tag = _read_header(reply, "etag")
        if not partial_size:
            partial.with_suffix(".tag").unlink(missing_ok=True)
        if tag and not tag.startswith("W/"):
            partial.with_suffix(".tag").write_text(tag, encoding="ascii")
        stated_size = (
            int(reply.headers["content-length"]) + partial_size if "content-length" in reply.headers else total_size
        )
        received_size = partial_size
        with partial.open("ab" if partial_size else "wb") as out:
            for chunk in reply.iter_raw():
                received_size += len(chunk)
                if received_size > self.limits.most_bytes:
                    _delete_partial(partial)
                    raise FetchError(
                        f"{url}: more than {self.limits.most_bytes / 2**20:.3g} MiB. To include this file, "
                        "download it yourself into a source folder."
                    )
                out.write(chunk)
                if self._is_overdue():
                    raise self._make_timeout()
        if stated_size not in (None, received_size) or total_size not in (None, received_size):
            raise _TryAgainError(f"the download stopped at {received_size} of {total_size or stated_size} bytes")
        if stated_size is None and "transfer-encoding" not in reply.headers and not _has_end(partial):
            # Without a length, a broken connection looks like the end of the document.
            raise _TryAgainError(f"the download ended after {received_size} bytes, without the end mark of a PDF")

    def _finish(self, url: str, reply: httpx.Response, partial: Path, *, known_state: Known) -> Fetched:
        data = partial.read_bytes()
        if PDF_MARK not in data[:MARK_WITHIN]:
            _delete_partial(partial)
            raise FetchError(f"{url}: the response is not a PDF ({reply.headers.get('content-type', 'no type')}).")
        digest = hashlib.sha256(data).hexdigest()
        etag, modified = _read_header(reply, "etag"), _read_header(reply, "last-modified")
        if digest == known_state.sha256:
            _delete_partial(partial)
            return Fetched(url, "unchanged", sha256=digest, etag=etag, last_modified=modified)
        fetched_path = partial.with_suffix(".fetched")
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(fetched_path)
        _delete_partial(partial)
        return Fetched(url, "new", path=fetched_path, sha256=digest, etag=etag, last_modified=modified)

    # --------------------------------------------------------------------------------------------- connection

    @contextmanager
    def _open(self, url: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        """Yield the response after all redirects, each of which is checked like the first address."""
        for _ in range(self.limits.most_redirects + 1):
            self._allow(url)
            address = self._resolve(url)
            self._wait_for_turn()
            timeout = httpx.Timeout(self.limits.seconds_to_read, connect=self.limits.seconds_to_connect)
            with (
                limit_connection(self._due_at) as trace,
                httpx.Client(timeout=timeout, trust_env=False, verify=load_certificates()) as client,
                client.stream("GET", pin_address(url, address), **request_options(url, headers, trace=trace)) as reply,
            ):
                if not reply.has_redirect_location:
                    yield reply
                    return
                url = urljoin(url, reply.headers["location"])
        raise FetchError(f"{url}: more than {self.limits.most_redirects} redirects. Try again later.")

    def _allow(self, url: str) -> None:
        """Refuse a host that is not listed, and another port or scheme than the given ones."""
        parts = _parts(url)
        host = parts.hostname or ""
        if parts.scheme not in self._schemes:
            raise FetchError(f"{url}: only {' and '.join(sorted(self._schemes))} addresses are allowed.")
        if parts.username is not None:
            raise FetchError(f"{url}: an address with a user name is not allowed.")
        if host not in self._hosts:
            raise FetchError(f"{url}: the host is not allowed. Allowed hosts: {', '.join(sorted(self._hosts))}.")
        base_parts = urlsplit(self.base_url)
        if parts.port not in ({base_parts.port} if host == base_parts.hostname else {None, 443}):
            port = parts.port or (443 if parts.scheme == "https" else 80)
            raise FetchError(
                f"{url}: port {port} of {host} is not allowed, only 443 and the port in --base-url. Correct --base-url."
            )

    def _resolve(self, url: str) -> str:
        """Return the IP address to connect to; a listed host must have public addresses only."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        try:
            address_infos = socket.getaddrinfo(host, parts.port or parts.scheme, type=socket.SOCK_STREAM)
        except OSError as unknown:
            raise UnreachableError(
                f"{url}: the name {host} could not be resolved. Check the network, then run the same command again."
            ) from unknown
        addresses = [str(row[4][0]) for row in address_infos]
        is_listed = host in load_fetching().hosts
        if is_listed and any(not ipaddress.ip_address(address.split("%")[0]).is_global for address in addresses):
            raise FetchError(f"{url}: {host} has an address that is not public: {', '.join(addresses)}. Check the DNS.")
        return addresses[0]

    def _wait_for_turn(self) -> None:
        wait_s = self._requested_at + self.limits.seconds_between - time.monotonic()
        if wait_s > 0:
            self.sleep(wait_s)
        self._requested_at = time.monotonic()

    def _wait_of(self, reply: httpx.Response) -> float:
        """Return the seconds that the server requests to wait, given as a number or a date."""
        requested = reply.headers.get("retry-after", "")
        if requested.isascii() and requested.isdecimal():
            wait = float(requested)
        elif requested:
            try:
                wait = max(0.0, parsedate_to_datetime(requested).timestamp() - time.time())
            except (ValueError, OverflowError):
                wait = 0.0
        else:
            wait = 0.0
        if wait > self.limits.longest_wait_s:
            raise FetchError(f"{reply.url}: the server limits requests. Run the same command again in {wait:.0f} s.")
        return wait


def _parts(url: str) -> SplitResult:
    """Split an address and check its port, which `urlsplit` validates only when the port is used."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise FetchError(f"{url!r} is not an http(s) address ({error}).") from error
    return parts


def _read_header(reply: httpx.Response, name: str) -> str:
    """Return a header that a later request sends back; empty if a request may not contain its characters."""
    value = str(reply.headers.get(name, ""))
    return value if value.isascii() and value.isprintable() else ""


def _find_total_size(reply: httpx.Response, partial: Path, *, partial_size: int) -> int | None:
    """Return the size of the whole document if the response continues the partial file; otherwise None."""
    byte_range = _SPAN.fullmatch(reply.headers.get("content-range", ""))
    tag_file = partial.with_suffix(".tag")
    if not partial_size or byte_range is None or int(byte_range[1]) != partial_size or not tag_file.exists():
        return None
    is_same = reply.headers.get("etag", tag_file.read_text(encoding="ascii")) == tag_file.read_text(encoding="ascii")
    return int(byte_range[2]) if is_same else None


def _has_end(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - MARK_WITHIN))
        return PDF_END in file.read()


def _conditions(known_state: Known) -> dict[str, str]:
    headers = {"If-None-Match": known_state.etag, "If-Modified-Since": known_state.last_modified}
    return {name: value for name, value in headers.items() if value and value.isascii()}


def _delete_partial(partial: Path) -> None:
    partial.unlink(missing_ok=True)
    partial.with_suffix(".tag").unlink(missing_ok=True)
