"""The written pages are what the code says now; `make docs` writes them again."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def load_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["tables.md", "commands.md", "settings.md", "rule-evidence.md"])
def test_a_page_is_what_the_code_says(page: str) -> None:
    written = (DOCS / page).read_text(encoding="utf8")
    assert written == load_generator().PAGES[page](), "run `make docs`"
