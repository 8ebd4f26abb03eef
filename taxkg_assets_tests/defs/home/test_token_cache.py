"""Tokens that a home keeps: those of this encoder and this code, and none from a damaged file."""

from pathlib import Path

import numpy as np
import pytest

from taxkg_assets.defs.home import token_cache
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.home.token_cache import KEPT_ENCODERS, TokenCache
from taxkg_assets.retrieval.encoding.encoder import TokenVectors
from taxkg_assets.retrieval.index.token_memory import TokenMemory, digest_text


def _memory(number: float) -> TokenMemory:
    tokens = np.array([3, 8], dtype=np.int32)
    return TokenMemory(
        {digest_text("one"): tokens, digest_text("two"): tokens[:1]},
        {digest_text("one"): TokenVectors(tokens, np.full((2, 3), number, dtype=np.float32))},
        {5: np.full(3, number, dtype=np.float32)},
    )


def test_kept_tokens_come_back_bit_by_bit(tmp_path: Path) -> None:
    kept = TokenCache(Store(tmp_path))
    kept.keep("weights", _memory(1 / 3))
    found = kept.read("weights")
    assert {key: own.tolist() for key, own in found.tokens_by_text.items()} == {
        digest_text("one"): [3, 8],
        digest_text("two"): [3],
    }
    assert (
        found.sums_by_text[digest_text("one")].vectors.tobytes() == np.full((2, 3), 1 / 3, dtype=np.float32).tobytes()
    )
    assert found.lone_vectors[5].tobytes() == np.full(3, 1 / 3, dtype=np.float32).tobytes()


def test_what_other_weights_or_other_code_found_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = TokenCache(Store(tmp_path))
    kept.keep("weights", _memory(0.1))
    assert kept.read("other weights").tokens_by_text == {}
    monkeypatch.setattr(token_cache, "code_fingerprint", lambda *_: "changed")
    assert kept.read("weights").tokens_by_text == {}


@pytest.mark.parametrize("keep_bytes", [0, 40, -30])
def test_a_damaged_file_is_as_none(tmp_path: Path, keep_bytes: int) -> None:
    kept = TokenCache(Store(tmp_path))
    kept.keep("weights", _memory(0.1))
    (path,) = (tmp_path / "cache" / "tokens").glob("*.npy")
    path.write_bytes(path.read_bytes()[:keep_bytes])
    assert kept.read("weights").tokens_by_text == {}


def test_altered_bytes_are_found(tmp_path: Path) -> None:
    kept = TokenCache(Store(tmp_path))
    kept.keep("weights", _memory(0.1))
    (path,) = (tmp_path / "cache" / "tokens").glob("*.npy")
    written = path.read_bytes()
    vector = np.full(3, 0.1, dtype=np.float32).tobytes()
    path.write_bytes(written.replace(vector, b"\x00" * len(vector)))
    assert kept.read("weights").tokens_by_text == {}


def test_files_of_former_encoders_are_deleted(tmp_path: Path) -> None:
    kept = TokenCache(Store(tmp_path))
    for number in range(KEPT_ENCODERS + 2):
        kept.keep(f"weights {number}", _memory(number))
    assert len(list((tmp_path / "cache" / "tokens").glob("*.npy"))) == KEPT_ENCODERS
    assert kept.read(f"weights {KEPT_ENCODERS + 1}").lone_vectors[5][0] == KEPT_ENCODERS + 1
