"""A draft in statements and quotations, each with its place: Markdown and plain text, line by line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.rules.sentences import find_sentences

_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(?P<text>.*?)\s*#*\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+•▪◦]|\d{1,3}[.)]|[a-z][.)])\s+")
_QUOTE_LINE = re.compile(r"^\s{0,3}>\s?")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-{3,}")
_MEMO_LINE = re.compile(r"^\s{0,3}\**(?:To|From|Cc|Bcc|Date|Re|Subject|TO|FROM|CC|BCC|DATE|RE|SUBJECT)\**\s*:")
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")
_QUOTED = re.compile(r"“(?P<curly>[^“”]{8,2000}?)”|(?<![\w\"])\"(?P<plain>[^\"]{8,2000}?)\"(?!\w)")
_MARKUP = re.compile(r"\*\*|__|`|!?\[(?P<text>[^\]]*)\]\([^)]*\)|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, list item or table row of a draft.

    Attributes:
        text: Its words without markup.
        start: First character in the draft.
        end: Exclusive end offset.
        headings: Headings above it.
        lead_in: Sentence that opens its list; empty for none.
    """

    text: str
    start: int
    end: int
    headings: tuple[str, ...] = ()
    lead_in: str = ""


@dataclass(frozen=True, slots=True)
class Quotation:
    """Text in quotation marks or in a quoted block of a draft.

    Attributes:
        text: The text without quotation marks.
        start: First character in the draft.
        end: Exclusive end offset.
        around: Sentence that contains the quotation.
    """

    text: str
    start: int
    end: int
    around: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft split into statements and quotations.

    Attributes:
        text: The whole text.
        statements: Statements in their order.
        quotations: Quotations in their order.
    """

    text: str
    statements: tuple[Statement, ...]
    quotations: tuple[Quotation, ...]


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    kind: str


def read_draft(text: str) -> Draft:
    """Split a draft into statements and quotations.

    Args:
        text: Plain text or Markdown.

    Returns:
        The draft.
    """
    blocks = list(_find_blocks(text))
    statements = list(_find_statements(text, blocks))
    quotations = sorted(_find_quotations(text, blocks, statements), key=lambda quote: quote.start)
    return Draft(text, tuple(statements), tuple(quotations))


def _find_blocks(text: str) -> Iterator[_Block]:
    """Find paragraphs, list items, headings, quoted blocks, table rows, heads of memos; fenced code is left out."""
    start, kind, is_code, place = 0, "", False, 0
    for line in text.splitlines(keepends=True):
        own = _kind_of(line)
        if _FENCE.match(line):
            is_code = not is_code
            own = ""
        elif is_code:
            own = ""
        elif own == "memo" and kind in ("text", "item"):
            own = "text"
        is_continued = (own == "text" and kind in ("text", "item")) or (own in ("quote", "memo") and kind == own)
        if not is_continued:
            if kind:
                yield _Block(start, place, kind)
            start, kind = place, own
        place += len(line)
    if kind:
        yield _Block(start, place, kind)


def _kind_of(line: str) -> str:
    if not line.strip() or _TABLE_RULE.match(line):
        return ""
    for kind, pattern in (
        ("heading", _HEADING),
        ("item", _ITEM),
        ("quote", _QUOTE_LINE),
        ("memo", _MEMO_LINE),
    ):
        if pattern.match(line):
            return kind
    return "row" if line.lstrip().startswith("|") else "text"


def _find_statements(text: str, blocks: list[_Block]) -> Iterator[Statement]:
    headings: dict[int, str] = {}
    lead_in = ""
    for block in blocks:
        own = text[block.start : block.end]
        if block.kind == "heading":
            level = len(own) - len(own.lstrip().lstrip("#")) - (len(own) - len(own.lstrip()))
            headings = {depth: words for depth, words in headings.items() if depth < level}
            headings[level] = _strip_markup(_HEADING.sub(r"\g<text>", own.strip()))
            lead_in = ""
            continue
        is_memo_head = block.kind == "memo" and own.strip().count("\n")
        if block.kind == "quote" or is_memo_head:
            continue
        path = tuple(headings[level] for level in sorted(headings))
        offset = block.start + (len(found[0]) if (found := _ITEM.match(own)) else 0)
        body = text[offset : block.end]
        ranges = [(0, len(body.rstrip()))] if block.kind == "row" else find_sentences(body)
        for start, end in ranges:
            words = _strip_markup(body[start:end])
            if _WORD.search(words):
                opened = lead_in if block.kind == "item" else ""
                most = load_verification().limits.statement_characters
                yield Statement(words[:most], offset + start, offset + end, path, opened)
        if block.kind in ("text", "memo"):
            last = _strip_markup(body[ranges[-1][0] : ranges[-1][1]]) if ranges else ""
            lead_in = last if last.endswith(":") else ""


def _strip_markup(text: str) -> str:
    plain = _MARKUP.sub(lambda match: match["text"] or "", text)
    return " ".join(plain.replace("|", " ").split())


def _find_quotations(text: str, blocks: list[_Block], statements: list[Statement]) -> Iterator[Quotation]:
    least = load_verification().limits.quotation_words
    starts = [statement.start for statement in statements]
    for block in blocks:
        if block.kind == "quote":
            lines = [_QUOTE_LINE.sub("", line) for line in text[block.start : block.end].splitlines()]
            words = " ".join(lines).strip().strip('“”"')
            if len(_WORD.findall(words)) >= least:
                opened = statements[number - 1] if (number := bisect_right(starts, block.start)) else None
                around = opened.text if opened is not None and opened.text.endswith(":") else ""
                yield Quotation(words, block.start, block.end, around)
            continue
        for match in _QUOTED.finditer(text, block.start, block.end):
            group = "curly" if match["curly"] is not None else "plain"
            if len(_WORD.findall(match[group])) >= least:
                start, end = match.span(group)
                own = statements[number - 1] if (number := bisect_right(starts, start)) else None
                around = text[own.start : start] + text[end : own.end] if own is not None and start < own.end else ""
                yield Quotation(text[start:end], start, end, around)
