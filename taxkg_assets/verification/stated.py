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
from taxkg_assets.verification.clause_words import Words, find_words, match_word
from taxkg_assets.verification.contexts import is_paired_in_order, is_same_list
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.language import Language
from taxkg_assets.verification.line_ends import End, find_ends
from taxkg_assets.verification.pointers import find_asides
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets.verification.values import COUNTED, MONEY, Value, fold

_QUOTED, _RULE = "quoted", "rule"
_CITED_WORDS = 3
_LINKS = frozenset({"under", "of", "in", "by", "to", "for", "from", "with", "per", "see", "and", "or"})
_CASE_END = re.compile(r"[,;:.]\s")
_PLAIN_WORD = re.compile(r"[A-Za-z]+")
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
            is_printed = _prints(value, self.passage)
            is_open = is_printed and _is_option(value, self.printed, self.claim, text=self.passage.spoken)
            return value if is_printed and not is_open else None
        same = next((printed for printed in self.printed if value.equals(printed)), None)
        if self.passage.headers:
            same = self._find_in_headers(value, same)
        if same is None and not self._is_placed_elsewhere(value):
            return _find_in_place(value, self.of_place, self.outside_asides, claim=self.claim)
        if same is not None and same.end:
            self.located[value] = same
        return same

    def _find_in_headers(self, value: Value, same: Value | None) -> Value | None:
        """Return what says a value in a cell: the cell itself, a heading that is this number, or a range that holds it.

        A range holds one amount of the claim, and its upper end is of the next one: $50 is in the row `$50 to $100`,
        not in `$0 to $50`.

        Args:
            value: Value of the claim.
            same: Value of the cell that equals it; None for none.
        """
        in_heading = replace(value, end=0)
        if value.kind in COUNTED:
            return in_heading if value.figure in self.passage.headers else same
        is_in_cell = same is not None and same.start >= self.passage.value_start
        if value.kind not in MONEY or is_in_cell:
            return same
        ranges = find_ranges(self.passage.headers)
        claimed_figures = {claimed.figure for claimed in self.claim.values}
        for low, high in ranges:
            if value.figure in (str(low), str(high)):
                return in_heading if str(low) in claimed_figures else None
        holding = [
            bounds
            for bounds in ranges
            if bounds not in self.taken
            and claimed_figures.isdisjoint(str(end) for end in bounds)
            and is_within(value.figure, [bounds])
        ]
        self.taken += holding
        return in_heading if holding else same

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
        value_start = self.passage.value_start  # the headings of a cell say which one it is
        printed = [other for other in self.outside_asides if other.start >= value_start]
        rivals = [
            other
            for other in (*printed, *_rival_keys(value, self.passage))
            if value.competes(other) and not any(other.equals(claimed) for claimed in self.claim.values)
        ]
        if value.kind == _RULE:
            rivals = [other for other in rivals if self._cites_alike(value, other)]
        return max(rivals, key=self._share_of_case, default=None)

    def _cites_alike(self, value: Value, other: Value) -> bool:
        """Return whether a claim and a passage cite a section for the same thing: `fees under section 12`.

        A passage may name another section for many reasons.
        """
        own = _find_cited_words(self.claim.text, value, language=self.reader.language)
        there = _find_cited_words(self.text, other, language=self.reader.language)
        return any(match_word(word, there) for word in own)

    def _share_of_case(self, other: Value) -> float:
        """Return the share of the words around a value that the claim has: `$3 for one boat, $6 for two boats`."""
        if not other.end:
            return 0.0
        start = max((match.end() for match in _CASE_END.finditer(self.text, 0, other.start)), default=0)
        end = next((match.start() for match in _CASE_END.finditer(self.text, other.end)), len(self.text))
        around = _list_plain_words(self.text[start : other.start] + self.text[other.end : end])
        return len(around & _list_plain_words(self.claim.text)) / max(len(around), 1)


def _list_plain_words(text: str) -> frozenset[str]:
    """Return the words of a text in singular and lower case."""
    return frozenset(word.casefold().removesuffix("s") for word in _PLAIN_WORD.findall(text))


def _find_cited_words(text: str, value: Value, *, language: Language) -> Words:
    """Return the content words right before a citation, or those after it where it begins its clause."""
    before = _CASE_END.split(text[: value.start])[-1].split()[-_CITED_WORDS:]
    after = _CASE_END.split(text[value.end :])[0].split()[:_CITED_WORDS]

    def read(words: Sequence[str]) -> Words:
        return find_words(" ".join(word for word in words if word.casefold() not in _LINKS), language=language)

    return read(before) or read(after)


def _without_paired(
    differences: Sequence[Difference], claim: Claim, passage: Passage, *, reader: PassageReader
) -> list[Difference]:
    """Return differences without those between lines of two forms, each of which the passage names as the claim does.

    `Form 9999, line 5, plus Form 8888, line 7` has two lines that are not in the place of each other.

    Args:
        differences: What the passage states otherwise.
        claim: The claim.
        passage: The passage.
        reader: Reads the forms of the passage's document.
    """
    if not any(difference.kind in _PAIRED for difference in differences):
        return list(differences)
    language = reader.language
    cited_forms, passage_forms = claim.subject.forms[:1], reader.forms_of(passage.document_id)
    claim_ends = {
        (end, form) for end in find_ends(claim.text, language=language) for form in _form_of(end, cited_forms)
    }
    passage_ends = find_ends(fold(passage.spoken), language=language)
    passage_keys = {(end.key, form) for end in passage_ends for form in _form_of(end, passage_forms)}
    paired = {(end, form) for end, form in claim_ends if (end.key, form) in passage_keys}
    names_all_ends = len(paired) == len(claim_ends) and len({form for _, form in claim_ends}) > 1

    def is_paired(difference: Difference) -> bool:
        """Return whether a difference in forms or lines is only one between two of the named lines."""
        if difference.kind == "form":
            return names_all_ends
        return _is_of_two_forms(difference, paired, passage_ends, passage_forms)

    return [difference for difference in differences if difference.kind not in _PAIRED or not is_paired(difference)]


def _form_of(end: End, forms: Sequence[str]) -> Sequence[str]:
    """Return the form of a line; where it is not named, those of the document."""
    return (end.form,) if end.form else forms


def _is_of_two_forms(
    difference: Difference, paired: Iterable[tuple[End, str]], ends: Sequence[End], forms: Sequence[str]
) -> bool:
    """Return whether a line of a claim differs from one that the passage names with another form.

    Args:
        difference: The difference in lines.
        paired: Lines of the claim, with their forms, that the passage names, too.
        ends: Lines of the passage.
        forms: Forms of its document.
    """
    claimed_forms = {form for end, form in paired if difference.stated in end.text}
    ends_found = [end for end in ends if difference.found and difference.found in end.text]
    passage_forms = {form for end in ends_found for form in _form_of(end, forms)}
    return bool(claimed_forms and passage_forms) and claimed_forms.isdisjoint(passage_forms)


def _prints(value: Value, passage: Passage) -> bool:
    """Return whether a passage or its label prints the words that a claim sets in quotation marks."""
    words = value.text.strip('".,')
    return re.search(rf"(?i)(?<!\w){re.escape(words)}(?!\w)", fold(f"{passage.label} {passage.spoken}")) is not None


def _is_option(value: Value, printed: Sequence[Value], claim: Claim, *, text: str) -> bool:
    """Return whether a passage leaves open which of several quoted words it is: `"Barge" or "Boat"`."""
    quoted = [other for other in printed if other.kind == _QUOTED]
    names_other_option = any(
        other.figure != value.figure and any(other.equals(claimed) for claimed in claim.values) for other in quoted
    )
    if names_other_option:
        return False
    options = [
        (option, next_option)
        for option, next_option in pairwise(quoted)
        if _ALTERNATIVE.fullmatch(text[option.end : next_option.start])
    ]
    return any(value.figure in (option.figure, next_option.figure) for option, next_option in options)


def _names_box(passage: Passage, printed: Sequence[Value], place: Sequence[Value]) -> bool:
    """Return whether a passage or its place names a box; a code alone may be of any box."""
    if any(key.startswith("box") for key in passage.keys):
        return True
    return any(value.kind == "box" for value in (*printed, *place))


def _find_in_place(value: Value, place: Sequence[Value], said: Sequence[Value], *, claim: Claim) -> Value | None:
    """Find a value in the place of a passage; of several keys or forms in a heading, the passage itself says which.

    Below `Boxes 2 and 3`, the sentence `Enter the dues in box 3.` is not about box 2.

    Args:
        value: Value of the claim.
        place: Values of the headings and lead-ins.
        said: Values of the passage itself.
        claim: The claim.
    """
    same = next((other for other in place if value.equals(other)), None)
    if same is None or value.kind not in KEY_KINDS | {"form"}:
        return same
    figures_of_place = {other.figure for other in place if other.kind == value.kind}
    figures_of_passage = {other.figure for other in said if other.kind == value.kind}
    claimed_figures = {claimed.figure for claimed in claim.values}
    is_about_other = bool((figures_of_passage & figures_of_place) - claimed_figures)
    return None if len(figures_of_place) > 1 and is_about_other else same


def _is_placed_elsewhere(value: Value, said: Sequence[Value], claim: Claim, *, text: str) -> bool:
    """Return whether a passage below the heading of one line reports an amount on another one, and the claim there."""
    if value.kind not in _ENTERED:
        return False
    rivals = [other for other in said if value.competes(other)]
    if not rivals or any(rival.equals(claimed) for rival in rivals for claimed in claim.values):
        return False
    pattern = load_verification().placements.on_line.pattern
    return pattern.search(claim.text) is not None and pattern.search(fold(text)) is not None


def _find_swapped(placed: Mapping[Value, Value], printed: Sequence[Value], *, text: str) -> list[Difference]:
    """Find values that the passage pairs otherwise than the claim: `line 2 (box B), line 3 (box C)`.

    Args:
        placed: Values of the claim with the same values in the passage.
        printed: All values of the passage.
        text: The passage.
    """
    found = []
    in_order = _pair_in_order(printed, text=text)
    for value, same in placed.items():
        rivals = [other for other in printed if value.competes(other)]
        # Of two lists in the same order, the partner is not the nearest one; without a choice nothing is swapped.
        if same in in_order or len(rivals) < 2:
            continue
        # For each other value of the claim: the rival that the passage prints nearest to it.
        rival_of = {
            partner: _find_partner(place, rivals, text=text)
            for partner, place in placed.items()
            if not value.competes(partner)
        }
        if not rival_of:
            continue
        nearest_partner = min(rival_of, key=lambda partner: _read_distance(value, partner))
        if rival_of[nearest_partner].equals(value):  # the one that the claim names next to it is enough
            continue
        for partner, rival in rival_of.items():
            is_one_of_several = sum(partner.competes(other) for other in printed) > 1
            is_claimed = any(rival.equals(claimed) for claimed in placed)
            if is_one_of_several and not is_claimed:
                found.append(Difference(value.text, rival.text, value.kind))
    return [*dict.fromkeys(found), *_find_mispaired(placed, printed, in_order, text=text)]


def _find_mispaired(
    placed: Mapping[Value, Value], printed: Sequence[Value], in_order: Mapping[Value, Value], *, text: str
) -> list[Difference]:
    """Find keys that the passage relates to another key of the same kind: `box 1a in box 2e, box 2a in box 2f`.

    Args:
        placed: Values of the claim with the same values in the passage.
        printed: All values of the passage.
        in_order: Partners of keys in two lists in the same order.
        text: The passage.
    """
    found = []
    for value, same in placed.items():
        if value.kind not in KEY_KINDS:
            continue
        related = [key for key in printed if key.kind == value.kind and not is_same_list(key, same, text=text)]
        claimed_partners = [
            key for key, place in placed.items() if key.kind == value.kind and not is_same_list(place, same, text=text)
        ]
        if not claimed_partners or not related:
            continue
        partner = in_order.get(same) or _find_partner(same, related, text=text)
        is_listed = any(is_same_list(partner, placed[key], text=text) for key in claimed_partners)  # `lines 18 and 19`
        is_claimed = any(partner.equals(claimed) for claimed in placed)
        if not is_listed and not is_claimed:
            found.append(Difference(claimed_partners[0].text, partner.text, value.kind))
    return list(dict.fromkeys(found))


def _find_partner(value: Value, others: Sequence[Value], *, text: str) -> Value:
    """Return the nearest of some values: of `5% if A, and 7% if B`, 7% belongs to B."""

    def read_gap(other: Value) -> tuple[int, int, int]:
        start, end = min(value.end, other.end), max(value.start, other.start)
        between = text[start:end]
        return len(_STOP.findall(between)), len(_JOINT.findall(between)), end - start

    return min(others, key=read_gap)


def _pair_in_order(printed: Sequence[Value], *, text: str) -> dict[Value, Value]:
    """Return the partner of each key where two lists are paired in order: `box 1 and box 2 in box 3 and box 4`."""
    partners: dict[Value, Value] = {}
    for start, end in find_sentences(text):
        if not is_paired_in_order(text[start:end]):
            continue
        in_sentence = sorted((value for value in printed if start <= value.start < end), key=_read_start)
        for kind in KEY_KINDS:
            keys = [value for value in in_sentence if value.kind == kind]
            half, is_odd = divmod(len(keys), 2)
            if not is_odd:
                partners |= dict(zip(keys, [*keys[half:], *keys[:half]], strict=True))
    return partners


def _read_distance(value: Value, other: Value) -> int:
    """Return the number of characters between two values."""
    return max(value.start, other.start) - min(value.end, other.end)


def _read_start(value: Value) -> int:
    """Return where a value begins."""
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
