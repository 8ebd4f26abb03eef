"""The abbreviations that a document introduces, and its texts with these written out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from taxkg_assets.rules.models.aliases import load_aliases
from taxkg_assets.rules.models.verification import load_verification

_CAPITALS = re.compile(r"[A-Z]{2}")  # no abbreviation has fewer
_PART = re.compile(r"[^\W\d_]+")


class Abbreviations:
    """The abbreviations of one document with their expansions."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """Take the words for each abbreviation.

        Args:
            names: Words by abbreviation.
        """
        self.names = dict(names)

    @cached_property
    def _shorts(self) -> dict[str, str]:
        """Return the abbreviation of each expansion in lower case."""
        return {name.casefold(): short for short, name in self.names.items()}

    @cached_property
    def _printed(self) -> re.Pattern[str]:
        """Return a pattern for an abbreviation, alone or in parentheses after its words; case counts."""
        shorts = "|".join(sorted(map(re.escape, self.names), key=len, reverse=True))
        return re.compile(rf"\s*\((?P<aside>{shorts})s?\)|(?<![\w-])(?P<short>{shorts})(?P<many>s?)(?![\w-])")

    @cached_property
    def _named(self) -> re.Pattern[str]:
        words = "|".join(sorted((re.escape(name) for name in self.names.values()), key=len, reverse=True))
        return re.compile(rf"(?i)(?<!\w)(?P<name>{words})s?(?!\w)(?!\s*\()")

    def write_out(self, text: str) -> str:
        """Replace each abbreviation in a text by its expansion.

        Args:
            text: Any text of the document, or about it.

        Returns:
            The text.
        """

        if not _CAPITALS.search(text) or not any(short in text for short in self.names):
            return text

        def write(match: re.Match[str]) -> str:
            return "" if match["aside"] else self.names[match["short"]] + match["many"]

        return self._printed.sub(write, text)

    def write_both(self, text: str) -> str:
        """Add its expansion next to each abbreviation, so that a search matches either.

        Args:
            text: Any text of the document.

        Returns:
            The text.
        """
        whole = self.write_out(text)
        shorts, small = self._shorts, whole.casefold()
        if not any(name in small for name in shorts):
            return whole
        return self._named.sub(lambda match: f"{match[0]} {shorts[match['name'].casefold()]}", whole)


NONE = Abbreviations({})


def find_abbreviations(texts: Iterable[str]) -> Abbreviations:
    """Find the abbreviations that a document introduces, by initials of the adjacent words.

    Args:
        texts: Texts of the document.

    Returns:
        The first expansion of each abbreviation.

    Source:
        rules/aliases.yaml, `printed_abbreviations`; rules/verification.yaml, `abbreviations`.
    """
    names: dict[str, str] = {}
    for text in texts:
        for short, name in _find_introduced(text):
            names.setdefault(short, name)
    return Abbreviations(names)


def _find_introduced(text: str) -> Iterator[tuple[str, str]]:
    if _CAPITALS.search(text):
        for rule in (*load_aliases().printed_abbreviations, *load_verification().abbreviations):
            for match in rule.pattern.finditer(text):
                if name := _read_name(match["words"], match["short"]):
                    yield match["short"], name


def _read_name(printed: str, short: str) -> str:
    """Return the last words whose initials an abbreviation has, small words left out; empty for none."""
    wanted, words = short.casefold(), printed.split()
    small = frozenset(load_verification().small_words)
    for start in range(len(words) - 1, -1, -1):
        parts = [part for word in words[start:] for part in _PART.findall(word.casefold()) if part not in small]
        initials = sorted(part[0] for part in parts)
        if initials == sorted(wanted):  # `credit for small boats` is SBC, too
            return " ".join(words[start:]).strip(" .,;:").casefold()
        if len(initials) > len(wanted):
            break
    return ""
