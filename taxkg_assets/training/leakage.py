"""Which texts repeat an evaluation question, word for word or nearly so."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from taxkg_assets.rules.loader import load_family
from taxkg_assets.training.legs import Floats

_WORD = re.compile(r"[a-z0-9]+")


def normalize(text: str) -> str:
    """Words in small letters, without punctuation."""
    return " ".join(_WORD.findall(text.lower()))


def find_overlaps(
    texts: Sequence[str], questions: Sequence[str], *, encode: Callable[[Sequence[str]], Floats]
) -> dict[int, str]:
    """Find the texts that repeat one of the questions, by place, each with the question.

    Near-duplicates share most of their words, or lie so near to each other that the encoder can hardly tell them apart.
    """
    if not texts or not questions:
        return {}
    cosines = encode(texts) @ encode(questions).T
    nearest = cosines.argmax(axis=1)
    least = load_family("training")["leakage"]["least_cosine"]
    near = {place: questions[nearest[place]] for place in range(len(texts)) if cosines[place, nearest[place]] >= least}
    return near | find_repeated_words(texts, questions)


def find_repeated_words(texts: Sequence[str], questions: Sequence[str]) -> dict[int, str]:
    """Find the texts that share most of their words with one of the questions, or contain all of it."""
    least = load_family("training")["leakage"]["least_words"]
    plain = [normalize(question) for question in questions]
    words = [frozenset(question.split()) for question in plain]
    found: dict[int, str] = {}
    for place, text in enumerate(texts):
        said = normalize(text)
        own = frozenset(said.split())
        for number, question in enumerate(questions):
            shared = len(own & words[number])
            if shared >= least * len(own | words[number]) or f" {plain[number]} " in f" {said} ":
                found[place] = question
                break
    return found
