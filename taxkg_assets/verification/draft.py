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
_MEMO_LINE = re.compile(r"^\s{0,3}\**(?P<label>To|From|Cc|Bcc|Date|Re|Subject|TO|FROM|CC|BCC|DATE|RE|SUBJECT)\**\s*:")
_TITLE = re.compile(r"^[\s*_]*(?:[A-Z]{4,}(?:[ -][A-Z]+){0,5}|(?:[A-Za-z]+ ){0,3}(?i:memo|memorandum))[\s*_:]*$")
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
    """Consecutive lines of a draft that belong together.

    Attributes:
        start: First character in the draft.
        end: Exclusive end offset.
        kind: `text`, `item`, `heading`, `quote` or `row`.
    """

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
    block_start, block_kind = 0, ""  # the block that is being read; no kind for none
    is_code, line_start, head_end = False, 0, _find_memo_end(text)
    for line in text.splitlines(keepends=True):
        is_fence = _FENCE.match(line) is not None
        if is_fence:
            is_code = not is_code
        line_kind = "" if is_code or is_fence else _kind_of(line)
        if line_kind == "text" and line_start < head_end:
            line_kind = "memo"
        continues_text = line_kind == "text" and block_kind in ("text", "item")
        continues_block = line_kind in ("quote", "memo") and block_kind == line_kind
        if not continues_text and not continues_block:
            if block_kind:
                yield _Block(block_start, line_start, block_kind)
            block_start, block_kind = line_start, line_kind
        line_start += len(line)
    if block_kind:
        yield _Block(block_start, line_start, block_kind)


def _find_memo_end(text: str) -> int:
    """Return where the head of a memo ends, 0 for a draft without one.

    It is the first lines of a draft, headings and a line such as MEMORANDUM aside: two or more of them with different
    labels, such as To and Date. Two lines From and To alone may be a statement of where an amount goes.
    """
    labels: set[str] = set()
    offset = end = 0
    for line in text.splitlines(keepends=True):
        is_title = not text[:offset].strip() and _TITLE.match(line) is not None
        offset += len(line)
        if match := _MEMO_LINE.match(line):
            labels.add(match["label"].casefold())
            end = offset
        elif line.strip() and not is_title and not _HEADING.match(line):
            break
    return end if len(labels) > 1 and labels - {"from", "to"} else 0


def _kind_of(line: str) -> str:
    """Return the kind of block that a line belongs to; empty for a line between blocks."""
    if not line.strip() or _TABLE_RULE.match(line):
        return ""
    for kind, pattern in (("heading", _HEADING), ("item", _ITEM), ("quote", _QUOTE_LINE)):
        if pattern.match(line):
            return kind
    return "row" if line.lstrip().startswith("|") else "text"


def _find_statements(text: str, blocks: list[_Block]) -> Iterator[Statement]:
    """Find the sentences, list items and table rows of a draft, with the headings above them and their lead-in."""
    max_chars = load_verification().limits.statement_characters
    headings: dict[int, str] = {}
    lead_in = ""
    for block in blocks:
        block_text = text[block.start : block.end]
        if block.kind == "heading":
            level = _count_level(block_text)
            headings = {depth: words for depth, words in headings.items() if depth < level}
            headings[level] = _strip_markup(_HEADING.sub(r"\g<text>", block_text.strip()))
            lead_in = ""
            continue
        if block.kind in ("quote", "memo"):
            continue
        path = tuple(headings[level] for level in sorted(headings))
        mark = _ITEM.match(block_text)
        body = block_text[mark.end() :] if mark else block_text
        body_start = block.end - len(body)
        ranges = [(0, len(body.rstrip()))] if block.kind == "row" else find_sentences(body)
        for start, end in ranges:
            words = _strip_markup(body[start:end])
            if _WORD.search(words):
                opening = lead_in if block.kind == "item" else ""
                yield Statement(words[:max_chars], body_start + start, body_start + end, path, opening)
        if block.kind == "text":
            last_sentence = _strip_markup(body[slice(*ranges[-1])]) if ranges else ""
            lead_in = last_sentence if last_sentence.endswith(":") else ""


def _count_level(heading: str) -> int:
    """Return the level of a heading: the number of its `#`."""
    unindented = heading.lstrip()
    return len(unindented) - len(unindented.lstrip("#"))


def _strip_markup(text: str) -> str:
    """Return words without Markdown and line breaks."""
    plain = _MARKUP.sub(lambda match: match["text"] or "", text)
    return " ".join(plain.replace("|", " ").split())


def _find_quotations(text: str, blocks: list[_Block], statements: list[Statement]) -> Iterator[Quotation]:
    """Find the quoted blocks of a draft, and the text in quotation marks in its other blocks."""
    min_words = load_verification().limits.quotation_words
    starts = [statement.start for statement in statements]

    def last_statement(offset: int) -> Statement | None:
        """Return the last statement that begins at an offset or before it."""
        count = bisect_right(starts, offset)
        return statements[count - 1] if count else None

    for block in blocks:
        if block.kind == "quote":
            lines = [_QUOTE_LINE.sub("", line) for line in text[block.start : block.end].splitlines()]
            words = " ".join(lines).strip().strip('“”"')
            if len(_WORD.findall(words)) >= min_words:
                before = last_statement(block.start)
                opens_quote = before is not None and before.text.endswith(":")
                yield Quotation(words, block.start, block.end, before.text if before and opens_quote else "")
            continue
        for match in _QUOTED.finditer(text, block.start, block.end):
            marks = "curly" if match["curly"] is not None else "plain"
            if len(_WORD.findall(match[marks])) < min_words:
                continue
            start, end = match.span(marks)
            sentence = last_statement(start)
            is_inside = sentence is not None and start < sentence.end
            around = text[sentence.start : start] + text[end : sentence.end] if sentence and is_inside else ""
            yield Quotation(text[start:end], start, end, around)
