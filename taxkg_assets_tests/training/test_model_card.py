"""A card states what a model learned from, what was left out, and every figure that it is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from taxkg_assets.training.dense_scores import QueryScore
from taxkg_assets.training.examples import Example
from taxkg_assets.training.model import TrainedModel
from taxkg_assets.training.model_card import Provenance, render_card
from taxkg_assets.training.promotion import decide_promotion


def _interval(values: Sequence[float], clusters: Sequence[str]) -> tuple[float | None, float | None]:
    return min(values), max(values)


def test_a_card_names_figures_families_tables_and_what_was_left_out() -> None:
    before = [QueryScore("q", "scenario", "Held", 0.25, 0.5, 0.125)]
    after = [QueryScore("q", "scenario", "Held", 0.5, 1.0, 1.0)]
    trained = TrainedModel(Path(), "ab", {"seed": 7}, 0.6, before, after, {1.0: 0.4, 0.6: 0.5}, 3, 9, 2.0, 100.0, [])
    learned = [Example("q", "p", (), kind, "Learned", 1.0, kind) for kind in ("scenario", "table")]
    card = render_card(
        trained,
        decide_promotion(before, after, interval=_interval),
        base="small",
        examples=learned,
        dev=[Example("q", "p", (), "scenario", "Held", 1.0, "d")],
        origin=Provenance(
            {"pairs": "version 3, content cafe"}, ["form--2030"], {"table": {"made": 5, "over the cap": 4}}
        ),
    )
    assert "| nDCG@10 | 0.250 | 0.500 | +0.250 | [+0.250, +0.250] |" in card
    assert "| recall@5 | 0.500 | 1.000 |" in card
    assert "| MRR@10 | 0.125 | 1.000 |" in card
    assert "1 questions, vectors alone, by families: Held." in card
    assert "Form families: Learned." in card
    assert "1 documents: form--2030." in card
    assert "- `pairs`: version 3, content cafe" in card
    assert "| kind of pair | trained on | made | over the cap |" in card
    assert "| table | 1 | 5 | 4 |" in card
    assert "| scenario | 1 | 0 | 0 |" in card
