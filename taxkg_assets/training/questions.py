"""Questions made by rule from one passage: from its heading, its sentences, and from what it says about its subject."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from taxkg_assets.rules.loader import Rule, load_family, load_rules
from taxkg_assets.rules.sentences import find_sentence_parts
from taxkg_assets.training.corpus import Corpus, Passage, squeeze
from taxkg_assets.training.naming import name_form
from taxkg_assets.training.phrasing import Wording, add_article, agree, find_head, is_subject

_WORD = re.compile(r"[a-z]{4,}|tax")
_STOP = "\N{ONE DOT LEADER}"
"""Stands for a stop within a sentence while rules look for its end."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the register it is asked in, the rule that made it and the words it was made from."""

    text: str
    register: str
    rule_id: str
    evidence: str


def find_questions(corpus: Corpus, passage: Passage, *, wording: Wording) -> Iterator[Question]:
    """All questions that the rules make of a passage; which of them are worth asking is decided by a search."""
    if passage.level != "paragraph" or len(passage.text.split()) < _limits()["passage_words"]:
        return
    heading = corpus.name_anchor(passage.anchor_id) if passage.anchor_id else ""
    is_first = bool(passage.anchor_id) and corpus.below[passage.anchor_id or ""][0] == passage.chunk_id
    names = _names(passage, heading, wording=wording)
    if is_first:
        for rule in load_rules("scenarios", "headings"):
            match = rule.pattern.search(heading)
            if match is not None:
                groups = _groups(rule, match.groupdict(), wording=wording)
                yield from _ask(rule, {**names, **groups} if groups else {}, evidence=heading, place=passage.chunk_id)
    if any(rule.pattern.search(heading) for rule in load_rules("scenarios", "examples")):
        return
    text = passage.text.removeprefix(corpus.nodes[passage.anchor_id].text if passage.anchor_id else "").strip()
    sentences = [_hide_stops(squeeze(text[start:end])) for start, end in find_sentence_parts(text)]
    for sentence in sentences:
        for rule in load_rules("scenarios", "sentences"):
            match = rule.pattern.search(sentence)
            if match is not None:
                groups = {name: turn_to_first_person(value) for name, value in match.groupdict().items()}
                if any(_points_back(groups.get(name, "")) for name in ("cond", "rest")):
                    break
                does = {"does": agree(groups["rest"])["do"]} if "rest" in groups else {}
                yield from _ask(rule, {**names, **groups, **does}, evidence=sentence, place=passage.chunk_id)
                break
    if names["subject"]:
        for rule in load_rules("scenarios", "subjects"):
            said = next((s for s in sentences if rule.pattern.search(s) and _speaks_of(s, names["subject"])), None)
            if said is not None:
                yield from _ask(rule, names, evidence=said, place=passage.chunk_id)


def turn_to_first_person(text: str) -> str:
    """`your payer gave you` becomes `my payer gave me`."""
    for rule in load_rules("scenarios", "person"):
        text = rule.pattern.sub(rule.extra["to"], text)
    return text


def put_plainly(text: str) -> str:
    """Everyday words for those that documents print."""
    for rule in load_rules("scenarios", "lay"):
        text = rule.pattern.sub(rule.extra["lay"], text)
    return text


@cache
def _limits() -> Mapping[str, Any]:
    limits: Mapping[str, Any] = load_family("scenarios")["limits"]
    return limits


def _names(passage: Passage, heading: str, *, wording: Wording) -> dict[str, str]:
    subject = turn_to_first_person(wording.soften(heading))
    return {
        "subject": subject if is_subject(heading) else "",
        "topic": add_article(subject) if is_subject(heading) else "",
        **agree(subject),
        "form": name_form(passage.form),
        "key": (passage.anchor_key or "").replace("_", " "),
    }


def _speaks_of(sentence: str, subject: str) -> bool:
    """Whether a sentence is about the subject of its heading: it names it, or begins with a word that stands for it."""
    stem = find_head(subject).lower()[: _limits()["stem_letters"]]
    return stem in sentence.lower() or any(
        rule.pattern.search(sentence) for rule in load_rules("scenarios", "anaphors")
    )


def _points_back(condition: str) -> bool:
    """Whether words go on from a sentence before them, which whoever asks does not see."""
    return any(rule.pattern.search(condition) for rule in load_rules("scenarios", "conditions"))


def _hide_stops(sentence: str) -> str:
    """A sentence whose only stops are its end: those of abbreviations and numbers are set apart."""
    for rule in load_rules("scenarios", "abbreviations"):
        sentence = rule.pattern.sub(lambda match: match[0].replace(".", _STOP), sentence)
    return sentence


def _groups(rule: Rule, groups: Mapping[str, str], *, wording: Wording) -> dict[str, str]:
    """What a heading names, in running text; a gerund as its verb. Empty where the verb is not known."""
    found = {name: turn_to_first_person(wording.soften(value)) for name, value in groups.items()}
    if "gerund" in found:
        verb = rule.extra["verbs"].get(found["gerund"].lower())
        return {**found, "verb": verb} if verb else {}
    if "deed" in found:
        found["deed"] = found["deed"][:1].lower() + found["deed"][1:]
    return found


def _ask(rule: Rule, names: Mapping[str, str], *, evidence: str, place: str) -> Iterator[Question]:
    """One question of each register of a rule, drawn by lot for this place; none that is no sentence."""
    for register, patterns in rule.extra["asks"].items():
        usable = [p for p in patterns if _fits(p, names)]
        if not usable:
            continue
        draw = hashlib.sha256(f"{place}:{rule.id}:{register}:{evidence}".encode()).digest()[0]
        text = squeeze(usable[draw % len(usable)].format(**names)).replace(" ?", "?").replace(_STOP, ".")
        text = put_plainly(text) if register == "lay" else text
        if register != "lay" and register != "terse":
            text = text[:1].upper() + text[1:]
        if _limits()["least_words"] <= len(text.split()) <= _limits()["most_words"] and not _is_broken(text):
            yield Question(text, register, rule.id, evidence.replace(_STOP, "."))


def _fits(pattern: str, names: Mapping[str, str]) -> bool:
    """Whether all that a question names is known, and it does not say a word of its subject twice."""
    stems = {word[: _limits()["stem_letters"] - 1] for word in _WORD.findall(re.sub(r"{\w+}", " ", pattern).lower())}
    subject = names.get("subject", "") if re.search(r"{(?:subject|topic)}", pattern) else ""
    said = {word[: _limits()["stem_letters"] - 1] for word in _WORD.findall(subject.lower())}
    return all(names.get(field) for field in re.findall(r"{(\w+)}", pattern)) and not stems & said


def _is_broken(text: str) -> bool:
    """Whether a question is no sentence, or asks about what only its passage's neighbours say."""
    return any(rule.pattern.search(text) for rule in load_rules("scenarios", "broken"))
