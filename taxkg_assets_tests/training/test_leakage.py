from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taxkg_assets.training.leakage import find_overlaps, find_repeated_words
from taxkg_assets.training.retrievers import Floats

_QUESTIONS = ["Where do I enter the rent of my lot?", "Is a deposit rent?"]


def test_other_marks_letters_order_and_a_longer_frame_do_not_hide_a_question() -> None:
    texts = [
        "where do i enter the rent of my lot",
        "The rent of my lot, where do I enter it?",
        "Please tell me: is a deposit rent? Thanks.",
        "How long may a lodger stay?",
    ]
    assert find_repeated_words(texts, _QUESTIONS) == {0: _QUESTIONS[0], 1: _QUESTIONS[0], 2: _QUESTIONS[1]}


def test_what_the_encoder_can_hardly_tell_apart_is_a_repeat_in_other_words() -> None:
    directions = {_QUESTIONS[0]: 0.0, _QUESTIONS[1]: 1.5, "which box takes lease income": 0.2, "unlike all": 0.8}

    def encode(texts: Sequence[str]) -> Floats:
        return np.array([[np.cos(directions[t]), np.sin(directions[t])] for t in texts], dtype=np.float32)

    assert find_overlaps(["which box takes lease income", "unlike all"], _QUESTIONS, encode=encode) == {
        0: _QUESTIONS[0]
    }
