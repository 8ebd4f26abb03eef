"""Fragments of a form put together as a reader sees them: lines with their keys, blocks of text in a margin.

A schedule prints a line's key, its words, the leader and the key again as separate pieces, in any order; a copy of an
information return prints what it tells its reader as short pieces stacked in the margin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from taxkg_assets.rules.loader import load_family, load_rules

if TYPE_CHECKING:
    from taxkg_assets.graph.passages import Part

_SLACK_PT = 3.0
_KEY_TO_TEXT_PT = 30.0
_AROUND_ENTRY = " $%▶►"


@dataclass(frozen=True, slots=True)
class Fragment:
    """One printed piece with the rectangle of its first line."""

    element_id: str
    text: str
    part: Part
    box: Mapping[str, Any]

    @property
    def middle(self) -> float:
        """Height of its first line's middle."""
        return float(self.box["y0_pt"] + self.box["y1_pt"]) / 2


@dataclass(frozen=True, slots=True)
class FormLine:
    """One line of a form: its key (empty before the first one), its pieces, and how much of their ends is the key."""

    key: str
    fragments: tuple[Fragment, ...]
    skipped_start: int
    skipped_end: int


_Line = tuple[str, list[Fragment], int]
"""Key, pieces, and characters of the first piece that are the key."""


def find_lines(fragments: Sequence[Fragment]) -> list[FormLine]:
    """Put fragments together as lines, top to bottom; a letter counts on from the number above it."""
    rows = _find_rows(fragments)
    key_x = _key_edge(rows)
    margin = [f for f in fragments if float(f.box["x1_pt"]) < key_x - _SLACK_PT]
    aside = {f.element_id for f in margin}
    main = [[f for f in row if f.element_id not in aside] for row in rows]
    lines = [("", block, 0) for block in find_blocks(margin)] + _read_lines([row for row in main if row], key_x=key_x)
    return [
        FormLine(key, tuple(pieces), skipped, _entry_tail(pieces[-1].text, key))
        for key, pieces, skipped in lines
        if pieces
    ]


def _read_lines(rows: Sequence[Sequence[Fragment]], *, key_x: float) -> list[_Line]:
    text_x = _text_edge(rows)
    entries = {f.text.strip(_AROUND_ENTRY) for row in rows for f in row if _is_entry(f.text)}
    lines: list[_Line] = [("", [], 0)]
    number = ""
    for row in rows:
        for ix, fragment in enumerate(row):
            left = float(fragment.box["x0_pt"])
            key, rest = _read_key(fragment.text)
            full = key if key[:1].isdigit() else number + key
            # An indented letter is a key where its entry field says so.
            if key and ix == 0 and (left < text_x or (key != full and full in entries)):
                number = full.rstrip("abcdefghijklmnopqrstuvwxyz")
                lines.append((full, [fragment] if rest else [], len(fragment.text) - len(rest) if rest else 0))
            elif ix == 0 and left < key_x - _SLACK_PT:
                lines.append(("", [fragment], 0))
            elif not _is_entry(fragment.text):
                lines[-1][1].append(fragment)
    return lines


def _key_edge(rows: Sequence[Sequence[Fragment]]) -> float:
    """Where the numbers of the lines stand; what lies wholly left of it is a note in the margin."""
    edges: Counter[int] = Counter()
    for row in rows:
        for fragment, right in zip_longest(row, row[1:]):
            key, rest = _read_key(fragment.text)
            near = right is not None and 0 < right.box["x0_pt"] - fragment.box["x1_pt"] < _KEY_TO_TEXT_PT
            if key[:1].isdigit() and (rest or near):
                edges[round(float(fragment.box["x0_pt"]))] += 1
    return float(min(x for x, times in edges.items() if 2 * times >= max(edges.values()))) if edges else 0.0


def _find_rows(fragments: Sequence[Fragment]) -> list[list[Fragment]]:
    pitch = float(load_family("revisions")["limits"]["row_pitch_pt"])
    rows: list[list[Fragment]] = []
    for fragment in sorted(fragments, key=lambda f: (f.middle, f.element_id)):
        if rows and fragment.middle - rows[-1][0].middle <= pitch:
            rows[-1].append(fragment)
        else:
            rows.append([fragment])
    return [sorted(row, key=lambda f: float(f.box["x0_pt"])) for row in rows]


def _text_edge(rows: Sequence[Sequence[Fragment]]) -> float:
    """Where the words of most lines begin; keys stand left of it."""
    edges = Counter(round(float(f.box["x0_pt"])) for row in rows for f in row if not _read_key(f.text)[0])
    return edges.most_common(1)[0][0] - 1.0 if edges else float("inf")


def _read_key(text: str) -> tuple[str, str]:
    """Key and rest of a line's first piece; an empty key where it begins with none."""
    match = load_rules("revisions", "lines")[0].pattern.match(text)
    if match is None or not (match["number"] or match["letter"]):
        return "", text
    if match["letter"] and len(match["letter"]) > 1 and not match["number"] and len(set(match["letter"])) > 1:
        return "", text
    return (match["number"] or "") + (match["letter"] or ""), match["rest"]


def _is_entry(text: str) -> bool:
    return load_rules("revisions", "lines")[1].pattern.match(text) is not None


def _entry_tail(text: str, key: str) -> int:
    """Characters of the entry field's key that the last piece ends with."""
    bare = text.rstrip(" $%")
    return len(text) - len(bare) + len(key) if key and bare.endswith(f" {key}") else 0


def find_blocks(fragments: Sequence[Fragment]) -> list[list[Fragment]]:
    """Put together what is stacked closely: pieces one below the other that overlap sideways."""
    gap = float(load_family("revisions")["limits"]["block_gap_pt"])
    blocks: list[list[Fragment]] = []
    for fragment in sorted(fragments, key=lambda f: (f.middle, float(f.box["x0_pt"]), f.element_id)):
        for block in blocks:
            last = block[-1].part.places[-1]
            if fragment.middle >= float(last["y0_pt"] + last["y1_pt"]) / 2 and (
                float(fragment.box["y0_pt"]) - float(last["y1_pt"]) <= gap and _overlap(last, fragment.box)
            ):
                block.append(fragment)
                break
        else:
            blocks.append([fragment])
    return blocks


def _overlap(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    shared = min(a["x1_pt"], b["x1_pt"]) - max(a["x0_pt"], b["x0_pt"])
    return bool(shared > 0.5 * min(a["x1_pt"] - a["x0_pt"], b["x1_pt"] - b["x0_pt"]))
