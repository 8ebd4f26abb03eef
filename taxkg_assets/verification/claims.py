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
    alone = subject.forms if len(subject.forms) == 1 else ()
    named = [value for value in forms if value.figure not in alone and not _is_source(value, text, subject)]
    blanks = [(value.start, value.end) for value in (*forms, *keys)]
    blanks += _year_spans(text, forms, subject=subject)
    values = [value for value in find_values(text) if not _overlaps(value, blanks)]
    plain = _blank(text, blanks)
    wording = without_scaffold(read_wording(plain, language=language), language=language)
    weights = read_weights(wording.words, language=language)
    light = _expand(load_verification().light_words, language) | _expand(load_verification().addressees, language)
    factor: float = load_verification().light_weight
    nouns = _find_nouns(plain, language)
    most = load_verification().thresholds.verb_weight
    weights = {
        word: (weight if word in nouns else min(weight, most)) * (factor if word in light else 1.0)
        for word, weight in weights.items()
    }
    every = tuple(dict.fromkeys((*values, *keys, *named)))
    return Claim(text, " ".join(plain.split()), subject, every, wording, weights, nouns)


def _find_nouns(text: str, language: Language) -> Words:
    """Find the stems of the words that mostly name things."""
    return frozenset(
        stem for word in _WORD.findall(text.casefold()) if is_noun(word) for stem in find_words(word, language=language)
    )


def _is_source(form: Value, text: str, subject: Subject) -> bool:
    """Return whether a mention of instructions names the document that speaks, as its year next to it shows."""
    after = text[form.end :].lstrip()
    is_of_instructions = "nstructions" in text[form.start : form.end] or after.startswith("instructions")
    if not is_of_instructions or subject.year is None:
        return False
    is_before = text[: form.start].rstrip().endswith(str(subject.year))
    return is_before or load_verification().years.after_title.pattern.match(text[form.end : form.end + 40]) is not None


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
    found = [
        Value("form", name, "published" if own.kind == _PUBLISHED else "", "", "", text[own.start : own.end], *_at(own))
        for own in mentions
        if own.kind in _FORMS
        for name in name_form(own.target)
    ]
    for rule in load_verification().keys:
        if rule.kind == "form":
            for match in rule.pattern.finditer(text):
                if not _overlaps_any(match.span("item"), [(value.start, value.end) for value in found]):
                    found.append(Value("form", match["item"], "", "", "", match["item"], *match.span("item")))
    return sorted(found, key=lambda value: value.start)


def _find_keys(text: str, mentions: Sequence[Mentioned]) -> list[Value]:
    found = [
        Value(own.kind, own.target.split(" (")[0].casefold(), "", "", "", text[own.start : own.end], *_at(own))
        for own in mentions
        if own.kind in _KEYED
    ]
    for rule in load_verification().keys:
        kind = rule.kind
        if kind != "form":
            for match in rule.pattern.finditer(text):
                items = _list_steps(match["item"]) if kind == _STEP else [match["item"].casefold()]
                found += [Value(kind, f"{kind}_{item}", "", "", "", match[0], *match.span()) for item in items]
    return found


def _list_steps(printed: str) -> list[str]:
    """Return the single steps of a list: `2 through 4` is 2, 3 and 4."""
    found: list[str] = []
    for match in _LISTED.finditer(printed):
        number = int(match["number"])
        first = int(re.sub(r"\D", "", found[-1])) + 1 if found and match["through"] else number
        found += [str(between) for between in range(first, number)]
        found.append(f"{number}{match['letter'] or ''}")
    return list(dict.fromkeys(found))


def _find_rules(text: str, mentions: Sequence[Mentioned]) -> list[Value]:
    return [
        Value("rule", _name_rule(own.target), "", "", "", text[own.start : own.end], *_at(own))
        for own in mentions
        if own.kind in _RULES
    ]


def _name_rule(target: str) -> str:
    """Return the number of a section or ruling, which different ways of citing it share."""
    numbers = [word for word in target.split() if any(letter.isdigit() for letter in word)]
    return (numbers[-1] if numbers else target).removeprefix("sec_").casefold()


def _at(mention: Mentioned) -> tuple[int, int]:
    return mention.start, mention.end


def _read_subject(text: str, forms: Sequence[Value]) -> Subject:
    year, month, cited = None, None, []
    years = load_verification().years
    for form in forms:
        after = years.after_title.pattern.match(text[form.end : form.end + 40])
        if after or form.unit == "published":
            cited.append(form)
        if after and year is None:
            year, month = int(after["year"]), _read_month(after["month"])
    for rule in (years.before_title, years.stated, years.bracketed):
        for match in rule.pattern.finditer(text):
            if year is None:
                year, month = int(match["year"]), _read_month(match["month"])
            if rule is years.before_title:
                cited += [form for form in forms if 0 <= form.start - match.end() <= 40][:1]
    names = [form.figure for form in (cited or forms)]
    return Subject(tuple(dict.fromkeys(names)), year, month)


def _read_month(name: str | None) -> int | None:
    small = (name or "").casefold()[:3]
    return MONTHS.index(small) + 1 if small in MONTHS else None


def _year_spans(text: str, forms: Sequence[Value], *, subject: Subject) -> list[tuple[int, int]]:
    """Find where the year of the subject is named."""
    years = load_verification().years
    matches = [
        match for rule in (years.before_title, years.stated, years.bracketed) for match in rule.pattern.finditer(text)
    ]
    spans = [match.span() for match in matches if int(match["year"]) == subject.year]
    for form in forms:
        if after := years.after_title.pattern.match(text[form.end : form.end + 40]):
            spans.append((form.end, form.end + after.end()))
    return spans


def _blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    letters = list(text)
    for start, end in spans:
        letters[start:end] = " " * (end - start)
    return "".join(letters)


def _overlaps(value: Value, spans: Sequence[tuple[int, int]]) -> bool:
    return _overlaps_any((value.start, value.end), spans)


def _overlaps_any(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
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
    return frozenset(words) | find_words(" ".join(words), language=language)
