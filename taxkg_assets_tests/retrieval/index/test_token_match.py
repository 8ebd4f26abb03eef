"""Token vectors of an index: what they are, and how questions are compared with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from taxkg_assets.retrieval.encoding.encoder import TokenVectors, Vectors
from taxkg_assets.retrieval.index.token_match import RememberingTokens, TokenIndex, build_token_index, draw_sample
from taxkg_assets.retrieval.index.token_memory import TokenMemory, digest_text, read_memory
from taxkg_assets.rules.models.ranking import load_ranking
from taxkg_assets_tests.retrieval.conftest import TermEncoder

WORDS = ("harbour", "berth", "rent", "port", "duty")


class WordEncoder(TermEncoder):
    """Tokens are places of `WORDS`; "port" is between "harbour" and an axis of its own."""

    dimension = 5

    def find_tokens(self, texts: Sequence[str]) -> list[list[int]]:
        return [[WORDS.index(word) for word in text.split() if word in WORDS] for text in texts]

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        found = self.find_tokens(texts)
        return [TokenVectors(np.array(own, dtype=np.int32), self.encode_lone_tokens(own)) for own in found]

    def encode_lone_tokens(self, tokens: Sequence[int]) -> Vectors:
        axes = np.eye(5, dtype=np.float32)
        axes[3] = 0.8 * axes[0] + 0.6 * axes[3]
        return axes[list(tokens)].reshape(-1, 5)


@pytest.fixture
def index() -> TokenIndex:
    return build_token_index(["harbour berth", "rent", "", "duty rent"], encoder=WordEncoder())


def _score(index: TokenIndex, question: str) -> list[float]:
    rows = np.arange(len(index.starts) - 1)
    scores: list[float] = index.score_rows(WordEncoder().encode_tokens([question])[0], rows).round(4).tolist()
    return scores


def test_a_token_counts_by_its_nearest_one(index: TokenIndex) -> None:
    assert _score(index, "port") == [0.8, 0.0, 0.0, 0.0]
    assert _score(index, "harbour")[0] == 1.0


def test_rare_tokens_count_more(index: TokenIndex) -> None:
    # of 4 passages, 2 print "rent" and 1 prints "duty"
    rent, duty = np.log(1 + 2.5 / 2.5), np.log(1 + 3.5 / 1.5)
    assert _score(index, "rent duty")[1] == pytest.approx(rent / (rent + duty), abs=1e-4)
    assert _score(index, "rent duty")[3] == pytest.approx(1.0, abs=1e-4)


def test_rows_are_scored_in_any_order_and_number(index: TokenIndex) -> None:
    question = WordEncoder().encode_tokens(["rent duty"])[0]
    every = index.score_rows(question, np.arange(4))
    assert index.score_rows(question, np.array([3, 1])).tolist() == every[[3, 1]].tolist()
    assert index.score_rows(question, np.zeros(0, dtype=np.int64)).tolist() == []


def test_texts_are_scored_as_passages_with_the_same_tokens(index: TokenIndex) -> None:
    """A token that no passage prints is near nothing, and so is a text without tokens."""
    encoder = WordEncoder()
    question = encoder.encode_tokens(["port duty"])[0]
    texts = encoder.find_tokens(["harbour berth", "rent", "", "duty rent"])
    assert index.score_texts(question, texts).tolist() == pytest.approx(index.score_rows(question, np.arange(4)))
    unprinted = [[WORDS.index("port")]]
    assert index.score_texts(question, unprinted).tolist() == [0.0]
    assert index.score_texts(question, []).tolist() == []


def test_a_question_without_tokens_is_near_nothing(index: TokenIndex) -> None:
    assert _score(index, "unknown words alone") == [0.0] * 4


def _limit_sample(monkeypatch: pytest.MonkeyPatch, passages: int) -> None:
    rules = load_ranking()
    changed = rules.model_copy(update={"tokens": rules.tokens.model_copy(update={"sample": passages})})
    monkeypatch.setattr("taxkg_assets.retrieval.index.token_match.load_ranking", lambda: changed)


def test_a_token_outside_the_sample_has_its_own_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    _limit_sample(monkeypatch, 1)
    texts = ["harbour", "port"]
    (drawn,) = draw_sample(map(digest_text, texts))
    built = build_token_index(texts, encoder=WordEncoder())
    assert np.allclose(built.vectors, WordEncoder().encode_lone_tokens([0, 3]), atol=1e-4)
    assert drawn in map(digest_text, texts)


def test_the_sample_does_not_depend_on_order_or_repeats() -> None:
    digests = [digest_text(f"passage {number}") for number in range(40)]
    assert draw_sample(digests) == draw_sample([*reversed(digests), *digests])


class CountingEncoder(WordEncoder):
    """Counts the texts and tokens that it reads."""

    def __init__(self) -> None:
        self.read: dict[str, list[str | int]] = {"found": [], "encoded": [], "lone": []}

    def find_tokens(self, texts: Sequence[str]) -> list[list[int]]:
        self.read["found"] += texts
        return super().find_tokens(texts)

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.read["encoded"] += texts
        found = [[WORDS.index(word) for word in text.split() if word in WORDS] for text in texts]
        return [TokenVectors(np.array(own, dtype=np.int32), self._vectors(own)) for own in found]

    def encode_lone_tokens(self, tokens: Sequence[int]) -> Vectors:
        self.read["lone"] += tokens
        return self._vectors(tokens)

    def _vectors(self, tokens: Sequence[int]) -> Vectors:
        return super().encode_lone_tokens(tokens)


def _list_bytes(index: TokenIndex) -> list[bytes]:
    return [getattr(index, name).tobytes() for name in ("tokens", "vectors", "rarity", "starts", "places")]


def test_only_new_passages_are_read_and_the_index_is_that_of_an_empty_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    _limit_sample(monkeypatch, 2)
    before = ["harbour berth", "rent", "", "duty rent"]
    memory = TokenMemory()
    build_token_index(before, encoder=CountingEncoder(), memory=memory)
    after = ["rent port", "harbour berth", "", "duty rent", "rent port"]
    encoder = CountingEncoder()
    built = build_token_index(after, encoder=encoder, memory=read_memory(memory.list_arrays()))
    assert _list_bytes(built) == _list_bytes(build_token_index(after, encoder=CountingEncoder()))
    assert encoder.read["found"] == ["rent port"]
    new_sample = set(draw_sample(map(digest_text, after))) - set(draw_sample(map(digest_text, before)))
    assert {digest_text(str(text)) for text in encoder.read["encoded"]} == new_sample


def test_no_passage_is_read_again_where_none_is_new() -> None:
    texts = ["harbour berth", "rent", ""]
    memory = TokenMemory()
    build_token_index(texts, encoder=CountingEncoder(), memory=memory)
    encoder = CountingEncoder()
    build_token_index([*reversed(texts)], encoder=encoder, memory=memory)
    assert encoder.read == {"found": [], "encoded": [], "lone": []}


def test_the_memory_contains_what_the_last_passages_need_and_no_more() -> None:
    memory = TokenMemory()
    build_token_index(["harbour", "rent"], encoder=WordEncoder(), memory=memory)
    build_token_index(["rent"], encoder=WordEncoder(), memory=memory)
    assert set(memory.tokens_by_text) == set(memory.sums_by_text) == {digest_text("rent")}


def test_an_empty_memory_is_written_and_read() -> None:
    memory = read_memory(TokenMemory().list_arrays())
    assert (memory.tokens_by_text, memory.sums_by_text, memory.lone_vectors) == ({}, {}, {})


def test_a_remembered_comparison_gives_the_same_scores(index: TokenIndex) -> None:
    remembering = RememberingTokens.wrap(index)
    for question in ("rent duty", "port", "rent duty", *(f"port {'rent ' * number}" for number in range(10))):
        assert _score(remembering, question) == _score(index, question)
    assert 0 < len(remembering.cached_similarities) <= 8
