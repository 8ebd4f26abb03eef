"""What the figures of the code count, on small trees of their own."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from tools import code_figures as figures
from tools import code_finders as finders

TERMS: dict[str, Any] = {"dialect": {"twins?": "near-duplicate", "so many": "N"}, "spelling": {}, "kept": ["is_twin"]}
COMPLETE = '''
def score(a: int, *, b: str) -> float:
    """Score a pair.

    Args:
        a: First, 0-based.
        b: Second.

    Returns:
        Score, 0 to 1.

    Raises:
        ValueError: `a` is negative.
    """
    raise ValueError(a)
'''


def read(root: Path, **modules: str) -> list[figures.Module]:
    for name, text in modules.items():
        path = root / "taxkg_assets" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf8")
    for name in ("README.md", "CONTRIBUTING.md"):
        (root / name).write_text("", encoding="utf8")
    (root / "docs").mkdir(exist_ok=True)
    return figures.read_modules(root)


def parse(source: str) -> ast.FunctionDef:
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.FunctionDef)
    return node


def test_banned_words_are_found_in_names_and_in_prose(tmp_path: Path) -> None:
    modules = read(
        tmp_path, one='"""So\nmany words."""\nfind_twins = isTwin = is_twin = entwined = 1\n', two="twin = 1\n"
    )
    found = figures.count_banned_words(tmp_path, modules, TERMS)
    assert {name: count for name, count in found.items() if count} == {"one": 3, "two": 1}


def test_earlier_names_are_not_counted(tmp_path: Path) -> None:
    modules = read(tmp_path, one='RENAMED = {"twins": "duplicates"}\n', two="twin = 1\n")
    terms = {**TERMS, "earlier_names": ["taxkg_assets/one.py"]}
    found = figures.count_banned_words(tmp_path, modules, terms)
    assert {name: count for name, count in found.items() if count} == {"two": 1}


def test_sample_texts_and_patterns_are_not_the_own_words(tmp_path: Path) -> None:
    rules = tmp_path / "taxkg_assets" / "rules" / "boats.yaml"
    rules.parent.mkdir(parents=True)
    rules.write_text(
        "# A twin of each.\nlist:\n  - {id: twins, pattern: 'twin # twin', source: one twin}\n", encoding="utf8"
    )
    test = tmp_path / "taxkg_assets_tests" / "test_boats.py"
    test.parent.mkdir()
    test.write_text('"""Twins."""\nfind_twin = "a twin"  # twin\n', encoding="utf8")
    found = figures.count_banned_words(tmp_path, read(tmp_path), TERMS)
    assert {name: count for name, count in found.items() if count} == {"rules": 3, "tests": 3}


def test_more_banned_words_than_recorded_are_named() -> None:
    assert figures.find_excess({"graph": 3, "llm": 2}, {"graph": 3}) == ["llm: 2 banned words, 0 recorded"]


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        ("", []),
        ("        b: Second.\n", ["b"]),
        ("    Returns:\n        Score, 0 to 1.\n", ["Returns"]),
        ("    Raises:\n        ValueError: `a` is negative.\n", ["Raises"]),
    ],
)
def test_a_full_docstring_names_arguments_result_and_errors(changed: str, missing: list[str]) -> None:
    assert finders.missing_docstring_parts(parse(COMPLETE.replace(changed, ""))) == missing


def test_a_summary_can_state_the_result() -> None:
    assert finders.missing_docstring_parts(parse('def one() -> int:\n    """Return 1."""\n    return 1\n')) == []
    assert finders.missing_docstring_parts(parse('def one() -> int:\n    """The first."""\n    return 1\n')) == [
        "Returns"
    ]


def test_only_functions_that_other_modules_name_count(tmp_path: Path) -> None:
    modules = read(
        tmp_path,
        one="def used(): ...\n\n\ndef by_module(): ...\n\n\ndef unused(): ...\n",
        two="from taxkg_assets import one\nfrom taxkg_assets.one import used\n\none.by_module()\n",
    )
    found = finders.find_cross_module_functions(modules)
    assert [node.name for _, node in found] == ["used", "by_module"]


def test_public_methods_of_public_classes_count(tmp_path: Path) -> None:
    modules = read(
        tmp_path,
        one="class A:\n    def told(self, x): ...\n    def _own(self): ...\n"
        "    @cached_property\n    def size(self): ...\n"
        "class _B:\n    def told(self): ...\n",
    )
    found = finders.find_public_methods(modules)
    assert [(owner, node.name) for _, owner, node in found] == [("A", "told")]
    assert finders.missing_docstring_parts(parse('def told(self, x):\n    """Tell."""\n')) == ["x"]


def test_rule_lookups_count_by_function_and_by_key(tmp_path: Path) -> None:
    (module,) = read(
        tmp_path,
        one='limits = load_family("b")["x"]\nrule = find_rule("a", "b", "c")\n'
        'kind = rule.extra["kind"] or rule.extra.get("sort")\nkind = load_a().b.c.kind\n',
    )
    assert finders.find_rule_lookups(module) == [1, 2, 3, 3]


def test_private_names_count_as_imported_and_as_members(tmp_path: Path) -> None:
    (module,) = read(
        tmp_path,
        one="import os\nimport re\nfrom a._b import c\nfrom d import _e\n\nre._parser\nself._own\nos._exit(1)\n",
    )
    assert finders.find_private_imports(module) == ["a._b.c", "d._e", "re._parser"]


def test_repeated_code_needs_a_run_of_equal_lines(tmp_path: Path) -> None:
    run = "".join(f"call_{n}()\n" for n in range(finders.REPEATED_LINES))
    modules = read(tmp_path, one=f"first()\n{run}", two=run, three=run.replace("call_3", "other"))
    found = finders.find_repeated_lines(modules)
    assert found == {("taxkg_assets.one", n) for n in range(2, 8)} | {("taxkg_assets.two", n) for n in range(1, 7)}


def test_the_options_of_a_command_are_no_arguments() -> None:
    command = parse("@app.command()\ndef search(a, b, c, d, e, f, g, h): ...\n")
    assert finders.is_command(command)
    assert not finders.is_command(parse("def search(a): ...\n"))
    assert finders.count_arguments(parse("def search(self, a, *, b): ...\n")) == 2


def test_many_arguments_are_excused_by_a_written_reason(tmp_path: Path) -> None:
    source = "# arguments: one per table\ndef build(a, b): ...\n\n\n# Other words.\ndef other(a, b): ...\n"
    (module,) = (m for m in read(tmp_path, one=source) if m.name.endswith("one"))
    excused = [node.name for node in module.tree.body if finders.is_excused(module, node)]  # type: ignore[arg-type]
    assert excused == ["build"]


def test_docstrings_of_functions_do_not_count_as_length(tmp_path: Path) -> None:
    body = "    x = 1\n" * 59
    words = '    """Add.\n\n' + "    More.\n" * 350 + '    """\n'
    modules = read(tmp_path, short=f"def add() -> None:\n{words}{body}", long=f"def add() -> None:\n{body}    x = 1\n")
    faults = figures.find_faults(modules)
    assert faults["functions over 60 lines"] == ["taxkg_assets.long.add"]
    assert faults["files over 400 lines"] == []


def test_public_signatures_with_untyped_mappings_are_counted(tmp_path: Path) -> None:
    (module,) = read(
        tmp_path,
        one="Row = Mapping[str, Any]\n"
        "def read(row: Mapping[str, Any]) -> int: ...\n"
        "def list_rows() -> list[Row]: ...\n"
        "def _read(row: Mapping[str, Any]) -> int: ...\n"
        "def known(row: dict[str, int]) -> Known: ...\n"
        "class Store:\n    def rows(self) -> list[dict[str, Any]]: ...\n"
        "class _Store:\n    def rows(self) -> list[dict[str, Any]]: ...\n",
    )
    assert finders.find_untyped_signatures(module) == ["read", "list_rows", "Store.rows"]
    assert figures.list_untyped([module]) == ["one.read", "one.list_rows", "one.Store.rows"]


def test_an_untyped_signature_needs_a_reason_and_a_reason_its_signature() -> None:
    groups = [{"reason": "JSON", "functions": ["one.read", "one.gone"]}]
    new, gone = figures.find_unexplained(["one.read", "one.write"], groups)
    assert "untyped signature: one.write" in new
    assert "one.gone" in gone


def test_declared_fields_are_no_repeated_code(tmp_path: Path) -> None:
    fields = "".join(f"    name{number}: int\n" for number in range(finders.REPEATED_LINES))
    modules = read(tmp_path, one=f"class One:\n{fields}", two=f"class Two:\n{fields}")
    assert not finders.find_repeated_lines(modules)


def test_parameters_are_no_repeated_code(tmp_path: Path) -> None:
    names = ",\n".join(f"    name{number}: int" for number in range(finders.REPEATED_LINES))
    body = "".join(f"    name{number} += 1\n" for number in range(finders.REPEATED_LINES))
    modules = read(
        tmp_path, one=f"def one(\n{names},\n):\n    return 1\n", two=f"def two(\n{names},\n):\n    return 2\n"
    )
    assert not finders.find_repeated_lines(modules)
    modules = read(tmp_path, one=f"def one():\n{body}", two=f"def two():\n{body}")
    assert len(finders.find_repeated_lines(modules)) == 2 * finders.REPEATED_LINES
