from __future__ import annotations

import polars as pl

from taxkg_assets.schemas import Documents, Edges, Nodes
from taxkg_assets.training.families import find_families, find_splits


def _documents(**forms: str) -> pl.DataFrame:
    rows = [{"document_id": name.replace("_", "--"), "form": form} for name, form in forms.items()]
    return Documents.create_empty().join(pl.DataFrame(rows), on=["document_id", "form"], how="right")


def _no(schema: type[Nodes] | type[Edges]) -> pl.DataFrame:
    return schema.create_empty()


def test_years_and_sides_of_a_form_are_one_family_and_a_booklet_joins_forms() -> None:
    documents = _documents(
        face_2023="77-A", face_2024="77-A", other_2024="77-B", booklet_2024="77-A and 77-B", apart_2024="88"
    )
    families = find_families(documents, _no(Nodes), edges=_no(Edges))  # type: ignore[arg-type]
    assert families["face--2023"] == families["face--2024"] == families["other--2024"] == "77-A + 77-B"
    assert families["apart--2024"] == "88"


def test_a_document_about_no_form_is_its_own_family_in_all_years() -> None:
    families = find_families(_documents(law_2023="", law_2024="", code=""), _no(Nodes), edges=_no(Edges))  # type: ignore[arg-type]
    assert families == {"code": "code", "law--2023": "law", "law--2024": "law"}


def test_a_field_that_the_graph_finds_in_two_documents_joins_their_families() -> None:
    nodes = pl.DataFrame({"node_id": ["a#1", "b#1"], "document_id": ["a", "b"]})
    edges = pl.DataFrame({"source_id": ["a#1"], "target_id": ["b#1"], "relation": ["same_field"]})
    assert find_families(_documents(a="77", b="78"), nodes, edges=edges) == {"a": "77 + 78", "b": "77 + 78"}  # type: ignore[arg-type]


def test_both_sides_of_the_split_are_taken_by_whole_families_and_stay_when_others_come() -> None:
    few = find_splits([f"form {n}" for n in range(40)], dev_share=0.25, seed=1)
    many = find_splits([f"form {n}" for n in range(400)], dev_share=0.25, seed=1)
    assert few.items() <= many.items()
    assert 0.15 < sum(side == "dev" for side in many.values()) / 400 < 0.35
    assert set(find_splits(["a", "b"], dev_share=0.001, seed=1).values()) == {"train", "dev"}
    assert find_splits(["alone"], dev_share=0.001, seed=1) == {"alone": "train"}
