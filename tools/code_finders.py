"""Finding what `code_figures` counts: functions, docstrings, signatures, private imports and repeated code."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator, Sequence

from tools.modules import PACKAGE, Module

REPEATED_LINES = 6
"""Lines in a row, equal up to their indentation, from which code counts as repeated."""
DOCUMENTED = {"os._exit"}
"""Public functions with an underscore: the reference of their library describes them."""
DESCRIBED_ELSEWHERE = re.compile(r"(?:property|override|overload|setter|validator|rule)\b")
"""Decorators of methods that need no description of arguments."""
RULE_LOOKUPS = {"find_rule", "load_family", "load_rules", "load_usable_rules", "matches_any", "read_rules"}
"""Functions that find rules by the names in the files."""
SECTION = re.compile(r"^\s*(Args|Arguments|Returns|Yields|Raises):\s*(.*)$")
_UNTYPED = re.compile(r"\b(?:dict|Mapping)\[str, Any\]")


def find_cross_module_functions(modules: Sequence[Module]) -> list[tuple[Module, ast.FunctionDef]]:
    """Find public top-level functions that another module of the package names.

    Args:
        modules: Modules of the checkout.

    Returns:
        Functions with their modules, in the order of the modules.
    """
    used: set[tuple[str, str]] = set()
    names = {module.name for module in modules}
    for module in modules:
        used |= {(source, member) for source, member in _used_names(module, names) if source != module.name}
    return [
        (module, node)
        for module in modules
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and (module.name, node.name) in used
    ]


def find_public_methods(modules: Sequence[Module]) -> list[tuple[Module, str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Find the public methods of public classes.

    Args:
        modules: Modules of the checkout.

    Returns:
        Modules, names of the classes and methods; properties and overrides that say so are left out, as their text is
        that of an attribute, or of the method that they override.
    """
    return [
        (module, owner.name, node)
        for module in modules
        for owner in module.tree.body
        if isinstance(owner, ast.ClassDef) and not owner.name.startswith("_")
        for node in owner.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and not any(DESCRIBED_ELSEWHERE.search(ast.unparse(one)) for one in node.decorator_list)
    ]


def _used_names(module: Module, modules: set[str]) -> Iterator[tuple[str, str]]:
    aliases: dict[str, str] = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in modules:
                    aliases[alias.asname or alias.name] = inner
                else:
                    yield node.module, alias.name
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            yield aliases[node.value.id], node.attr


def missing_docstring_parts(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Name what a Google-style docstring of a function lacks.

    Args:
        node: The function.

    Returns:
        `docstring`, names of undocumented arguments, `Returns` and `Raises` where they are missing. A summary that
        begins with "Return" or "Yield" counts as the section, as in Google's style guide.
    """
    text = ast.get_docstring(node)
    if not text:
        return ["docstring"]
    sections, section = {"": ""}, ""
    for line in text.splitlines():
        if match := SECTION.match(line):
            section = match[1].replace("Arguments", "Args")
            # A section in Google's style begins on a line of its own; what follows the colon does not count.
            line = ""
        sections[section] = sections.get(section, "") + f"\n{line}"
    arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    arguments = [name for name in arguments if name not in ("self", "cls")]
    missing = [a for a in arguments if not re.search(rf"^\s*{a}( \([^)]*\))?:", sections.get("Args", ""), re.MULTILINE)]
    returns = ast.unparse(node.returns) if node.returns is not None else "None"
    is_stated = "Returns" in sections or "Yields" in sections or re.match(r"(Return|Yield)s?\b", text)
    if returns not in ("None", "NoReturn", "Never") and not is_stated:
        missing.append("Returns")
    is_raising = any(isinstance(inner, ast.Raise) and inner.exc is not None for inner in _own_nodes(node))
    return [*missing, "Raises"] if is_raising and "Raises" not in sections else missing


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield child
            yield from _own_nodes(child)


def find_functions(modules: Sequence[Module]) -> Iterator[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Find every function and method.

    Args:
        modules: Modules of the checkout.

    Yields:
        Module and function.
    """
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield module, node


def count_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of arguments of a function, `self` and `cls` left out."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in arguments)


def is_command(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function is a command, whose arguments are the options of the command line."""
    return any("command" in ast.unparse(decorator) for decorator in node.decorator_list)


def is_excused(module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether many arguments are justified: a command, or a comment `# arguments: REASON` above the function.

    Args:
        module: Module of the function.
        node: The function.
    """
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    above = module.text.splitlines()[first - 2] if first > 1 else ""
    return is_command(node) or re.match(r"\s*# arguments: \w", above) is not None


def find_rule_lookups(module: Module) -> list[int]:
    """Find look-ups by string in rules: by family, list or id, or of a key of a rule.

    They fail when they run, where an attribute of a family's model fails when it is checked.

    Args:
        module: Module to search.

    Returns:
        Lines of the look-ups; none in `rules` itself, which has to read the files.
    """
    if module.name.startswith(f"{PACKAGE}.rules."):
        return []
    nodes = (node for node in ast.walk(module.tree) if isinstance(node, ast.expr))
    return sorted(node.lineno for node in nodes if _looks_up_rule(node))


def _looks_up_rule(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        is_get = isinstance(node.func, ast.Attribute) and node.func.attr == "get" and _is_by_key(node.func.value)
        return name in RULE_LOOKUPS or is_get
    return isinstance(node, ast.Subscript) and _is_by_key(node.value)


def _is_by_key(node: ast.expr) -> bool:
    """Return whether an expression is the mapping of a rule's keys, or of a list's rules."""
    return isinstance(node, ast.Attribute) and node.attr in ("extra", "rules_by_id")


def find_untyped_signatures(module: Module) -> list[str]:
    """Find public functions and methods that take or return a mapping of names to anything: `dict[str, Any]`.

    A model, a record or a dataclass would say which names there are. An alias of such a mapping counts, too. Functions
    inside of functions do not count.

    Args:
        module: Module to search.

    Returns:
        Names of the functions; those of methods with their class.
    """
    aliases = {
        target.id
        for node in module.tree.body
        if isinstance(node, ast.Assign) and _UNTYPED.search(ast.unparse(node.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    untyped = re.compile("|".join([_UNTYPED.pattern, *(rf"\b{re.escape(name)}\b" for name in sorted(aliases))]))
    classes = [node for node in module.tree.body if isinstance(node, ast.ClassDef)]
    owners: list[tuple[str, ast.Module | ast.ClassDef]] = [("", module.tree), *((f"{c.name}.", c) for c in classes)]
    return [
        owner + node.name
        for owner, scope in owners
        for node in scope.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not _is_private(owner + node.name)
        and any(untyped.search(ast.unparse(annotation)) for annotation in _annotations(node))
    ]


def _annotations(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    arguments = node.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if argument.annotation is not None:
            yield argument.annotation
    if node.returns is not None:
        yield node.returns


def find_private_imports(module: Module) -> list[str]:
    """Find imports of names or modules that begin with an underscore, and their use by way of a module.

    Args:
        module: Module to search.

    Returns:
        What is imported, e.g. `dagster._core.definitions`.
    """
    found, modules = [], set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if _is_private(alias.name)]
            modules |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__":
            found += [f"{node.module}.{a.name}" for a in node.names if _is_private(node.module) or _is_private(a.name)]
            modules |= {a.asname or a.name for a in node.names if (a.asname or a.name).islower()}
    for node in ast.walk(module.tree):
        is_member = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
        if is_member and _is_private(node.attr) and ast.unparse(node) not in DOCUMENTED:  # type: ignore[attr-defined]
            found.append(ast.unparse(node))
    return found


def _is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def find_repeated_lines(modules: Sequence[Module]) -> set[tuple[str, int]]:
    """Find lines of code that belong to a run of equal lines elsewhere.

    Args:
        modules: Modules of the checkout.

    Returns:
        Module name and 1-based line of each line in a run of at least `REPEATED_LINES` equal lines, blank
        lines, comments, imports, docstrings, parameters and declared fields left out. Names of parameters and fields
        are no code to share: they bind a builder, the checks of its table and its records to the same columns.
    """
    places: dict[str, list[list[tuple[str, int]]]] = {}
    for module in modules:
        lines = _code_lines(module)
        for start in range(len(lines) - REPEATED_LINES + 1):
            window = lines[start : start + REPEATED_LINES]
            key = hashlib.sha256("\n".join(text for _, text in window).encode()).hexdigest()
            places.setdefault(key, []).append([(module.name, number) for number, _ in window])
    return {line for runs in places.values() if len(runs) > 1 for run in runs for line in run}


def _code_lines(module: Module) -> list[tuple[int, str]]:
    skipped: set[int] = set()
    for node in ast.walk(module.tree):
        is_text = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        is_declared = isinstance(node, ast.AnnAssign) and node.value is None
        is_skipped = is_text or is_declared or isinstance(node, ast.Import | ast.ImportFrom)
        if isinstance(node, ast.stmt) and is_skipped:
            skipped |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.body[0].lineno > node.lineno:
            skipped |= set(range(node.lineno + 1, node.body[0].lineno))
    lines = enumerate(module.text.splitlines(), start=1)
    return [
        (n, t.strip()) for n, t in lines if n not in skipped and re.search(r"\w", t) and not t.strip().startswith("#")
    ]
