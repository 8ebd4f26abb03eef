"""Words that code, messages and documentation do not use, counted by package.

The list is `terms.yaml`, with the standard term for each word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.modules import Module
from tools.own_words import read_own_words

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
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


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
