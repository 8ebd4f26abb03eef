"""A statement as a claim: what it is about, the values, keys and forms that it names, its words and polarity."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.general_words import is_noun
from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.rules.months import MONTHS
from taxkg_assets.verification.clause_words import Wording, Words, find_words, read_weights, read_wording
from taxkg_assets.verification.draft import Statement
from taxkg_assets.verification.language import Language, Mentioned
from taxkg_assets.verification.values import Value, find_values, fold

_TITLE = re.compile(r"^(?:General )?Instructions for |^Forms? |\s*\([^()]*\)$")
_FROM_TO = re.compile(r"(?i)(?P<first>\b(?P<kind>line|box) \d{1,2}[a-z]?) to (?P<second>(?P=kind) \d{1,2}[a-z]?\b)")
_WORD = re.compile(r"[a-z]+")
_PUBLISHED = "publication"
_STEP = "step"
_KEYED = frozenset({"box", "line"})
_RULES = frozenset({"irc_section", "regulation", "notice_or_ruling", "statute_section"})
_FORMS = frozenset({"form", _PUBLISHED})


@dataclass(frozen=True, slots=True)
class Subject:
    """The form, publication and year that a statement is about.

    Attributes:
        forms: Forms and publications that it cites, in short names such as `W-2`, `Pub. 502` or `Schedule D`.
        year: Year that it cites; None for none.
        month: Month of the revision that it cites, 1 to 12; None for none.
    """

    forms: tuple[str, ...] = ()
    year: int | None = None
    month: int | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement parsed for checking: subject, values and words.

    Attributes:
        text: The statement with the sentence that opens its list.
        plain: Its words without the names of forms and years.
        subject: What it is about.
        values: Values that it states, keys of boxes and lines and forms included.
        wording: Its words by clause, without the words of an attribution.
        weights: Weight of each word.
        nouns: Words of it that mostly name things.
    """

    text: str
    plain: str
    subject: Subject
    values: tuple[Value, ...]
    wording: Wording
    weights: Mapping[str, float]
    nouns: Words = frozenset()

    @property
    def is_checkable(self) -> bool:
        """Return whether the claim names anything that the library could contradict."""
        return bool(self.values or self.subject.forms)

    @property
    def keys(self) -> tuple[Value, ...]:
        """Return the keys of boxes, lines, codes, columns and parts."""
        return tuple(value for value in self.values if value.kind in KEY_KINDS)


KEY_KINDS = frozenset({"box", "line", "code", "column", "part", "step", "worksheet", "table"})
_LISTED = re.compile(r"(?P<through>through|to|-)?\s*(?P<number>\d{1,2})(?:\((?P<letter>[a-z])\))?")


_NEAR_YEAR = 40
"""Most characters between a form and its year."""


def name_form(target: str) -> tuple[str, ...]:
    """Return the short names of a form from its mention or document.

    Args:
        target: Form, schedule, publication or its instructions, such as `Instructions for Form 1099-R`.
    """
    plain = target.strip()
    while (shorter := _TITLE.sub("", plain)) != plain:
        plain = shorter
    return tuple(name for part in split_forms(plain) if (name := re.sub(r"^Forms? ", "", part)))


def read_claim(statement: Statement, *, language: Language) -> Claim:
    """Parse a statement into subject, values, keys, forms and words.

    `By the 2031 instructions for Form 9999, enter $40 in box 2` is about Form 9999 of 2031 and states `$40` and `box
    2`; its other words are weighted.

    Args:
        statement: Statement of a draft.
        language: Functions that read words.

    Returns:
        The claim.
    """
    text = fold(f"{statement.lead_in} {statement.text}".strip())
    mentions = language.find_mentions(_part_ends(text))
    forms = _find_forms(text, mentions)
    subject = _read_subject(text, forms)
    keys = [*_find_keys(text, mentions), *_find_rules(text, mentions)]
    # Of several forms that are named alike, a passage has to name all.
    only_form = subject.forms if len(subject.forms) == 1 else ()
    further_forms = [form for form in forms if form.figure not in only_form and not _is_source(form, text, subject)]
    read_spans = [(value.start, value.end) for value in (*forms, *keys)]
    read_spans += _year_spans(text, forms, subject=subject)
    values = [value for value in find_values(text) if not _overlaps(value, read_spans)]
    plain = _blank(text, read_spans)
    wording = without_scaffold(read_wording(plain, language=language), language=language)
    nouns = _find_nouns(plain, language)
    weights = _find_weights(wording.words, nouns, language)
    stated = tuple(dict.fromkeys((*values, *keys, *further_forms)))
    return Claim(text, " ".join(plain.split()), subject, stated, wording, weights, nouns)


def _find_weights(words: Words, nouns: Words, language: Language) -> dict[str, float]:
    """Find the weight of each word of a claim by its rarity, less for a verb or a word such as `taxpayer`.

    Args:
        words: Words of the claim.
        nouns: Those that mostly name things.
        language: Functions that read words.

    Returns:
        Weight of each word.
    """
    rules = load_verification()
    light_words = _expand(rules.light_words, language) | _expand(rules.addressees, language)
    weights: dict[str, float] = {}
    for word, weight in read_weights(words, language=language).items():
        capped = weight if word in nouns else min(weight, rules.thresholds.verb_weight)
        weights[word] = capped * (rules.light_weight if word in light_words else 1.0)
    return weights


def _find_nouns(text: str, language: Language) -> Words:
    """Find the stems of the words that mostly name things."""
    nouns = [word for word in _WORD.findall(text.casefold()) if is_noun(word)]
    return frozenset(stem for word in nouns for stem in find_words(word, language=language))


def _is_source(form: Value, text: str, subject: Subject) -> bool:
    """Return whether a mention of instructions names the document that speaks, as its year next to it shows."""
    after = text[form.end :].lstrip()
    is_of_instructions = "nstructions" in text[form.start : form.end] or after.startswith("instructions")
    if not is_of_instructions or subject.year is None:
        return False
    is_before = text[: form.start].rstrip().endswith(str(subject.year))
    return (
        is_before
        or load_verification().years.after_title.pattern.match(text[form.end : form.end + _NEAR_YEAR]) is not None
    )


def find_keys_and_forms(text: str, *, language: Language) -> list[Value]:
    """Return the keys, forms and rules in a passage.

    Args:
        text: The passage.
        language: Functions that read words.
    """
    text = fold(text)
    mentions = language.find_mentions(_part_ends(text))
    return [*_find_keys(text, mentions), *_find_rules(text, mentions), *_find_forms(text, mentions)]


def _part_ends(text: str) -> str:
    """Return a text of the same length in which `line 3 to line 5` is no range of lines: an amount goes there.

    `Schedule(s) Z` becomes `Schedules   Z`.
    """
    return _FROM_TO.sub(lambda match: f"{match['first']} at {match['second']}", text.replace("(s)", "s  "))


def _find_forms(text: str, mentions: Sequence[Mentioned]) -> list[Value]:
    """Find the forms, schedules and publications that a text names, by the mentions and by the rules for claims."""
    found = []
    for mention in mentions:
        if mention.kind in _FORMS:
            start, end = _at(mention)
            unit = "published" if mention.kind == _PUBLISHED else ""
            found += [
                Value("form", name, unit, "", "", text[start:end], start, end) for name in name_form(mention.target)
            ]
    for rule in load_verification().keys:
        if rule.kind != "form":
            continue
        for match in rule.pattern.finditer(text):
            span = match.span("item")
            if not _overlaps_any(span, [(value.start, value.end) for value in found]):
                found.append(Value("form", match["item"], "", "", "", match["item"], *span))
    return sorted(found, key=lambda value: value.start)


def _find_keys(text: str, mentions: Sequence[Mentioned]) -> list[Value]:
    """Find the boxes, lines, codes, columns, parts and steps that a text names: `box_2a` for `Box 2a`."""
    found = []
    for mention in mentions:
        if mention.kind in _KEYED:
            start, end = _at(mention)
            key = mention.target.split(" (")[0].casefold()
            found.append(Value(mention.kind, key, "", "", "", text[start:end], start, end))
    for rule in load_verification().keys:
        kind = rule.kind
        if kind == "form":
            continue
        for match in rule.pattern.finditer(text):
            items = _list_steps(match["item"]) if kind == _STEP else [match["item"].casefold()]
            found += [Value(kind, f"{kind}_{item}", "", "", "", match[0], *match.span()) for item in items]
    return found


def _list_steps(printed: str) -> list[str]:
    """Return the single steps of a list: `2 through 4` is 2, 3 and 4."""
    steps: list[str] = []
    for match in _LISTED.finditer(printed):
        number = int(match["number"])
        if steps and match["through"]:
            step_before = int(re.sub(r"\D", "", steps[-1]))
            steps += [str(between) for between in range(step_before + 1, number)]
        steps.append(f"{number}{match['letter'] or ''}")
    return list(dict.fromkeys(steps))


def _find_rules(text: str, mentions: Sequence[Mentioned]) -> list[Value]:
    """Find the sections of law and rulings that a text cites."""
    return [
        Value("rule", _name_rule(mention.target), "", "", "", text[mention.start : mention.end], *_at(mention))
        for mention in mentions
        if mention.kind in _RULES
    ]


def _name_rule(target: str) -> str:
    """Return the number of a section or ruling, which different ways of citing it share."""
    numbers = [word for word in target.split() if any(letter.isdigit() for letter in word)]
    return (numbers[-1] if numbers else target).removeprefix("sec_").casefold()


def _at(mention: Mentioned) -> tuple[int, int]:
    """Return where a mention begins and ends."""
    return mention.start, mention.end


def _read_subject(text: str, forms: Sequence[Value]) -> Subject:
    """Read which forms a claim is about, and their year: those named with a year or as published, else all.

    In `the 2031 Form 9999 has line 4 of Form 8888`, the subject is Form 9999 of 2031.
    """
    years = load_verification().years
    year, month = None, None
    cited: list[Value] = []
    for form in forms:
        year_after = _match_year_after(form, text)
        if year_after or form.unit == "published":
            cited.append(form)
        if year_after and year is None:
            year, month = int(year_after["year"]), _read_month(year_after["month"])
    for rule in (years.before_title, years.stated, years.bracketed):
        for match in rule.pattern.finditer(text):
            if year is None:
                year, month = int(match["year"]), _read_month(match["month"])
            if rule is years.before_title:
                cited += [form for form in forms if 0 <= form.start - match.end() <= _NEAR_YEAR][:1]
    names = [form.figure for form in (cited or forms)]
    return Subject(tuple(dict.fromkeys(names)), year, month)


def _match_year_after(form: Value, text: str) -> re.Match[str] | None:
    """Match the year right after the name of a form: `Form 9999 (2031)`."""
    after = text[form.end : form.end + _NEAR_YEAR]
    matched: re.Match[str] | None = load_verification().years.after_title.pattern.match(after)
    return matched


def _read_month(name: str | None) -> int | None:
    """Return the number of a month, from 1; None for no month."""
    short_name = (name or "").casefold()[:3]
    return MONTHS.index(short_name) + 1 if short_name in MONTHS else None


def _year_spans(text: str, forms: Sequence[Value], *, subject: Subject) -> list[tuple[int, int]]:
    """Find where the year of the subject is named."""
    years = load_verification().years
    spans = []
    for rule in (years.before_title, years.stated, years.bracketed):
        matches = rule.pattern.finditer(text)
        spans += [match.span() for match in matches if int(match["year"]) == subject.year]
    for form in forms:
        if year_after := _match_year_after(form, text):
            spans.append((form.end, form.end + year_after.end()))
    return spans


def _blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return a text of the same length with spaces in some ranges."""
    letters = list(text)
    for start, end in spans:
        letters[start:end] = " " * (end - start)
    return "".join(letters)


def _overlaps(value: Value, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a value shares characters with a range."""
    return _overlaps_any((value.start, value.end), spans)


def _overlaps_any(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a range shares characters with another one."""
    return any(start < span[1] and span[0] < end for start, end in spans)


def without_scaffold(wording: Wording, *, language: Language) -> Wording:
    """Return a text without words that say who states something, or compare amounts: `least` of `at least age 50`.

    Args:
        wording: Words of the text.
        language: Functions that read words.
    """
    free = _expand(load_verification().scaffold_words, language)
    clauses = tuple(replace(own, words=own.words - free) for own in wording.clauses if own.words - free)
    return Wording(clauses, wording.words - free)


def _expand(words: Sequence[str], language: Language) -> Words:
    """Return words with their stems."""
    return frozenset(words) | find_words(" ".join(words), language=language)
