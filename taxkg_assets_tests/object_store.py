"""An S3 of this machine (moto's server) in a process of its own, which fails on demand.

In a process of its own because engines hold the interpreter's lock while they wait for an answer.
Start: `python -m taxkg_assets_tests.object_store` prints its port. `PUT /__faults` sets what fails from then on.
"""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

CONTROL = "/__faults"
KEYS = {"AWS_ACCESS_KEY_ID": "test-key", "AWS_SECRET_ACCESS_KEY": "a-secret-of-the-tests", "AWS_REGION": "us-east-1"}


class FaultyServer:
    """Answers each `every`-th request whose method and path match with an error: before it is done, or after it."""

    def __init__(self, app: Callable[..., Iterable[bytes]]) -> None:
        self._app = app
        self._faults: dict[str, Any] = {}
        self._seen = 0
        self._failed = 0

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] == CONTROL:
            failed, self._seen, self._failed = self._failed, 0, 0
            self._faults = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
            start("200 OK", [("Content-Type", "application/json")])
            return [json.dumps({"failed": failed}).encode()]
        queried = f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}?{environ['QUERY_STRING']}"
        if self._faults and re.search(self._faults["match"], queried):
            self._seen += 1
            if self._seen % self._faults["every"] == 0:
                self._failed += 1
                if self._faults["is_done"]:
                    b"".join(self._app(environ, lambda *_: None))
                start("503 Slow Down", [("Content-Type", "application/xml")])
                return [b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"]
        return self._app(environ, start)


@dataclass(frozen=True)
class ObjectStore:
    """A running server, and a way to make it fail."""

    process: subprocess.Popen[str]
    endpoint: str

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to reach it."""
        return {"AWS_ENDPOINT_URL": self.endpoint, **KEYS}

    def fail(self, *, match: str = "", every: int = 1, is_done: bool = False) -> int:
        """Let each `every`-th matching request fail; no match clears the fault. Returns how many failed so far."""
        faults = {"match": match, "every": every, "is_done": is_done} if match else {}
        request = urllib.request.Request(f"{self.endpoint}{CONTROL}", data=json.dumps(faults).encode(), method="PUT")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(json.loads(answer.read())["failed"])

    def empty_bucket(self, name: str) -> None:
        """Make a bucket, or empty an existing one."""
        import boto3

        keys = {"aws_access_key_id": KEYS["AWS_ACCESS_KEY_ID"], "aws_secret_access_key": KEYS["AWS_SECRET_ACCESS_KEY"]}
        s3 = boto3.resource("s3", endpoint_url=self.endpoint, region_name=KEYS["AWS_REGION"], **keys)
        s3.Bucket(name).create()
        s3.Bucket(name).objects.all().delete()


def start_object_store() -> ObjectStore:
    """Start the server and wait until it listens."""
    process = subprocess.Popen([sys.executable, "-m", __name__], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return ObjectStore(process, f"http://127.0.0.1:{int(process.stdout.readline())}")


def main() -> None:
    """Serve until the process is ended."""
    from moto.server import create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    # Of all services only this one: to find the service of each request took a sixth of the server's time.
    app = FaultyServer(create_backend_app("s3"))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
