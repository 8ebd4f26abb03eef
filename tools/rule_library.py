"""Texts of a library that rules read, and the documents in which a rule fires."""

from __future__ import annotations

import hashlib
import operator
import re
import signal
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import polars as pl

from taxkg_assets.retrieval.answering.definitions import mark_term
from taxkg_assets.rules.anchored_search import compile_search
from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.sentences import find_sentences
from tools.rule_labels import (
    split_at,
)

LONG_CHARACTERS = 500
INDEX_TERMS = 300
"""Terms of printed indexes that are marked for rules on definitions."""
RULE_SECONDS = 4.0
"""Processor time for one rule; what it has found by then is counted."""
KINDS = {
    "terms": {"definitions.headings", "definitions.openings", "definitions.statements"},
    "lines": {"verification.transfers"},
    "paths": {"ranking.navigation"},
}
"""Lists whose patterns read no texts as they are, by what they read instead: see `find_kind`."""
LINE_MARK = "<>"
"""What replaces a line or a box, with the form that it is of, in rules on where amounts go."""
_LINE = re.compile(
    r"(?:\b(?:Form|Schedule) [\w-]+(?: \([^)]{1,20}\))?, (?:Part [IVX]+, )?)?\b(?:Line|line|Box|box) \d{1,2}[a-z]?\b"
    r"(?:,? (?:of|on|from) (?:the |your )?(?:Form|Schedule) [\w-]+)?"
)
FRAGMENT_FAMILIES = {"relations", "polarity", "predicates", "references"}
"""Families whose patterns also read the text before, after and around a mention, which is written as `@`."""
COLUMNS = {
    "elements": ("text",),
    "anchors": ("heading",),
    "fields": ("label", "spoken", "formula"),
    "faces": ("label",),
    "lines": ("label",),
    "tables": ("title",),
    "documents": ("title", "irs_name"),
}
"""Texts of documents: columns by table."""


@dataclass(frozen=True)
class Text:
    """One distinct text.

    Attributes:
        text: The text, searched by itself.
        small: The same in lower case, which rules out most rules.
        documents: Bit set of the documents that contain it.
        is_fragment: Whether it is the text before, after or around a mention, which is written as `@`.
    """

    text: str
    small: str
    documents: int
    is_fragment: bool = False


@dataclass(frozen=True)
class Library:
    """Distinct texts of all documents, those of many documents first.

    Attributes:
        names: Documents in the order of their bits.
        texts: The texts.
    """

    names: Sequence[str]
    texts: Sequence[Text]

    @cached_property
    def _small(self) -> pl.Series:
        return pl.Series([text.small for text in self.texts], dtype=pl.String)

    def _find_candidates(self, rule: Rule) -> Iterable[int]:
        """Find the texts that contain a needed word of each group; all texts where a rule needs no word for sure."""
        if not rule.literal_groups:
            return range(len(self.texts))
        contained = [self._small.str.contains_any(list(words)) for words in rule.literal_groups]
        return reduce(operator.and_, contained).arg_true().to_list()

    def read_as(self, kind: str, terms: Sequence[str]) -> Library:
        """Return the texts as the rules of a list read them.

        Args:
            kind: What replaces what, as `find_kind` names it; empty for the texts as they are.
            terms: Terms that are marked.
        """
        if not kind:
            return self
        marked: dict[str, int] = defaultdict(int)
        for text in self.texts:
            if not text.is_fragment:
                for piece in _read_as(kind, text.text, terms):
                    marked[piece] |= text.documents
        return Library(self.names, [Text(text, text.lower(), documents) for text, documents in marked.items()])

    def find_documents(self, rule: Rule, *, with_fragments: bool) -> set[str]:
        """Find the documents in which a rule fires.

        Args:
            rule: The rule.
            with_fragments: Whether it also reads the text around mentions.
        """
        search, found = compile_search(rule.pattern), 0
        with suppress(TimeoutError), limit_seconds(RULE_SECONDS):
            for ix in self._find_candidates(rule):
                text = self.texts[ix]
                # A document in which the rule has fired needs no second text.
                is_new = text.documents & ~found and (with_fragments or not text.is_fragment)
                if is_new and search(text.text) is not None:
                    found |= text.documents
        return {name for ix, name in enumerate(self.names) if found >> ix & 1}


@contextmanager
def limit_seconds(seconds: float) -> Iterator[None]:
    """Interrupt what runs too long, also in the middle of a search.

    Args:
        seconds: Processor time.

    Raises:
        TimeoutError: The time is over.
    """

    def stop(number: int, frame: Any) -> None:
        raise TimeoutError(f"{seconds} s of processor time are over")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def mark_terms(text: str, terms: Iterable[str]) -> list[str]:
    """Return a text with `@` in place of a term, once for each term that it contains.

    Args:
        text: The text.
        terms: The terms.
    """
    small = text.lower()
    return [mark_term(text, term) for term in terms if term.lower() in small]


def read_rows_as(kind: str, rows: Sequence[Sequence[str]], terms: Sequence[str]) -> Sequence[Sequence[str]]:
    """Return rows of texts as the rules of a list read them.

    Args:
        kind: What replaces what, as `find_kind` names it; empty for the texts as they are.
        rows: Texts of each row.
        terms: Terms, such as those that questions ask the meaning of.
    """
    return [[piece for text in row for piece in _read_as(kind, text, terms)] for row in rows] if kind else rows


def find_kind(group: str) -> str:
    """Find how the rules of a list read texts.

    Args:
        group: The list, as `family.group`.

    Returns:
        `terms` for texts with `@` in place of a term, `lines` for texts with `<>` in place of lines and boxes,
        `paths` for headings below others; empty for texts as they are.
    """
    return next((kind for kind, groups in KINDS.items() if group in groups), "")


def _read_as(kind: str, text: str, terms: Iterable[str]) -> Sequence[str]:
    if kind == "terms":
        return mark_terms(text, terms)
    if kind == "paths":
        return [f"> {text}"]
    marked = _LINE.sub(LINE_MARK, text)
    return [marked] if marked.count(LINE_MARK) > 1 else []


def draw_index_terms(home: Path, *, count: int = INDEX_TERMS) -> list[str]:
    """Draw terms of the printed indexes of a home, which are what its documents explain.

    Args:
        home: Folder of a built home.
        count: Number of terms.

    Returns:
        Terms without subterms, those with the smallest digests.
    """
    nodes = pl.read_delta(str(home / "tables" / "nodes"), columns=["level", "text"])
    names = nodes.filter(pl.col("level") == "concept", ~pl.col("text").str.contains(r"[:,(\d]"))["text"].unique()
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())[:count]


def read_library(home: Path) -> Library:
    """Read the texts of every document of a home from its stored tables.

    Args:
        home: Folder of a built home.

    Returns:
        Elements, headings, labels and spoken words of fields, titles and cells of tables, and texts around mentions.
    """
    bits: dict[str, int] = {}
    texts: dict[tuple[str, bool], int] = defaultdict(int)

    def add(document: str, text: str, *, is_fragment: bool = False) -> None:
        for piece in split_long(text):
            texts[piece, is_fragment] |= 1 << bits.setdefault(document, len(bits))

    for table, names in COLUMNS.items():
        frame = pl.read_delta(str(home / "tables" / table), columns=["document_id", *names])
        for name in names:
            for document, text in frame.select("document_id", name).drop_nulls().unique().rows():
                add(document, text)
    cells = pl.read_delta(str(home / "tables" / "tables"), columns=["document_id", "cells"]).explode("cells")
    for document, cell in cells.drop_nulls().rows():
        for text in {part for part in cell.values() if isinstance(part, str)}:
            add(document, text)
    for document, text in _read_fragments(home):
        add(document, text, is_fragment=True)
    found = [Text(text, text.lower(), mask, is_fragment) for (text, is_fragment), mask in texts.items() if text]
    return Library(list(bits), sorted(found, key=lambda text: (-text.documents.bit_count(), text.text)))


def split_long(text: str) -> list[str]:
    """Split a long text into its sentences; patterns for headings and labels are slow on long texts.

    Args:
        text: The text.

    Returns:
        The text itself if it has at most `LONG_CHARACTERS`, else its sentences, cut to that length.
    """
    if len(text) <= LONG_CHARACTERS:
        return [text]
    return [text[start : min(end, start + LONG_CHARACTERS)] for start, end in find_sentences(text)]


def _read_fragments(home: Path) -> Iterator[tuple[str, str]]:
    names = ["document_id", "evidence", "start", "mention_start", "mention_end"]
    mentions = pl.read_delta(str(home / "tables" / "references"), columns=names).unique()
    for document, sentence, start, first, last in mentions.iter_rows():
        for part in split_at(sentence, first - start, last - start):
            yield document, part
