"""Comparison of two wordings of one passage: which words changed, and the nature of the change.

What counts as no change is decided here: line breaks, hyphenation, leaders to entry fields, bullets, quotation marks.
What changes every year without meaning anything (years rolled on, page numbers, edition stamps) is separated from
substance. Which passages belong together is decided in `pairing`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from taxkg_assets.rules.models.revisions import load_revisions

ROUTINE = ("years", "edition", "pages", "editorial", "moved")
"""Natures that an operations team reads last."""

_SAME = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "−": "-", "\u00a0": " "})
_HYPHENS = re.compile(r"(?<=[^\W\d])[-‐‑\u00ad]+(?=\w)|[\u00ad]")
_DASHES = re.compile(r"[‐‑–—]")
_BARE_FRACTION = re.compile(r"^([$]?)\.(?=\d)")
_LONGEST_BRIDGE = 2
_LEAD = 60


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or symbol of a text: its normalized form and its position."""

    norm: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Wording:
    """A text with the words to compare."""

    text: str
    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A range of words that differs between two texts; an empty range on one side is an insertion or a deletion.

    Attributes:
        before_start: First character in the older text, 0-based.
        before_end: Exclusive end offset in the older text.
        after_start: First character in the newer text, 0-based.
        after_end: Exclusive end offset in the newer text.
        nature: What the change is about.
    """

    before_start: int
    before_end: int
    after_start: int
    after_end: int
    nature: str

    @property
    def is_routine(self) -> bool:
        """Return whether the change needs no action."""
        return self.nature in ROUTINE


def find_tokens(text: str) -> tuple[Token, ...]:
    """Split a text into words, numbers and symbols, ignoring leaders, bullets and drawn signs.

    Args:
        text: Text of a passage.

    Returns:
        Tokens in order, with half-open characters, 0-based.
    """
    tokens = load_revisions().tokens
    word, leader = tokens.word_number_or_sign.pattern, tokens.leader.pattern
    blank = leader.sub(lambda match: " " * len(match[0]), text)
    return tuple(Token(_norm(match[0]), *match.span()) for match in word.finditer(blank))


@cache
def _norm(word: str) -> str:
    plain = unicodedata.normalize("NFKC", word).translate(_SAME)
    plain = _DASHES.sub("-", _HYPHENS.sub("", plain))
    plain = _BARE_FRACTION.sub(r"\g<1>0.", plain)
    return plain[4:] if plain.lower().startswith("www.") else plain


def masked(tokens: Iterable[Token]) -> tuple[str, ...]:
    """Return words in the form matched across years: lower case, each year as `<year>`, without symbols.

    Args:
        tokens: Tokens of a text.

    Returns:
        Words in order; a year is `<year>`.
    """
    return tuple(filter(None, (_mask_word(token.norm) for token in tokens)))


def find_masked_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in the form matched across years.

    Args:
        text: Text of a passage.

    Returns:
        Words in order; a year is `<year>`.
    """
    return tuple(filter(None, map(_mask_word, find_words(text))))


def find_words(text: str) -> list[str]:
    """Return the normalized words, numbers and symbols of a text.

    Args:
        text: Text of a passage.

    Returns:
        Words in order, with repeats.
    """
    tokens = load_revisions().tokens
    word, leader = tokens.word_number_or_sign.pattern, tokens.leader.pattern
    return list(map(_norm, word.findall(leader.sub(" ", text))))


@cache
def _mask_word(norm: str) -> str:
    """Return a word as it is matched across years; empty for a sign."""
    return mask(norm) if norm[-1:].isalnum() or len(norm) > 1 else ""


@cache
def mask(norm: str) -> str:
    """Return one word in the form matched across years: lower case, a year as `<year>`.

    Args:
        norm: Normalized form of a token.
    """
    return "<year>" if _is_year(norm) else norm.lower()


@cache
def _is_year(norm: str) -> bool:
    return load_revisions().masks.matches(norm)


def read_wording(text: str) -> Wording:
    """Tokenize a text of which all words are compared.

    Args:
        text: Text of a passage.

    Returns:
        The text with its tokens.
    """
    return Wording(text, find_tokens(text))


def find_changes(before: Wording, after: Wording, *, years: int) -> tuple[Change, ...]:
    """Find the word ranges that differ between two wordings.

    Args:
        before: Older wording.
        after: Newer wording.
        years: Years between the two revisions; a year that changed by as many is routine.

    Returns:
        Changes in order; none where only punctuation or spacing differs.
    """
    old, new = before.tokens, after.tokens
    a, b = [t.norm for t in old], [t.norm for t in new]
    if a == b or "".join(a) == "".join(b):
        return ()
    changes = []
    for i0, i1, j0, j1 in _bridged(_stretches(a, b), a):
        if "".join(a[i0:i1]) == "".join(b[j0:j1]):
            continue
        for k0, k1, m0, m1 in _split_years(a, b, (i0, i1, j0, j1), years=years):
            (s0, e0), (s1, e1) = _span(old, k0, k1), _span(new, m0, m1)
            lead = before.text[:s0] if k1 > k0 else after.text[:s1]
            is_last = k1 == len(a) and m1 == len(b)
            stretches = (before.text[s0:e0], after.text[s1:e1])
            nature = _nature_of_change(a[k0:k1], b[m0:m1], stretches=stretches, lead=lead, years=years, is_last=is_last)
            changes.append(Change(s0, e0, s1, e1, nature))
    return tuple(changes)


def _stretches(a: list[str], b: list[str]) -> list[tuple[int, int, int, int]]:
    """Return differing stretches, after removing the common ends: most passages differ in a few words only."""
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    matcher = SequenceMatcher(None, a[head : len(a) - tail], b[head : len(b) - tail], autojunk=False)
    return [
        (i0 + head, i1 + head, j0 + head, j1 + head) for op, i0, i1, j0, j1 in matcher.get_opcodes() if op != "equal"
    ]


def _bridged(stretches: list[tuple[int, int, int, int]], a: list[str]) -> list[tuple[int, int, int, int]]:
    """Join stretches that are separated by a word or sign only: a rewritten clause reads better in one piece."""
    joined: list[tuple[int, int, int, int]] = []
    for i0, i1, j0, j1 in stretches:
        if joined:
            p0, p1, q0, q1 = joined[-1]
            bridge = i0 - p1
            least = min(max(p1 - p0, q1 - q0), max(i1 - i0, j1 - j0))
            has_word = any(word[0].isalnum() and not _is_year(word) for word in a[p1:i0])
            if bridge <= _LONGEST_BRIDGE and (least > bridge or not has_word) and least > 1:
                joined[-1] = (p0, i1, q0, j1)
                continue
        joined.append((i0, i1, j0, j1))
    return joined


def _split_years(
    a: list[str], b: list[str], stretch: tuple[int, int, int, int], *, years: int
) -> list[tuple[int, int, int, int]]:
    """Separate years that were rolled on from the ends of a stretch, so that they do not count as substance."""
    i0, i1, j0, j1 = stretch
    head: list[tuple[int, int, int, int]] = []
    tail: list[tuple[int, int, int, int]] = []
    while i1 > i0 and j1 > j0 and (i1 - i0 > 1 or j1 - j0 > 1) and _is_rolled(a[i1 - 1], b[j1 - 1], years=years):
        tail.insert(0, (i1 - 1, i1, j1 - 1, j1))
        i1, j1 = i1 - 1, j1 - 1
    while i1 > i0 and j1 > j0 and (i1 - i0 > 1 or j1 - j0 > 1) and _is_rolled(a[i0], b[j0], years=years):
        head.append((i0, i0 + 1, j0, j0 + 1))
        i0, j0 = i0 + 1, j0 + 1
    return [*head, *([(i0, i1, j0, j1)] if a[i0:i1] != b[j0:j1] else []), *tail]


def _is_rolled(before: str, after: str, *, years: int) -> bool:
    return _is_year(before) and _is_year(after) and (int(after) - int(before) == years != 0)


def _span(tokens: tuple[Token, ...], start: int, end: int) -> tuple[int, int]:
    """Return the characters of a stretch of tokens; an empty one follows the token before it."""
    if end > start:
        return tokens[start].start, tokens[end - 1].end
    place = tokens[start - 1].end if start else (tokens[0].start if tokens else 0)
    return place, place


def _nature_of_change(
    before: Sequence[str], after: Sequence[str], *, stretches: Sequence[str], lead: str, years: int, is_last: bool
) -> str:
    """Return what a changed stretch is about: editing, years, edition, pages, dates, amounts, references, wording."""
    if _is_reordered(before, after):
        return "editorial"
    list_end = load_revisions().list_ends.list_end.pattern
    if _letters(before) == _letters(after) or (is_last and list_end.search(" ".join([*before, *after]))):
        return "editorial"
    if len(before) == len(after) and all(
        x == y or _is_rolled(x, y, years=years) for x, y in zip(before, after, strict=True)
    ):
        return "years"
    lead = lead[-_LEAD:]
    numbers = [word for word in (*before, *after) if word[0].isalnum()]
    for rule in load_revisions().stamps:
        is_numeric = all(word[0].isdigit() for word in numbers) or rule.id == "edition"
        if is_numeric and len(numbers) <= len(("month", "year")) * 2 and rule.pattern.search(lead):
            return rule.id
    return classify_nature(*stretches, lead=lead)


def classify_nature(before: str, after: str, *, lead: str = "") -> str:
    """Classify a change by its words: amounts, dates, references or wording, in this order.

    Args:
        before: Words of the older revision; empty where they were added.
        after: Words of the newer revision; empty where they were removed.
        lead: Text before them; it may begin what a rule matches, and never contains all of it.

    Returns:
        Nature by rules/revisions.yaml, in the order of the rules.
    """
    sides = [_without_citations(lead + side) for side in (before, after)]
    for rule in load_revisions().natures:
        # A citation is neither a date nor an amount, but a reference.
        texts = [lead + before, lead + after] if rule.id == "references" else sides
        rules = [rule, *(load_revisions().periods if rule.id == "dates" else ())]
        if any(m.end() > len(lead) for text in texts for r in rules for m in r.pattern.finditer(text)):
            return rule.id
    return "wording"


def _without_citations(text: str) -> str:
    for rule in load_revisions().citations:
        text = rule.pattern.sub(lambda match: " " * len(match[0]), text)
    return text


def _is_reordered(before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether the same words, small ones aside, are in another order: `Form 9, box 2` and `box 2 of Form 9`."""
    small = load_revisions().small_words
    sides = [sorted(p for w in side if (p := _plain(w)) and p not in small) for side in (before, after)]
    return sides[0] == sides[1] and bool(sides[0])


def _letters(words: Sequence[str]) -> str:
    """Return what is left of words without signs, case and the spelling of small numbers."""
    return "".join(_plain(word) for word in words)


@cache
def _plain(word: str) -> str:
    numbers = load_revisions().number_words
    small = word.lower()
    for value, name in enumerate(numbers):
        if small == name or (small.startswith(name) and small.removeprefix(name) == "digit"):
            small = str(value) + small.removeprefix(name)
    return "".join(c for c in small if c.isalnum() or c in "$%")
