"""Packages and size of an installation without extras."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path


@cache
def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def find_bare_install(pyproject: Path) -> tuple[dict[str, metadata.Distribution], list[str]]:
    """Find what `pip install` without extras brings, as far as this environment has it.

    Args:
        pyproject: `pyproject.toml` whose dependencies count.

    Returns:
        Distributions by normalized name, and names of packages that are not installed here.
    """
    project = tomllib.loads(pyproject.read_text(encoding="utf8"))["project"]
    waiting, missing = [(text, frozenset[str]()) for text in project["dependencies"]], set[str]()
    found: dict[str, metadata.Distribution] = {}
    taken: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement, _ = waiting.pop()
        parsed = _parse_requirement(requirement)
        if parsed is None or parsed in taken:
            continue
        taken.add(parsed)
        name, extras = parsed
        try:
            distribution = found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            missing.add(name)
            continue
        waiting += [(text, extras) for text in distribution.requires or () if _is_wanted(text, extras)]
    return found, sorted(missing)


def measure_bare_install(pyproject: Path) -> tuple[int, float, list[str]]:
    """Measure what `pip install` without extras brings, as far as this environment has it.

    Args:
        pyproject: `pyproject.toml` whose dependencies count.

    Returns:
        Number of packages, size of their files in GB, and names of packages that are not installed here.
    """
    found, missing = find_bare_install(pyproject)
    size = sum(_size_of(file) for distribution in found.values() for file in distribution.files or ())
    return len(found), size / 1e9, missing


def _parse_requirement(text: str) -> tuple[str, frozenset[str]] | None:
    match = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?", text)
    if match is None:
        return None
    extras = frozenset(part.strip() for part in (match[2] or "").split(",") if part.strip())
    return _normalized(match[1]), extras


def _is_wanted(text: str, extras: frozenset[str]) -> bool:
    """Evaluate the marker of a requirement for this interpreter; a marker on an extra asks for that extra."""
    from packaging.requirements import Requirement

    marker = Requirement(text).marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def _size_of(file: metadata.PackagePath) -> int:
    try:
        return Path(str(file.locate())).stat().st_size
    except OSError:
        return 0
