"""Edges: structure, what sentences say, and alignment over readers, revisions and forms."""

from __future__ import annotations

from typing import Any

import polars as pl

from taxkg_assets.graph.edges import build_edges
from taxkg_assets.graph.integrity import (
    find_dangling_edges,
    find_parent_cycles,
    find_unresolved_references,
    find_unsupported_edges,
)
from taxkg_assets_tests.graph.corpora import Corpus, anchor, document, reference, section


def _pairs(edges: pl.DataFrame, relation: str) -> set[tuple[str, str]]:
    return set(edges.filter(pl.col("relation") == relation).select("source_id", "target_id").rows())


def test_the_laws_hold() -> None:
    corpus = Corpus()
    nodes, edges = corpus.graph()
    frames = corpus.frames()
    assert find_dangling_edges(edges, nodes).is_empty()
    assert find_parent_cycles(edges).is_empty()
    assert find_unsupported_edges(edges, frames["sections"], nodes=nodes).is_empty()
    assert not find_unresolved_references(frames["references"], edges)["is_unresolved"].any()


def test_nothing_leads_to_a_document_without_nodes() -> None:
    corpus = Corpus()
    nodes, edges = corpus.graph()
    lost = "f9--2031-01"
    assert edges.filter(pl.col("source_id").str.starts_with(lost) | pl.col("target_id").str.starts_with(lost)).height
    kept: Any = nodes.filter((pl.col("document_id") != lost) | pl.col("document_id").is_null())
    inputs = ("anchors", "sections", "references", "registry", "documents", "links")
    frames = corpus.frames()
    edges = build_edges(kept, **{name: frames[name] for name in inputs}, **corpus.lines_and_flows())
    assert edges.height
    assert find_dangling_edges(edges, kept).is_empty()


def test_a_sentence_becomes_an_edge_with_its_evidence() -> None:
    _, edges = Corpus().graph()
    row = next(row for row in edges.to_dicts() if row["relation"] == "excludes")
    assert row["source_id"] == "i9--2030-01:p0001:e021"
    assert row["target_id"] == "i9--2030-01#03"
    assert (row["polarity"], row["evidence"]) == ("negative", "Enter pay, which box 2 does not hold.")
    assert _pairs(edges, "external_ref") == {("i9--2030-01:p0001:e031", "ext:form:Form 7")}


def test_a_box_of_another_form_is_found_on_its_face() -> None:
    corpus = Corpus()
    corpus.references.append(
        reference(corpus.sections[0], "box", "box_4", "references", target_form="8", mention_start=1, mention_end=2)
    )
    _, edges = corpus.graph()
    assert ("f9--2031-01:p0001:e021", "f8--2031#face-box_4") in _pairs(edges, "references_box")


def test_a_reference_that_fits_nothing_makes_no_edge_and_is_counted() -> None:
    corpus = Corpus()
    corpus.references.append(reference(corpus.sections[0], "box", "box_77", "references", rule_id="test.lost"))
    _, edges = corpus.graph()
    assert find_unresolved_references(corpus.frames()["references"], edges)["is_unresolved"].mean() == 1 / 3


def test_what_a_sentence_states_about_an_outside_thing_stays_said() -> None:
    corpus = Corpus()
    corpus.references.append(
        reference(corpus.sections[1], "form", "Form 6", "requires", mention_start=1, mention_end=2)
    )
    _, edges = corpus.graph()
    assert ("i9--2030-01:p0001:e021", "ext:form:Form 6") in _pairs(edges, "requires")
    corpus.documents.append(document("f6--2030", "6", "form", "2030"))
    _, edges = corpus.graph()
    assert ("i9--2030-01:p0001:e021", "f6--2030") in _pairs(edges, "requires"), "the document has arrived"


def test_negation_wins() -> None:
    corpus = Corpus()
    corpus.references += [
        reference(corpus.sections[1], "box", "box_2", "includes", mention_start=2, mention_end=3, confidence=1.0),
        reference(corpus.sections[1], "form", "Form 6", "applies_if", mention_start=3, mention_end=4, confidence=1.0),
        reference(
            corpus.sections[1], "form", "Form 6", "applies_if", mention_start=4, mention_end=5, polarity="negative"
        ),
    ]
    _, edges = corpus.graph()
    assert _pairs(edges, "includes") == set(), "the same sentence excludes it"
    assert edges.filter(pl.col("relation") == "applies_if")["polarity"].to_list() == ["negative"]


def test_a_heading_with_the_name_of_a_box_defines_it() -> None:
    corpus = Corpus()
    corpus.anchors.append(anchor("i9--2030-01#04", "section", None, "Tax withheld", perspective="filer"))
    corpus.sections.append(section("i9--2030-01:p0001:e041", "i9--2030-01#04", 2, "It is what was kept back."))
    nodes, edges = corpus.graph()
    row = edges.filter(pl.col("relation") == "defines").row(0, named=True)
    assert (row["source_id"], row["target_id"]) == ("i9--2030-01#04", "f9--2031-01#face-box_2")
    assert row["evidence"] == "It is what was kept back."
    identity = nodes.filter(pl.col("node_id") == "i9--2030-01:p0001:e041")["canonical_id"].item()
    assert identity == "9/2031-01/box_2"


def test_a_bullet_without_words_defines_nothing() -> None:
    corpus = Corpus()
    corpus.anchors.append(anchor("i9--2030-01#04", "section", None, "Tax withheld", perspective="filer"))
    corpus.sections.append(section("i9--2030-01:p0001:e041", "i9--2030-01#04", 2, "•"))
    _, edges = corpus.graph()
    assert edges.filter(pl.col("relation") == "defines").is_empty()


def test_one_field_for_every_reader() -> None:
    _, edges = Corpus().graph()
    same = _pairs(edges, "same_field")
    assert {
        ("f9--2031-01#face-box_1", "f9--2031-01#02"),
        ("f9--2031-01#face-box_1", "i9--2030-01#02"),
        ("i9--2030-01#02", "f9--2031-01#02"),
        ("f9--2031-01#face-box_2", "i9--2030-01#03"),
    } <= same
    assert ("f9--2031-01#face-box_2", "i9--2030-01#03") in _pairs(edges, "part_of_group")


def test_other_revisions_and_other_forms_are_relations_of_their_own() -> None:
    _, edges = Corpus().graph()
    other = _pairs(edges, "same_field_other_revision")
    assert ("f9--2031-01#face-box_1", "f9--2028-01#face-box_1") in other
    assert ("f9--2028-01#face-box_1", "i9--2030-01#02") in other, "the booklet is younger than that face"
    assert _pairs(edges, "same_concept") == {("f8--2031#face-box_4", "f9--2031-01#face-box_2")}


def test_a_draft_never_supersedes_a_final() -> None:
    corpus = Corpus()
    _, edges = corpus.graph()
    assert _pairs(edges, "supersedes") == {("f9--2031-01", "f9--2028-01")}
    corpus.documents.append(document("f9--2032-01", "9", "form", "2032-01"))
    _, edges = corpus.graph()
    assert _pairs(edges, "supersedes") == {
        ("f9--2031-01", "f9--2028-01"),
        ("f9--2032-01", "f9--2031-01"),
        ("f9--2032-01", "f9--2032-draft"),
    }
