"""Looks up the locked packages among the published vulnerabilities that the package registry reports for each version.

Exit status 1 for a known vulnerability that no one has accepted with a reason; 0 otherwise. Where the registry cannot
be reached, or reports no vulnerabilities as mirrors do, one line says so: what needs the network must not fail without
it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"
SECONDS = 5.0
AT_ONCE = 8
ACCEPTED: Mapping[str, str] = {}
"""Vulnerabilities that we live with, by id, each with the reason why they cannot be met here."""


class RegistryError(Exception):
    """The registry states nothing; the message says why."""


@dataclass(frozen=True, slots=True)
class Vulnerability:
    """A published vulnerability of a locked package."""

    package: str
    version: str
    ids: tuple[str, ...]
    fixed_in: tuple[str, ...]
    summary: str

    def __str__(self) -> str:
        remedy = f"fixed in {', '.join(self.fixed_in)}" if self.fixed_in else "no version fixes it yet"
        return f"{self.package} {self.version}: {', '.join(self.ids)} ({remedy}). {self.summary}".rstrip()


def find_registry() -> str:
    """The address at which the installed pip knows the pages of packages."""
    known: Any = import_module("pip._internal.models.index")
    return str(known.PyPI.pypi_url)


def read_lock(path: Path) -> list[tuple[str, str]]:
    """Names and versions of the lock file."""
    lines = path.read_text(encoding="utf8").splitlines()
    return [(name, version) for name, _, version in (line.partition("==") for line in lines) if version]


def read_vulnerabilities(package: str, version: str, *, client: httpx.Client) -> list[Vulnerability]:
    """What the registry reports for one version; RegistryError where it states nothing."""
    try:
        answer = client.get(f"/{package}/{version}/json")
        answer.raise_for_status()
        reported: Any = answer.json()
        rows = reported["vulnerabilities"]
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as failed:
        raise RegistryError(_reason(failed)) from failed
    return [
        Vulnerability(
            package,
            version,
            ids=(row["id"], *row.get("aliases", ())),
            fixed_in=tuple(row.get("fixed_in", ())),
            summary=" ".join(re.split(r"(?<=\.)\s", row.get("summary") or row.get("details") or "")[:1])[:200],
        )
        for row in rows
        if not row.get("withdrawn")
    ]


def _reason(failed: Exception) -> str:
    if isinstance(failed, httpx.HTTPStatusError):
        return f"it answers {failed.response.status_code}"
    return "it states nothing of vulnerabilities" if isinstance(failed, KeyError) else type(failed).__name__


def audit(
    packages: Sequence[tuple[str, str]], *, registry: str, seconds: float = SECONDS
) -> tuple[list[Vulnerability], int]:
    """Vulnerabilities of all packages, and the number of packages without a report; RegistryError if none has one."""
    with httpx.Client(base_url=registry, timeout=seconds, follow_redirects=True) as client:
        # One question first: where no one answers, hundreds of them would only wait.
        first = read_vulnerabilities(*packages[0], client=client)

        def look_up(package: tuple[str, str]) -> list[Vulnerability] | None:
            try:
                return read_vulnerabilities(*package, client=client)
            except RegistryError:
                return None

        with ThreadPoolExecutor(AT_ONCE) as pool:
            answers = [first, *pool.map(look_up, packages[1:])]
    vulnerabilities = [vulnerability for answer in answers if answer is not None for vulnerability in answer]
    return [
        vulnerability for vulnerability in vulnerabilities if not ACCEPTED.keys() & set(vulnerability.ids)
    ], answers.count(None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was found; 1 for a known vulnerability."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--registry", help="address of a registry that answers NAME/VERSION/json (default: pip's own)")
    parser.add_argument("--lock", type=Path, default=LOCK, help="file of locked packages")
    options = parser.parse_args(arguments)
    packages = read_lock(options.lock)
    registry = options.registry or find_registry()
    try:
        vulnerabilities, unknown = audit(packages, registry=registry)
    except RegistryError as failed:
        print(f"audit skipped: registry not reachable ({registry}: {failed})")
        return 0
    for vulnerability in vulnerabilities:
        print(vulnerability)
    looked = f"{len(packages) - unknown} packages" + (f"; of {unknown} nothing was reported" if unknown else "")
    print(f"audit: {len(vulnerabilities)} known vulnerabilities in {looked}")
    return 1 if vulnerabilities else 0


if __name__ == "__main__":
    sys.exit(main())
