"""Size of an installation without extras."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path


@cache
def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def measure_bare_install(pyproject: Path) -> tuple[int, float, list[str]]:
    """Measure what `pip install` without extras brings, as far as this environment has it.

    Args:
        pyproject: `pyproject.toml` whose dependencies count.

    Returns:
        Number of packages, size of their files in GB, and names of packages that are not installed here.
    """
    project = tomllib.loads(pyproject.read_text(encoding="utf8"))["project"]
    waiting, seen, size, missing = [(text, frozenset[str]()) for text in project["dependencies"]], set[str](), 0, []
    taken: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement, _ = waiting.pop()
        parsed = _parse_requirement(requirement)
        if parsed is None or parsed in taken:
            continue
        taken.add(parsed)
        name, extras = parsed
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
            continue
        if name not in seen:
            seen.add(name)
            size += sum(_size_of(file) for file in distribution.files or ())
        waiting += [(text, extras) for text in distribution.requires or () if _is_wanted(text, extras)]
    return len(seen), size / 1e9, sorted(set(missing))


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
