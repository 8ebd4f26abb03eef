"""Places of amounts that a text names: `Form 8949, Part I, line 2, column (g)`, `box 1a of Form 2439`, a label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from taxkg_assets.rules.asking import matches_any

RETURN = "return"
"""What `Place.forms` holds for the reader's own tax return."""

_ID = r"(?:\d{3,4}+(?:-?[A-Z]{1,5}+(?![a-z]))?+|W-?\d[A-Z]{0,2}|[A-Z]{2,3}-\d{1,4})"
_JOINED = rf"(?:(?:, | or |, or | and |, and |/)(?:Form )?{_ID}(?!,? lines? ))*(?:(?:,? or|,? and) (?:Form )?{_ID})?"
_FORMS = rf"Forms?(?:\(s\))? {_ID}{_JOINED}"
_SCHEDULE = r"Schedule [A-Z0-9]{1,2}(?:-[A-Z0-9]{1,2})?\b(?! (?:Tax )?Worksheet)(?: \(Forms? [^()]{3,40}\))?"
_MEMBER = r"\d{1,2}[a-z]{0,2}"
_LIST = rf"{_MEMBER}(?:(?: or | and |, |, or |, and )(?:line |box )?{_MEMBER}\b(?! of (?!Schedule|Form)))*"


def _document(prefix: str) -> str:
    names = rf"(?:{_FORMS}, )?{_SCHEDULE}(?: of {_FORMS})?|{_FORMS}"
    owner = r"(?:(?:all |each )?(?:of )?(?:the |your |a )?(?:spouse['’]s )?)"
    return rf"{owner}(?P<{prefix}doc>{names})"


def _keys(prefix: str) -> str:
    ends = r"(?![\w%])(?! (?:through|to) \d)"
    column = rf"(?:,? (?:(?({prefix}box)(?!)|in ))?column \((?P<{prefix}column>[a-z])\))?"
    part = rf"(?:,? (?:of|in) Part (?P<{prefix}inner>[IVX]+))?"
    code = rf"(?:,? code (?P<{prefix}code>[A-Z]{{1,2}})\b)?"
    return rf"(?P<{prefix}kind>lines?|(?P<{prefix}box>box(?:es)?)) (?P<{prefix}keys>{_LIST}){ends}{column}{code}{part}"


_AFTER = rf"{_document('a_')}(?:,? ?Part (?P<a_part>[IVX]+),?)?,? {_keys('a_')}"
_OTHER = r"(?!,? (?:Part [IVX]+,? )?(?:lines?|box(?:es)?) \d)"
_BEFORE = (
    rf"(?:Part (?P<b_part>[IVX]+),? )?{_keys('b_')},?(?: on page \d)? (?:of|on|from|in) (?>{_document('b_')}){_OTHER}"
)
_QUOTED = r"[“\"](?P<quoted>[^“”\"]{3,60})[”\"] lines?"
_LABEL = rf"(?!(?:the )?following\b)(?:the )?(?:{_QUOTED}|(?P<words>[A-Za-z][a-z, ]{{3,60}}?) line)"
_RETURN = r"(?:your )?(?P<return>(?:(?:federal |income )*tax )?return)\b"
_BY_LABEL = rf"{_LABEL} \(?(?:of|on) (?:{_RETURN}|{_document('l_')})"
_LATER = r"Form|Schedule|the following|the [“\"]|columns? \("
_OWN = rf"{_keys('o_')}(?! (?:of|on|in|from) (?!{_LATER}))(?! worksheet)"
_PLACE = re.compile(rf"(?:{_AFTER})|(?:(?<!\w){_BEFORE})|(?:(?<=\bon ){_BY_LABEL})|(?:(?<!\w){_OWN})")
_PARTS = r"(?:either )?Parts? [IVX]+(?:,? (?:or|and) (?:Part )?[IVX]+)? of "
_COLUMNS = (
    r"(?<!\w)columns? (?P<c_keys>\([a-z]\)(?:(?:, and |, | and | or )\([a-z]\))*)(?! (?:through|to) \()"
    rf"(?: (?:of|on) (?:{_PARTS})?{_document('c_')})?"
)
_PLACE_OR_COLUMN = re.compile(rf"{_PLACE.pattern}|(?:{_COLUMNS})")
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


def find_places(text: str, *, columns: bool = False) -> list[Place]:
    """Return the places that a text names, in its order.

    Args:
        text: A label or a sentence.
        columns: Whether columns without a line are places, too.
    """
    return list(_read_places(text, _PLACE_OR_COLUMN if columns else _PLACE))


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


def _read_places(text: str, pattern: re.Pattern[str]) -> Iterator[Place]:
    for match in pattern.finditer(text):
        if matches_any("flows", "elsewhere", text[max(0, match.start() - 40) : match.start()]):
            continue
        groups = match.groupdict()
        if groups.get("c_keys"):
            letters = tuple(re.findall(r"\((\w)\)", groups["c_keys"]))
            yield Place(name_forms(groups["c_doc"] or ""), letters, "column", "", "", "", *match.span())
            continue
        prefix = next((name[:2] for name in ("a_keys", "b_keys", "o_keys") if groups[name]), "")
        label = groups["quoted"] or groups["words"] or ""
        document = groups["l_doc"] if not prefix else groups.get(f"{prefix}doc")
        forms = (RETURN,) if groups["return"] else name_forms(document or "")
        kind = "box" if prefix and groups[f"{prefix}kind"].startswith("box") else "line"
        keys = tuple(
            re.sub(r"^(?:line|box) ", "", key) for key in _SPLIT.split(groups[f"{prefix}keys"] if prefix else "") if key
        )
        part = groups.get(f"{prefix}part") or groups.get(f"{prefix}inner") or ""
        column = (groups[f"{prefix}column"] or "") if prefix else ""
        code = (groups[f"{prefix}code"] or "") if prefix else ""
        yield Place(forms, keys, kind, part, column, label.strip(), *match.span(), code)


def name_forms(words: str) -> tuple[str, ...]:
    """List the forms that a name joins; a schedule keeps its parent in parentheses where it is stated.

    Args:
        words: The name in the text.

    Returns:
        Names of the forms in order.
    """
    schedule = re.search(_SCHEDULE, words)
    if schedule is None:
        return tuple(dict.fromkeys(re.findall(_ID, words)))
    name = schedule[0]
    outside = re.findall(_ID, words[: schedule.start()] + words[schedule.end() :])
    if "(" in name:
        inside = re.findall(_ID, name)
        return (f"{name.partition(' (')[0]} (Form {inside[0]})",) if inside else (name,)
    return (f"{name} (Form {outside[0]})",) if outside else (name,)
