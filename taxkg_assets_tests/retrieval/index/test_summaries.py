"""Every page and document in a few of its own sentences."""

from __future__ import annotations

import json
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.llm.exchange import COMPLETE, Reply, Request
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.retrieval.index.summaries import build_summaries, digest_running_text
from taxkg_assets_tests.llm.scripted import MemoryLog, Scripted, items_of, proposer


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


def test_a_summary_states_something(
    documents: dy.DataFrame[schemas.Documents],
    sections: dy.DataFrame[schemas.Sections],
    anchors: dy.DataFrame[schemas.Anchors],
) -> None:
    said = "For more of the 2077-ZED, go to our pages. File the form for each of these: Berths pay a duty to the town."
    reported = sections.with_columns(
        text=pl.when(pl.col("document_id") == "i2077zed--2031").then(pl.lit(said)).otherwise("text")
    )
    made = build_summaries(documents, schemas.Sections.validate(reported), anchors=anchors, proposer=RuleProposer())
    own = made.filter(pl.col("unit_id") == "document:i2077zed--2031")["text"].to_list()
    assert own == ["Berths pay a duty to the town."]


LIE = "Landlords never owe penalties to anybody."


def _sum_up(request: Request) -> Reply:
    """A model that states about each unit its first block, and something that no block says."""
    rows: list[dict[str, Any]] = []
    for item in items_of(request.user):
        block = item["blocks"][0]
        quote = {"pointer": f"{block['element_id']}:0-9", "quote": block["text"]}
        sentences = [{"text": text, "evidence": [quote]} for text in (block["text"], LIE)]
        rows.append({"item_id": item["item_id"], "confidence": 0.9, "evidence": [quote], "sentences": sentences})
    return Reply(json.dumps({"proposals": rows}), COMPLETE, 100, 10)


def test_a_model_words_what_its_quotes_hold_and_every_document_is_queried_alone(
    documents: dy.DataFrame[schemas.Documents],
    sections: dy.DataFrame[schemas.Sections],
    anchors: dy.DataFrame[schemas.Anchors],
) -> None:
    log = MemoryLog()
    model = Scripted(_sum_up)
    made = build_summaries(documents, sections, anchors=anchors, proposer=proposer(model, log))
    assert set(made["created_by"]) == {"llm"}
    texts = set(sections["text"])
    assert set(made["text"]) <= texts
    fewer = schemas.Sections.validate(sections.filter(pl.col("document_id") != "i2077zed--2031"))
    queried = len(model.queried)
    again = build_summaries(documents, fewer, anchors=anchors, proposer=proposer(model, log))
    assert len(model.queried) == queried
    assert again.height < made.height


def test_documents_summed_up_one_by_one_are_summed_up_alike(
    documents: dy.DataFrame[schemas.Documents],
    sections: dy.DataFrame[schemas.Sections],
    anchors: dy.DataFrame[schemas.Anchors],
) -> None:
    whole = build_summaries(documents, sections, anchors=anchors, proposer=RuleProposer())
    reported = digest_running_text(documents, sections, anchors)
    assert set(whole["document_id"]) <= set(reported)
    made = [
        build_summaries(documents, sections, anchors=anchors, proposer=RuleProposer(), only=[(document_id,)])
        for document_id in reported
    ]
    assert pl.concat(made).sort("unit_id").equals(whole.sort("unit_id"))


def test_a_digest_states_what_a_document_is_summed_up_from(
    documents: dy.DataFrame[schemas.Documents],
    sections: dy.DataFrame[schemas.Sections],
    anchors: dy.DataFrame[schemas.Anchors],
) -> None:
    before = digest_running_text(documents, sections, anchors)
    name = "i2077zed--2031"
    is_own = pl.col("document_id") == name

    def changed(
        documents: pl.DataFrame = documents, sections: pl.DataFrame = sections, anchors: pl.DataFrame = anchors
    ) -> set[str]:
        after = digest_running_text(
            schemas.Documents.cast(documents), schemas.Sections.cast(sections), schemas.Anchors.cast(anchors)
        )
        return {one for one in before if after.get(one) != before[one]}

    assert changed() == set()
    assert changed(documents=documents.with_columns(title=pl.when(is_own).then(pl.lit("New")).otherwise("title"))) == {
        name
    }
    said = pl.concat_str("text", pl.lit(" More."))
    assert changed(sections=sections.with_columns(text=pl.when(is_own).then(said).otherwise("text"))) == {name}
    kinds = pl.when(is_own).then(pl.lit("nothing")).otherwise("kind")
    assert changed(anchors=anchors.with_columns(kind=kinds)) == {name}
    # What other families begin to print alike leaves the summaries of all that print it.
    shared = sections.with_columns(text=pl.lit("Do not print this copy and send it to us."))
    assert changed(sections=shared) == set(before)
    assert changed(documents=documents.filter(~is_own), sections=sections.filter(~is_own)) >= {name}
