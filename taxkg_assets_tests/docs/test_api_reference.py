"""The API reference is rendered from the docstrings, for every module and without a network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from taxkg_assets_tests.conftest import make_once
from tools.code_finders import find_cross_module_functions, missing_docstring_parts
from tools.modules import Module, read_modules

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
NOT_RENDERED = {"taxkg_assets.defs.ingest.spark"}


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    """The rendered modules, parsed; not at collection, which each worker does."""
    return [module for module in read_modules(ROOT) if module.name not in NOT_RENDERED]


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rendered pages, made once for all workers."""

    def render(folder: Path) -> None:
        command = [sys.executable, str(ROOT / "docs" / "api_reference.py"), str(folder)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stderr[-3000:]

    return make_once(tmp_path_factory, "api-reference", render)


def _page(reference: Path, module: str) -> str:
    return (reference / f"{module.replace('.', '/')}.html").read_text(encoding="utf8")


def test_every_module_has_a_page(reference: Path, modules: list[Module]) -> None:
    # pdoc leaves out private modules, and the modules of a package that lists its public names in `__all__`.
    packages = {module.name for module in modules if "\n__all__ =" in module.text}
    public = [m.name for m in modules if m.name.rpartition(".")[0] not in packages and "._" not in m.name]
    missing = [name for name in public if not (reference / f"{name.replace('.', '/')}.html").exists()]
    assert len(public) > 300
    assert missing == []


def test_arguments_of_functions_that_other_modules_use_are_rendered(reference: Path, modules: list[Module]) -> None:
    documented = [
        (module, node)
        for module, node in find_cross_module_functions(modules)
        if node.args.args and not missing_docstring_parts(node) and module.package in {"chunking", "training", "llm"}
    ]
    assert documented
    unlisted = [
        f"{module.name}.{node.name}"
        for module, node in documented
        if f'id="{node.name}"' not in _page(reference, module.name)
        or f"<strong>{node.args.args[0].arg}:</strong>" not in _page(reference, module.name)
    ]
    assert unlisted == []


def test_pages_load_nothing_from_elsewhere(reference: Path) -> None:
    loading = re.compile(r"<(?:script|img|iframe)[^>]*\ssrc=\"(?!data:)|<link[^>]*\shref=\"https?:|@import")
    pages = sorted(reference.rglob("*.html"))
    assert [path.name for path in pages if loading.search(path.read_text(encoding="utf8"))] == []
