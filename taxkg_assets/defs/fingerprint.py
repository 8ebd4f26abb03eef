"""What a builder's code reads, and its digest: modules, rule families by their content, schemas, packages.

A table is stale when its builder would do something else than it did. So a fingerprint holds the modules that the
builder's module imports, directly or not, without comments and docstrings; the rule families that those modules load,
as parsed; the definitions of schemas that they name, without descriptions; and the versions of the packages they use.
A builder that is written in `defs` is followed by the functions that it names: the rest of its file does not matter.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

import taxkg_assets
from taxkg_assets.defs.store import digest

PACKAGE = Path(taxkg_assets.__file__).parent
NAME = PACKAGE.name
SCHEMAS, LOADER, DEFS = f"{NAME}.schemas", f"{NAME}.rules.loader", f"{NAME}.defs"
# Settings are digested by their values, and the model's side of prompts by the proposer's own fingerprint.
_LEFT_OUT = {NAME, f"{NAME}.settings", f"{NAME}.rules"}
_PACKAGES = {
    "pymupdf": "pymupdf",
    "polars": "polars",
    "lancedb": "lancedb",
    "bm25s": "bm25s",
    "sentence_transformers": "sentence-transformers",
}
"""Packages that shape tables, by the name that they are imported under."""
_PLUMBING = {
    f"{DEFS}.{name}" for name in ("resources", "home", "store", "timing", "progress", "place", "verdicts", "registry")
}
"""Modules of `defs` that carry rows and decide none of them."""
_PART = "(?&"
_LOADERS = {"load_family", "load_rules"}
_DESCRIBING = {"_key", "_text", "_strings", "_pt", "_page"}


@dataclass(slots=True)
class Code:
    """What a builder's code reads; `pieces` are digests of functions of `defs`."""

    modules: set[str] = field(default_factory=set)
    families: set[str] = field(default_factory=set)
    schemas: set[str] = field(default_factory=set)
    packages: set[str] = field(default_factory=set)
    pieces: set[tuple[str, str]] = field(default_factory=set)

    def digest(self, schema: str = "") -> str:
        """One digest of all of it, and of the schema that the rows keep."""
        schemas = _close_schemas({*self.schemas, schema} - {""})
        return digest(
            *(f"{name}={_read_module(name).digest}" for name in sorted(self.modules)),
            *(f"{name}={family_digest(name)}" for name in sorted(self.families)),
            *(f"{name}={_schema_digest(name)}" for name in sorted(schemas)),
            *(f"{name}={version(_PACKAGES[name])}" for name in sorted({*self.packages, "polars"})),
            *(f"{name}={piece}" for name, piece in sorted(self.pieces)),
        )


@dataclass(frozen=True, slots=True)
class _Module:
    """One module of this package, as far as it decides what its tables hold."""

    tree: ast.Module
    digest: str
    imports: frozenset[str]
    schemas: frozenset[str]
    families: frozenset[str]
    packages: frozenset[str]


def code_fingerprint(*functions: Callable[..., Any], schema: str = "") -> str:
    """Digest of what the code of some functions reads, and of the schema that their rows keep."""
    return _fingerprint(tuple(functions), schema)


@cache
def _fingerprint(functions: tuple[Callable[..., Any], ...], schema: str) -> str:
    return _read_code(functions).digest(schema)


def read_code(*functions: Callable[..., Any]) -> Code:
    """What the code of some functions reads; not to be changed."""
    return _read_code(tuple(functions))


@cache
def _read_code(functions: tuple[Callable[..., Any], ...]) -> Code:
    found = Code()
    for function in functions:
        target = inspect.unwrap(function)
        if target.__module__.startswith(DEFS):
            _follow_function(target.__module__, target.__name__, found)
        else:
            _follow_module(target.__module__, found)
    if any(_PART in json.dumps(_parse_family(name), default=str) for name in found.families):
        found.families.add("key_lists")
    return found


def family_digest(name: str) -> str:
    """Digest of a rule family's parsed content: comments and the order of keys do not count."""
    return digest(json.dumps(_parse_family(name), sort_keys=True, default=str))


@cache
def family_names() -> frozenset[str]:
    """All rule families."""
    return frozenset(path.stem for path in (PACKAGE / "rules").glob("*.yaml"))


@cache
def _parse_family(name: str) -> Any:
    return yaml.load((PACKAGE / "rules" / f"{name}.yaml").read_bytes(), Loader=yaml.CSafeLoader)


def forget_rules() -> None:
    """Read the rule families anew: for tests that change one."""
    _parse_family.cache_clear()
    _fingerprint.cache_clear()


# ---------------------------------------------------------------------------------------------------- modules


def _path_of(module: str) -> Path | None:
    """The file of a module of this package; None for anything else."""
    if module != NAME and not module.startswith(f"{NAME}."):
        return None
    place = PACKAGE.joinpath(*module.split(".")[1:])
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return path if path.is_file() else None


@cache
def _read_module(name: str) -> _Module:
    path = _path_of(name)
    if path is None:
        raise LookupError(f"{name} is no module of {NAME}.")
    tree = _drop_words(ast.parse(path.read_bytes()))
    aliases = _aliases(tree)
    imports, schemas, packages = set[str](), set[str](), set[str]()
    for node in ast.walk(tree):
        for module, member in _imported(node):
            if module == SCHEMAS:
                schemas.add(member)
            elif _path_of(module) is not None:
                imports.add(module)
            elif module.split(".")[0] in _PACKAGES:
                packages.add(module.split(".")[0])
        if _is_schema(node, aliases):
            schemas.add(node.attr)  # type: ignore[attr-defined]
    families = frozenset() if name == LOADER else frozenset(_families(tree))
    dumped = _digest_of(tree)
    return _Module(tree, dumped, frozenset(imports), frozenset(schemas - {""}), families, frozenset(packages))


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The modules of an import statement, each with the member that is taken from it; `` where it is the module."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, "") for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield (inner, "") if _path_of(inner) is not None else (node.module, alias.name)


def _aliases(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """What each imported name of a module stands for: the module and its member."""
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias, what in zip(node.names, _imported(node), strict=False):
                found[alias.asname or alias.name.split(".")[0]] = what
    return found


def _follow_module(name: str, found: Code) -> None:
    """Take up a module and all that it imports of this package."""
    if name in found.modules or name in _LEFT_OUT:
        return
    module = _read_module(name)
    found.modules.add(name)
    found.families |= module.families
    found.schemas |= module.schemas
    found.packages |= module.packages
    for imported in module.imports:
        _follow_module(imported, found)


def _families(node: ast.AST) -> Iterator[str]:
    """The rule families that code loads: by name, or as pairs of family and group that something else loads."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and inner.args:
            called = inner.func.id if isinstance(inner.func, ast.Name) else getattr(inner.func, "attr", "")
            if called == "load_floors":
                yield "floors"
            if called in _LOADERS and isinstance(inner.args[0], ast.Constant):
                yield str(inner.args[0].value)
        if isinstance(inner, ast.Tuple) and inner.elts and _is_family(inner.elts[0]):
            groups = _parse_family(inner.elts[0].value)  # type: ignore[attr-defined]
            if len(inner.elts) == 2 and isinstance(inner.elts[1], ast.Constant) and inner.elts[1].value in groups:
                yield inner.elts[0].value  # type: ignore[attr-defined]


def _is_family(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in family_names()


# -------------------------------------------------------------------------------------------- functions of defs


def _follow_function(module: str, name: str, found: Code) -> None:
    """Take up a function of `defs` and what it names: functions and constants beside it, and modules of the stages."""
    if any(piece == f"{module}:{name}" for piece, _ in found.pieces):
        return
    read = _read_module(module)
    node = next((n for n in read.tree.body if name in _defined(n)), None)
    if node is None:
        raise LookupError(f"{module} defines no {name} at its top level.")
    dumped = _digest_of(node)
    found.pieces.add((f"{module}:{name}", dumped))
    found.families |= set(_families(node))
    beside = {n for one in read.tree.body for n in _defined(one)} - _own_names(node)
    aliases = _aliases(read.tree)
    for inner in ast.walk(node):
        if _is_schema(inner, aliases):
            found.schemas.add(inner.attr)  # type: ignore[attr-defined]
        if isinstance(inner, ast.Name) and inner.id in aliases:
            _follow_name(*aliases[inner.id], found)
        elif isinstance(inner, ast.Name) and inner.id in beside:
            _follow_function(module, inner.id, found)
        for imported in _imported(inner):
            _follow_name(*imported, found)


def _is_schema(node: ast.AST, aliases: dict[str, tuple[str, str]]) -> bool:
    """Whether code names a definition of schemas.py by way of the module: `schemas.Edges`."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return aliases.get(node.value.id) == (SCHEMAS, "")


def _own_names(node: ast.AST) -> set[str]:
    """Parameters and variables of a function, which hide names of its module."""
    own = {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
    if isinstance(node, ast.FunctionDef):
        own |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return own


def _follow_name(module: str, member: str, found: Code) -> None:
    """Take up an imported name: a function of `defs` by itself, of a stage its whole module."""
    if module == SCHEMAS:
        found.schemas |= {member} - {""}
    elif module.startswith(DEFS):
        if (
            module not in _PLUMBING
            and member
            and any(member in _defined(node) for node in _read_module(module).tree.body)
        ):
            _follow_function(module, member, found)
    elif module.split(".")[0] in _PACKAGES:
        found.packages.add(module.split(".")[0])
    elif _path_of(module) is not None:
        _follow_module(module, found)


def _defined(node: ast.stmt) -> set[str]:
    """The names that a top-level statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


# ---------------------------------------------------------------------------------------------------- schemas


@cache
def _schema_nodes() -> dict[str, ast.stmt]:
    """The top-level statements of schemas.py by the names that they define."""
    tree = _drop_words(ast.parse((PACKAGE / "schemas.py").read_bytes()))
    return {name: node for node in tree.body for name in _defined(node)}


def _close_schemas(names: Iterable[str]) -> set[str]:
    """Definitions of schemas.py with those that they name themselves."""
    nodes, seen, waiting = _schema_nodes(), set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name in nodes and name not in seen:
            seen.add(name)
            waiting += [node.id for node in ast.walk(nodes[name]) if isinstance(node, ast.Name)]
    return seen


@cache
def _schema_digest(name: str) -> str:
    return _digest_of(_schema_nodes()[name])


def _drop_words(tree: ast.Module) -> ast.Module:
    """Drop what is there for people only, in place: docstrings, and descriptions of columns."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [n for n in body if not _is_docstring(n)] or [ast.Pass()]  # type: ignore[attr-defined]
        if isinstance(node, ast.Call):
            node.keywords = [k for k in node.keywords if k.arg != "description"]
            if isinstance(node.func, ast.Name) and node.func.id in _DESCRIBING:
                node.args = [a for a in node.args if not isinstance(a, ast.Constant)]
    return tree


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _digest_of(node: ast.AST) -> str:
    return hashlib.sha256(ast.dump(node).encode()).hexdigest()[:24]
