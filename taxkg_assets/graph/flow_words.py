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
_MARK_LETTERS = {"—": ",", "–": ",", "“": "~", "”": "~", '"': "~"}
"""Letters of marks that are not their own letter: a dash separates like a comma."""
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
    masked = FORM_NAME.sub(_mask_form, clause)
    matches = list(_WORD.finditer(masked))
    vocabulary = _vocabulary()
    looked_up = [_look_up(match[0], vocabulary) for match in matches]
    tags = [tag for tag, _ in looked_up]
    lemmas = [lemma for _, lemma in looked_up]
    _settle(tags, lemmas)
    starts = tuple(match.start() for match in matches)
    ends = tuple(match.end() for match in matches)
    return Words("".join(tags), tuple(lemmas), starts, ends)


def _mask_form(match: re.Match[str]) -> str:
    """Replace the name of a form by one word as long, so that offsets stay: `Form 2889` becomes `⟪_______⟫`."""
    return f"⟪{'_' * (len(match[0]) - 2)}⟫"


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
    """Return the letter and the base form of a word, without regard to the words around it."""
    low = word.lower().replace("’", "'")
    if word[0] == "⟨":
        return "P", word
    if word[0] == "⟪":
        return "F", word
    if word == "Part":
        return "#", "part"
    if low in vocabulary:
        return vocabulary[low]
    return _guess_letter(word, low), low


def _guess_letter(word: str, low: str) -> str:
    """Return the letter of a mark, a number, or a word that the vocabulary lacks, by its form."""
    if not low[0].isalpha():
        return low if low in ",;:.()" else _MARK_LETTERS.get(low, "#")
    if _NEGATED.search(low):
        return "x"
    if low.endswith("ly"):
        return "A"
    if len(word) < 3 and word.isupper():  # a key: `2a` of `line 2a`, `IV` of `Part IV`
        return "#"
    if len(low) > 4 and low.endswith("ed"):
        return "w"
    return "n"


def _settle(tags: list[str], lemmas: list[str]) -> None:
    """Correct the letters of words by the words around them, in place, from left to right.

    For example `report` is a predicate in `you report`, an infinitive in `to report`, and a noun in `your report`.
    """
    _mark_years(tags, lemmas)
    for at in range(len(tags)):
        if lemmas[at] == "whichever" and tags[at + 1 : at + 2] == ["Z"]:
            tags[at : at + 2] = "AA"  # `whichever applies` says nothing of an amount
        else:
            tags[at] = _settle_word(tags, lemmas, at)


def _mark_years(tags: list[str], lemmas: list[str]) -> None:
    """Make `in the tax year` adverbs: it names no amount and no place."""
    for at, lemma in enumerate(lemmas):
        if lemma not in ("year", "years"):
            continue
        preposition = _find_before(tags, at, "nDT#")
        start = preposition if preposition >= 0 and tags[preposition] in "ou" else max(at - 1, 0)
        tags[start : at + 1] = "A" * (at + 1 - start)


def _settle_word(tags: list[str], lemmas: list[str], at: int) -> str:
    """Return the letter of a word by the words around it; those before it are settled, those after it are not."""
    tag, lemma = tags[at], lemmas[at]
    next_tag = tags[at + 1] if at + 1 < len(tags) else ""
    if lemma == "that" and next_tag and next_tag in "bmyxAWwZq":
        return "r"
    if tag == "p" and at and _is_whole_amount(tags, lemmas, at):
        return "n"
    if lemma == "excess":
        return "p" if lemmas[at + 1 : at + 2] in (["of"], ["over"]) else "n"
    if lemma in load_flows().going_verbs and at and next_tag and next_tag in "toAh":
        has_subject = re.search(r"[nNPWwmI,)]A*$", "".join(tags[:at]))
        return "M" if has_subject else "n"
    if tag in "VCO":
        return _settle_verb(tags, lemmas, at)
    if tag in "Wwj" and (before := _find_before(tags, at, "Ax")) >= 0:
        return "M" if _is_passive(tags, before) else tag.replace("j", "n")
    return tag


def _is_whole_amount(tags: list[str], lemmas: list[str], at: int) -> bool:
    """Decide whether a word for a part names a whole amount: `the refundable portion`, `the amount in this box`."""
    is_this_box = lemmas[at] == "box" and tags[at - 1] == "T"
    return is_this_box or lemmas[at - 1] in _WHOLE


def _is_passive(tags: list[str], before: int) -> bool:
    """Decide whether a participle after the word `before` is a predicate: `is entered`, `is added on P and entered`.

    In a relative clause, `that is entered`, it is none.
    """
    if tags[before] == "b":
        subject = _find_before(tags, before, "Axmb")
        return not (subject >= 0 and tags[subject] in "rt")
    continues_passive = tags[before] == "c" and "M" in tags[:before]
    return continues_passive and tags[before - 1] in "P,)"


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
    starts_with_place = before == 0 and tags[0] == "P"
    if starts_with_place and lemmas[at] in load_flows().showing_verbs:  # `Lines 4 and 5 show`
        return True
    if before < 0 or tags[before] in ",;:.()cmy" or _FILERS.search("".join(tags[: before + 1])):
        return True
    if tags[before] == "t":  # `are required to enter`, not `to enter`
        return before > 0 and tags[before - 1] == "q"
    is_plural_noun = tags[before] == "n" and _PLURAL.match(lemmas[before]) is not None
    return is_plural_noun and not any(tag in "VCOMWw" for tag in tags[:before])


@cache
def _vocabulary() -> dict[str, tuple[str, str]]:
    """Return letter and base form of every word of the vocabulary; verbs in all of their forms."""
    tags_by_word: dict[str, tuple[str, str]] = {}
    for letter, verbs in load_flows().verbs.items():
        for verb in verbs:
            base, *irregular_participles = verb.split()
            tags_by_word.setdefault(_inflect(base, "s"), ("Z", base))
            tags_by_word.setdefault(_inflect(base, "ing"), ("G", base))
            for participle in irregular_participles or [_inflect(base, "ed")]:
                tags_by_word.setdefault(participle, ("w" if letter == "O" else "W", base))
            tags_by_word[base] = (letter, base)
    for letter, listed in load_flows().words.items():
        for word in listed.split():
            _, lemma = tags_by_word.get(word, ("", word))
            tags_by_word[word] = (letter, lemma)
    return tags_by_word


def _inflect(verb: str, ending: str) -> str:
    """Return a regular form of a verb with the ending `s`, `ed` or `ing`: `carry` and `ed` give `carried`."""
    has_consonant_y = verb[-1] == "y" and verb[-2] not in _VOWELS
    if ending == "s":
        if has_consonant_y:
            return f"{verb[:-1]}ies"
        return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "o")) else f"{verb}s"
    if ending == "ed" and has_consonant_y:
        return f"{verb[:-1]}ied"
    if _doubles_last_letter(verb):
        return f"{verb}{verb[-1]}{ending}"
    return f"{verb.removesuffix('e')}{ending}"


def _doubles_last_letter(verb: str) -> bool:
    """Decide whether a verb doubles its last letter before `ed` and `ing`: `net` gives `netted`."""
    if verb in ("transfer", "refer"):
        return True
    is_short_syllable = verb[-1] not in _VOWELS + "wxy" and verb[-2] in _VOWELS and verb[-3] not in _VOWELS
    return len(verb) < 5 and is_short_syllable
