"""References that the publisher made links of: their targets are certain, whatever their words.

A mention that a link covers takes the link's target. What a link covers and no rule names becomes a mention of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from taxkg_assets.extraction.references.mentions import Mention
from taxkg_assets.rules.models.navigation import load_navigation

RULE_ID = "link"
_WEB = ("http", "https")
_LINKED_KINDS = ("section", "table")
_KEYED = ("box", "line")
_COLUMNS = ("target_anchor_id", "target_element_id", "target_table_id", "target_publisher_id")
LED_COLUMNS = ("resolved_by", "target_url", *_COLUMNS)
"""Columns of `references` that say where a link leads."""


@dataclass(frozen=True, slots=True)
class LinkedWords:
    """The range of an element's text that a link covers, half-open, and the link's target."""

    start: int
    end: int
    text: str
    target: Mapping[str, Any]

    @property
    def is_inside(self) -> bool:
        """Return whether the link leads to a place in the same document."""
        return self.target["url"] is None

    @property
    def address(self) -> str:
        """Return the link's web address as texts print it, without scheme; empty for none."""
        scheme, _, address = (self.target["url"] or "").partition("://")
        return address.rstrip("/") if scheme in _WEB else ""


@dataclass(frozen=True, slots=True)
class LinkedTexts:
    """The linked words of each element in a document."""

    by_element: Mapping[str, Sequence[LinkedWords]] = field(default_factory=dict)

    @classmethod
    def collect(cls, links: pl.DataFrame | None) -> LinkedTexts:
        """Collect the links in running text that have a certain target; entries of an index or contents are left out.

        Args:
            links: Rows of the table `links`; None for no links.

        Returns:
            Links by element.
        """
        if links is None or links.is_empty():
            return cls()
        has_target = pl.col("url").is_not_null() | (
            pl.col("kind").is_in(_LINKED_KINDS) & pl.col("target_element_id").is_not_null()
        )
        certain_links = links.filter(has_target & pl.col("start").is_not_null() & pl.col("term").is_null())
        words_by_element: dict[str, list[LinkedWords]] = {}
        for row in certain_links.select("element_id", "start", "end", "text", "url", *_COLUMNS).iter_rows(named=True):
            words_by_element.setdefault(row["element_id"], []).append(
                LinkedWords(row["start"], row["end"], row["text"], row)
            )
        return cls(words_by_element)

    def add_mentions(self, element_id: str, mentions: list[Mention], *, text: str) -> list[Mention]:
        """Add a mention for each link whose words no rule recognized.

        The mention's target is the words as printed; the address of the link goes into `target_url`.

        Args:
            element_id: Element of the text.
            mentions: Mentions that rules found.
            text: Text of the element.

        Returns:
            All mentions.
        """
        linked_words = self.by_element.get(element_id)
        if linked_words is None:
            return mentions
        addresses = {_fold_address(mention.target) for mention in mentions if mention.kind == "url"}
        new_mentions: list[Mention] = []
        for words in linked_words:
            if words.is_inside:
                kind, is_known = "section", _is_named(words, mentions)
            else:
                # A web link may cover only part of a mention, such as a ruling without the place where it is printed.
                is_printed_address = _fold_address(words.address) in {"", *addresses}
                kind = "url"
                is_known = is_printed_address or _is_touched(words, mentions)
            if not is_known and _says_something(text[words.start : words.end]):
                target = words.text.strip(" .,;:")
                word_range = (words.start, words.end)
                new_mentions.append(Mention(kind, target, words.start, words.end, word_range, RULE_ID))
        if not new_mentions:
            return mentions
        return sorted([*mentions, *new_mentions], key=lambda mention: (mention.start, mention.end, mention.target))

    def read_inside(self, element_id: str, mention: Mention) -> Mention:
        """Read a mentioned law section as a section of this document if the publisher linked it to a place in it.

        Args:
            element_id: Element of the text.
            mention: Mention in the text.

        Returns:
            The mention; of the kind `section` if such a link covers it.
        """
        if mention.kind != "irc_section":
            return mention
        words = self._find_covering(element_id, mention)
        if words is None or not words.is_inside:
            return mention
        return replace(mention, kind="section", target=mention.target.replace("IRC", "section", 1))

    def find_target(self, element_id: str, mention: Mention) -> dict[str, Any]:
        """Return the target columns of a link that covers a mention; all empty if there is none.

        Args:
            element_id: Element of the text.
            mention: Mention in the text.

        Returns:
            Columns of the table `references` by name.
        """
        words = self._find_covering(element_id, mention)
        if words is None:
            return {"resolved_by": None, "target_url": None, **dict.fromkeys(_COLUMNS)}
        target_columns = {name: words.target[name] for name in _COLUMNS}
        return {"resolved_by": RULE_ID, "target_url": words.target["url"], **target_columns}

    def _find_covering(self, element_id: str, mention: Mention) -> LinkedWords | None:
        linked_words = self.by_element.get(element_id)
        if linked_words is None:
            return None
        covering_links = [words for words in linked_words if covers(words, mention)]
        return max(covering_links, key=lambda words: (_count_shared(words, mention), -words.start), default=None)


def covers(words: LinkedWords, mention: Mention) -> bool:
    """Return whether a link covers a mention, and not much more or less.

    Args:
        words: Words of the link.
        mention: Mention in the same text.
    """
    limits = load_navigation().covering
    shared_length = _count_shared(words, mention)
    if shared_length and mention.kind in _KEYED and mention.group[0] - words.start <= limits.lead_chars:
        # `Box 3—Amount paid`: the key names what its title says once more.
        return True
    whole_length = max(mention.end, mention.group[1]) - min(mention.start, mention.group[0])
    in_link = shared_length >= limits.mention_share * (mention.end - mention.start)
    # Of a list, each item may be a mention while the link covers them all.
    return in_link and max(shared_length, min(whole_length, words.end - words.start)) >= limits.link_share * (
        words.end - words.start
    )


def _count_shared(words: LinkedWords, mention: Mention) -> int:
    return max(0, min(words.end, mention.end) - max(words.start, mention.start))


def _is_named(words: LinkedWords, mentions: Iterable[Mention]) -> bool:
    return any(covers(words, mention) for mention in mentions)


def _is_touched(words: LinkedWords, mentions: Iterable[Mention]) -> bool:
    return any(_count_shared(words, mention) for mention in mentions)


def _fold_address(address: str) -> str:
    return address.casefold().removeprefix("www.")


def _says_something(words: str) -> bool:
    """Decide whether words name a place: a page's number, or a word like `later`, does not."""
    return not load_navigation().nameless.matches(words.strip())
