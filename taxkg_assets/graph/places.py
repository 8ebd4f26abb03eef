"""Places of amounts that a text names: `Form 8949, Part I, line 2, column (g)`, `box 1a of Form 2439`, a label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from taxkg_assets.graph.place_patterns import (
    FORMS,
    ID,
    NEXT_LABEL,
    RECEIVED,
    SCHEDULE,
    SHOWN_ON,
    TAKEN_FROM,
    compile_places,
)
from taxkg_assets.rules.models.flows import load_flows

RETURN = "return"
"""What `Place.forms` holds for the reader's own tax return."""
FACE = "this form"
"""What `Place.forms` holds for the form that a booklet explains, also below the heading of one of its schedules."""

_NAMING = ("line", "box", ", Line", ", Box")
"""Words, one of which each place contains."""
_NEAR = 300
"""Most letters between words that name the form of a place and the place."""
# Prefixes of groups of `place_patterns`, by what is read of them.
_ALONE = "alone_"
_ON_FACE = ("top_page_", "this_form_", "on_page_")
_NUMBERED = ("form_first_", "line_first_", *_ON_FACE, _ALONE)
_BY_LABEL = ("label_first_", "for_label_", "label_last_")
_COLUMNS = ("columns_", "columns_last_")
_LABELS = ("quoted", "words", "for", "label_after", "label_quoted")
"""Groups of the words that name a line without its number."""
_PART_NAMES = ("part", "inner", "within", "after")
_SPLIT = re.compile(r",? (?:or|and) |, ")
_TOKEN_MARKS = str.maketrans("⟨⟩⟪⟫", "()()")
"""What `mask` puts for the marks of its tokens where a document prints them: they would be read as places."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line, box or form as a text names it; without a form it is on the form that the text is about."""

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
    """Find the lines, boxes and forms that a text names, in text order.

    Args:
        text: A label or a sentence.
        columns: Whether to include columns without a line.
        before: Text before it, which may name `that form`.

    Returns:
        Places in text order.
    """
    words = _NAMING if not columns else (*_NAMING, "column")
    return list(_list_places(text, columns, before)) if any(word in text for word in words) else []


@lru_cache(maxsize=1024)
def _list_places(text: str, columns: bool, before: str) -> tuple[Place, ...]:
    """Return the places of a text, once: the rules ask for those of a sentence one after the other."""
    return tuple(_read_places(text, compile_places(has_columns=columns), before))


def mask(text: str, places: list[Place]) -> str:
    """Replace each place in a text by a token of the same length, so that rules see it as one word.

    Args:
        text: The text.
        places: What `find_places` found in it.

    Returns:
        The masked text.
    """
    if "⟨" in text or "⟪" in text:
        text = text.translate(_TOKEN_MARKS)
    for at, place in enumerate(places):
        word = f"⟨{str(at).ljust(place.end - place.start - 2, '_')}⟩"
        text = text[: place.start] + word + text[place.end :]
    return text


def shift(place: Place, offset: int) -> Place:
    """Shift the offsets of a sentence's place to offsets in the whole text.

    Args:
        place: Place of the sentence.
        offset: Where the sentence begins in the text.

    Returns:
        The place in the whole text.
    """
    return replace(place, start=place.start + offset, end=place.end + offset)


def _read_places(text: str, pattern: re.Pattern[str], before: str) -> Iterator[Place]:
    for match in pattern.finditer(text):
        if load_flows().elsewhere.matches(text[max(0, match.start() - 40) : match.start()]):
            continue
        place = _read_columns(match) or _read_place(match, before)
        if place is None:
            continue
        yield place
        if place.label and (following := NEXT_LABEL.match(text, match.end())):
            label = following["label"].strip()
            span = (match.end() + 4, following.end())
            yield Place(place.forms, (), "line", "", "", label, *span)


def _read_columns(match: re.Match[str]) -> Place | None:
    """Return the columns that a match of `compile_places` names without a line; None for a line or box."""
    groups = match.groupdict()
    prefix = next((name for name in _COLUMNS if groups.get(f"{name}keys")), "")
    if not prefix:
        return None
    letters = tuple(re.findall(r"\((\w)\)", groups[f"{prefix}keys"]))
    return Place(name_forms(groups[f"{prefix}doc"] or ""), letters, "column", "", "", "", *match.span())


def _read_place(match: re.Match[str], before: str) -> Place | None:
    """Return the line or box that a match names; None if it is of `that form`, and no form is named before it."""
    groups = match.groupdict()
    # The pattern has the same groups for each wording: `line_first_keys` in `line 4 of Form 2889`.
    wording = next((name for name in _NUMBERED if groups[f"{name}keys"]), "")
    document = _find_document(match, wording, before)
    if document is None:
        return None
    if groups["return"]:
        forms: tuple[str, ...] = (RETURN,)
    else:
        forms = (FACE,) if wording in _ON_FACE else name_forms(document)
    year = _first_group(groups, [f"{name}year" for name in _wordings_of(wording)])
    return Place(
        forms=forms,
        keys=tuple(_list_keys(groups[f"{wording}keys"] if wording else "")),
        kind="box" if _is_box(match, wording) else "line",
        part=_first_group(groups, [f"{wording}{name}" for name in _PART_NAMES]),
        column=_read_column(groups, wording),
        label=_first_group(groups, _LABELS).strip(),
        start=match.start(),
        end=match.end(),
        code=(groups[f"{wording}code"] or "") if wording else "",
        year=int(year) if year else None,
    )


def _wordings_of(wording: str) -> tuple[str, ...]:
    """Return the prefixes of the groups that may hold form and year: those of a label where no number is named."""
    return (wording,) if wording else tuple(_BY_LABEL)


def _first_group(groups: Mapping[str, str | None], names: Iterable[str]) -> str:
    """Return the first of some groups that matched; empty for none."""
    return next((value for name in names if (value := groups.get(name))), "")


def _is_box(match: re.Match[str], prefix: str) -> bool:
    """Decide whether a match names boxes, and no lines."""
    return bool(prefix) and match[f"{prefix}kind"].lower().startswith("box")


def _read_column(groups: Mapping[str, str | None], prefix: str) -> str:
    """Return the letter of the column of a line; empty for none."""
    if not prefix:
        return ""
    capital = groups[f"{prefix}capital"] or ""
    return groups[f"{prefix}column"] or groups["form_first_first"] or capital.lower()


def _find_document(match: re.Match[str], prefix: str, before: str) -> str | None:
    """Return the name of the form that a line or box is on, by its own words or those before it; empty for none.

    Args:
        match: Match of a place.
        prefix: How it is worded, as prefix of groups.
        before: Text before that of the match.

    Returns:
        None for `that form` where no form is named before it.
    """
    text, start = match.string, match.start()
    if match["line_first_that"]:
        return find_last_document(text[:start]) or find_last_document(before) or None
    document = _first_group(match.groupdict(), [f"{name}doc" for name in _wordings_of(prefix)])
    if prefix == _ALONE and text.endswith("its ", 0, start):
        return find_last_document(text[:start]) or find_last_document(before) or document
    near = max(0, start - _NEAR)
    if source_match := TAKEN_FROM.search(text, near, start):
        return _name_taken(document, source_match["form"])
    if prefix == _ALONE and _is_box(match, prefix):
        shown_match = SHOWN_ON.search(text, near, start) or RECEIVED.search(text, near, start)
        return shown_match["form"] if shown_match else document
    return document


def _name_taken(document: str, form: str) -> str:
    """Name the form that a line is on after the form that all amounts of the sentence are taken from."""
    return f"{document} of {form.replace('Forms', 'Form')}" if document.startswith("Schedule") else document or form


def find_last_document(text: str) -> str:
    """Return the last form or schedule that a text names; empty if it names none.

    Args:
        text: A sentence, or its beginning.
    """
    named_documents = [match[0] for match in re.finditer(rf"{SCHEDULE}|{FORMS}", text)]
    return named_documents[-1] if named_documents else ""


def _list_keys(words: str) -> Iterator[str]:
    """List the keys of `lines 1 through 3, 5a, and 6(b)`, with those between the ends of a range."""
    for word in _SPLIT.split(words):
        first, *last = (
            re.sub(r"[()]", "", key)
            for key in re.split(r" (?:through|to) (?:lines? |box(?:es)? )?", re.sub(r"^(?:lines?|box) ", "", word))
        )
        if last:
            yield from range_keys(first, last[0])
        elif first:
            yield first


def range_keys(first: str, last: str) -> list[str]:
    """List the keys of a range: numbers without letters, or letters of one number.

    Args:
        first: First key.
        last: Last key.

    Returns:
        Only the two ends if the range cannot be enumerated.
    """
    if first.isdigit() and last.isdigit():
        return [str(number) for number in range(int(first), int(last) + 1)]
    if first[:-1] == last[:-1] and first[-1].isalpha() and last[-1].isalpha():
        return [f"{first[:-1]}{chr(letter)}" for letter in range(ord(first[-1]), ord(last[-1]) + 1)]
    return [first, last]


def name_forms(words: str) -> tuple[str, ...]:
    """Split a joint name into forms; a schedule keeps its parent form in parentheses.

    Args:
        words: The name in the text.

    Returns:
        Names of the forms in order.
    """
    words = words.replace("- ", "-")
    schedule = re.search(SCHEDULE, words)
    if schedule is None:
        return tuple(dict.fromkeys(re.findall(ID, words)))
    name = schedule[0].replace("Schedules ", "Schedule ", 1)
    outside = re.findall(ID, words[: schedule.start()] + words[schedule.end() :])
    if "(" in name:
        inside = {re.sub(r"\D+", "", form): form for form in reversed(re.findall(ID, name.partition("(")[2]))}
        return tuple(f"{name.partition(' (')[0]} (Form {form})" for form in reversed(inside.values())) or (name,)
    return (f"{name} (Form {outside[0]})",) if outside else (name,)
