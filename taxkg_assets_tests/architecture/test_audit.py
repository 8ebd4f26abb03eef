"""The audit of the locked packages, against a registry of this machine."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).resolve().parents[2] / "deploy" / "audit.py"
VULNERABILITY = {
    "id": "PYSEC-1",
    "aliases": ["CVE-2031-1"],
    "fixed_in": ["1.3"],
    "summary": "A path leads out. More of it.",
}
VALID: dict[str, Any] = {"info": {}, "vulnerabilities": []}


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["audit"] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def registry(answers: dict[str, Any]) -> Iterator[str]:
    """Answers `/NAME/VERSION/json` as a registry does; what it does not know is 404."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = answers.get(self.path.strip("/").split("/")[0])
            body = json.dumps(known).encode()
            self.send_response(404 if known is None else 200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.lock"
    path.write_text("anchor==1.0\nberth==1.2\ncrane==2.0\n", encoding="utf8")
    return path


def test_a_known_vulnerability_fails_and_is_reported_with_its_remedy(
    audit: ModuleType, lock: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    vulnerabilities = {
        "info": {},
        "vulnerabilities": [VULNERABILITY, {**VULNERABILITY, "id": "PYSEC-2", "withdrawn": "2031-01-01"}],
    }
    with registry({"anchor": VALID, "berth": vulnerabilities, "crane": VALID}) as address:
        assert audit.main(["--registry", address, "--lock", str(lock)]) == 1
        said = capsys.readouterr().out.splitlines()
        assert said == [
            "berth 1.2: PYSEC-1, CVE-2031-1 (fixed in 1.3). A path leads out.",
            "audit: 1 known vulnerabilities in 3 packages",
        ]
        monkeypatch.setattr(audit, "ACCEPTED", {"CVE-2031-1": "no path comes from outside here"})
        assert audit.main(["--registry", address, "--lock", str(lock)]) == 0


def test_what_was_not_reported_is_counted(audit: ModuleType, lock: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with registry({"anchor": VALID, "crane": VALID}) as address:
        assert audit.main(["--registry", address, "--lock", str(lock)]) == 0
    assert capsys.readouterr().out == "audit: 0 known vulnerabilities in 2 packages; of 1 nothing was reported\n"


@pytest.mark.parametrize("answers", [{}, {"anchor": {"info": {}}}, {"anchor": ["no object"]}])
def test_a_registry_that_states_nothing_skips_the_audit(
    answers: dict[str, Any], audit: ModuleType, lock: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with registry(answers) as address:
        assert audit.main(["--registry", address, "--lock", str(lock)]) == 0
    assert "audit skipped: registry not reachable" in capsys.readouterr().out


def test_without_a_network_the_audit_is_skipped(
    audit: ModuleType, lock: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with registry({}) as address:
        pass
    assert audit.main(["--registry", address, "--lock", str(lock)]) == 0
    assert "audit skipped: registry not reachable" in capsys.readouterr().out


def test_the_lock_of_the_project_is_read_whole(audit: ModuleType) -> None:
    lines = audit.LOCK.read_text(encoding="utf8").splitlines()
    assert len(audit.read_lock(audit.LOCK)) == len(lines)
