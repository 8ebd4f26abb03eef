"""Precision and recall of edges, by hand: two pages, four edges, three facts."""

from __future__ import annotations

from typing import Any

from taxkg_assets.evaluation.edge_scores import read_edge_labels, score_edges
from taxkg_assets_tests.graph.corpora import Corpus, reference

PLACE = {"form": "9", "half": "check", "document": "i9--2030-01", "page": 1, "source": "box_1", "kind": "box"}


def _fact(target: str, relation: str, polarity: str, locator: str, **more: Any) -> dict[str, Any]:
    words = {"target": target, "relation": relation, "polarity": polarity, "locator": locator}
    return {**PLACE, **words, "also": [], "is_optional": False, **more}


def test_every_relation_has_its_precision_and_recall() -> None:
    corpus = Corpus()
    said = corpus.sections[1]
    corpus.references += [
        reference(said, "box", "box_4", "includes", target_form="8", mention_start=1, mention_end=2),
        reference(said, "form", "Form 7", "requires", mention_start=2, mention_end=3),
        reference(said, "box", "box_1", "includes", mention_start=3, mention_end=4),
    ]
    nodes, edges = corpus.graph()
    labels = read_edge_labels(
        [
            {"scope": "i9--2030-01", "pages": [1]},
            _fact("boxes_2-3", "portion_of", "negative", "hold pay", also=["excludes"]),
            _fact("Form 7", "requires", "positive", "Enter"),
            _fact("Form 8", "requires", "positive", "Enter"),
        ]
    )
    score = score_edges(edges, labels, nodes=nodes, documents=corpus.frames()["documents"])
    table = {row["relation"]: row for row in score.by_relation.to_dicts()}
    assert (table["excludes"]["precision"], table["portion_of"]["recall"]) == (1 / 1, 1 / 1), "either relation is right"
    assert table["includes"]["precision"] == 0 / 1, "box 4 is in no label; the own box counts on neither side"
    assert table["requires"]["recall"] == 1 / 2
    assert (score.figure("precision"), score.figure("recall")) == (2 / 3, 2 / 3)
    assert {(row["problem"], row["target"]) for row in score.misses.to_dicts()} == {
        ("invented", "box_4"),
        ("missed", "Form 8"),
    }


def test_a_borderline_fact_counts_on_neither_side() -> None:
    corpus = Corpus()
    nodes, edges = corpus.graph()
    optional = _fact("boxes_2-3", "excludes", "negative", "hold", is_optional=True)
    labels = read_edge_labels([{"scope": "i9--2030-01", "pages": [1]}, optional])
    score = score_edges(edges, labels.of_half("check"), nodes=nodes, documents=corpus.frames()["documents"])
    assert (score.figure("precision"), score.figure("recall"), score.misses.height) == (None, None, 0)
