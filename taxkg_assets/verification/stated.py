"""The values, keys and forms of a claim in a passage: stated, stated otherwise, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.rules.sentences import find_sentences
from taxkg_assets.verification.cells import find_ranges, find_unnamed, is_within
from taxkg_assets.verification.claims import KEY_KINDS, Claim, find_keys_and_forms
from taxkg_assets.verification.contexts import is_paired_in_order, is_same_list
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.line_ends import End, find_ends
from taxkg_assets.verification.pointers import find_asides
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets.verification.values import COUNTED, MONEY, Value, fold

_QUOTED = "quoted"
_ENTERED = frozenset({"line", "box"})
_PAIRED = frozenset({"line", "box", "form"})
_ALTERNATIVE = re.compile(r"(?i)(?:,| or|/|\s)+(?:the )?")
_STOP = re.compile(r"[;:]\s|\.\s")
_JOINT = re.compile(r"(?i)[,;:]|\.\s|\b(?:and|or|but)\b")


@dataclass(frozen=True, slots=True)
class Difference:
    """A value of a claim and the different value in the passage.

    Attributes:
        stated: Value in the claim.
        found: Value in the passage; empty if it states none.
        kind: Kind of the value, `bound`, `polarity` or `contrary`.
    """

    stated: str
    found: str
    kind: str


def compare_values(
    claim: Claim, passage: Passage, *, reader: PassageReader
) -> tuple[list[tuple[Value, str]], list[Difference], list[Value]]:
    """Compare the values of a claim with those of a passage and its headings.

    Args:
        claim: The claim.
        passage: The passage.
        reader: Reads its values.

    Returns:
        Matching values with the passage's words, differing values, and values that the passage does not state.
    """
    comparison = _Comparison(claim, passage, reader)
    for value in claim.values:
        comparison.add(value)
    comparison.add_headers()
    comparison.add_repeated()
    comparison.add_swapped()
    return comparison.matched, comparison.differences, comparison.unmatched


class _Comparison:
    """Values of one claim in one passage.

    Attributes:
        matched: Values that the passage states, each with its words.
        differences: What it states otherwise.
        unmatched: Values that it does not state.
    """

    def __init__(self, claim: Claim, passage: Passage, reader: PassageReader) -> None:
        self.claim, self.passage, self.reader = claim, passage, reader
        self.text = fold(passage.spoken)
        self.printed = reader.values_of(passage)
        asides = find_asides(self.text)
        self.outside_asides = [
            value for value in self.printed if not any(start <= value.start < end for start, end in asides)
        ]
        self.located: dict[Value, Value] = {}
        self.taken: list[tuple[int, int]] = []
        self.matched: list[tuple[Value, str]] = []
        self.differences: list[Difference] = []
        self.unmatched: list[Value] = []

    @cached_property
    def of_place(self) -> list[Value]:
        """Return the values of the passage's headings and lead-ins."""
        return self.reader.place_values_of(self.passage)

    def add(self, value: Value) -> None:
        """Find one value of the claim in the passage.

        Args:
            value: Value of the claim.
        """
        same = self._find_same(value)
        if same is None and self._is_placed_elsewhere(value):
            self.unmatched.append(value)  # neither stated nor, as the heading has it, stated otherwise
        elif same is not None and value.opposes(same):
            self.differences.append(Difference(value.text, same.text, "bound"))
        elif same is not None:
            self.matched.append((value, same.text or same.figure))
        elif self._is_left_to_code(value):
            self.matched.append((value, ""))
        elif rival := self._find_rival(value):
            self.differences.append(Difference(value.text, rival.text or rival.figure, value.kind))
        else:
            self.unmatched.append(value)

    def add_headers(self) -> None:
        """Count a number that heads the row or column of a cell, and that the claim lacks, as of another cell."""
        for number in find_unnamed(self.passage.headers, self.claim.text):
            self.unmatched.append(Value("count", number, "", "", "", number, 0, 0))

    def add_repeated(self) -> None:
        """Leave a value open that the claim states more often than the passage, which has another one of its kind."""
        for value in dict.fromkeys(value for value, _ in self.matched):
            mine = {own.start for own in self.claim.values if own.end and value.equals(own)}
            there = {own.start for own in self.printed if value.equals(own)}
            if value.kind != "form" and 0 < len(there) < len(mine) and self._find_rival(value):
                self.unmatched.append(value)

    def add_swapped(self) -> None:
        """Find values that the passage or a heading pairs differently from the claim."""
        swapped = _find_swapped(self.located, self.printed, text=self.text)
        found = [*self.differences, *swapped]
        self.differences = _without_paired(found, self.claim, self.passage, reader=self.reader)
        for heading in self.passage.headings[1:]:
            there = find_keys_and_forms(heading, language=self.reader.language)
            both = {value: same for value in self.claim.values for same in there if value.equals(same)}
            if len(both) > 1 and not self.differences:
                self.differences += _find_swapped(both, there, text=fold(heading))

    def _find_same(self, value: Value) -> Value | None:
        """Find a value in the passage or its place, and remember where in the passage it is."""
        if value.kind == _QUOTED:
            is_stated = _prints(value, self.passage) and not _is_option(
                value, self.printed, self.claim, text=self.passage.spoken
            )
            return value if is_stated else None
        same = next((other for other in self.printed if value.equals(other)), None)
        if self.passage.headers:
            same = self._find_in_headers(value, same)
        if same is None:
            is_elsewhere = self._is_placed_elsewhere(value)
            return None if is_elsewhere else _find_in_place(value, self.of_place, self.outside_asides, claim=self.claim)
        if same.end:
            self.located[value] = same
        return same

    def _find_in_headers(self, value: Value, same: Value | None) -> Value | None:
        """Return what says a value in a cell: the cell itself, a heading that is this number, or a range that holds it.

        A range holds one amount of the claim, and its upper end is of the next one.
        """
        headers = self.passage.headers
        if value.kind in COUNTED:
            return replace(value, end=0) if value.figure in headers else same
        if value.kind not in MONEY or (same is not None and same.start >= self.passage.value_start):
            return same
        ranges = find_ranges(headers)
        figures = {own.figure for own in self.claim.values}
        for low, high in ranges:
            if value.figure in (str(low), str(high)):
                return replace(value, end=0) if str(low) in figures else None
        free = [own for own in ranges if own not in self.taken and not {str(end) for end in own} & figures]
        if is_within(value.figure, free):
            self.taken += [own for own in free if is_within(value.figure, [own])]
            return replace(value, end=0)
        return same

    def _is_placed_elsewhere(self, value: Value) -> bool:
        """Return whether only the heading names a value, and the passage reports the amount on another line."""
        if value.kind not in _ENTERED or any(value.equals(other) for other in self.printed):
            return False
        is_in_place = _find_in_place(value, self.of_place, self.outside_asides, claim=self.claim) is not None
        return is_in_place and _is_placed_elsewhere(value, self.outside_asides, self.claim, text=self.passage.spoken)

    def _is_left_to_code(self, value: Value) -> bool:
        """Return whether the claim's code says which box is meant, as the passage names none."""
        has_code = any(other.kind == "code" for other in self.claim.values)
        return value.kind == "box" and has_code and not _names_box(self.passage, self.printed, self.of_place)

    def _find_rival(self, value: Value) -> Value | None:
        """Find what the passage states in the place of a value; each option of a form may be quoted."""
        if value.kind == _QUOTED:
            return None
        start = self.passage.value_start  # the headings of a cell say which one it is
        rivals = (*(own for own in self.outside_asides if own.start >= start), *_rival_keys(value, self.passage))
        return next(
            (
                other
                for other in rivals
                if value.competes(other) and not any(other.equals(mine) for mine in self.claim.values)
            ),
            None,
        )


def _without_paired(
    differences: Sequence[Difference], claim: Claim, passage: Passage, *, reader: PassageReader
) -> list[Difference]:
    """Return differences without those between lines of two forms, each of which the passage names as the claim does.

    `Form 9999, line 5, plus Form 8888, line 7` has two lines that are not in the place of each other.
    """
    if not any(own.kind in _PAIRED for own in differences):
        return list(differences)
    cited, language = claim.subject.forms[:1], reader.language
    own = {(end, form) for end in find_ends(claim.text, language=language) for form in _form_of(end, cited)}
    forms = reader.forms_of(passage.document_id)
    ends = find_ends(fold(passage.spoken), language=language)
    there = {(end.key, form) for end in ends for form in _form_of(end, forms)}
    paired = {(end, form) for end, form in own if (end.key, form) in there}
    is_paired = len(paired) == len(own) and len({form for _, form in own}) > 1
    return [
        one
        for one in differences
        if one.kind not in _PAIRED
        or not (is_paired if one.kind == "form" else _is_of_two_forms(one, paired, ends, forms))
    ]


def _form_of(end: End, others: Sequence[str]) -> Sequence[str]:
    return (end.form,) if end.form else others


def _is_of_two_forms(
    one: Difference, paired: Iterable[tuple[End, str]], ends: Sequence[End], forms: Sequence[str]
) -> bool:
    """Return whether a line of a claim differs from one that the passage names with another form."""
    stated = {form for end, form in paired if one.stated in end.text}
    found = {form for end in ends if one.found and one.found in end.text for form in _form_of(end, forms)}
    return bool(stated and found) and not stated & found


def _prints(value: Value, passage: Passage) -> bool:
    """Return whether a passage or its label prints the words that a claim sets in quotation marks."""
    words = value.text.strip('".,')
    return re.search(rf"(?i)(?<!\w){re.escape(words)}(?!\w)", fold(f"{passage.label} {passage.spoken}")) is not None


def _is_option(value: Value, own: Sequence[Value], claim: Claim, *, text: str) -> bool:
    """Return whether a passage leaves open which of several quoted words it is: `"Barge" or "Boat"`."""
    quoted = [other for other in own if other.kind == _QUOTED]
    if any(other.figure != value.figure and other.equals(mine) for mine in claim.values for other in quoted):
        return False
    return any(
        value.figure in (one.figure, other.figure) and _ALTERNATIVE.fullmatch(text[one.end : other.start])
        for one, other in pairwise(quoted)
    )


def _names_box(passage: Passage, own: Sequence[Value], place: Sequence[Value]) -> bool:
    """Return whether a passage or its place names a box; a code alone may be of any box."""
    return any(other.kind == "box" for other in (*own, *place)) or any(key.startswith("box") for key in passage.keys)


def _find_in_place(value: Value, place: Sequence[Value], said: Sequence[Value], *, claim: Claim) -> Value | None:
    """Find a value in the place of a passage; of several keys or forms in a heading, the passage itself says which."""
    same = next((other for other in place if value.equals(other)), None)
    if same is None or value.kind not in KEY_KINDS | {"form"}:
        return same
    is_list = len({other.figure for other in place if other.kind == value.kind}) > 1
    mine = {other.figure for other in claim.values}
    named = {other.figure for other in said if other.kind == value.kind} - mine
    is_other = named & {other.figure for other in place if other.kind == value.kind}
    return None if is_list and is_other else same


def _is_placed_elsewhere(value: Value, said: Sequence[Value], claim: Claim, *, text: str) -> bool:
    """Return whether a passage below the heading of one line reports an amount on another one, and the claim there."""
    if value.kind not in _ENTERED or not any(value.competes(other) for other in said):
        return False
    if any(value.competes(other) and other.equals(mine) for other in said for mine in claim.values):
        return False
    pattern = load_verification().placements.on_line.pattern
    return pattern.search(claim.text) is not None and pattern.search(fold(text)) is not None


def _find_swapped(placed: Mapping[Value, Value], own: Sequence[Value], *, text: str) -> list[Difference]:
    """Find values that the passage pairs otherwise than the claim: `line 2 (box B), line 3 (box C)`."""
    found = []
    in_order = _pair_in_order(own, text=text)
    for value, there in placed.items():
        if there in in_order:  # its partner is not the nearest one
            continue
        rivals = [other for other in own if value.competes(other)]
        if len(rivals) < 2:
            continue
        nearest = {
            partner: _find_partner(near, rivals, text=text)
            for partner, near in placed.items()
            if not value.competes(partner)
        }
        partner = min(nearest, key=lambda one: _read_distance(value, one), default=None)
        if partner is not None and nearest[partner].equals(value):  # the one that the claim names next to it is enough
            continue
        found += [
            Difference(value.text, one.text, value.kind)
            for partner, one in nearest.items()
            if sum(partner.competes(other) for other in own) > 1 and not any(one.equals(mine) for mine in placed)
        ]
    return [*dict.fromkeys(found), *_find_mispaired(placed, own, in_order, text=text)]


def _find_mispaired(
    placed: Mapping[Value, Value], own: Sequence[Value], in_order: Mapping[Value, Value], *, text: str
) -> list[Difference]:
    """Find keys that the passage relates to another key of the same kind: `box 1a in box 2e, box 2a in box 2f`."""
    found = []
    for value, there in placed.items():
        if value.kind not in KEY_KINDS:
            continue
        others = [key for key in own if key.kind == value.kind and not is_same_list(key, there, text=text)]
        partners = [
            key for key, near in placed.items() if key.kind == value.kind and not is_same_list(near, there, text=text)
        ]
        if not partners or not others:
            continue
        nearest = in_order.get(there) or _find_partner(there, others, text=text)
        is_listed = any(is_same_list(nearest, placed[key], text=text) for key in partners)  # `lines 18 and 19`
        if not is_listed and not any(nearest.equals(mine) for mine in placed):
            found.append(Difference(partners[0].text, nearest.text, value.kind))
    return list(dict.fromkeys(found))


def _find_partner(value: Value, others: Sequence[Value], *, text: str) -> Value:
    """Return the nearest of some values: of `5% if A, and 7% if B`, 7% belongs to B."""

    def read_gap(other: Value) -> tuple[int, int, int]:
        start, end = min(value.end, other.end), max(value.start, other.start)
        between = text[start:end]
        return len(_STOP.findall(between)), len(_JOINT.findall(between)), end - start

    return min(others, key=read_gap)


def _pair_in_order(own: Sequence[Value], *, text: str) -> dict[Value, Value]:
    """Return the partner of each key where two lists are paired in order: `box 1 and box 2 in box 3 and box 4`."""
    partners: dict[Value, Value] = {}
    for start, end in find_sentences(text):
        if not is_paired_in_order(text[start:end]):
            continue
        for kind in KEY_KINDS:
            keys = sorted((key for key in own if key.kind == kind and start <= key.start < end), key=_read_start)
            half, rest = divmod(len(keys), 2)
            if not rest:
                partners |= dict(zip(keys, [*keys[half:], *keys[:half]], strict=True))
    return partners


def _read_distance(value: Value, other: Value) -> int:
    return max(value.start, other.start) - min(value.end, other.end)


def _read_start(value: Value) -> int:
    return value.start


def _rival_keys(value: Value, passage: Passage) -> list[Value]:
    """Return the keys of a label that prints another key than the claim names."""
    if value.kind not in KEY_KINDS or passage.kind != "label":
        return []
    kind = value.kind
    return [
        Value(kind, key, "", "", "", key.replace("_", " "), 0, 0)
        for key in sorted(passage.keys)
        if key.startswith(kind)
    ]
