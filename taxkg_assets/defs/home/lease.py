"""The lease on a home in a bucket: one build at a time among all machines, and one that died is not waited for.

An object says who writes. It is made only where there is none (`If-None-Match`), touched while its holder lives, and
taken over (`If-Match`) when it was not renewed for `LEASE_SECONDS`, by the clock of the bucket alone.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar

from taxkg_assets.defs.home.storage import HomeBusyError

LEASE_SECONDS = 60.0
SURE_SECONDS = 45.0
"""A holder that has not been heard of for so long stops writing, well before another one may begin."""
POLL_SECONDS = 0.5
REFUSED = frozenset({"PreconditionFailed", "412", "ConditionalRequestConflict", "409"})
GONE = frozenset({"404", "NoSuchKey", "NotFound"})


class Lease:
    """The lease of a process on one home; `hold` takes it, `check` tests whether it is still valid."""

    _active_leases: ClassVar[dict[str, Lease]] = {}

    def __init__(self, client: Any, bucket: str, key: str, *, uri: str) -> None:
        self._client, self._bucket, self._key, self._uri = client, bucket, key, uri
        self._token = uuid.uuid4().hex
        self._etag = ""
        self._renewals = 0
        self._renewed_at = 0.0
        self._is_lost = False
        self._is_over = threading.Event()

    @contextmanager
    def hold(self, *, wait_s: float) -> Iterator[None]:
        """Acquire the lease, renew it while the context is open, and release it at the end.

        Args:
            wait_s: Longest wait for another holder, in seconds.

        Returns:
            A context that holds the lease.
        """
        self._take(wait_s)
        renewing = threading.Thread(target=self._renew, name="lease", daemon=True)
        renewing.start()
        self._active_leases[self._uri] = self
        try:
            yield
        finally:
            del self._active_leases[self._uri]
            self._is_over.set()
            renewing.join()
            with suppress(OSError, *_network_errors()):  # a lease that is not deleted expires
                if self._is_ours():
                    self._client.delete_object(Bucket=self._bucket, Key=self._key)

    @classmethod
    def check(cls, uri: str) -> None:
        """Raise `HomeBusyError` if this process has lost the lease of a home.

        Args:
            uri: Address of the home.

        Raises:
            HomeBusyError: The lease was lost.
        """
        lease = cls._active_leases.get(uri)
        if lease is not None and (lease._is_lost or time.monotonic() - lease._renewed_at > SURE_SECONDS):
            raise HomeBusyError(
                f"This build could not reach {uri} for a while, lost its lock and stopped writing. "
                "Check the connection, and run the build again."
            )

    def _take(self, wait_s: float) -> None:
        deadline = time.monotonic() + wait_s
        while True:
            if self._put(IfNoneMatch="*"):
                return
            holder, etag, age_s = self._read_holder()
            if not etag:  # released between the two requests
                continue
            if age_s > LEASE_SECONDS and self._put(IfMatch=etag):
                return
            if time.monotonic() >= deadline:
                remedy = "Wait for it, or choose another home with --home."
                raise HomeBusyError(f"Another build ({holder}) is running on {self._uri}. {remedy}")
            time.sleep(POLL_SECONDS)

    def _renew(self) -> None:
        while not self._is_over.wait(LEASE_SECONDS / 4):
            with suppress(OSError, *_network_errors()):  # a bucket out of reach is looked for again; `check` counts
                if not self._put(IfMatch=self._etag) and not self._is_ours():
                    self._is_lost = True
                    return

    def _put(self, **condition: str) -> bool:
        """Write the object if the condition holds; a refusal may echo our own write, whose answer was lost."""
        from botocore.exceptions import ClientError

        self._renewals += 1
        claim = {"holder": f"{socket.gethostname()}:{os.getpid()}", "token": self._token, "beats": self._renewals}
        try:
            response = self._client.put_object(
                Bucket=self._bucket, Key=self._key, Body=json.dumps(claim).encode(), **condition
            )
        except ClientError as refused:
            if refused.response["Error"]["Code"] not in REFUSED | GONE:
                raise
            return self._is_ours()
        self._etag, self._renewed_at = response["ETag"], time.monotonic()
        return True

    def _is_ours(self) -> bool:
        lease = self._get()
        if lease is None or json.loads(lease["Body"].read())["token"] != self._token:
            return False
        self._etag, self._renewed_at = lease["ETag"], time.monotonic()
        return True

    def _read_holder(self) -> tuple[str, str, float]:
        """Return the holder of the lease, the ETag of its record and the age in seconds; empty without a holder."""
        lease = self._get()
        if lease is None:
            return "", "", 0.0
        now = parsedate_to_datetime(lease["ResponseMetadata"]["HTTPHeaders"]["date"])
        return json.loads(lease["Body"].read())["holder"], lease["ETag"], (now - lease["LastModified"]).total_seconds()

    def _get(self) -> Any:
        from botocore.exceptions import ClientError

        try:
            return self._client.get_object(Bucket=self._bucket, Key=self._key)
        except ClientError as missing:
            if missing.response["Error"]["Code"] in GONE:
                return None
            raise


def _network_errors() -> tuple[type[BaseException], ...]:
    from botocore.exceptions import BotoCoreError, ClientError

    return (BotoCoreError, ClientError)
