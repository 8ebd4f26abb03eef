"""Broken PDFs made from valid ones: each mutation is a pure function of bytes and a seeded generator.

Half of the originals are mutated as they are, half after their streams were unpacked, so that a mutation reaches what
compression hides.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymupdf

_MUPDF: Any = pymupdf
MOST_PAGES = 2
_OBJECT = re.compile(rb"(?<=\n)(\d+) 0 obj\b(.*?)\bendobj", re.DOTALL)
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_NUMBER = re.compile(rb"(?<=[ \[\n])-?\d+(?:\.\d+)?(?=[ \]\n])")
_NAME = re.compile(rb"/[A-Z][A-Za-z0-9]{2,}")
_BOX = re.compile(rb"/(?:Media|Crop)Box\s*\[[^\]]*\]")
_FONT = re.compile(rb"/(?:BaseFont|Subtype|Encoding|FontFile2?|FontDescriptor|ToUnicode|Widths|FirstChar)\b")
_EXTREMES = (b"-1", b"0", b"1e38", b"2147483648", b"-2147483649", b"99999999999999999999", b"0.0000000001", b"nan")
_SIZES = (b"[0 0 0 0]", b"[0 0 1e9 1e9]", b"[612 792 0 0]", b"[-1e30 0 1e30 nan]", b"[0 0]", b"[/A /B 0 1]")
_LINK = re.compile(rb"/(?:Kids\s*\[[^\]]*\]|Parent \d+ 0 R|Pages \d+ 0 R|XObject\s*<<[^>]*>>|Annots[^/]*)")

Mutation = Callable[[bytes, random.Random], bytes]


def flip_bytes(data: bytes, rng: random.Random) -> bytes:
    """A few bytes are others."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 4, 32, 256))):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)


def truncate(data: bytes, rng: random.Random) -> bytes:
    """The end is missing, or the beginning, or a piece between."""
    first, last = sorted(rng.randrange(len(data)) for _ in range(2))
    return rng.choice((data[:last], data[first:], data[:first] + data[last:]))


def repeat_piece(data: bytes, rng: random.Random) -> bytes:
    """A piece is there many times."""
    first = rng.randrange(len(data))
    piece = data[first : first + rng.choice((16, 512, 8192))]
    return data[:first] + piece * rng.choice((2, 50, 500)) + data[first:]


def swap_objects(data: bytes, rng: random.Random) -> bytes:
    """Objects bear the numbers of others."""
    found = list(_OBJECT.finditer(data))
    if len(found) < 2:
        return flip_bytes(data, rng)
    for _ in range(rng.choice((1, 3, 10))):
        one, other = rng.sample(found, 2)
        data = _replaced(data, {one: other[0], other: one[0]})
        found = list(_OBJECT.finditer(data))
        if len(found) < 2:
            break
    return data


def swap_names(data: bytes, rng: random.Random) -> bytes:
    """Keys and types are others."""
    found = list(_NAME.finditer(data))
    if len(found) < 2:
        return flip_bytes(data, rng)
    chosen = rng.sample(found, min(len(found), rng.choice((2, 8, 40))))
    names = [match[0] for match in chosen]
    rng.shuffle(names)
    return _replaced(data, dict(zip(chosen, names, strict=True)))


def extreme_numbers(data: bytes, rng: random.Random) -> bytes:
    """Numbers, of coordinates and sizes as of objects, are huge, negative or no numbers."""
    found = list(_NUMBER.finditer(data))
    chosen = rng.sample(found, min(len(found), rng.choice((1, 10, 100))))
    return _replaced(data, {match: rng.choice(_EXTREMES) for match in chosen})


def unfold(data: bytes, rng: random.Random) -> bytes:
    """A stream of kilobytes unfolds into megabytes of text, or of nothing."""
    text = rng.choice((b"1 0 0 1 72 700 Tm (word) Tj\n", b"q ", b"0 0 m 9 9 l S\n", b"\0", b"[(a) -9 (b)] TJ "))
    packed = zlib.compress(b"BT /F1 9 Tf\n" + text * rng.choice((20_000, 200_000, 2_000_000)), 9)
    if rng.random() < 0.3:
        packed = zlib.compress(packed, 9)
        kind = b"[/FlateDecode /FlateDecode]"
    else:
        kind = b"/FlateDecode"
    body = b"<< /Length %d /Filter %s >>\nstream\n%s\nendstream" % (len(packed), kind, packed)
    return _with_object(data, body, rng, having=b"stream")


def nest_arrays(data: bytes, rng: random.Random) -> bytes:
    """Brackets within brackets, many thousands deep."""
    deep = rng.choice((100, 10_000, 300_000))
    opened, closed = rng.choice(((b"[", b"]"), (b"<</A ", b">>"), (b"(", b")"), (b"q ", b"Q ")))
    return _with_object(data, opened * deep + closed * rng.choice((0, deep)), rng, having=b"")


def page_boxes(data: bytes, rng: random.Random) -> bytes:
    """Pages of no size, of the size of a country, turned inside out."""
    return _BOX.sub(b"/MediaBox " + rng.choice(_SIZES), data)


def break_fonts(data: bytes, rng: random.Random) -> bytes:
    """Fonts without program, encoding, widths, or of a kind that does not exist."""
    found = list(_FONT.finditer(data))
    chosen = rng.sample(found, min(len(found), rng.choice((1, 3, 12))))
    return _replaced(data, {match: rng.choice((b"/Nothing", b"/BaseFont", b"/Encoding 3 0 R /X")) for match in chosen})


def encrypt(data: bytes, rng: random.Random) -> bytes:
    """Asks for a password, or says that it is encrypted and is not."""
    if rng.random() < 0.5:
        return data.replace(b"trailer\n<<", b"trailer\n<</Encrypt %d 0 R " % rng.randrange(1, 40))
    with _MUPDF.open(stream=data, filetype="pdf") as document:
        user = rng.choice(("", "secret"))
        made: bytes = document.tobytes(encryption=rng.randrange(2, 6), user_pw=user, owner_pw="owner")
    return flip_bytes(made, rng) if rng.random() < 0.5 else made


def loop_pages(data: bytes, rng: random.Random) -> bytes:
    """The tree of pages leads back to itself, or to what is no page; forms draw themselves."""
    numbers = [match[1] for match in _OBJECT.finditer(data)] or [b"1"]
    found = list(_LINK.finditer(data))
    chosen = rng.sample(found, min(len(found), rng.choice((1, 2, 8))))
    new = {}
    for match in chosen:
        key, to = match[0].split(b" ")[0].split(b"[")[0].split(b"<")[0], rng.choice(numbers)
        new[match] = {
            b"/Kids": b"/Kids [" + b" ".join(b"%s 0 R" % rng.choice(numbers) for _ in range(4)) + b"]",
            b"/XObject": b"/XObject << /Fm0 %s 0 R >>" % to,
            b"/Annots": b"/Annots [%s 0 R]\n" % to,
        }.get(key, key + b" %s 0 R" % to)
    return _replaced(data, new)


def loop_xref(data: bytes, rng: random.Random) -> bytes:
    """The table of objects points to itself, nowhere, or to itself over another one."""
    at = data.rfind(b"xref", 0, max(0, data.rfind(b"startxref")))
    target = rng.choice((at, 0, len(data), 2**40, data.rfind(b"startxref")))
    if rng.random() < 0.5:
        return data.replace(b"trailer\n<<", b"trailer\n<</Prev %d /XRefStm %d " % (target, at))
    return re.sub(rb"startxref\s+\d+", b"startxref\n%d" % target, data)


MUTATIONS: dict[str, Mutation] = {
    made.__name__: made
    for made in (
        *(flip_bytes, truncate, repeat_piece, swap_objects, swap_names, extreme_numbers, unfold, nest_arrays),
        *(page_boxes, break_fonts, encrypt, loop_pages, loop_xref),
    )
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One broken document, and how it came about."""

    name: str
    original: str
    mutations: tuple[str, ...]
    data: bytes


def load_originals(folders: Sequence[Path], *, seed: int) -> dict[str, bytes]:
    """Valid documents by name, cut to a few pages each; an unpacked one next to each."""
    rng = random.Random(seed)
    found: dict[str, bytes] = {}
    for path in sorted(path for folder in folders for path in folder.glob("*.pdf")):
        with _MUPDF.open(path) as document:
            first = rng.randrange(max(1, document.page_count - MOST_PAGES + 1))
            document.select(list(range(first, min(first + MOST_PAGES, document.page_count))))
            found[path.stem] = document.tobytes(garbage=3)
            found[f"{path.stem}, unpacked"] = document.tobytes(garbage=3, expand=255, use_objstms=0)
    return found


def build_mutants(originals: dict[str, bytes], *, cases: int, seed: int) -> Iterator[Mutant]:
    """N mutants, by turns of each kind; one in four is mutated twice. The same seed makes the same ones,
    encrypted ones aside, whose keys are drawn again."""
    kinds, names = list(MUTATIONS), list(originals)
    for case in range(cases):
        rng = random.Random(f"{seed}:{case}")
        chosen = [kinds[case % len(kinds)]] + ([rng.choice(kinds)] if rng.random() < 0.25 else [])
        original = rng.choice(names)
        data = originals[original]
        for kind in chosen:
            data = _mutated(data, kind, rng)
        yield Mutant(f"mutant-{case:05d}", original, tuple(chosen), data)


def _mutated(data: bytes, kind: str, rng: random.Random) -> bytes:
    """The mutated bytes; what is too broken for a second mutation that needs a document gets flipped bytes."""
    try:
        return MUTATIONS[kind](data, rng)
    except (RuntimeError, ValueError, IndexError, _MUPDF.mupdf.FzErrorBase):
        return flip_bytes(data, rng) if data else data


def _replaced(data: bytes, new: dict[re.Match[bytes], bytes]) -> bytes:
    """The bytes with the matched pieces replaced; pieces that overlap another one stay."""
    out, at = [], 0
    for match in sorted(new, key=lambda match: match.start()):
        if match.start() >= at:
            out += [data[at : match.start()], new[match]]
            at = match.end()
    return b"".join([*out, data[at:]])


def _with_object(data: bytes, body: bytes, rng: random.Random, *, having: bytes) -> bytes:
    """The bytes with the body of one object replaced."""
    found = [match for match in _OBJECT.finditer(data) if having in match[2]]
    if not found:
        return data + b"\n9 0 obj\n" + body + b"\nendobj\n"
    match = rng.choice(found)
    return _replaced(data, {match: b"%s 0 obj\n%s\nendobj" % (match[1], body)})
