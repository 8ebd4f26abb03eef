"""Places of amounts that a text names: `Form 8949, Part I, line 2, column (g)`, `box 1a of Form 2439`, a label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from taxkg_assets.rules.models.flows import load_flows

RETURN = "return"
"""What `Place.forms` holds for the reader's own tax return."""
FACE = "this form"
"""What `Place.forms` holds for the form that a booklet explains, also below the heading of one of its schedules."""

_ID = (
    r"(?:\d{3}R-\d(?:/W-\d[A-Z]{2})?|\d{3,4}+(?:(?:- ?)?[A-Z]{1,5}+(?:-EZ)?(?![a-z]))?+"
    r"|W-?\d[A-Z]{0,2}|[A-Z]{2,3}-\d{1,4})"
)
_JOINED = rf"(?:(?:, | or |, or | and |, and |/)(?:Forms? )?{_ID}(?!,? lines? ))*(?:(?:,? or|,? and) (?:Form )?{_ID})?"
_FORMS = rf"Forms?(?:\(s\))? {_ID}{_JOINED}"
_SCHEDULE = (
    r"Schedules? (?:[A-Z0-9]{1,2}|[A-Z]{3}|\d{4})(?:-[A-Z0-9]{1,2})?\b"
    r"(?! (?:Tax )?Worksheet)(?: \(Forms? [^()]{3,60}\))?"
)
_SMALL = r"of|for|and|the|to|in|on|or|a|an|under|with|from|by|etc\."
# Title of a form between its number and a line: `Form 2849, Dues of Harbor Pilots, line 6`.
_TITLE = (
    rf"(?:, (?=[A-Z])(?>(?!Part [IVX\d]|Section |Schedule |Form |Lines? |Box )(?:etc\.|U\.S\.|[\w'’/&—-]+)"
    rf"(?:,? (?=[A-Z]|(?:{_SMALL})[ ,]))?){{2,18}})?"
)
FORM_NAME = re.compile(rf"(?:{_FORMS}|{_SCHEDULE}){_TITLE}")
"""Name of a form or schedule, with its title."""
_MEMBER = r"\d{1,2}(?:[a-z]{1,2}|\([a-z]\))?(?: (?:through|to) (?:lines? )?\d{1,2}(?:[a-z]{1,2}|\([a-z]\))?)?"


_YEARS = r"(?:(?:current|prior|previous|preceding|last|this|next)[- ]year(?:['’]s)? )"
_YEAR_LIST = r"(?:19|20)\d\d(?:(?:,? (?:and|or)|,| through|–) (?:19|20)\d\d)+"
_OWNER = r"(?:(?!(?:that|it|this|what|here|there)['’])[a-z]+(?:['’]s|s['’]) )"
_VERSION = (
    r"(?:(?:AMT|regular(?: tax)?|separate|original|amended|corrected|attached|final|first|second|last|other|refigured"
    r"|new|old|federal|Puerto Rico|Puerto Rican) )"
)
"""Words between an article and a form that say which copy of it is meant."""


_CODES = r"[A-Z]{1,2}\b(?:(?: and |, and |, or |, | or | through |[–-])[A-Z]{1,2}\b)*"


def _document(prefix: str) -> str:
    names = rf"(?:{_FORMS}{_TITLE}, )?{_SCHEDULE}(?: of {_FORMS})?|{_FORMS}|(?<=; or ){_ID}(?=, lines? )"
    year = rf"(?:(?P<{prefix}year>(?:19|20)\d\d) |{_YEAR_LIST} )?"
    article = r"(?:(?:the|your|an?|any|its|their|his or her|this|that) )?"
    owner = rf"(?:(?:all |each )?(?:of )?{article}{year}{_YEARS}?{_OWNER}?{_VERSION}?)"
    return rf"{owner}(?P<{prefix}doc>{names})"


def _keys(prefix: str) -> str:
    ends = r"(?![\w%])(?! (?:through|to) \d)"
    letter = rf"\((?P<{prefix}column>[a-z]|\d{{1,2}})\)|(?P<{prefix}capital>[A-Z])\b"
    column = rf"(?:,? (?:(?({prefix}box)(?!)|in ))?column (?:{letter}))?"
    part = rf"(?:,? (?:of|in) Part (?P<{prefix}inner>[IVX]+))?"
    several = rf"codes {_CODES},?"
    code = rf"(?:,? (?:with |using )?\(?(?:code (?P<{prefix}code>[A-Z]{{1,2}})\b|{several})\)?)?"
    of_form = rf"(?:(?:all|each|any) )?(?:of )?(?:(?:the|your|an?|their|its) )?{_YEARS}?(?:Schedule|Form)"
    next_key = rf"(?({prefix}box)(?:box )?|(?:line )?){_MEMBER}\b(?! of (?!{of_form}))"
    keys = rf"{_MEMBER}(?:(?: or | and |, |, or |, and ){next_key})*"
    kind = rf"(?P<{prefix}kind>(?:l|(?<=, )L)ines?|(?P<{prefix}box>(?:b|(?<=, )B)ox(?:es)?))"
    which = r"(?:(?:applicable|corresponding) (?=lines? \d))?"
    return rf"{which}{kind} (?P<{prefix}keys>{keys}){ends}{column}{code}{part}"


def _part(prefix: str) -> str:
    return rf"(?:Part (?P<{prefix}part>[IVX]+|\d),? )?(?:Section [A-Z\d],? )?"


_AFTER = (
    rf"(?:column \((?P<a_first>[a-z\d])\) of )?(?:page \d, )?{_document('a_')}{_TITLE}(?:,? page \d)?"
    rf"(?:,? ?Section [A-Z\d])?(?:,? ?Part (?P<a_part>[IVX]+|\d),?)?(?:,? Section [A-Z\d],?)?"
    rf"(?:,? columns? \([a-z]\)(?: on)?)?(?<! and)(?<! or),? (?:in (?=box))?{_keys('a_')}"
)
_OTHER = (
    r"(?!,? (?:Part [IVX]+,? )?"
    r"(?:(?:lines?|box(?:es)?) (?!\d{1,2}[a-z]{0,2} (?:of|on) (?:Form|Schedule))\d|columns? \())"
)
_ORDER = ("Enter on ", "enter on ", "Include on ", "include on ", "Report on ", "report on ")
"""Before the line that an amount is entered on: `from` names the form of the amount then."""
_ORDERED = "|".join(f"(?<={words})" for words in _ORDER)
_NOT_ORDERED = "".join(f"(?<!{words})" for words in _ORDER)
_CLOSING = (
    rf"Forms? {_ID}(?: or (?:Form )?{_ID})*{_TITLE}(?:, Part (?:[IVX]+|\d)\b)?"
    r"(?: on page \d)?(?=[.;)]|$| \(|,? (?:and|or) (?:on )?lines? )"
)
"""Form behind a line and a comma, where no other words follow: `the dues from line 9, Form 2040.`"""
_BEFORE = (
    rf"(?:(?P<b_order>{_ORDERED})|{_NOT_ORDERED}){_part('b_')}{_keys('b_')},?(?: \([A-Z][a-z][^()]{{2,60}}\))?"
    r"(?: on page \d| (?:of|from|in) Part (?P<b_within>[IVX]+|\d))?"
    rf"(?: (?(b_order)(?:of|on|in)|(?:of|on|from|in)) |(?<=,) (?={_CLOSING}))"
    rf"(?>{_document('b_')}(?:, Part (?P<b_after>[IVX]+|\d)\b)?(?: on page \d(?: of (?:the|this|your) form)?)?"
    rf"|(?P<b_that>(?:that|each) (?:form|schedule))\b){_OTHER}"
)
_FACE = (
    rf"page 1, {_keys('f_')}(?! of)|{_keys('h_')} (?:on|of) page 1\b|{_part('g_')}{_keys('g_')},? (?:of|on|from|in) "
    rf"(?:this |(?:the|your) {_YEARS})form\b"
)
_QUOTED = r"[“\"](?P<quoted>[^“”\"]{3,60})[”\"] lines?"
_LABEL = rf"(?!(?:the )?following\b)(?:the )?(?:{_QUOTED}|(?P<words>[A-Za-z][a-z, ]{{3,60}}?) line)"
_RETURN = r"(?:your )?(?P<return>(?:(?:federal |income )*tax )?return)\b"
_BY_LABEL = rf"{_LABEL} \(?(?:of|on) (?:{_RETURN}|{_document('l_')})"
_LINE_FOR = r"(?:the )?lines? (?:for|labeled|called) [“\"](?P<for>[^“”\"]{3,60})[”\"],?"
_FOR_LABEL = rf"{_LINE_FOR} (?:of|on) {_document('r_')}"
_LABEL_AFTER = (
    rf"{_document('n_')},? on the (?:lines? (?:for|labeled|called) [“\"](?P<label_after>[^“”\"]{{3,60}})[”\"]"
    r"|[“\"](?P<label_first>[^“”\"]{3,60})[”\"] line\b)"
)
_NEXT_LABEL = re.compile(r" or [“\"](?P<label>[^“”\"]{3,60})[”\"](?! line)")
"""Further label after one in quotation marks."""
_LATER = (
    r"(?:the|your) (?:total|amount)|the (?:lines? (?:for|labeled|called)|(?:[a-z]+,? ){1,5}line (?:of|on)) "
    r"|(?:lines?|box(?:es)?) \d|(?:(?:the|your) )?(?:(?:19|20)\d\d )?(?:Form|Schedule)(?! [\w ]{1,12}Worksheet)"
    r"|this line|the case of|the following|the [“\"]"
    r"|columns? \("
)
_OWN = rf"{_part('o_')}{_keys('o_')}(?! (?:of|on|in|from) (?!{_LATER}))(?! worksheet)"
_PLACE = re.compile(
    rf"(?:{_AFTER})|(?:(?<!\w){_BEFORE})|(?:(?<!\w)(?:{_FACE}))|(?:(?<=\bon )(?:{_BY_LABEL}|{_FOR_LABEL}))|"
    rf"(?:(?<!\w){_LABEL_AFTER})|(?:(?<!\w){_OWN})"
)
_PARTS = r"(?:either )?Parts? [IVX]+(?:,? (?:or|and) (?:Part )?[IVX]+)? of "
_COLUMNS = (
    r"(?<!\w)columns? (?P<c_keys>\([a-z]\)(?:(?:, and |, | and | or )\([a-z]\))*)(?! (?:through|to) \()"
    rf"(?: (?:of|on) (?>(?:{_PARTS})?{_document('c_')})(?!,? (?:Part [IVX]+,? )?lines? \d))?"
)
_AFTER_COLUMNS = (
    rf"(?<!\w){_document('d_')}(?:,? Part [IVX]+)?,? columns? "
    r"(?P<d_keys>\([a-z]\)(?:(?:, and |, | and | or )\([a-z]\))*)(?! (?:through|to) \()"
)
_PLACE_OR_COLUMN = re.compile(rf"{_PLACE.pattern}|(?:{_AFTER_COLUMNS})|(?:{_COLUMNS})")
_SHOWN_ON = re.compile(
    rf"(?P<form>{_FORMS})(?: that you received| you received)?(?: that)? "
    r"(?:shows?|showing|with|has|reports?|reporting|includes?|reflects?|reflecting)\b[^.;]{0,60}?\bin (?:the )?$"
)
"""Form that the box right after it is on: `Form 2099 shows an amount in box 4`."""
_RECEIVED = re.compile(
    r"\b(?:you (?:also )?(?:receive|received|get|got)|(?:reported|shown) (?:to you )?on) (?:an? |the |your )?"
    rf"(?P<form>{_SCHEDULE}|{_FORMS})[^.;⟨⟩]{{0,80}}$"
)
"""Form that a later box of the sentence is on: `If you received a Form 2099, enter the amount from box 4`."""
_NEXT_CLAUSE = (
    r", (?:and|then) (?!lines? )\w"
    r"|\band (?:then )?(?:enter|include|add|report|compare|combine|subtract|carry|transfer)\b"
)
_TAKEN_FROM = re.compile(
    rf"\b(?i:enter|include|report) on line \d{{1,2}}[a-z]{{0,2}} from (?:all )?(?:your|the|each) (?P<form>{_FORMS})"
    rf" (?:the|any)\b(?:(?!{_NEXT_CLAUSE})[^.;⟨⟩]){{0,80}}$"
)
"""Form of a later line: `Enter on line 8 from your Forms 2099 the sum of the amounts on Part II, line 5`."""
_NEAR = 300
"""Most letters between the beginning of such words and the place."""
_NAMING = ("line", "box", ", Line", ", Box")
"""Words, one of which each place contains."""
_LABELS = ("quoted", "words", "for", "label_after", "label_first")
"""Groups of the words that name a line without its number."""
_PART_NAMES = ("part", "inner", "within", "after")
_SPLIT = re.compile(r",? (?:or|and) |, ")


@dataclass(frozen=True, slots=True)
class Place:
    """A place as a text names it; without forms it is on the form that the text is about."""

    forms: tuple[str, ...]
    keys: tuple[str, ...]
    kind: str
    part: str
    column: str
    label: str
    start: int
    end: int
    code: str = ""
    year: int | None = None


def find_places(text: str, *, columns: bool = False, before: str = "") -> list[Place]:
    """Return the places that a text names, in its order.

    Args:
        text: A label or a sentence.
        columns: Whether columns without a line are places, too.
        before: Text before it, which may name `that form`.
    """
    words = _NAMING if not columns else (*_NAMING, "column")
    return list(_list_places(text, columns, before)) if any(word in text for word in words) else []


@lru_cache(maxsize=1024)
def _list_places(text: str, columns: bool, before: str) -> tuple[Place, ...]:
    """Return the places of a text, once: the rules ask for those of a sentence one after the other."""
    return tuple(_read_places(text, _PLACE_OR_COLUMN if columns else _PLACE, before))


def mask(text: str, places: list[Place]) -> str:
    """Return a text of the same length with `⟨0___⟩` for the first place and so on; rules see a place as one word.

    Args:
        text: The text.
        places: What `find_places` found in it.
    """
    for at, place in enumerate(places):
        word = f"⟨{str(at).ljust(place.end - place.start - 2, '_')}⟩"
        text = text[: place.start] + word + text[place.end :]
    return text


def shift(place: Place, offset: int) -> Place:
    """Return a place of a sentence with its offsets in the text that the sentence is from.

    Args:
        place: Place of the sentence.
        offset: Where the sentence begins in the text.
    """
    return replace(place, start=place.start + offset, end=place.end + offset)


def _read_places(text: str, pattern: re.Pattern[str], before: str) -> Iterator[Place]:
    for match in pattern.finditer(text):
        if load_flows().elsewhere.matches(text[max(0, match.start() - 40) : match.start()]):
            continue
        groups = match.groupdict()
        if columns := groups.get("c_keys") or groups.get("d_keys"):
            letters = tuple(re.findall(r"\((\w)\)", columns))
            forms = name_forms(groups["c_doc"] or groups["d_doc"] or "")
            yield Place(forms, letters, "column", "", "", "", *match.span())
            continue
        prefix = next((name for name in ("a_", "b_", "f_", "g_", "h_", "o_") if groups[f"{name}keys"]), "")
        label = next((groups[name] for name in _LABELS if groups[name]), "")
        document = (groups["l_doc"] or groups["r_doc"] or groups["n_doc"]) if not prefix else groups.get(f"{prefix}doc")
        if groups["b_that"]:
            document = find_last_document(text[: match.start()]) or find_last_document(before)
            if not document:
                continue
        elif prefix == "o_" and text.endswith("its ", 0, match.start()):
            document = find_last_document(text[: match.start()]) or document
        elif taken := _TAKEN_FROM.search(text, max(0, match.start() - _NEAR), match.start()):
            document = _name_taken(document or "", taken["form"])
        elif prefix == "o_" and groups["o_kind"].lower().startswith("box"):
            near = max(0, match.start() - _NEAR)
            shown = _SHOWN_ON.search(text, near, match.start()) or _RECEIVED.search(text, near, match.start())
            document = shown["form"] if shown else document
        if groups["return"] or prefix in ("f_", "g_", "h_"):
            forms = (RETURN if groups["return"] else FACE,)
        else:
            forms = name_forms(document or "")
        kind = "box" if prefix and groups[f"{prefix}kind"].lower().startswith("box") else "line"
        keys = tuple(_list_keys(groups[f"{prefix}keys"] if prefix else ""))
        part = next((named for name in _PART_NAMES if (named := groups.get(f"{prefix}{name}"))), "")
        letter = groups[f"{prefix}capital"] if prefix else None
        column = (groups[f"{prefix}column"] or groups["a_first"] or (letter or "").lower()) if prefix else ""
        code = (groups[f"{prefix}code"] or "") if prefix else ""
        year = groups.get(f"{prefix}year") if prefix else groups["l_year"] or groups["r_year"] or groups["n_year"]
        yield Place(forms, keys, kind, part, column, label.strip(), *match.span(), code, int(year) if year else None)
        if label and (following := _NEXT_LABEL.match(text, match.end())):
            yield Place(forms, (), "line", "", "", following["label"].strip(), match.end() + 4, following.end())


def _name_taken(document: str, form: str) -> str:
    """Name the form that a line is on after the form that all amounts of the sentence are taken from."""
    return f"{document} of {form.replace('Forms', 'Form')}" if document.startswith("Schedule") else document or form


def find_last_document(text: str) -> str:
    """Return the form or schedule that a text names last; empty where it names none.

    Args:
        text: A sentence, or its beginning.
    """
    named = [match[0] for match in re.finditer(rf"{_SCHEDULE}|{_FORMS}", text)]
    return named[-1] if named else ""


def _list_keys(words: str) -> Iterator[str]:
    """List the keys of `lines 1 through 3, 5a, and 6(b)`, with those between the ends of a range."""
    for word in _SPLIT.split(words):
        first, *last = (
            re.sub(r"[()]", "", key) for key in re.split(r" (?:through|to) ", re.sub(r"^(?:lines?|box) ", "", word))
        )
        yield from range_keys(first, last[0]) if last else [first] if first else []


def range_keys(first: str, last: str) -> list[str]:
    """List the keys from one to another: numbers without letters, or letters of one number.

    Args:
        first: First key.
        last: Last key.

    Returns:
        The two keys alone where what is between is not known.
    """
    if first.isdigit() and last.isdigit():
        return [str(number) for number in range(int(first), int(last) + 1)]
    if first[:-1] == last[:-1] and first[-1].isalpha() and last[-1].isalpha():
        return [f"{first[:-1]}{chr(letter)}" for letter in range(ord(first[-1]), ord(last[-1]) + 1)]
    return [first, last]


def name_forms(words: str) -> tuple[str, ...]:
    """List the forms that a name joins; a schedule keeps its parent in parentheses where it is stated.

    Args:
        words: The name in the text.

    Returns:
        Names of the forms in order.
    """
    words = words.replace("- ", "-")
    schedule = re.search(_SCHEDULE, words)
    if schedule is None:
        return tuple(dict.fromkeys(re.findall(_ID, words)))
    name = schedule[0].replace("Schedules ", "Schedule ", 1)
    outside = re.findall(_ID, words[: schedule.start()] + words[schedule.end() :])
    if "(" in name:
        inside = {re.sub(r"\D+", "", form): form for form in reversed(re.findall(_ID, name.partition("(")[2]))}
        return tuple(f"{name.partition(' (')[0]} (Form {form})" for form in reversed(inside.values())) or (name,)
    return (f"{name} (Form {outside[0]})",) if outside else (name,)
