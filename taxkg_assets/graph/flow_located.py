"""Amounts that a sentence only locates, for an order after it: `Dues are in box 3 of Form 2099. Enter them here.`"""

from __future__ import annotations

import re
from dataclasses import replace

from taxkg_assets.graph.flow_words import Words, names_amount, read_words
from taxkg_assets.graph.places import Place
from taxkg_assets.rules.models.flows import load_flows

ENTERED = re.compile(
    r"(?:Then |If so, )?(?i:enter|include|report) (?:it|them|(?:this|that|the) (?:amount|total)|these amounts)"
    r"(?: here| on this line)?\."
)
"""Order to enter an amount that the sentence before it located."""
# Letters of `flow_words`.
_NOUN = re.compile(r"[c,]?[ADT#]*[nNpA#]*[nNp]")
"""Article, adjectives and the noun that names what is located, which is the last word."""
_LOCATED = re.compile(r"(?:[wWA]|[uft][DTnNF#A]+)*[mqA]*(?P<be>b)?A*[MW]?A*o[DTA]*")
"""Between the noun and its place: `paid to pilots are generally shown in the`, `in`."""
_CONDITION = re.compile(r"s[^,;PFx]*,(?=[A,]*D)")
"""Condition without a place or a form before what a sentence locates: `If you are a pilot, your dues are in box 3`."""
_SAME = re.compile(r"[c,]+(?:o|t)?[DTA]*")
"""Between places of one amount: `in box 3 or box 4`."""
_SHOWS = re.compile(r"[mA]*(?P<verb>[ZV])A*")


def list_located(masked: str, places: list[Place]) -> list[Place]:
    """List the boxes and lines of other forms that a sentence only mentions because they show an amount.

    Args:
        masked: The sentence, its places masked.
        places: Its places.

    Returns:
        Places with their forms; a box without a form is on the form that the sentence names next. Empty if the
        sentence states a condition or a denial, or if one of the places does not show an amount.
    """
    words = read_words(masked)
    if condition := _CONDITION.match(words.tags):
        words = words.between(words.starts[condition.end()], len(masked))
    if words.tags[:1] == "s" or "x" in words.tags:
        return []
    at = [index for index, tag in enumerate(words.tags) if tag == "P"]
    if len(at) != len(places) or not _locates(words, at):
        return []
    located: list[Place] = []
    forms: tuple[str, ...] = ()
    for place in reversed(places):
        forms = place.forms or forms
        located.insert(0, replace(place, forms=forms) if place.kind == "box" else place)
    return [place for place in located if place.forms]


def _locates(words: Words, at: list[int]) -> bool:
    """Decide whether a sentence only locates amounts.

    Args:
        words: Its words.
        at: Positions of its places.
    """
    if at[:1] == [0]:
        shows = _SHOWS.match(words.tags, 1)
        if shows is None or words.lemmas[shows.start("verb")] not in (*load_flows().showing_verbs, "report"):
            return False
        return len(at) == 1 and _find_noun(words, shows.end()) > 0
    is_located = False
    for start, end in zip([0, *(index + 1 for index in at)], at, strict=False):
        if is_located and _SAME.fullmatch(words.tags, start, end):
            continue
        noun = _find_noun(words, start)
        between = _LOCATED.fullmatch(words.tags, noun, end) if noun else None
        if between is None or not (is_located or between["be"]):
            return False
        is_located = True
    return is_located


def _find_noun(words: Words, start: int) -> int:
    """Return where the noun phrase of an amount ends; 0 if the words from `start` name no amount."""
    phrase = _NOUN.match(words.tags, start)
    return phrase.end() if phrase and names_amount(words.lemmas[start : phrase.end()]) else 0
