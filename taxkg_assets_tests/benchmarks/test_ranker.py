"""Terms of questions that passages which answer them seldom print."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import ranker
from benchmarks.questions import MentionInSentence
from taxkg_assets.retrieval.encoding.lexical import build_lexical
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.results import Candidate, Ranking

LEXICAL = build_lexical([["berth", "rent"], ["duty"]])


def _ask(terms: list[str], family: str, *, right: tuple[bool, bool] = (True, False)) -> MentionInSentence:
    candidates = tuple(Candidate(row, 1.0, None, None, 0.0) for row in (0, 1))
    ranking = Ranking(Route(), candidates, dict.fromkeys(terms, 1.0), {}, np.zeros(1, dtype=np.float32))
    return MentionInSentence(" ".join(terms), family, ranking, np.array(right), np.ones(2, dtype=bool), frozenset({0}))


def test_a_term_counts_by_how_often_right_passages_print_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranker, "SMOOTHING", 0.0)
    asked = [_ask(["berth", "duty", "rent"], family) for family in ("a", "b", "c")]
    assert ranker.find_question_weights(asked, LEXICAL) == {"duty": ranker.LEAST_WEIGHT}
    answered = [_ask(["berth", "duty"], "a", right=(True, True))]
    # 1 of 4 questions is answered by a passage with "duty"; of all 11 uses of terms 8 are printed
    assert ranker.find_question_weights([*asked, *answered], LEXICAL) == {"duty": round((1 / 4) / (8 / 11), 1)}


def test_terms_of_few_families_and_few_questions_keep_their_weight() -> None:
    asked = [_ask(["berth", "duty", "rent"], family) for family in ("a", "b")]
    assert ranker.find_question_weights(asked, LEXICAL) == {}
    # 3 questions weigh less than the 4 that a term is taken to have: (0 + 4 * 2/3) / (3 + 4) / (2/3) = 4 / 7
    few = [_ask(["berth", "duty", "rent"], family) for family in ("a", "b", "c")]
    assert ranker.find_question_weights(few, LEXICAL) == {}
    assert ranker.find_question_weights([*few, *few], LEXICAL) == {"duty": round(4 / 10, 1)}
    numbers = [_ask(["berth", "1099", "rent"], family) for family in ("a", "b", "c")]
    assert ranker.find_question_weights([*numbers, *numbers], LEXICAL) == {}
    assert ranker.find_question_weights([_ask(["duty"], "a", right=(False, False))], LEXICAL) == {}
