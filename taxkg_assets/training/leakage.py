"""Leakage: texts that repeat an evaluation question, word by word or nearly so."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from taxkg_assets.rules.models.training import load_training
from taxkg_assets.training.retrievers import Floats

_WORD = re.compile(r"[a-z0-9]+")


def normalize(text: str) -> str:
    """Return a text's words in lower case, without punctuation.

    Args:
        text: The text.
    """
    return " ".join(_WORD.findall(text.lower()))


def find_overlaps(
    texts: Sequence[str], questions: Sequence[str], *, encode: Callable[[Sequence[str]], Floats]
) -> dict[int, str]:
    """Find texts that repeat an evaluation question, by common words or by nearly equal vectors.

    Args:
        texts: Texts to check.
        questions: Evaluation questions.
        encode: Encodes texts to unit-length vectors, one row per text.

    Returns:
        Repeated question by index of the text.
    """
    if not texts or not questions:
        return {}
    cosines = encode(texts) @ encode(questions).T
    nearest = cosines.argmax(axis=1)
    threshold = load_training().leakage.min_cosine
    near = {ix: questions[nearest[ix]] for ix in range(len(texts)) if cosines[ix, nearest[ix]] >= threshold}
    return near | find_repeated_words(texts, questions)


def find_repeated_words(texts: Sequence[str], questions: Sequence[str]) -> dict[int, str]:
    """Find texts that share most of their words with an evaluation question or contain all of them.

    Args:
        texts: Texts to check.
        questions: Evaluation questions.

    Returns:
        Repeated question by index of the text.
    """
    threshold = load_training().leakage.min_shared_words
    plain = [normalize(question) for question in questions]
    words = [frozenset(question.split()) for question in plain]
    repeated_words: dict[int, str] = {}
    for ix, text in enumerate(texts):
        normalized = normalize(text)
        own = frozenset(normalized.split())
        for number, question in enumerate(questions):
            shared = len(own & words[number])
            if shared >= threshold * len(own | words[number]) or f" {plain[number]} " in f" {normalized} ":
                repeated_words[ix] = question
                break
    return repeated_words
