"""What a builder's code reads, and its digest: modules, rule families by their content, schemas, packages.

A table is stale when its builder would do something else than it did. So a fingerprint holds the modules that the
builder's module imports, directly or not, without comments and docstrings; the rule families that those modules load,
as parsed; the definitions of schemas that they name, without descriptions; and the versions of the packages they use.
A builder that is written in `defs` is followed by the functions that it names: the rest of its file does not matter.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, TypeGuard

import yaml

from taxkg_assets.defs.home.fingerprint_cache import keep_fingerprint, recall_fingerprint
from taxkg_assets.defs.home.schema_digests import (
    NAME,
    PACKAGE,
    SCHEMAS,
    close_schemas,
    digest_of,
    drop_documentation,
    find_defined,
    is_of_schemas,
    schema_digest,
)
from taxkg_assets.defs.home.store import digest
from taxkg_assets.rules.support import find_unsupported

LOADER, DEFS = f"{NAME}.rules.loader", f"{NAME}.defs"
# Settings are digested by their values, and the model's side of prompts by the proposer's own fingerprint.
_LEFT_OUT = {NAME, f"{NAME}.settings", f"{NAME}.rules"}
_PACKAGES = {
    "pymupdf": "pymupdf",
    "polars": "polars",
    "lancedb": "lancedb",
    "sentence_transformers": "sentence-transformers",
}
"""Packages that shape tables, by the name that they are imported under."""
_PLUMBING = {
    *(
        f"{DEFS}.wiring.{name}"
        for name in (
            "code_references",
            "compat",
            "early_gates",
            "gates",
            "progress",
            "registry",
            "resources",
            "step_process",
            "verdicts",
        )
    ),
    *(
        f"{DEFS}.home.{name}"
        for name in (
            "access",
            "contracts",
            "fingerprint",
            "renamed_columns",
            "schema_digests",
            "storage",
            "store",
            "stored_tables",
            "timing",
        )
    ),
}
"""Modules of `defs` that carry rows and decide none of them."""
_PART = "(?&"
_LOADERS = {"load_family", "load_model"}


@dataclass(slots=True)
class Code:
    """The code and rules that a builder depends on.

    Attributes:
        modules: Full names of modules that are included as wholes.
        families: Names of rule families.
        schemas: Names of definitions in `schemas`.
        packages: Import names of installed packages whose versions count.
        pieces: Digests of single functions and constants of `defs`, by `module:name`.
    """

    modules: set[str] = field(default_factory=set)
    families: set[str] = field(default_factory=set)
    schemas: set[str] = field(default_factory=set)
    packages: set[str] = field(default_factory=set)
    pieces: dict[str, str] = field(default_factory=dict)

    def digest(self, schema: str = "") -> str:
        """Return one digest of all code and rules, and of the row schema.

        Args:
            schema: Name of the schema class; empty for none.

        Returns:
            Hex digest of 24 digits.
        """
        schemas = close_schemas({*self.schemas, schema} - {""})
        return digest(
            *(f"{name}={_read_module(name).digest}" for name in sorted(self.modules)),
            *(f"{name}={family_digest(name)}" for name in sorted(self.families)),
            *(f"{name}={schema_digest(name)}" for name in sorted(schemas)),
            *(f"{name}={_version(_PACKAGES[name])}" for name in sorted({*self.packages, "polars"})),
            *(f"{name}={piece}" for name, piece in sorted(self.pieces.items())),
        )


@dataclass(frozen=True, slots=True)
class _Module:
    """One module of this package, as far as it decides what its tables hold.

    Attributes: aliases: what each imported name means, the module and its member. defined: its top-level
                statements by the names that they define.
    """

    aliases: Mapping[str, tuple[str, str]]
    defined: Mapping[str, ast.stmt]
    digest: str
    imports: frozenset[str]
    schemas: frozenset[str]
    families: frozenset[str]
    packages: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Function:
    """One function or constant of `defs`, and what it names: others of its module, and what its module has imported."""

    digest: str
    families: frozenset[str]
    schemas: frozenset[str]
    neighbors: Sequence[str]
    imported: Sequence[tuple[str, str]]


def code_fingerprint(*functions: Callable[..., Any], schema: str = "") -> str:
    """Compute a digest of the code, rules and schema that functions depend on, to decide whether a table is current.

    Args:
        functions: Functions or classes; the modules, rule families and schemas that they use are included.
        schema: Name of the schema class of the rows; empty for none.

    Returns:
        Hex digest of 24 digits.
    """
    return _fingerprint(tuple(functions), schema)


@cache
def _fingerprint(functions: tuple[Callable[..., Any], ...], schema: str) -> str:
    key = " ".join(
        (*(f"{function.__module__}:{function.__qualname__}" for function in map(inspect.unwrap, functions)), schema)
    )
    packages = _PACKAGES.values()
    fingerprint = recall_fingerprint(PACKAGE, key, packages=packages)
    if fingerprint is None:
        fingerprint = _read_code(functions).digest(schema)
        keep_fingerprint(PACKAGE, key, fingerprint, packages=packages)
    return fingerprint


def read_code(*functions: Callable[..., Any]) -> Code:
    """Collect the code that some functions depend on; the result is shared, so do not modify it.

    Args:
        functions: Functions or classes, usually the builder of a table.
    """
    return _read_code(tuple(functions))


@cache
def _read_code(functions: tuple[Callable[..., Any], ...]) -> Code:
    code = Code()
    for function in functions:
        target = inspect.unwrap(function)
        if target.__module__.startswith(DEFS):
            _follow_function(target.__module__, target.__name__, code)
        else:
            _follow_module(target.__module__, code)
    if any(_PART in json.dumps(_parse_family(name), default=str) for name in code.families):
        code.families.add("key_lists")
    return code


def family_digest(name: str) -> str:
    """Return the digest of a rule family's parsed content, without rules that are off for lack of evidence.

    Comments and the order of keys do not change it.

    Args:
        name: Name of the rule family, which is its file in `rules` without extension.
    """
    content = json.dumps(_parse_family(name), sort_keys=True, default=str)
    return digest(content, *(".".join(key) for key in sorted(find_unsupported(name))))


@cache
def _version(package: str) -> str:
    return metadata.version(package)


@cache
def family_names() -> frozenset[str]:
    """Return the names of all rule families."""
    return frozenset(path.stem for path in (PACKAGE / "rules").glob("*.yaml"))


@cache
def _parse_family(name: str) -> Any:
    return yaml.load((PACKAGE / "rules" / f"{name}.yaml").read_bytes(), Loader=yaml.CSafeLoader)


def forget_rules() -> None:
    """Clear the cached rule families, for tests that change one."""
    _parse_family.cache_clear()
    _fingerprint.cache_clear()


# ---------------------------------------------------------------------------------------------------- modules


def _path_of(module: str) -> Path | None:
    """Return the file of a module of this package; None for anything else."""
    if module != NAME and not module.startswith(f"{NAME}."):
        return None
    location = PACKAGE.joinpath(*module.split(".")[1:])
    path = location / "__init__.py" if location.is_dir() else location.with_suffix(".py")
    return path if path.is_file() else None


@cache
def _read_module(name: str) -> _Module:
    path = _path_of(name)
    if path is None:
        raise LookupError(f"{name} is not a module of {NAME}.")
    tree = drop_documentation(ast.parse(path.read_bytes()))
    nodes = list(ast.walk(tree))
    aliases = _aliases(nodes)
    imports, packages = set[str](), set[str]()
    schemas = {node.attr for node in nodes if _is_schema(node, aliases)}
    for module, member in (reference for node in nodes for reference in _imported(node)):
        if is_of_schemas(module):
            schemas.add(member)
        elif _path_of(module) is not None:
            imports.add(module)
        elif module.split(".")[0] in _PACKAGES:
            packages.add(module.split(".")[0])
    return _Module(
        aliases=aliases,
        defined={defined: node for node in reversed(tree.body) for defined in find_defined(node)},
        digest=digest_of(tree),
        imports=frozenset(imports),
        schemas=frozenset(schemas - {""}),
        families=frozenset() if name == LOADER else frozenset(_families(nodes)),
        packages=frozenset(packages),
    )


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Return the modules of an import statement, each with the imported member; `` where it is the module."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, "") for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield (inner, "") if _path_of(inner) is not None else (node.module, alias.name)


def _aliases(nodes: Iterable[ast.AST]) -> dict[str, tuple[str, str]]:
    """Map each imported name of a module to its module and member."""
    aliases: dict[str, tuple[str, str]] = {}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias, imported_name in zip(node.names, _imported(node), strict=False):
                aliases[alias.asname or alias.name.split(".")[0]] = imported_name
    return aliases


def _follow_module(name: str, code: Code) -> None:
    """Take up a module and all that it imports of this package."""
    if name in code.modules or name in _LEFT_OUT:
        return
    module = _read_module(name)
    code.modules.add(name)
    code.families |= module.families
    code.schemas |= module.schemas
    code.packages |= module.packages
    for imported in module.imports:
        _follow_module(imported, code)


def _families(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Return the rule families that code loads by name, as the module of each family's model does."""
    for node in nodes:
        if isinstance(node, ast.Call) and node.args:
            function_name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if function_name == "load_floors":
                yield "floors"
            if function_name in _LOADERS and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value)


# -------------------------------------------------------------------------------------------- functions of defs


def _follow_function(module: str, name: str, code: Code) -> None:
    """Add a function of `defs` and what it names: functions and constants of its module, modules of the stages."""
    piece = f"{module}:{name}"
    if piece in code.pieces:
        return
    function = _read_function(module, name)
    code.pieces[piece] = function.digest
    code.families |= function.families
    code.schemas |= function.schemas
    for other in function.neighbors:
        _follow_function(module, other, code)
    for imported in function.imported:
        _follow_name(*imported, code)


@cache
def _read_function(module: str, name: str) -> _Function:
    module_code = _read_module(module)
    if name not in module_code.defined:
        raise LookupError(f"{module} defines no {name} at its top level.")
    node = module_code.defined[name]
    nodes = list(ast.walk(node))
    used_names = dict.fromkeys(inner.id for inner in nodes if isinstance(inner, ast.Name))
    local_names = _own_names(node)
    imported = [module_code.aliases[used_name] for used_name in used_names if used_name in module_code.aliases]
    imported += [member for inner in nodes for member in _imported(inner)]
    return _Function(
        digest=digest_of(node),
        families=frozenset(_families(nodes)),
        schemas=frozenset(inner.attr for inner in nodes if _is_schema(inner, module_code.aliases)),
        neighbors=[
            used_name
            for used_name in used_names
            if used_name in module_code.defined
            and used_name not in module_code.aliases
            and used_name not in local_names
        ],
        imported=list(dict.fromkeys(imported)),
    )


def _is_schema(node: ast.AST, aliases: Mapping[str, tuple[str, str]]) -> TypeGuard[ast.Attribute]:
    """Return whether code names a definition of `schemas` by way of the package: `schemas.Edges`."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return aliases.get(node.value.id) == (SCHEMAS, "")


def _own_names(node: ast.AST) -> set[str]:
    """Return the parameters and variables of a function, which hide names of its module."""
    names = {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
    if isinstance(node, ast.FunctionDef):
        names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names


def _follow_name(module: str, member: str, code: Code) -> None:
    """Take up an imported name: a function of `defs` by itself, of a stage its whole module."""
    if is_of_schemas(module):
        code.schemas |= {member} - {""}
    elif module.startswith(DEFS):
        if module not in _PLUMBING and member in _read_module(module).defined:
            _follow_function(module, member, code)
    elif module.split(".")[0] in _PACKAGES:
        code.packages.add(module.split(".")[0])
    elif _path_of(module) is not None:
        _follow_module(module, code)


# ---------------------------------------------------------------------------------------------------- schemas
