"""Figures of the code: what a reader stumbles over, counted. `python -m tools.code_figures` prints the table.

Here: counting, and the check that banned words do not become more. Not here: style that ruff checks.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tools.banned_words import count_banned_words, scan_terms
from tools.bare_install import measure_bare_install
from tools.modules import PACKAGE, ROOT, Module, read_modules

TERMS, RECORDED = ROOT / "tools" / "terms.yaml", ROOT / "tools" / "recorded_hits.yaml"
UNTYPED = ROOT / "tools" / "untyped_signatures.yaml"
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
"""Lengths do not count docstrings of functions: a complete one must not cost a function its place."""
MAX_ARGUMENTS = 7
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


# -------------------------------------------------------------------------------------------------- docstrings


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


# ------------------------------------------------------------------------------------------------ size and seams


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
    return sorted(node.lineno for node in ast.walk(module.tree) if _looks_up_rule(node))


def _looks_up_rule(node: ast.AST) -> bool:
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
        if is_text or is_declared or isinstance(node, ast.Import | ast.ImportFrom):
            skipped |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.body[0].lineno > node.lineno:
            skipped |= set(range(node.lineno + 1, node.body[0].lineno))
    lines = enumerate(module.text.splitlines(), start=1)
    return [
        (n, t.strip()) for n, t in lines if n not in skipped and re.search(r"\w", t) and not t.strip().startswith("#")
    ]


# ------------------------------------------------------------------------------------------------------ report


def measure(root: Path, terms: Mapping[str, Any]) -> dict[str, tuple[str, list[str]]]:
    """Measure a checkout.

    Args:
        root: Folder of the checkout.
        terms: Content of `terms.yaml`.

    Returns:
        For each figure its value as printed, and the places behind it.
    """
    modules = read_modules(root)
    shared = find_cross_module_functions(modules)
    lookups = [f"{m.name}:{line}" for m in modules for line in find_rule_lookups(m)]
    private = [f"{m.name}: {name}" for m in modules for name in find_private_imports(m)]
    untyped = list_untyped(modules)
    repeated = sorted(find_repeated_lines(modules))
    packages, gigabytes, missing_packages = measure_bare_install(root / "pyproject.toml")
    hits = {package: count for package, count in count_banned_words(root, modules, terms).items() if count}
    return {
        "banned words": (str(sum(hits.values())), [f"{package}: {count}" for package, count in hits.items()]),
        "functions used across modules": (str(len(shared)), []),
        "public methods": (str(len(find_public_methods(modules))), []),
        **{name: (str(len(places)), places) for name, places in find_faults(modules).items()},
        "untyped rule look-ups": (str(len(lookups)), lookups),
        "public signatures with dict[str, Any]": (str(len(untyped)), untyped),
        "imports of private names": (str(len(private)), private),
        "repeated lines of code": (str(len(repeated)), [f"{name}:{line}" for name, line in repeated]),
        "packages in a bare install": (str(packages), [f"not installed here: {name}" for name in missing_packages]),
        "size of a bare install (GB)": (f"{gigabytes:.2f}", []),
    }


def find_faults(modules: Sequence[Module]) -> dict[str, list[str]]:
    """Find what no module may have; `--check` fails on any.

    Args:
        modules: Modules of the package.

    Returns:
        Places by figure.
    """
    functions = list(find_functions(modules))
    shared = find_cross_module_functions(modules)
    methods = [(f"{m.name}.{owner}", n) for m, owner, n in find_public_methods(modules)]
    named = [*((m.name, n) for m, n in shared), *methods]
    bare = [(name, n, missing) for name, n in named if (missing := missing_docstring_parts(n))]
    long_functions = [(m, n) for m, n in functions if _length(n) > MAX_FUNCTION_LINES]
    crowded = [(m, n) for m, n in functions if count_arguments(n) > MAX_ARGUMENTS and not is_excused(m, n)]
    return {
        "… without a full docstring": [f"{name}.{n.name}: {', '.join(missing)}" for name, n, missing in bare],
        f"files over {MAX_FILE_LINES} lines": [m.name for m in modules if _file_length(m) > MAX_FILE_LINES],
        f"functions over {MAX_FUNCTION_LINES} lines": _list(long_functions),
        f"functions with more than {MAX_ARGUMENTS} arguments": _list(crowded),
    }


def list_untyped(modules: Sequence[Module]) -> list[str]:
    """List the untyped signatures of all modules.

    Args:
        modules: Modules of the package.

    Returns:
        Names of functions below the package, e.g. `serving.batch.run_line`.
    """
    return [
        f"{module.name.removeprefix(f'{PACKAGE}.')}.{name}"
        for module in modules
        for name in find_untyped_signatures(module)
    ]


def find_unexplained(untyped: Iterable[str], groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """Compare untyped signatures with those that are listed with a reason.

    Args:
        untyped: Names from `list_untyped`.
        groups: Content of `untyped_signatures.yaml`.

    Returns:
        One line per signature without a reason, and per listed one that is untyped no longer.
    """
    found, listed = set(untyped), {name for group in groups for name in group["functions"]}
    return [
        *(
            f"untyped signature: {name}; name its columns, or give a reason in {UNTYPED.name}"
            for name in sorted(found - listed)
        ),
        *(f"{UNTYPED.name} lists {name}, which is not untyped" for name in sorted(listed - found)),
    ]


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1 - _docstring_lines(node)


def _file_length(module: Module) -> int:
    nodes = [n for n in ast.walk(module.tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return module.text.count("\n") - sum(_docstring_lines(node) for node in nodes)


def _docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    return (first.end_lineno or first.lineno) - first.lineno + 1 if ast.get_docstring(node) is not None else 0


def _list(functions: Sequence[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]) -> list[str]:
    return [f"{module.name}.{node.name}" for module, node in functions]


def find_excess(counts: Mapping[str, int], recorded: Mapping[str, int]) -> list[str]:
    """Compare banned words with what is recorded.

    Args:
        counts: Hits by package.
        recorded: The most hits that each package may have.

    Returns:
        One line per package with more hits than recorded; a package without a record may have none.
    """
    return [
        f"{package}: {count} banned words, {recorded.get(package, 0)} recorded"
        for package, count in counts.items()
        if count > recorded.get(package, 0)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures, or check them.

    Args:
        arguments: Command line; the process's own by default.

    Returns:
        Exit status: 1 where a package has more banned words than recorded, or a fault of `find_faults` or of
        `find_unexplained`, else 0.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout to measure")
    parser.add_argument("--check", action="store_true", help="fail where banned words became more, or on faults")
    parser.add_argument("--record", action="store_true", help="record today's number of banned words per package")
    parser.add_argument("--list", metavar="FIGURE", help="list the places behind a figure, e.g. `private`")
    parser.add_argument("--words", metavar="PATH", help="list the banned words of files whose path begins like this")
    options = parser.parse_args(arguments)
    terms = yaml.safe_load(TERMS.read_text(encoding="utf8"))
    if options.words is not None:
        return _print_words(options.root, options.words, terms)
    if options.check or options.record:
        return _check(options.root, terms, is_recording=options.record)
    for name, (value, places) in measure(options.root, terms).items():
        print(f"{name:42} {value:>8}")
        if options.list and options.list in name:
            print("\n".join(f"    {place}" for place in places))
    return 0


def _print_words(root: Path, prefix: str, terms: Mapping[str, Any]) -> int:
    wanted = {**terms["dialect"], **terms["spelling"]}
    for _package, path, hits in scan_terms(root, read_modules(root), terms):
        if path.as_posix().startswith(prefix):
            for line, entry, words in hits:
                print(f"{path}:{line}: {words} → {wanted[entry]}")
    return 0


def _check(root: Path, terms: Mapping[str, Any], *, is_recording: bool) -> int:
    modules = read_modules(root)
    counts = count_banned_words(root, modules, terms)
    if is_recording:
        text = "".join(f"{package}: {count}\n" for package, count in counts.items())
        RECORDED.write_text(f"# Banned words by package; `make check` fails on more. Lower them, never raise.\n{text}")
        return 0
    excess = find_excess(counts, yaml.safe_load(RECORDED.read_text(encoding="utf8")))
    for line in excess:
        print(f"{line}. List them: python -m tools.code_figures --words {PACKAGE}/{line.partition(':')[0]}")
    faults = [f"{figure}: {place}" for figure, places in find_faults(modules).items() for place in places]
    faults += find_unexplained(list_untyped(modules), yaml.safe_load(UNTYPED.read_text(encoding="utf8")))
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if excess or faults else 0


if __name__ == "__main__":
    sys.exit(main())
