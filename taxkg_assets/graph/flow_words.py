"""Words of a clause by what they do in it: verbs with their voice, prepositions, amounts, negations.

A clause becomes a string with one letter per word, so that a short pattern over the letters reads any wording: `VNoDP`
is a verb that moves an amount, a preposition, a determiner and a place. The vocabulary is in `rules/flows.yaml`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache

from taxkg_assets.graph.place_patterns import FORM_NAME
from taxkg_assets.rules.models.flows import load_flows

_WORD = re.compile(r"⟨\d+_*⟩|⟪_*⟫|(?:[A-Z]\.){2,}|[A-Za-z](?:[\w/-]|['’](?=\w))*|\d[\d,.]*\d|[^\s\w]|\w")
_VOWELS = "aeiou"
_PLURAL = re.compile(r"^[a-z]{3,}[^su]s$")
_FILERS = re.compile(r"y[uG](?:D?F[,c]*)+$")
"""Subject of a verb: `Filers of Form 2040 enter`, `Corporations filing Form 2120 enter`."""
_WHOLE = ("refundable", "nonrefundable")
"""Words before `portion` that make it an amount of its own, as in `the refundable portion of the credit`."""
_PARTICIPLES = ("paid", "made", "sold", "due", "owed")
"""Words after the noun of an amount that say what was done with it."""
_NEGATED = re.compile(r"n['’]t$")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a clause with part-of-speech tags.

    Attributes:
        tags: One letter per word; `rules/flows.yaml` lists the letters.
        lemmas: Base form of each verb, else the word in lower case.
        starts: Where each word begins in the clause.
        ends: Where it ends.
    """

    tags: str
    lemmas: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def before(self, offset: int) -> int:
        """Return the number of words that begin before an offset of the clause.

        Args:
            offset: Offset in the clause, in characters.
        """
        return bisect_left(self.starts, offset)

    def between(self, start: int, end: int) -> Words:
        """Return the words in a range of the clause, with offsets from its start.

        Args:
            start: First character.
            end: One past the last character.
        """
        low, high = self.before(start), self.before(end)
        starts = tuple(offset - start for offset in self.starts[low:high])
        ends = tuple(offset - start for offset in self.ends[low:high])
        return Words(self.tags[low:high], self.lemmas[low:high], starts, ends)


def read_words(clause: str) -> Words:
    """Tag the words of a clause with their parts of speech.

    Args:
        clause: Clause with its places masked.

    Returns:
        Its words. Participles that follow a form of `to be` and begin no relative clause are `M`; verbs in the base
        form that no subject, modal or boundary precedes are nouns or infinitives, and lose their letter.
    """
    found = list(_WORD.finditer(FORM_NAME.sub(lambda match: f"⟪{'_' * (len(match[0]) - 2)}⟫", clause)))
    vocabulary = _vocabulary()
    tags: list[str] = []
    lemmas: list[str] = []
    for match in found:
        tag, lemma = _look_up(match[0], vocabulary)
        tags.append(tag)
        lemmas.append(lemma)
    _settle(tags, lemmas)
    return Words("".join(tags), tuple(lemmas), tuple(m.start() for m in found), tuple(m.end() for m in found))


def names_amount(phrase: tuple[str, ...]) -> bool:
    """Decide by the noun that ends a phrase whether it names an amount: `the harbor dues paid`, not `the dues number`.

    Args:
        phrase: Base forms of its words.

    Returns:
        False also for a phrase without a noun.
    """
    nouns = [lemma for lemma in phrase if lemma not in _PARTICIPLES]
    return bool(nouns) and nouns[-1] in load_flows().located_nouns


def _look_up(word: str, vocabulary: dict[str, tuple[str, str]]) -> tuple[str, str]:
    """Return the letter and the base form of a word alone."""
    if word[0] == "⟨":
        return "P", word
    if word[0] == "⟪":
        return "F", word
    if word == "Part":
        return "#", "part"
    low = word.lower().replace("’", "'")
    if low in vocabulary:
        return vocabulary[low]
    if not low[0].isalpha():
        return (low if low in ",;:.()" else "," if low in "—–" else "~" if low in '“”"' else "#"), low
    if _NEGATED.search(low):
        return "x", low
    if low.endswith("ly"):
        return "A", low
    if len(word) < 3 and word.isupper():
        return "#", low
    if len(low) > 4 and low.endswith("ed"):
        return "w", low
    return "n", low


def _settle(tags: list[str], lemmas: list[str]) -> None:
    """Decide by the words before them which verbs are predicates: their letters stay, those of others change."""
    for at in [at for at, lemma in enumerate(lemmas) if lemma in ("year", "years")]:
        start = _find_before(tags, at, "nDT#")
        start = start if start >= 0 and tags[start] in "ou" else at - 1
        tags[start : at + 1] = "A" * (at + 1 - start)
    for at, tag in enumerate(tags):
        if lemmas[at] == "whichever" and tags[at + 1 : at + 2] == ["Z"]:
            tags[at : at + 2] = "AA"
        elif lemmas[at] == "that" and at + 1 < len(tags) and tags[at + 1] in "bmyxAWwZq":
            tags[at] = "r"
        elif tag == "p" and at and (lemmas[at - 1] in _WHOLE or (lemmas[at] == "box" and tags[at - 1] == "T")):
            tags[at] = "n"
        elif lemmas[at] == "excess":
            tags[at] = "p" if lemmas[at + 1 : at + 2] in (["of"], ["over"]) else "n"
        elif lemmas[at] in load_flows().going_verbs and at and at + 1 < len(tags) and tags[at + 1] in "toAh":
            tags[at] = "M" if re.search(r"[nNPWwmI,)]A*$", "".join(tags[:at])) else "n"
        elif tag in "VCO":
            tags[at] = _settle_verb(tags, lemmas, at)
        elif tag in "Wwj" and (before := _find_before(tags, at, "Ax")) >= 0:
            subject = _find_before(tags, before, "Axmb")
            is_passive = tags[before] == "b" and not (subject >= 0 and tags[subject] in "rt")
            is_continued = tags[before] == "c" and "M" in tags[:before] and tags[before - 1] in "P,)"
            tags[at] = "M" if is_passive or is_continued else tag.replace("j", "n")


def _settle_verb(tags: list[str], lemmas: list[str], at: int) -> str:
    """Return the letter of a verb in its base form: its own as a predicate, `W` in a clause about a noun."""
    before = _find_before(tags, at, "Ax")
    if before > 0 and tags[before] == "y" and tags[before - 1] in "nNPr":
        return "W"
    if _is_predicate(tags, lemmas, at):
        return tags[at]
    if at and tags[at - 1] == "t":
        return "i"
    return "N" if lemmas[at] in load_flows().total_nouns else "n"


def _find_before(tags: list[str], at: int, skipped: str) -> int:
    """Return the last word before one that has none of some letters; -1 for none."""
    at -= 1
    while at >= 0 and tags[at] in skipped:
        at -= 1
    return at


def _is_predicate(tags: list[str], lemmas: list[str], at: int) -> bool:
    """Decide whether a verb in its base form is an order, or the predicate of a subject."""
    before = _find_before(tags, at, "Ax#~")
    if before == 0 and tags[0] == "P" and lemmas[at] in load_flows().showing_verbs:
        return True
    if before < 0 or tags[before] in ",;:.()cmy" or _FILERS.search("".join(tags[: before + 1])):
        return True
    if tags[before] == "t":
        return before > 0 and tags[before - 1] in "q"
    is_subject = tags[before] == "n" and _PLURAL.match(lemmas[before]) is not None
    return is_subject and not any(tag in "VCOMWw" for tag in tags[:before])


@cache
def _vocabulary() -> dict[str, tuple[str, str]]:
    """Return letter and base form of every word of the vocabulary; verbs in all of their forms."""
    found: dict[str, tuple[str, str]] = {}
    words = load_flows().words
    for letter, lemmas in load_flows().verbs.items():
        for lemma in lemmas:
            base, *irregular = lemma.split()
            participles = irregular or [_inflect(base, "ed")]
            found.setdefault(_inflect(base, "s"), ("Z", base))
            found.setdefault(_inflect(base, "ing"), ("G", base))
            for participle in participles:
                found.setdefault(participle, ("w" if letter == "O" else "W", base))
            found[base] = (letter, base)
    for letter, listed in words.items():
        for word in listed.split():
            found[word] = (letter, found.get(word, ("", word))[1])
    return found


def _inflect(verb: str, ending: str) -> str:
    """Return a regular form of a verb: `carry` and `ed` give `carried`."""
    is_short = len(verb) < 5 and verb[-1] not in _VOWELS + "wxy" and verb[-2] in _VOWELS and verb[-3] not in _VOWELS
    if ending == "s":
        if verb[-1] == "y" and verb[-2] not in _VOWELS:
            return f"{verb[:-1]}ies"
        return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "o")) else f"{verb}s"
    if ending == "ed" and verb[-1] == "y" and verb[-2] not in _VOWELS:
        return f"{verb[:-1]}ied"
    if is_short or verb in ("transfer", "refer"):
        return f"{verb}{verb[-1]}{ending}"
    return f"{verb.removesuffix('e')}{ending}"
