"""The folder of real documents and labels that some tests need, and the scoring scripts beside the labels."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(os.environ.get("TAXKG_TEST_CORPUS", "../shared"))
GOLD = ROOT / "eval"
needs_gold = pytest.mark.skipif(
    not (GOLD / "score.py").exists(), reason="TAXKG_TEST_CORPUS names no folder with eval/score.py"
)


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, GOLD / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLD / f"{name}.jsonl").read_text(encoding="utf8").splitlines() if line]
