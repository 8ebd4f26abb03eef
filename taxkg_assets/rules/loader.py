"""Loader of the rule files: YAML beside this module, read once a process; a pattern is compiled when first used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import yaml

from taxkg_assets.rules.needed_words import find_word_groups

# The same loader in C where it was compiled: rules are read anew by every process.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Rule:
    """One pattern with the examples that it must and must not match; `written` is the pattern as the file has it.

    It is compiled when it is first used: one question or one document needs few of the rules of a file.
    """

    id: str
    written: str
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...]
    source: str
    extra: dict[str, Any]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(ask_letter_first(self.written))

    @cached_property
    def word_groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of words: every text that matches holds a word of each."""
        return find_word_groups(self.written)

    @property
    def needed_words(self) -> tuple[str, ...]:
        """Words of which every text that matches holds at least one."""
        return self.word_groups[0] if self.word_groups else ()

    def may_match(self, small: str) -> bool:
        """Decide cheaply whether the pattern can match at all in a text, given in small letters."""
        for words in self.word_groups:
            for word in words:
                if word in small:
                    break
            else:
                return False
        return True


@cache
def load_family(name: str) -> dict[str, Any]:
    """Read `rules/<name>.yaml` as it stands."""
    text = files("taxkg_assets.rules").joinpath(f"{name}.yaml").read_text(encoding="utf8")
    loaded: dict[str, Any] = yaml.load(text, Loader=_LOADER)
    return loaded


def load_usable_rules(name: str, group: str, text: str) -> list[Rule]:
    """Load the rules of a group that can match at all in a text, in the file's order: cheap words decide."""
    small = text.lower()
    return [rule for rule in load_rules(name, group) if rule.may_match(small)]


# One rule may be written with the parts of another: `(?&joint)` stands for the pattern of `joint` in key_lists.yaml.
_PART = re.compile(r"\(\?&(?P<name>\w+)\)")


def spell_out(pattern: str) -> str:
    """Write a pattern out in full: parts of the shared grammar stand in it by their names."""
    if not _PART.search(pattern):
        return pattern
    parts = {row["id"]: row["pattern"] for row in load_family("key_lists")["parts"]}
    return spell_out(_PART.sub(lambda match: parts[match["name"]], pattern))


# `\b` before a letter, or before one of a few letters, that stands there once.
_WORD_START = re.compile(r"\\b(?P<letter>\[[A-Za-z]+\]|[A-Za-z])(?![*+?{])")


def ask_letter_first(pattern: str) -> str:
    """Write `\bform` so that the letter is asked for before what stands before it: places without it are skipped.

    The two say the same; with the letter first, the engine searches for it instead of trying every place of a text.
    """
    return _WORD_START.sub(r"\g<letter>(?<!\\w\g<letter>)", pattern)


@cache
def load_rules(name: str, group: str = "rules") -> tuple[Rule, ...]:
    """Read the list `group` of `rules/<name>.yaml` in the file's order."""
    known = {"id", "pattern", "examples", "counter_examples", "source"}
    return tuple(
        Rule(
            id=row["id"],
            written=spell_out(row["pattern"]),
            examples=tuple(row["examples"]),
            counter_examples=tuple(row.get("counter_examples", ())),
            source=row["source"],
            extra={key: value for key, value in row.items() if key not in known},
        )
        for row in load_family(name)[group]
    )
