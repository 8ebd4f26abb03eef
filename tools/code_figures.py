"""Figures of the code: what a reader stumbles over, counted. `python -m tools.code_figures` prints the table.

Here: counting, and the check that banned words do not become more. Not here: style that ruff checks.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tools.banned_words import count_banned_words, scan_terms
from tools.bare_install import measure_bare_install
from tools.code_finders import (
    count_arguments,
    find_cross_module_functions,
    find_functions,
    find_private_imports,
    find_public_methods,
    find_repeated_lines,
    find_rule_lookups,
    find_untyped_signatures,
    is_excused,
    missing_docstring_parts,
)
from tools.modules import PACKAGE, ROOT, Module, read_modules

TERMS, RECORDED = ROOT / "tools" / "terms.yaml", ROOT / "tools" / "recorded_hits.yaml"
UNTYPED = ROOT / "tools" / "untyped_signatures.yaml"
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
"""Lengths do not count docstrings of functions: a complete one must not cost a function its place."""
MAX_ARGUMENTS = 7


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
