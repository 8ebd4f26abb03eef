"""The parsed modules of a checkout, which the figures of the code are counted in."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "taxkg_assets"


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed module.

    Attributes:
        name: Dotted name, e.g. `taxkg_assets.graph.edges`.
        package: First package below the root, e.g. `graph`; the module itself for top-level modules.
    """

    path: Path
    name: str
    package: str
    text: str
    tree: ast.Module


def read_modules(root: Path) -> list[Module]:
    """Parse every module of the package below a checkout.

    Args:
        root: Folder that contains `taxkg_assets`.

    Returns:
        Modules sorted by path.
    """
    modules = []
    for path in sorted((root / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf8")
        package = parts[1].removesuffix("__init__") or PACKAGE
        modules.append(Module(path, name, package, text, ast.parse(text)))
    return modules
