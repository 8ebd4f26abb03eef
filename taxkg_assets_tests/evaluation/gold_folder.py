"""The scoring scripts and labels next to the real documents, as the tests of agreement read them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any


def load_script(gold: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, gold / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_rows(gold: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (gold / f"{name}.jsonl").read_text(encoding="utf8").splitlines() if line]
