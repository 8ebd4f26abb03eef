"""The lock file: one version of each package, from wherever the operator installs, and nothing that is not pinned."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LINES = (PROJECT / "requirements.lock").read_text(encoding="utf8").splitlines()
NOT_LOCKED = {"setuptools", "haystack-ai", "opendataloader-pdf", "pymupdf4llm", "docling", "pyspark"}
"""Rivals of the benchmarks and optional engines, which the tests do without."""


def plain(requirement: str) -> str:
    """`Moto[server]>=5.1` is `moto`."""
    return re.split(r"[\[<>=~! ]", requirement)[0].lower().replace("_", "-")


def test_every_package_is_pinned_and_none_names_an_index() -> None:
    wrong = [line for line in LINES if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line)]
    assert not wrong
    names = [plain(line) for line in LINES]
    assert len(names) == len(set(names))


def test_every_direct_dependency_is_locked() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    extras = [one for group in project["optional-dependencies"].values() for one in group]
    wanted = {plain(one) for one in [*project["dependencies"], *extras]}
    assert wanted - NOT_LOCKED <= {plain(line) for line in LINES}
