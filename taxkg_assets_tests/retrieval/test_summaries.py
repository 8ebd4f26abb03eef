"""Every page and document in a few of its own sentences."""

from __future__ import annotations

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.retrieval.summaries import build_summaries


def test_summaries_are_sentences_of_the_page(
    documents: dy.DataFrame[schemas.Documents],
    sections: dy.DataFrame[schemas.Sections],
    anchors: dy.DataFrame[schemas.Anchors],
) -> None:
    made = build_summaries(documents, sections, anchors=anchors, proposer=RuleProposer())
    assert made.equals(build_summaries(documents, sections, anchors=anchors, proposer=RuleProposer()))
    assert set(made["level"]) == {"document", "page"}
    texts = dict(sections.select("element_id", "text").iter_rows())
    for row in made.iter_rows(named=True):
        for pointer in row["evidence"]:
            element_id, _, place = pointer.rpartition(":")
            start, end = map(int, place.split("-"))
            assert texts[element_id][start:end] in row["text"]


def test_what_several_families_print_alike_sums_nothing_up(
    documents: dy.DataFrame[schemas.Documents],
    sections: dy.DataFrame[schemas.Sections],
    anchors: dy.DataFrame[schemas.Anchors],
) -> None:
    same = schemas.Sections.validate(sections.with_columns(text=pl.lit("Do not print this copy and send it to us.")))
    assert build_summaries(documents, same, anchors=anchors, proposer=RuleProposer()).is_empty()
