"""A fingerprint is kept for the very files that it was found for, and for no others."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from taxkg_assets.defs.home import fingerprint_cache
from taxkg_assets.defs.home.fingerprint_cache import MOST_FILES, keep_fingerprint, recall_fingerprint

FOUND = "0123456789abcdef01234567"
PACKAGES = ("polars",)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of a module and a rule family."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "rules").mkdir()
    (tmp_path / "module.py").write_text("ONE = 1\n", encoding="utf8")
    (tmp_path / "rules" / "family.yaml").write_text("one: 1\n", encoding="utf8")
    return tmp_path


@pytest.fixture
def next_process() -> Callable[[], None]:
    """What makes this process forget what it has read, as another one has not read it."""

    def forget() -> None:
        fingerprint_cache._find_file.cache_clear()
        fingerprint_cache._read_kept.cache_clear()

    forget()
    return forget


def test_another_process_finds_what_was_kept_until_a_file_changes(
    package: Path, next_process: Callable[[], None]
) -> None:
    assert recall_fingerprint(package, "a builder", packages=PACKAGES) is None
    keep_fingerprint(package, "a builder", FOUND, packages=PACKAGES)
    keep_fingerprint(package, "another", FOUND[::-1], packages=PACKAGES)
    next_process()
    assert recall_fingerprint(package, "a builder", packages=PACKAGES) == FOUND
    assert recall_fingerprint(package, "another", packages=PACKAGES) == FOUND[::-1]
    assert recall_fingerprint(package, "a third", packages=PACKAGES) is None
    assert recall_fingerprint(package, "a builder", packages=("polars", "pymupdf")) is None
    for path, text in ((package / "module.py", "ONE = 2\n"), (package / "rules" / "family.yaml", "one: 2\n")):
        path.write_text(text, encoding="utf8")
        os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))
        next_process()
        assert recall_fingerprint(package, "a builder", packages=PACKAGES) is None, path
        keep_fingerprint(package, "a builder", FOUND, packages=PACKAGES)


def test_few_states_are_kept_and_a_torn_line_is_none(package: Path, next_process: Callable[[], None]) -> None:
    for number in range(2 * MOST_FILES):
        (package / "module.py").write_text("#" * number, encoding="utf8")
        next_process()
        keep_fingerprint(package, "a builder", FOUND, packages=PACKAGES)
    files = list((package / "__pycache__").iterdir())
    assert len(files) == MOST_FILES
    for path in files:
        path.write_text(f"a builder\t{FOUND[:7]}", encoding="utf8")
    next_process()
    assert recall_fingerprint(package, "a builder", packages=PACKAGES) is None


def test_nothing_is_kept_where_python_keeps_no_modules(
    package: Path, next_process: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    keep_fingerprint(package, "a builder", FOUND, packages=PACKAGES)
    assert not (package / "__pycache__").exists()
    (package / "__pycache__").write_text("no folder", encoding="utf8")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    keep_fingerprint(package, "a builder", FOUND, packages=PACKAGES)
