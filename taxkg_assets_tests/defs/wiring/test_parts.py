"""Tables made in parts: what is kept, what is made again, and that the whole is the same as made at once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from taxkg_assets.defs.home.stored_tables import TableState
from taxkg_assets.defs.wiring.output_rows import WholeTable
from taxkg_assets.defs.wiring.parts import BY_DOCUMENT, digest_parts, find_current_parts, record_parts, select_parts
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home

DOCUMENTS = pl.DataFrame({"document_id": ["a", "b", "c"], "title": ["A", "B", "C"]})
PARTS = [("a", "b"), ("b", "c")]


def state(**contents: str) -> TableState:
    return TableState(0, "whole", "", {name: {"content": content} for name, content in contents.items()})


def digest(
    documents: pl.DataFrame = DOCUMENTS, *, code: str = "1", reviews: str = "none", **contents: str
) -> dict[tuple[str, ...], str]:
    states = {
        "documents": state(a="-", b="-", c="-"),
        "sections": state(**{"a": "1", "b": "1", "c": "1", **contents}),
        "reviews": TableState(0, reviews, "", {}),
    }
    return digest_parts(PARTS, documents, states=states, code=code)


def changed(**how: Any) -> set[tuple[str, ...]]:
    before = digest()
    return {part for part, made_from in digest(**how).items() if made_from != before[part]}


def test_a_part_rests_on_its_own_documents() -> None:
    assert changed() == set()
    assert changed(a="2") == {("a", "b")}
    assert changed(b="2") == {("a", "b"), ("b", "c")}
    title = pl.when(pl.col("document_id") == "c").then(pl.lit("New")).otherwise("title").alias("title")
    assert changed(documents=DOCUMENTS.with_columns(title)) == {("b", "c")}


def test_code_and_tables_of_no_document_are_under_every_part() -> None:
    assert changed(code="2") == set(PARTS)
    assert changed(reviews="one") == set(PARTS)


def test_a_part_is_kept_while_it_would_be_made_alike() -> None:
    written = TableState(3, "rows", "", record_parts(digest()))
    assert find_current_parts(digest(), written) == set(PARTS)
    assert find_current_parts(digest(a="2"), written) == {("b", "c")}
    assert find_current_parts(digest(), None) == set()
    gone = {part: made for part, made in digest().items() if part != ("a", "b")}
    assert find_current_parts(gone, written) == {("b", "c")}


def test_rows_are_selected_by_all_columns_of_a_part() -> None:
    frame = pl.DataFrame({"old": ["a", "b", "a"], "new": ["b", "c", "c"], "row": [1, 2, 3]})
    assert select_parts(frame, {("a", "b"), ("b", "c")}, columns=("old", "new"))["row"].to_list() == [1, 2]
    assert select_parts(frame, set(), columns=("old", "new")).is_empty()


@pytest.mark.parametrize("name", ["chunks", "revisions"])
def test_made_in_parts_a_table_is_the_same(name: str, sample_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(home=str(sample_home))
    step = PIPELINE[name].step
    assert step is not None
    assert step.parts is not None
    states = {n: found for n in step.builder.reads if (found := home.store.state(n)) is not None}
    standing = home.store.state(name)
    assert standing is not None
    whole = home.store.read(name)
    made = list(standing.documents)
    assert len(made) > (1 if name == "chunks" else 0)
    queried: list[pl.DataFrame] = []
    own = step.builder.build

    def build(**arguments: Any) -> pl.DataFrame:
        queried.append(arguments["documents"])
        return own(**arguments)

    counted = replace(step, builder=replace(step.builder, build=build))
    rows = counted.make(home, states, made_from="anything")
    assert rows.frame.sort(step.schema.primary_key()).equals(whole)
    assert rows.parts == standing.documents
    assert queried[-1].is_empty(), "nothing has changed, so nothing is read"

    lost = {part: reported for part, reported in standing.documents.items() if part != made[0]}
    monkeypatch.setattr(
        "taxkg_assets.defs.wiring.table_step.find_current_parts",
        lambda digests, _: find_current_parts(digests, replace(standing, documents=lost)),
    )
    rows = counted.make(home, states, made_from="anything")
    assert rows.frame.sort(step.schema.primary_key()).equals(whole)
    # Where no part is, all tables are read whole.
    wanted = made[0].split(" → ") if lost else home.store.read("documents")["document_id"].to_list()
    assert sorted(queried[-1]["document_id"]) == sorted(wanted)


def test_parts_that_inspect_other_documents_say_what_they_are_made_from(sample_home: Path) -> None:
    home = Home(home=str(sample_home))
    step = PIPELINE["summaries"].step
    assert step is not None
    standing, whole = home.store.state("summaries"), home.store.read("summaries")
    assert standing is not None
    queried: list[list[tuple[str]]] = []
    own, read_code = step.builder.build, step.read_code

    def build(**arguments: Any) -> pl.DataFrame:
        queried.append(arguments["only"])
        return own(**arguments)

    def make(code: str = "") -> WholeTable:
        states = {n: found for n in step.builder.reads if (found := home.store.state(n)) is not None}
        counted = replace(
            step, builder=replace(step.builder, build=build), read_code=lambda home: code or read_code(home)
        )
        return counted.make(home, states, made_from="anything")

    rows = make()
    assert rows.frame.sort("unit_id").equals(whole)
    assert rows.parts == standing.documents
    assert queried.pop() == []
    assert make("other code").frame.sort("unit_id").equals(whole)
    assert queried.pop() == [(name,) for name in sorted(standing.documents)]

    gone, *others = sorted(standing.documents)
    home.store.write(
        "summaries",
        whole.filter(pl.col("document_id") != gone),
        inputs="earlier",
        documents={name: standing.documents[name] for name in others},
    )
    assert make().frame.sort("unit_id").equals(whole), "a document that is added"
    assert queried.pop() == [(gone,)]
    for name in ("sections", "anchors"):
        home.store.replace_documents(name, home.store.read(name).clear(), documents={gone: None})
    home.store.write("summaries", whole, inputs="earlier", documents=standing.documents)
    assert set(make().frame["document_id"]) == set(whole["document_id"]) - {gone}, "a document that is removed"


def test_the_parts_of_chunks_are_documents() -> None:
    assert BY_DOCUMENT.find(DOCUMENTS) == [("a",), ("b",), ("c",)]
