"""Boxes of the labeled forms, on their faces and in the texts for filers and recipients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from taxkg_assets.graph.coverage import count_aligned

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def aligned(real_graph: dict[str, Any]) -> pl.DataFrame:
    return count_aligned(real_graph["registry"], real_graph["nodes"], edges=real_graph["edges"])


def test_all_22_boxes_of_the_dividend_form_are_one_field_for_every_reader(
    aligned: pl.DataFrame, real_graph: dict[str, Any]
) -> None:
    rows = aligned.filter(pl.col("form") == "1099-DIV").select("reader", "boxes", "this revision").rows()
    assert rows == [("filer", 22, 22), ("recipient", 22, 22)]
    perspective = dict(real_graph["nodes"].select("node_id", "perspective").iter_rows())
    same = real_graph["edges"].filter(pl.col("relation") == "same_field").select("source_id", "target_id").rows()
    between = {
        (perspective[source], perspective[target])
        for source, target in same
        if source.startswith(("f1099div", "i1099div"))
    }
    assert between == {("face", "filer"), ("face", "recipient"), ("filer", "recipient")}


def test_every_labeled_box_is_aligned_with_all_instructions_that_the_corpus_holds(
    aligned: pl.DataFrame, real_graph: dict[str, Any], corpus: Path
) -> None:
    labeled = json.loads((corpus / "eval" / "boxes.json").read_text(encoding="utf8"))
    documents = real_graph["documents"]
    booklets = " and ".join(documents.filter(pl.col("doc_type") == "filer_instructions")["form"])
    reported = _forms_reported_box_by_box(real_graph)
    with pl.Config(tbl_rows=100, tbl_width_chars=200):
        print(aligned)
    for row in aligned.filter(pl.col("document_id").is_in(list(labeled))).to_dicts():
        keys = {box["key"] for box in labeled[row["document_id"]] if box["label"]}
        missing = keys & set(row["unaligned"])
        if row["reader"] == "filer" and row["form"] in booklets:
            assert missing == set(), row
        elif row["reader"] == "filer":
            assert len(row["unaligned"]) == row["boxes"], "no filer instructions of this form are in the corpus"
        else:
            assert missing.isdisjoint(reported[row["document_id"]]), row


def _forms_reported_box_by_box(real_graph: dict[str, Any]) -> dict[str, set[str]]:
    """Keys that headings of the recipient's page name: an employee does not read of every box of Form W-2."""
    reported: dict[str, set[str]] = {}
    for row in real_graph["anchors"].filter(pl.col("perspective") == "recipient").to_dicts():
        reported.setdefault(row["document_id"], set()).add(row["key"] or "")
    return reported


def test_one_key_on_two_forms_is_never_one_field(real_graph: dict[str, Any]) -> None:
    forms = {
        row["node_id"]: row["canonical_id"].rsplit("/", 2)[0]
        for row in real_graph["nodes"].filter(pl.col("canonical_id").is_not_null()).to_dicts()
    }
    same = real_graph["edges"].filter(pl.col("relation").str.starts_with("same_field"))
    across = [
        (source, target)
        for source, target in same.select("source_id", "target_id").rows()
        if source in forms and target in forms and forms[source] != forms[target]
    ]
    assert same.height > 300
    assert across == []
    concept = real_graph["edges"].filter(pl.col("relation") == "same_concept").select("source_id", "target_id").rows()
    pair = ("f1099div--2024-01#face-box_4", "f1099int--2024-01#face-box_4")
    assert pair in concept, "federal income tax withheld on two forms is one concept"
