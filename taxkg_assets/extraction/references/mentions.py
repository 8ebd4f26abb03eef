"""Where a text names something: boxes, lines, forms, publications, law, addresses and headings.

A mention is a span of the text and one normalized target; lists and ranges give one mention per target. What the
sentence says about the target (relation, polarity) is decided in `polarity`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, reduce
from itertools import chain
from operator import or_
from typing import Any, TypeVar

import polars as pl

from taxkg_assets.extraction.references.number_lists import complete_item, expand_range, read_number
from taxkg_assets.extraction.references.schedules import FORMS_IN_PARENTHESES, name_schedules
from taxkg_assets.rules.confidence import read_confidence
from taxkg_assets.rules.families import RuleList
from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.models.references import Named, Titled, load_references
from taxkg_assets.rules.models.sentences import load_sentences

_TITLED = ("lettered_part", "roman_part", "lettered_section", "numbered_chapter", "see_title_in_publication")
_FIRST_WORD = re.compile(r"(?<=\w)\W")
_WORD_CONTINUES = re.compile(r"[\w-]")
# The first letter is tested before what is before it: the engine then skips to capitals and digits.
_CAPITALISED = re.compile(r"([A-Z0-9](?<![\w’'-].)\w*)[\w’'&-]*")

_Titled = TypeVar("_Titled", bound=Titled)
_RuleWithBits = tuple[_Titled, int, tuple[int, ...], re.Pattern[str] | None]
"""A rule, the most telling group of its words, the others, and the shape of its matches."""


# Not frozen, as a long booklet has thousands of them; never changed all the same.
@dataclass(slots=True)
class Mention:
    """One target named in a text.

    Attributes:
        kind: Kind of the target: `box`, `line`, `form`, `section`, …
        target: Normalized name of the target: `box_1a`, `Form 1040`.
        start: Offset of its first character.
        end: Offset after its last character.
        group: Range of the whole list that it is in, half-open.
        rule_id: Rule that found it.
        target_form: Form that a box or line is on, if the text names one.
        is_form_inherited: Whether this form was named for an earlier mention.
    """

    kind: str
    target: str
    start: int
    end: int
    group: tuple[int, int]
    rule_id: str
    target_form: str = ""
    is_form_inherited: bool = False

    @property
    def confidence(self) -> float:
        """Return the confidence of kind and target, and of the form that a box or line is on."""
        inherited = read_confidence("reference_mentions", "inherited_form") if self.is_form_inherited else 1.0
        return min(inherited, read_confidence("reference_mentions", self.rule_id))


def find_rule_words(texts: Sequence[str]) -> list[int]:
    """Find which rule words each text contains, in one pass, as most texts contain none.

    Args:
        texts: Texts.

    Returns:
        A bit mask of the words in each text; 0 for none.
    """
    lower_texts = pl.Series([text.lower() for text in texts], dtype=pl.String)
    words_by_text = lower_texts.str.extract_many(list(_word_bits()), overlapping=True).to_list()
    return [_number(words) if words else 0 for words in words_by_text]


def find_mentions(text: str, *, headings: Headings, rule_words: int | None = None) -> list[Mention]:
    """Find all references in a paragraph.

    Args:
        text: The paragraph.
        headings: Headings of the document.
        rule_words: Bit mask of rule words in the text from `find_rule_words`; computed by default.

    Returns:
        Mentions in the order of the text.
    """
    if rule_words is None:
        (rule_words,) = find_rule_words([text])
    if not rule_words:
        return []
    mentions: list[Mention] = list(headings.find_in(text, rule_words=rule_words))
    taken_ranges = _TakenRanges(mention.group for mention in mentions)
    for rule in _usable_rules(load_references().mentions, text, rule_words=rule_words):
        for new_mentions in _read_rule(text, rule):
            # Between the items of a list there may be others: "line 1b (if Box A is checked), line 2".
            if not any(taken_ranges.overlap(mention.start, mention.end) for mention in new_mentions):
                for mention in new_mentions:
                    taken_ranges.add(mention.start, mention.end)
                mentions.extend(new_mentions)
    for title_rule in _usable_rules(load_references().named_sections, text, rule_words=rule_words):
        mentions.extend(_read_titles(text, title_rule, taken_ranges=taken_ranges))
    if not mentions:
        return mentions
    mentions.sort(key=lambda mention: (mention.start, mention.end, mention.target))
    return _attach_forms(text, mentions)


class _TakenRanges:
    """Ranges of a text that mentions have, found by place."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._ranges = sorted(ranges)
        self._longest = max((end - start for start, end in self._ranges), default=0)

    def add(self, start: int, end: int) -> None:
        """Add a range."""
        insort(self._ranges, (start, end))
        self._longest = max(self._longest, end - start)

    def overlap(self, start: int, end: int) -> bool:
        """Decide whether a range shares a character with any of these."""
        first_ix = bisect_left(self._ranges, (start - self._longest,))
        last_ix = bisect_left(self._ranges, (end,))
        return any(start < range_end for _, range_end in self._ranges[first_ix:last_ix])


def _usable_rules(rules: RuleList[_Titled], text: str, *, rule_words: int) -> Iterator[_Titled]:
    """Find the rules that can match at all in a text: it holds their words, and something of their shape."""
    for rule, first_bit, other_bits, shape in _rules_with_bits(rules):
        if not rule_words & first_bit:
            continue
        for words in other_bits:
            if not rule_words & words:
                break
        else:
            if shape is None or shape.search(text):
                yield rule


@cache
def _rules_with_bits(rules: RuleList[_Titled]) -> tuple[_RuleWithBits[_Titled], ...]:
    """Return each rule with its groups of words as numbers, and the shape that every match contains."""
    return tuple((rule, *_bits_of(rule), re.compile(rule.shape) if rule.shape else None) for rule in rules)


def _bits_of(rule: Titled) -> tuple[int, tuple[int, ...]]:
    first_bit, *other_bits = map(_number, _words_of(rule))
    return first_bit, tuple(other_bits)


def _words_of(rule: Titled) -> tuple[tuple[str, ...], ...]:
    """Return the groups of words that a rule needs, its own first."""
    least_letters = load_references().telling_letters
    return (tuple(rule.words), *(words for words in rule.literal_groups if min(map(len, words)) >= least_letters))


@cache
def _word_bits() -> dict[str, int]:
    """Map each word of the rules to its bit."""
    rules = (*load_references().mentions, *load_references().named_sections)
    required_words = (words for rule in rules for words in _words_of(rule))
    return {word: 1 << ix for ix, word in enumerate(sorted(_cue_words().union(*required_words)))}


def _number(words: Iterable[str]) -> int:
    """Write a set of words as one number."""
    return reduce(or_, map(_word_bits().__getitem__, words), 0)


@cache
def _cue_words() -> frozenset[str]:
    """Return the words without which a text refers to none of the document's headings."""
    words = [rule.required_literals for rule in load_references().section_cues]
    assert all(words), "a cue for headings matches without any word of its own"
    return frozenset(chain.from_iterable(words))


class Headings:
    """The headings of one document, indexed by first word, to find them in its text."""

    def __init__(self, headings: dict[str, tuple[str, str]]) -> None:
        """Take heading as printed → (kind, target)."""
        least_chars = load_references().min_heading_chars
        self._cues = _number(_cue_words())
        self._by_word: dict[str, list[tuple[str, str, str]]] = {}
        for heading, (kind, target) in headings.items():
            words = normalize_heading(heading)
            if len(words) >= least_chars:
                self._by_word.setdefault(words.split()[0], []).append((words, kind, target))
        self._openings = {_FIRST_WORD.split(word, maxsplit=1)[0] for word in self._by_word}
        for rows in self._by_word.values():
            rows.sort(key=lambda row: (-len(row[0]), row))

    def find_in(self, text: str, *, rule_words: int) -> Iterator[Mention]:
        """Find headings that a text cites with a cue word before or after them.

        Args:
            text: The paragraph.
            rule_words: Bit mask of the rule words in the paragraph, from `find_rule_words`.

        Returns:
            Mentions in the order of the text.
        """
        if not rule_words & self._cues:
            return
        before = load_references().section_cues.see_before
        after = load_references().section_cues.place_after
        last_end = -9
        flat, openings = "", self._openings
        for word in _CAPITALISED.finditer(text):
            if word[1] not in openings or word.start() < last_end:
                continue
            flat = flat or _fold(text)
            match = self._match(flat, word.start())
            if match is None:
                continue
            end, kind, target = match
            joined_match = re.fullmatch(
                r"\s*(?:,\s*(?:and\s+|or\s+)?|and\s+|or\s+)(?:the\s+)?", text[max(last_end, 0) : word.start()]
            )
            cued = before.pattern.search(text[max(0, word.start() - 60) : word.start()]) is not None
            if cued or (joined_match is not None and last_end > 0) or after.pattern.search(text[end : end + 60]):
                last_end = end
                yield Mention(kind, target, word.start(), end, (word.start(), end), "known_heading")

    def _match(self, flat: str, start: int) -> tuple[int, str, str] | None:
        """Match the longest heading that begins at `start` of a folded text."""
        blank = flat.find(" ", start)
        first = flat[start:blank] if blank >= 0 else flat[start:]
        for key in (first, first.rstrip(".,;:?!)")):
            for words, kind, target in self._by_word.get(key, ()):
                end = start + len(words)
                if flat.startswith(words, start) and not _WORD_CONTINUES.match(flat, end):
                    return end, kind, target
        return None


def _fold(text: str) -> str:
    """Fold quotes and dashes one character for one, so that offsets stay true."""
    # To ask for each of a few letters is many times faster than to look every letter up.
    for letter, plain_letter in _FOLDS:
        text = text.replace(letter, plain_letter)
    return text


_FOLDS = (("‘", "'"), ("’", "'"), ("“", '"'), ("”", '"'), ("–", "-"), ("—", "-"), ("\u00a0", " "), ("\n", " "))


@lru_cache(maxsize=4096)
def normalize_heading(heading: str) -> str:
    """Normalize a printed heading to the form in which text cites it.

    Args:
        heading: Heading as printed.
    """
    text = re.sub(r"\s*\((?:continued|Continued)\)\s*$", "", " ".join(_fold(heading).split()))
    return text.rstrip(" .:?!-,")


def _read_rule(text: str, rule: Named) -> Iterator[list[Mention]]:
    """Read every place where one rule matches, its list and ranges expanded."""
    continuation = _continuation(rule.separators or load_references().separators, rule.more) if rule.more else None
    for match in rule.pattern.finditer(text):
        items = [(match["item"].strip(), match.start(), match.end())]
        end = match.end()
        while continuation is not None and (next_item := continuation.match(text, end)):
            between = text[end : next_item.start("item")]
            item = complete_item(next_item["item"], items=items, text=text)
            if not item:
                break
            items.extend(expand_range(items[-1][0], item, between=between, item_range=next_item.span("item")))
            end = next_item.end()
        named_groups = {key: value for key, value in match.groupdict().items() if value and key != "item"}
        yield [
            Mention(
                rule.kind,
                _build_target(rule, item, named_groups),
                start,
                stop,
                (match.start(), end),
                rule.id,
            )
            for item, start, stop in items
        ]


@cache
def _continuation(separators: str, pattern: str) -> re.Pattern[str]:
    return re.compile(separators + pattern)


def _build_target(rule: Named, item: str, named_groups: dict[str, str]) -> str:
    """Fill the rule's target template; spaces are single and a named act is called by its short name."""
    values: dict[str, Any] = {"of": "", **named_groups, "item": item}
    if "act" in named_groups:
        values["act"] = named_groups.get("short") or re.sub(r"\s+of\s+\d{4}$", "", named_groups["act"])
    if "series" in named_groups:
        values["series"] = rule.short.get(named_groups["series"], named_groups["series"])
    target = rule.target
    if named_groups.get("general"):
        target = "General " + target
    if rule.is_in_words:
        values["item"] = read_number(item)
    if rule.id == "url":
        values["item"] = item.rstrip("/.")
    return " ".join(target.format(**values).split())


def _read_titles(text: str, rule: Rule, *, taken_ranges: _TakenRanges) -> Iterator[Mention]:
    """Read a heading that the text names but the document's anchors do not hold."""
    no_title = load_references().context.not_section_titles.pattern
    for match in rule.pattern.finditer(text):
        start, end = match.span("item")
        if no_title.match(match["item"]) or taken_ranges.overlap(start, end):
            continue
        item = match["item"].rstrip(",")
        end = start + len(item)
        taken_ranges.add(start, end)
        yield Mention("section", item, start, end, (start, end), rule.id)


def _attach_forms(text: str, mentions: list[Mention]) -> list[Mention]:
    """Add to boxes and lines their form, to schedules their parent form, to parts and headings their place."""
    form_after = load_references().context.form_after.pattern
    named_mentions = [
        mentions[ix] if mentions[ix].target == target else replace(mentions[ix], target=target)
        for ix, target in name_schedules(text, mentions)
    ]
    forms = [mention for mention in named_mentions if mention.kind in ("form", "publication")]
    starts = [mention.start for mention in forms]
    reach = load_sentences().most_characters
    return [
        _attach_form(
            text,
            mention,
            forms[bisect_left(starts, mention.group[0] - reach) : bisect_right(starts, mention.group[1] + reach)],
            after=form_after,
        )
        if mention.kind in ("box", "line", "section")
        else mention
        for mention in named_mentions
    ]


def _attach_form(text: str, mention: Mention, forms: list[Mention], *, after: re.Pattern[str]) -> Mention:
    start, end = mention.group
    for other in forms:
        if mention.kind == "box" and _has_no_boxes(text, other):
            continue
        follows = other.group[0] >= end and after.match(text[end : other.group[0]]) is not None
        follows = follows and not is_put_into(text, mention, other)
        form = _named_form(other)
        between = text[other.group[1] : start] if other.group[1] <= start else None
        leads_to_mention = between is not None and (
            leads_to(between) if form else _holds_chapter(other, mention, between)
        )
        if not (follows or leads_to_mention):
            continue
        if mention.kind == "section":
            is_titled = mention.rule_id in _TITLED
            return replace(mention, target=f"{mention.target} ({other.target})") if is_titled else mention
        if form:
            return replace(mention, target_form=form)
    return mention


def _holds_chapter(publication: Mention, chapter: Mention, between: str) -> bool:
    """Decide whether a chapter named right after a publication is one of it, as in `Pub. 999, chapter 3`."""
    is_chapter = chapter.rule_id == "numbered_chapter" and publication.kind == "publication"
    return is_chapter and between.strip(" ") == ","


def _named_form(mention: Mention) -> str:
    """Name the form of a mention; a line of a form's instructions is one of the form, the first of several."""
    if mention.kind == "form":
        return mention.target.removeprefix("Form ")
    match = (
        load_references().context.form_of_instructions.pattern.match(mention.target)
        if mention.kind == "publication"
        else None
    )
    return match["form"] if match is not None else ""


def is_put_into(text: str, line: Mention, form: Mention) -> bool:
    """Return whether a line's amount goes to the form named after it: `the amount from line 5 on Form 9999, line 7`.

    Args:
        text: The text.
        line: Mention of a line or box, `line 5` in the example.
        form: Mention of the form after it.

    Returns:
        True if words before the line say that the amount comes from it, and the form is named with a line of its own.
    """
    if line.kind not in ("line", "box") or form.kind != "form":
        return False
    is_source = load_references().context.amount_source_before.pattern.search(
        text[max(0, line.group[0] - 80) : line.group[0]]
    )
    return (
        is_source is not None
        and load_references().context.line_after_form.pattern.match(text[form.group[1] :]) is not None
    )


def _has_no_boxes(text: str, form: Mention) -> bool:
    """Decide whether a form is a schedule or named with a line of it: a box next to it is on another form."""
    follows = load_references().context.line_after_form.pattern.match(text[form.group[1] :])
    return form.rule_id == "schedule" or follows is not None


def leads_to(gap: str) -> bool:
    """Return whether the words between a form and a later box or line say that the box or line is on the form.

    Args:
        gap: Text between the two: `, Part II, ` in `Form 9999, Part II, line 3`.
    """
    gap = FORMS_IN_PARENTHESES.sub("", gap)
    return "," in gap and load_references().context.form_before.pattern.match(gap) is not None
