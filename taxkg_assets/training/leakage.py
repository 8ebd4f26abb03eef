"""Leakage: texts that repeat an evaluation question, word by word or nearly."""

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
    similar = {ix: questions[nearest[ix]] for ix in range(len(texts)) if cosines[ix, nearest[ix]] >= threshold}
    return similar | find_repeated_words(texts, questions)


def find_repeated_words(texts: Sequence[str], questions: Sequence[str]) -> dict[int, str]:
    """Find texts that share most of their words with an evaluation question or contain all of them.

    Args:
        texts: Texts to check.
        questions: Evaluation questions.

    Returns:
        Repeated question by index of the text.
    """
    threshold = load_training().leakage.min_shared_words
    normalized_questions = [normalize(question) for question in questions]
    question_words = [frozenset(question.split()) for question in normalized_questions]
    repeated: dict[int, str] = {}
    for ix, text in enumerate(texts):
        normalized = normalize(text)
        words = frozenset(normalized.split())
        for question, phrase, other_words in zip(questions, normalized_questions, question_words, strict=True):
            is_similar = len(words & other_words) >= threshold * len(words | other_words)
            if is_similar or f" {phrase} " in f" {normalized} ":
                repeated[ix] = question
                break
    return repeated
