"""Looks up the locked packages among the published holes that the package registry tells of each version.

Exit status 1 for a known hole that nobody has accepted with a reason; 0 otherwise. Where the registry cannot be
reached, or tells nothing of holes as mirrors do, one line says so: what needs the network must not fail without it.
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
"""Holes that we live with, by id, each with the reason why they cannot be met here."""


class RegistryError(Exception):
    """The registry tells nothing; the message says why."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A published hole of a locked package."""

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


def read_holes(package: str, version: str, *, client: httpx.Client) -> list[Hole]:
    """What the registry tells of one version; RegistryError where it tells nothing."""
    try:
        answer = client.get(f"/{package}/{version}/json")
        answer.raise_for_status()
        told: Any = answer.json()
        rows = told["vulnerabilities"]
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as failed:
        raise RegistryError(_reason(failed)) from failed
    return [
        Hole(
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
    return "it tells nothing of holes" if isinstance(failed, KeyError) else type(failed).__name__


def audit(packages: Sequence[tuple[str, str]], *, registry: str, seconds: float = SECONDS) -> tuple[list[Hole], int]:
    """The holes of all packages, and of how many packages nothing was told; RegistryError where of none."""
    with httpx.Client(base_url=registry, timeout=seconds, follow_redirects=True) as client:
        # One question first: where nobody answers, hundreds of them would only wait.
        first = read_holes(*packages[0], client=client)

        def look_up(package: tuple[str, str]) -> list[Hole] | None:
            try:
                return read_holes(*package, client=client)
            except RegistryError:
                return None

        with ThreadPoolExecutor(AT_ONCE) as pool:
            answers = [first, *pool.map(look_up, packages[1:])]
    holes = [hole for answer in answers if answer is not None for hole in answer]
    return [hole for hole in holes if not ACCEPTED.keys() & set(hole.ids)], answers.count(None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was found; 1 for a known hole."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--registry", help="address of a registry that answers NAME/VERSION/json (default: pip's own)")
    parser.add_argument("--lock", type=Path, default=LOCK, help="file of locked packages")
    options = parser.parse_args(arguments)
    packages = read_lock(options.lock)
    registry = options.registry or find_registry()
    try:
        holes, unknown = audit(packages, registry=registry)
    except RegistryError as failed:
        print(f"audit skipped: registry not reachable ({registry}: {failed})")
        return 0
    for hole in holes:
        print(hole)
    looked = f"{len(packages) - unknown} packages" + (f"; of {unknown} nothing was told" if unknown else "")
    print(f"audit: {len(holes)} known holes in {looked}")
    return 1 if holes else 0


if __name__ == "__main__":
    sys.exit(main())
