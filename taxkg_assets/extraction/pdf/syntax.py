"""The text of a PDF object to plain values: what a file states about its links, names and bookmarks.

PyMuPDF prints an object as text faster than it resolves it. The text comes from the file, so nothing in it is trusted:
depth and length are bounded, and what cannot be read is None.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Value = object
"""None, bool, int, float, str (a name, with its slash), bytes (a string), Ref, list or dict of values by name."""

MOST_CHARS = 2_000_000
_MOST_DEPTH = 32
_TOKEN = re.compile(
    r"\s*(?:(?P<ref>\d+\s+\d+\s+R(?![\w.]))|(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))|(?P<name>/[^\s()<>\[\]{}/%]*)"
    r"|\((?P<plain>[^()\\]*)\)|(?P<string>\()|(?P<open><<|\[)|(?P<close>>>|\])|<(?P<hex>[0-9A-Fa-f\s]*)>|(?P<word>true|false|null))"
)
_STRING_PART = re.compile(r"[^()\\]+|\\(?:[0-7]{1,3}|\r\n|.)|[()]", re.DOTALL)
_SIGNS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_WORDS = {"true": True, "false": False, "null": None}
# Where the encoding of PDF strings differs from Latin-1.
_DOC_SIGNS = dict(zip(range(0x80, 0x9F), "•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž", strict=True)) | {0xA0: "€"}


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to the object of this number."""

    number: int


def read_value(text: str) -> Value:
    """Parse one PDF object; None if it is malformed, truncated, nested too deeply or too long.

    Args:
        text: Text to test.

    Returns:
        The object, or None.
    """
    if len(text) > MOST_CHARS:
        return None
    holder: list[Value] = []
    stack: list[tuple[str, list[Value]]] = [("", holder)]
    at = 0
    while match := _TOKEN.match(text, at):
        at = match.end()
        kind = match.lastgroup
        if kind == "open":
            if len(stack) > _MOST_DEPTH:
                return None
            stack.append((match["open"], []))
        elif kind == "close":
            bracket, items = stack.pop()
            if bracket != ("<<" if match["close"] == ">>" else "["):
                return None
            stack[-1][1].append(_dictionary(items) if bracket == "<<" else items)
        elif kind == "string":
            value, at = _read_string(text, at)
            stack[-1][1].append(value)
        elif kind == "plain":
            stack[-1][1].append(match["plain"].encode("latin-1", "replace"))
        elif kind == "ref":
            stack[-1][1].append(Ref(int(match["ref"].split(None, 1)[0][:9])))
        else:
            stack[-1][1].append(_read_plain(match))
        if len(stack) == 1:
            return holder[0]
    return None


def _read_plain(match: re.Match[str]) -> Value:
    if match["number"] is not None:
        number = match["number"][:18]
        return float(number) if "." in number else int(number)
    if match["name"] is not None:
        return match["name"]
    if match["hex"] is not None:
        digits = "".join(match["hex"].split())
        return bytes.fromhex(digits + "0" * (len(digits) % 2))
    return _WORDS[match["word"]]


def _dictionary(items: list[Value]) -> dict[str, Value]:
    keys = items[::2]
    return {key: value for key, value in zip(keys, items[1::2], strict=False) if isinstance(key, str)}


def _read_string(text: str, at: int) -> tuple[bytes, int]:
    """Read a string from behind its first parenthesis; gives its bytes and where it ends."""
    parts: list[str] = []
    depth = 1
    while match := _STRING_PART.match(text, at):
        at = match.end()
        part = match[0]
        if part == "(":
            depth += 1
        elif part == ")":
            depth -= 1
            if not depth:
                break
        elif part[0] == "\\":
            rest = part[1:]
            part = chr(int(rest, 8) & 0xFF) if rest[0] in "01234567" else _SIGNS.get(rest, rest.strip("\r\n"))
        parts.append(part)
    return "".join(parts).encode("latin-1", "replace"), at


def find_words(value: Value, *, most: int) -> str:
    """Decode a PDF string or name to text, truncated to `most` characters.

    Strings are UTF-16 or UTF-8 with a byte order mark, else in PDFDocEncoding. Other objects yield an empty string.

    Args:
        value: Object of a PDF.
        most: Largest number of characters.

    Returns:
        The text.
    """
    if isinstance(value, str):
        return value[1 : most + 1]
    if not isinstance(value, bytes):
        return ""
    if value[:2] == b"\xfe\xff":
        return value[2 : 2 * most + 2].decode("utf-16-be", "replace")
    if value[:2] == b"\xff\xfe":
        return value[2 : 2 * most + 2].decode("utf-16-le", "replace")
    if value[:3] == b"\xef\xbb\xbf":
        return value[3 : 4 * most + 3].decode("utf-8", "replace")[:most]
    return value[:most].decode("latin-1").translate(_DOC_SIGNS)
