"""Sentences as nodes: only of dense paragraphs, on their own lines, each the source of what it says."""

from __future__ import annotations

import polars as pl
import pytest

from taxkg_assets.graph.integrity import (
    find_tree_faults,
    find_unplaced_nodes,
    find_unprovenanced_edges,
    find_unsupported_edges,
    score_related,
)
from taxkg_assets.graph.neighborhood import find_neighborhood
from taxkg_assets_tests.graph.corpora import Corpus, reference, section

ELEMENT = "i9--2030-01:p0001:e041"
SENTENCES = ("Enter what was paid.", "Do not count tax that is in box 2.", "It is rare.", "Form 7 is for the rest.")
TEXT = " ".join(SENTENCES)
STARTS = [TEXT.index(sentence) for sentence in SENTENCES]


def _corpus(*said: tuple[int, str, str, str]) -> Corpus:
    """A corpus with a paragraph printed on two lines; each of `said` is a sentence's mention."""
    corpus = Corpus()
    row = section(ELEMENT, "i9--2030-01#02", 2, TEXT)
    (line,) = row["pieces"]
    cut = STARTS[2]
    row["pieces"] = [
        {**line, "end": cut, "y1_pt": 5.0},
        {**line, "start": cut, "y0_pt": 6.0, "page": 2},
    ]
    corpus.sections.append(row)
    for ix, kind, target, relation in said:
        place = {"start": STARTS[ix], "end": STARTS[ix] + len(SENTENCES[ix]), "evidence": SENTENCES[ix]}
        mention = {"mention_start": STARTS[ix], "mention_end": STARTS[ix] + 1, "page": 2 if ix > 1 else 1}
        polarity = "negative" if relation == "excludes" else "positive"
        corpus.references.append(reference(row, kind, target, relation, polarity=polarity, **place, **mention))
    return corpus


DENSE = ((1, "box", "box_2", "excludes"), (3, "form", "Form 7", "references"))


def test_the_sentences_of_a_dense_paragraph_are_nodes_on_their_own_lines() -> None:
    nodes, _ = _corpus(*DENSE).graph()
    rows = nodes.filter(pl.col("level") == "sentence").to_dicts()
    assert [row["node_id"] for row in rows] == [f"{ELEMENT}:s{start:05d}" for start in STARTS]
    assert tuple(row["text"] for row in rows) == SENTENCES
    assert {row["parent_id"] for row in rows} == {ELEMENT}
    assert [row["page"] for row in rows] == [1, 1, 2, 2]
    assert [[box["y1_pt"] for box in row["bboxes"]] for row in rows] == [[5.0], [5.0], [9.0], [9.0]]
    above = nodes.filter(pl.col("node_id") == ELEMENT).row(0, named=True)
    for name in ("heading_path", "anchor_key", "canonical_id", "perspective"):
        assert {row[name] for row in rows} == {above[name]}
    assert [row["ordinal"] - above["ordinal"] for row in rows] == [1, 2, 3, 4]


def test_a_sentence_is_the_source_of_what_it_says_and_the_laws_hold() -> None:
    corpus = _corpus(*DENSE)
    nodes, edges = corpus.graph()
    sections = corpus.frames()["sections"]
    said = edges.filter(pl.col("element_id") == ELEMENT).sort("start")
    assert said.select("source_id", "target_id", "relation", "start").rows() == [
        (f"{ELEMENT}:s{STARTS[1]:05d}", "i9--2030-01#03", "excludes", STARTS[1]),
        (f"{ELEMENT}:s{STARTS[3]:05d}", "ext:form:Form 7", "external_ref", STARTS[3]),
    ]
    below = edges.filter(pl.col("source_id") == ELEMENT)
    assert set(below["relation"]) == {"parent_of", "follows"}
    assert below.filter(pl.col("relation") == "parent_of").height == len(SENTENCES)
    assert find_tree_faults(nodes).is_empty()
    assert find_unplaced_nodes(nodes).is_empty()
    assert find_unsupported_edges(edges, sections, nodes=nodes).is_empty()
    assert find_unprovenanced_edges(edges, sections, nodes=nodes).is_empty()


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(((1, "box", "box_2", "excludes"), (3, "box", "box_2", "references")), id="one target twice"),
        pytest.param(((1, "box", "box_2", "excludes"), (1, "form", "Form 7", "references")), id="one speaker"),
        pytest.param(((1, "box", "box_2", "excludes"),), id="one mention"),
    ],
)
def test_what_one_sentence_says_stays_with_the_paragraph(said: tuple[tuple[int, str, str, str], ...]) -> None:
    nodes, edges = _corpus(*said).graph()
    assert nodes.filter(pl.col("level") == "sentence").is_empty()
    assert set(edges.filter(pl.col("element_id") == ELEMENT)["source_id"]) == {ELEMENT}


def test_what_runs_over_a_sentence_is_said_by_the_paragraph() -> None:
    corpus = _corpus(*DENSE)
    corpus.references[-1] |= {"start": STARTS[2], "evidence": TEXT[STARTS[2] :]}
    _, edges = corpus.graph()
    said = edges.filter(pl.col("element_id") == ELEMENT, pl.col("start") == STARTS[2])
    assert said["source_id"].to_list() == [ELEMENT]


def test_a_paragraph_is_related_by_its_sentences_and_silent_ones_are_not_drawn() -> None:
    nodes, edges = _corpus(*DENSE).graph()
    paragraphs = nodes.filter(pl.col("level") == "paragraph").height
    assert score_related(nodes, edges)["related paragraph"] == 3 / paragraphs
    drawn = find_neighborhood(nodes, edges, node_id=ELEMENT)
    assert drawn.own == {ELEMENT, *(f"{ELEMENT}:s{STARTS[ix]:05d}" for ix in (1, 3))}
