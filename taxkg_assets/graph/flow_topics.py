"""Amounts that a clause names by the words of its line's heading or label: `Include your taxable dues on ...`."""

from __future__ import annotations

import re

from taxkg_assets.graph.flow_predicates import Clause
from taxkg_assets.graph.flow_words import Words, read_words
from taxkg_assets.graph.places import Place

_OBJECT = re.compile(r"^[A,]*(?P<object>(?:D?[nNWwT]+u?)+?)[A,]*[to][DT]*(?:NW?[uo][DT]*)?$")
"""Between a verb and a target: one noun phrase."""
_SUBJECT = re.compile(r"^[A,]*(?P<object>[TD]?[nNWw]+)[A,]*m?b[A]*M$")
"""Before a passive: `These dues are reported on`."""
_FRAGMENT = re.compile(r"(?P<subject>[DnNWwucA#]*)f[DT]*P(?:[,;]?c?[DT]*P)*\.?")
_IS_AMOUNT = re.compile(r"^(?P<subject>D[nNWwuDAt]*)[A]*m?bDN[fo][DT]*P(?:[,;]?c?[DT]*P)*(?:[.,]|$)")
"""`Your dues are the amount from Form 2889, line 4`."""
_ITS = ("the", "your", "this", "these")
_PLAIN = frozenset({"amount", "total", "line", "result"})


def moves_topic(clause: Clause, target: int, topic: frozenset[str] | None) -> bool:
    """Return whether a clause moves the amount that its line's heading names: `Include taxable dues on`.

    Args:
        clause: The clause.
        target: Offset in the clause of the place that it moves an amount to.
        topic: What `list_topic` returns for the heading.

    Returns:
        True where all words that name the amount are in the heading; half of them suffice after `the` or `your`. Below
        a heading without words, `your dues` are the amount of the line.
    """
    words = (
        clause.words.between(clause.verb_end, target)
        if clause.verb == "move"
        else clause.words.between(0, clause.verb_end)
    )
    amount_match = (_OBJECT if clause.verb == "move" else _SUBJECT).match(words.tags)
    if amount_match is None:
        return False
    start, end = amount_match.span("object")
    amount_words = _list_content(Words(words.tags[start:end], words.lemmas[start:end], (), ()))
    is_the = words.lemmas[start] in _ITS
    if topic is None:
        return bool(amount_words) and words.lemmas[start] == "your"
    return bool(amount_words) and (
        amount_words <= topic or (is_the and 2 * len(amount_words & topic) >= len(amount_words))
    )


def list_moved(clause: Clause, target: int) -> frozenset[str]:
    """List the content words between the verb of a clause and a place: those that name the amount it moves.

    Args:
        clause: The clause.
        target: Where the place begins.

    Returns:
        The words; none for a clause that moves no amount.
    """
    return _list_content(clause.words.between(clause.verb_end, target)) if clause.verb == "move" else frozenset()


def _list_content(words: Words) -> frozenset[str]:
    """List the nouns and adjectives of words, without their plural endings."""
    pairs = zip(words.tags, words.lemmas, strict=True)
    return frozenset(lemma.removesuffix("s") for tag, lemma in pairs if tag in "nNWwMG" and len(lemma) > 1) - _PLAIN


def names_topic(clause: Clause, sources: list[Place], topic: frozenset[str] | None) -> bool:
    """Return whether a clause below a line's heading says where the line's amount comes from.

    `Your dues are the amount from Form 2889, line 4` does; so does a sentence without a verb: `Dues from Form 2889,
    line 4.`

    Args:
        clause: The clause, below the heading of a line.
        sources: Places that it names as sources.
        topic: What `list_topic` returns for the heading.

    Returns:
        True where at least half of the words that name the amount are in the heading, or the heading has no words.
    """
    if not sources or not all(source.forms for source in sources):
        return False
    tags = clause.words.tags
    subject = _IS_AMOUNT.match(tags) if clause.verb in ("", "named") else None
    if subject is None and clause.verb == "":
        subject = _FRAGMENT.fullmatch(tags)
    if subject is None:
        return False
    length = len(subject["subject"])
    amount_words = _list_content(Words(tags[:length], clause.words.lemmas[:length], (), ()))
    return bool(amount_words) and (topic is None or 2 * len(amount_words & topic) >= len(amount_words))


def list_topic(words: str) -> frozenset[str] | None:
    """List the nouns and adjectives of a heading and its line's label, without plural endings.

    Args:
        words: Heading and label.

    Returns:
        The words, without those that fit every amount, such as `total`. None if no word remains, as of `Line 9`.
    """
    return (_list_content(read_words(words)) or None) if words else frozenset()
