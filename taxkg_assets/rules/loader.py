"""Loader of the rule files: YAML next to this module, read once per process; patterns are compiled on first use."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from taxkg_assets.rules.anchored_search import Search, compile_search
from taxkg_assets.rules.parsed_files import read_parsed
from taxkg_assets.rules.required_literals import find_literal_groups
from taxkg_assets.rules.support import find_unsupported

LITERALS = "required_literals.json"
"""File of the words without which a pattern cannot match; `python -m tools.rule_literals` writes the file."""


RULE_KEYS = frozenset({"id", "pattern", "examples", "counter_examples", "source", "enabled"})
"""Keys that every rule may have; the class of a list's rules may declare further keys."""


class RuleFileError(ValueError):
    """A rule file has a missing, unknown or mistyped key."""


@dataclass(frozen=True)
class Rule:
    """One pattern with the examples that it must and must not match.

    The pattern is compiled on first use: one question or one document needs few rules of a file. A subclass has further
    keys of its list's rules as attributes; a key with a default may be missing in the file.

    Attributes:
        id: Id, unique in its list.
        source_pattern: The pattern in the file, with references expanded.
        examples: Texts that the pattern must match.
        counter_examples: Texts that the pattern must not match.
        source: Law, publication or document on which the rule is based.
        extra: Further keys of the rule; a subclass has them as attributes.
        is_enabled: Whether the stages use the rule.
    """

    id: str
    source_pattern: str
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...]
    source: str
    extra: dict[str, Any]
    is_enabled: bool = True

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return the compiled pattern, rewritten to an equivalent one that is searched faster."""
        return re.compile(hoist_first_letter(self.source_pattern))

    @cached_property
    def search(self) -> Search:
        """Return the fastest function equivalent to `pattern.search`."""
        return compile_search(self.pattern)

    @cached_property
    def literal_groups(self) -> tuple[tuple[str, ...], ...]:
        """Return groups of lower-case words: every matching text contains a word of each group."""
        stored_groups = _read_literals().get(pattern_key(self.source_pattern))
        return find_literal_groups(self.source_pattern) if stored_groups is None else tuple(map(tuple, stored_groups))

    @property
    def required_literals(self) -> tuple[str, ...]:
        """Return the first of these groups: every matching text contains one of its words. Empty without a group."""
        return self.literal_groups[0] if self.literal_groups else ()

    def may_match(self, lower_text: str) -> bool:
        """Return whether the pattern can match a text, without running it.

        Args:
            lower_text: Text in lower case.
        """
        for words in self.literal_groups:
            for word in words:
                if word in lower_text:
                    break
            else:
                return False
        return True


def pattern_key(pattern: str) -> str:
    """Return the key of a pattern in the file of required literals.

    Args:
        pattern: Pattern, references expanded.
    """
    return hashlib.sha256(pattern.encode()).hexdigest()[:12]


@cache
def _read_literals() -> dict[str, list[list[str]]]:
    """Return the literal groups of all patterns from a file, because finding them takes long."""
    literals: dict[str, list[list[str]]] = json.loads(_read_text(LITERALS))
    return literals


def _read_text(name: str) -> str:
    return files("taxkg_assets.rules").joinpath(name).read_text(encoding="utf8")


@cache
def load_family(name: str) -> dict[str, Any]:
    """Read a rule file, once per process.

    Args:
        name: Rule family.

    Returns:
        Content of the file; callers must not change it.
    """
    return read_parsed(Path(__file__).with_name(f"{name}.yaml"), _parse_yaml)


def _parse_yaml(text: str) -> dict[str, Any]:
    import yaml  # loaded here: most processes find the files parsed

    # The C loader is faster; not every installation of PyYAML has it.
    content: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return content


def is_rule_list(value: Any) -> bool:
    """Return whether a value of a rule file is a list of rules.

    Args:
        value: Value of a key of the file.
    """
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) and "pattern" in row for row in value)


# A rule may refer to a shared pattern: `(?&joint)` is replaced by the pattern of `joint` in key_lists.yaml.
_PART = re.compile(r"\(\?&(?P<name>\w+)\)")


def expand_references(pattern: str) -> str:
    """Replace references to the shared grammar, such as `(?&joint)`, by their patterns.

    Args:
        pattern: Pattern as written in a rule.
    """
    if not _PART.search(pattern):
        return pattern
    parts = {row["id"]: row["pattern"] for row in _read_rows("key_lists", "parts")}
    return expand_references(_PART.sub(lambda match: parts[match["name"]], pattern))


# `\b` before one letter, or one letter of a set, without a quantifier.
_WORD_START = re.compile(r"\\b(?P<letter>\[[A-Za-z]+\]|[A-Za-z])(?![*+?{])")


def hoist_first_letter(pattern: str) -> str:
    r"""Rewrite `\bform` as `f(?<!\wf)orm`, which matches the same text but is searched faster.

    Args:
        pattern: Regular expression.
    """
    return _WORD_START.sub(r"\g<letter>(?<!\\w\g<letter>)", pattern)


def read_rules(name: str, group: str = "rules") -> list[Rule]:
    """Read a list of rules, including disabled ones, for tests and counts.

    Args:
        name: Rule family, `rules/<name>.yaml`.
        group: Key of the list in the family.

    Returns:
        Rules in the order of the file; `is_enabled` is false for those that have `enabled: false` or too little
        support (`rules/support.py`).

    Raises:
        RuleFileError: The file has no such list.
    """
    unsupported = find_unsupported(name)
    return [
        Rule(
            id=row["id"],
            source_pattern=expand_references(row["pattern"]),
            examples=tuple(row["examples"]),
            counter_examples=tuple(row.get("counter_examples", ())),
            source=row["source"],
            extra={key: value for key, value in row.items() if key not in RULE_KEYS},
            is_enabled=row.get("enabled", True) and (group, row["id"]) not in unsupported,
        )
        for row in _read_rows(name, group)
    ]


def _read_rows(name: str, group: str) -> list[dict[str, Any]]:
    """Return a list of a rule family as in the file; callers must not change it."""
    rows = load_family(name).get(group)
    if not isinstance(rows, list):
        raise RuleFileError(f"rules/{name}.yaml: {group}: there is no list of rules. Correct the file.")
    return rows
