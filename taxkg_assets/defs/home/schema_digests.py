"""Digests of the definitions of `schemas` that code names, and of code without the words that change no row."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import taxkg_assets

PACKAGE = Path(taxkg_assets.__file__).parent
NAME = PACKAGE.name
SCHEMAS = f"{NAME}.schemas"
_DESCRIBED = re.compile(r"\w+_column")
"""Functions of schemas/columns.py, whose texts describe a column."""


def find_defined(node: ast.stmt) -> set[str]:
    """Return the names that a top-level statement defines.

    Args:
        node: The statement.
    """
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


@cache
def _schema_nodes() -> dict[str, ast.stmt]:
    """Return the top-level statements of the modules of `schemas` by the names that they define.

    Raises:
        ValueError: Two modules define one name.
    """
    nodes: dict[str, ast.stmt] = {}
    for path in sorted((PACKAGE / "schemas").glob("*.py")):
        for node in drop_documentation(ast.parse(path.read_bytes()), is_schema=True).body:
            for name in find_defined(node) - {"__all__"}:
                if name in nodes:
                    raise ValueError(f"{name} is defined twice in {SCHEMAS}.")
                nodes[name] = node
    return nodes


def is_of_schemas(module: str) -> bool:
    """Return whether a module is `schemas` or a submodule of it.

    Args:
        module: Full name of the module.
    """
    return module == SCHEMAS or module.startswith(f"{SCHEMAS}.")


def close_schemas(names: Iterable[str]) -> set[str]:
    """Return names of `schemas` together with all names that their definitions use, directly or not.

    Args:
        names: Names of classes, functions or constants.

    Returns:
        The given names that `schemas` defines, and the names that they use.
    """
    nodes = _schema_nodes()
    seen_names = set[str]()
    unread_names = list(names)
    while unread_names:
        name = unread_names.pop()
        if name in nodes and name not in seen_names:
            seen_names.add(name)
            unread_names += _named_in(name)
    return seen_names


@cache
def _named_in(name: str) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(_schema_nodes()[name]) if isinstance(node, ast.Name))


@cache
def schema_digest(name: str) -> str:
    """Return the digest of a definition of `schemas`, computed once per process.

    Args:
        name: Name of the definition.
    """
    return digest_of(_schema_nodes()[name])


def drop_documentation(tree: ast.Module, *, is_schema: bool = False) -> ast.Module:
    """Remove docstrings, and descriptions of schema columns, from parsed code, as they do not affect results.

    Args:
        tree: Parsed module; it is changed.
        is_schema: Whether it is a module of `schemas`.

    Returns:
        The same tree.
    """
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [statement for statement in body if not _is_docstring(statement)] or [ast.Pass()]  # type: ignore[attr-defined]
        if isinstance(node, ast.Call):
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "description"]
            if is_schema and isinstance(node.func, ast.Name) and _DESCRIBED.fullmatch(node.func.id):
                node.args = [argument for argument in node.args if not isinstance(argument, ast.Constant)]
    return tree


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def digest_of(node: ast.AST) -> str:
    """Return the digest of parsed code.

    Args:
        node: The code.
    """
    return hashlib.sha256(ast.dump(node).encode()).hexdigest()[:24]
