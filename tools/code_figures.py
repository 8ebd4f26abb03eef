"""Figures of the code: what a reader stumbles over, counted. `python -m tools.code_figures` prints the table.

Here: counting, and the check that banned words do not become more. Not here: style that ruff checks.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from tools.own_words import read_own_words

ROOT = Path(__file__).resolve().parents[1]
TERMS, RECORDED = ROOT / "tools" / "terms.yaml", ROOT / "tools" / "recorded_hits.yaml"
UNTYPED = ROOT / "tools" / "untyped_signatures.yaml"
PACKAGE = "taxkg_assets"
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
"""Lengths do not count docstrings of functions: a complete one must not cost a function its place."""
MAX_ARGUMENTS = 7
REPEATED_LINES = 6
"""Lines in a row, equal up to their indentation, from which code counts as repeated."""
PROSE = ("README.md", "CONTRIBUTING.md", "docs")
SCANNED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "rules": {"taxkg_assets/rules": ("*.yaml",)},
    "prompts": {"taxkg_assets/prompts": ("*.md",)},
    "serving": {"taxkg_assets/serving/explorer": ("*.js", "*.html", "*.css")},
    "benchmarks": {"benchmarks": ("*.py", "*.md")},
    "tests": {"taxkg_assets_tests": ("*.py",)},
    "tools": {"tools": ("*.py",)},
    "docs": {"docs": ("*.py",)},
    "data": {"data": ("*.py", "*.md")},
    "deploy": {"deploy": ("*.py", "*.md", "*.yaml", "*.yml")},
}
"""Files besides the modules of the package and its documentation whose words are scanned: package, folder, endings."""
SAMPLES = ("tests", "docs")
"""Packages whose string literals are sample texts and sample questions."""
GENERATED = {"docs/tables.md", "docs/commands.md", "docs/settings.md", "docs/transcript.md", "docs/rule-evidence.md"}
DOCUMENTED = {"os._exit"}
"""Public functions with an underscore: the reference of their library describes them."""
SECTION = re.compile(r"^\s*(Args|Arguments|Returns|Yields|Raises):\s*(.*)$")
_UNTYPED = re.compile(r"\b(?:dict|Mapping)\[str, Any\]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


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


# ------------------------------------------------------------------------------------------------ banned words


def compile_terms(terms: Mapping[str, Any]) -> dict[str, re.Pattern[str]]:
    """Compile the banned words of a term list.

    Args:
        terms: Content of `terms.yaml`.

    Returns:
        One pattern per entry, for lower-case text, keyed by the entry as written.
    """
    entries = [*terms["dialect"], *terms["spelling"]]
    return {entry: re.compile(rf"\b(?:{entry.replace(' ', chr(92) + 's+')})\b") for entry in entries}


def split_names(text: str, *, kept: Iterable[str]) -> str:
    """Replace identifiers by their words, and drop the names that have to stay.

    Args:
        text: Source code or prose.
        kept: Names to leave out of the count.

    Returns:
        The text in lower case, camel case and underscores turned into spaces; line breaks stay where they are.
    """
    for name in kept:
        text = re.sub(rf"\b{re.escape(name)}\b", "", text)
    return _CAMEL.sub(" ", text).replace("_", " ").lower()


def find_hits(text: str, patterns: Mapping[str, re.Pattern[str]]) -> Iterator[tuple[int, str, str]]:
    """Find banned words in a text whose names are split.

    Args:
        text: Text from `split_names`.
        patterns: Patterns from `compile_terms`.

    Yields:
        1-based line, entry of the term list, and the words found.
    """
    for entry, pattern in patterns.items():
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, entry, " ".join(match[0].split())


def count_banned_words(root: Path, modules: Sequence[Module], terms: Mapping[str, Any]) -> dict[str, int]:
    """Count banned words by package of code, rules, tests and benchmarks, and under `docs` in the documentation.

    Args:
        root: Folder of the checkout.
        modules: Modules of the checkout.
        terms: Content of `terms.yaml`.

    Returns:
        Hits by package, every package named.
    """
    counts = Counter({module.package: 0 for module in modules} | dict.fromkeys((*SCANNED, "docs"), 0))
    for package, _path, hits in scan_terms(root, modules, terms):
        counts[package] += len(hits)
    return dict(sorted(counts.items()))


def scan_terms(
    root: Path, modules: Sequence[Module], terms: Mapping[str, Any]
) -> Iterator[tuple[str, Path, list[tuple[int, str, str]]]]:
    """Find banned words file by file, but for modules that list the names of earlier releases.

    Args:
        root: Folder of the checkout.
        modules: Modules of the checkout.
        terms: Content of `terms.yaml`.

    Yields:
        Package, path below the root, and the hits as `find_hits` gives them.
    """
    patterns = compile_terms(terms)
    texts = [(module.package, module.path, module.text) for module in modules]
    texts += [("docs", path, path.read_text(encoding="utf8")) for path in _prose_files(root)]
    texts += [
        (package, path, read_own_words(path, has_samples=package in SAMPLES))
        for package, folders in SCANNED.items()
        for folder, endings in folders.items()
        for ending in endings
        for path in sorted((root / folder).rglob(ending))
    ]
    skipped = {root / name for name in terms.get("earlier_names", ())}
    for package, path, text in texts:
        if path in skipped:
            continue
        hits = sorted(find_hits(split_names(text, kept=terms["kept"]), patterns))
        yield package, path.relative_to(root), hits


def _prose_files(root: Path) -> list[Path]:
    found = [
        path for name in PROSE for path in ((root / name).rglob("*.md") if (root / name).is_dir() else [root / name])
    ]
    return sorted(path for path in found if path.relative_to(root).as_posix() not in GENERATED)


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


def missing_docstring_parts(node: ast.FunctionDef) -> list[str]:
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
    """Find look-ups by string in a rule family: `load_family(…)["key"]`, also by way of a variable.

    Args:
        module: Module to search.

    Returns:
        Lines of the look-ups.
    """
    lines = []
    for function in [module.tree, *(n for n in ast.walk(module.tree) if isinstance(n, ast.FunctionDef))]:
        nodes = list(_own_nodes(function))
        families = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign) and _loads_family(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            if isinstance(node, ast.Subscript):
                is_variable = isinstance(node.value, ast.Name) and node.value.id in families
                if is_variable or _is_family_call(node.value):
                    lines.append(node.lineno)
    return lines


def _loads_family(node: ast.expr) -> bool:
    while isinstance(node, ast.Subscript):
        node = node.value
    return _is_family_call(node)


def _is_family_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "load_family"


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
        lines, comments, imports, docstrings and parameters left out. Names of parameters are no code to share: a
        builder and the checks of its table are bound to the same tables by them.
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
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            skipped |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.body[0].lineno > node.lineno:
            skipped |= set(range(node.lineno + 1, node.body[0].lineno))
    lines = enumerate(module.text.splitlines(), start=1)
    return [
        (n, t.strip()) for n, t in lines if n not in skipped and re.search(r"\w", t) and not t.strip().startswith("#")
    ]


# ---------------------------------------------------------------------------------------------------- packages


@cache
def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def measure_bare_install(pyproject: Path) -> tuple[int, float, list[str]]:
    """Measure what `pip install` without extras brings, as far as this environment has it.

    Args:
        pyproject: `pyproject.toml` whose dependencies count.

    Returns:
        Number of packages, size of their files in GB, and names of packages that are not installed here.
    """
    project = tomllib.loads(pyproject.read_text(encoding="utf8"))["project"]
    waiting, seen, size, missing = [(text, frozenset[str]()) for text in project["dependencies"]], set[str](), 0, []
    taken: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement, _ = waiting.pop()
        parsed = _parse_requirement(requirement)
        if parsed is None or parsed in taken:
            continue
        taken.add(parsed)
        name, extras = parsed
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
            continue
        if name not in seen:
            seen.add(name)
            size += sum(_size_of(file) for file in distribution.files or ())
        waiting += [(text, extras) for text in distribution.requires or () if _is_wanted(text, extras)]
    return len(seen), size / 1e9, sorted(set(missing))


def _parse_requirement(text: str) -> tuple[str, frozenset[str]] | None:
    match = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?", text)
    if match is None:
        return None
    extras = frozenset(part.strip() for part in (match[2] or "").split(",") if part.strip())
    return _normalized(match[1]), extras


def _is_wanted(text: str, extras: frozenset[str]) -> bool:
    """Evaluate the marker of a requirement for this interpreter; a marker on an extra asks for that extra."""
    from packaging.requirements import Requirement

    marker = Requirement(text).marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def _size_of(file: metadata.PackagePath) -> int:
    try:
        return Path(str(file.locate())).stat().st_size
    except OSError:
        return 0


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
    bare = [(m, n, missing) for m, n in shared if (missing := missing_docstring_parts(n))]
    long_functions = [(m, n) for m, n in functions if _length(n) > MAX_FUNCTION_LINES]
    crowded = [(m, n) for m, n in functions if count_arguments(n) > MAX_ARGUMENTS and not is_excused(m, n)]
    return {
        "… without a full docstring": [f"{m.name}.{n.name}: {', '.join(missing)}" for m, n, missing in bare],
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
