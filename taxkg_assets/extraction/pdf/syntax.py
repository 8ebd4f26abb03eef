"""The text of a PDF object to plain values, for links, names and bookmarks.

PyMuPDF returns an object as text faster than as values. A file may be hostile: depth and length are limited, and an
object that cannot be parsed is None.
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
        text: Text of a PDF object, such as `<</S/GoTo/D(p5)>>`.

    Returns:
        The object, or None.
    """
    if len(text) > MOST_CHARS:
        return None
    results: list[Value] = []
    stack: list[tuple[str, list[Value]]] = [("", results)]
    char_ix = 0
    while match := _TOKEN.match(text, char_ix):
        char_ix = match.end()
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
            value, char_ix = _read_string(text, char_ix)
            stack[-1][1].append(value)
        elif kind == "plain":
            stack[-1][1].append(match["plain"].encode("latin-1", "replace"))
        elif kind == "ref":
            stack[-1][1].append(Ref(int(match["ref"].split(None, 1)[0][:9])))
        else:
            stack[-1][1].append(_read_plain(match))
        if len(stack) == 1:
            return results[0]
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


def _read_string(text: str, char_ix: int) -> tuple[bytes, int]:
    """Read a string from the character after its first parenthesis; return its bytes and where the string ends."""
    parts: list[str] = []
    depth = 1
    while match := _STRING_PART.match(text, char_ix):
        char_ix = match.end()
        part = match[0]
        if part == "(":
            depth += 1
        elif part == ")":
            depth -= 1
            if not depth:
                break
        elif part[0] == "\\":
            escape = part[1:]
            part = chr(int(escape, 8) & 0xFF) if escape[0] in "01234567" else _SIGNS.get(escape, escape.strip("\r\n"))
        parts.append(part)
    return "".join(parts).encode("latin-1", "replace"), char_ix


def find_words(value: Value, *, max_chars: int) -> str:
    """Decode a PDF string or name to text, cut to `max_chars` characters.

    Strings are UTF-16 or UTF-8 with a byte order mark, or else in PDFDocEncoding. Other objects yield an empty string.

    Args:
        value: Value as `read_value` returns it.
        max_chars: Largest number of characters.

    Returns:
        The text.
    """
    if isinstance(value, str):
        return value[1 : max_chars + 1]
    if not isinstance(value, bytes):
        return ""
    if value[:2] == b"\xfe\xff":
        return value[2 : 2 * max_chars + 2].decode("utf-16-be", "replace")
    if value[:2] == b"\xff\xfe":
        return value[2 : 2 * max_chars + 2].decode("utf-16-le", "replace")
    if value[:3] == b"\xef\xbb\xbf":
        return value[3 : 4 * max_chars + 3].decode("utf-8", "replace")[:max_chars]
    return value[:max_chars].decode("latin-1").translate(_DOC_SIGNS)
