"""Pages of the UI: owner, tags, description, origin of columns; groups without cycles; a word for "not measured"."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from taxkg_assets.definitions import defs
from taxkg_assets.defs.evaluation import show_report
from taxkg_assets.defs.home.contracts import schema_of
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.asset_notes import NOTES
from taxkg_assets.defs.wiring.asset_pages import DATED, FRESHNESS, OWNERS, stage_of
from taxkg_assets.defs.wiring.column_lineage import COPIED, MADE_OF, find_column_sources
from taxkg_assets.defs.wiring.document_rows import describe_documents
from taxkg_assets.defs.wiring.extraction_report import show_extraction
from taxkg_assets.defs.wiring.gates import MEASURED_SUFFIX
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.verdicts import FLOORS, MEASURED
from taxkg_assets.serving.instance import open_instance

pytestmark = pytest.mark.slow

SPECS = {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs()}
GRAPH = defs.resolve_asset_graph()
CLOSED_GROUP, BETWEEN_GROUPS, AROUND_GRAPH = 320, 60, 300
"""Sizes in the lineage of the Dagster UI, in pixels at a zoom of 1."""


@pytest.mark.parametrize("name", PIPELINE.order())
def test_every_table_has_owner_tags_key_and_a_description_of_several_parts(name: str) -> None:
    spec = SPECS[name]
    stage = stage_of(spec.group_name or "")
    assert list(spec.owners) == [OWNERS[stage]]
    assert spec.freshness_policy == (FRESHNESS if name in DATED else None)
    assert spec.tags["taxkg/stage"] == stage
    assert spec.tags["taxkg/made-by"] == ("train" if PIPELINE[name].is_training else "build")
    assert "dagster/kind/polars" in spec.tags, "the kinds stay"
    shown = spec.description or ""
    assert shown.startswith(" ".join((schema_of(name).__doc__ or "").split()))
    assert all(f"`{above}`" in shown for above in (*PIPELINE.upstream(name), *PIPELINE.gates(name)))
    assert all(part in shown for part in ("Caveat: ", "**Key**", "**Made from**", "**Gates**", "```sql"))
    schema = spec.metadata["dagster/column_schema"]
    assert isinstance(schema, dg.TableSchema)
    key = list(schema_of(name).primary_key())
    assert schema.constraints.other == [f"one row per {', '.join(key)}"]
    described = {column.name: column.description or "" for column in schema.columns}
    assert all(f"from `{first}`" in described[column] for column, (first, *_) in find_column_sources(name).items())
    nullable = {column.name: column.constraints.nullable for column in schema.columns}
    assert not any(nullable[column] for column in key)
    marked = [column.name for column in schema.columns if "part of the key" in column.constraints.other]
    assert sorted(marked) == (sorted(key) if len(key) > 1 else []), "every column of a compound key is marked"


def test_notes_are_of_the_tables_that_there_are() -> None:
    assert NOTES.keys() == set(PIPELINE)


@pytest.mark.parametrize("name", PIPELINE.order())
def test_the_example_query_of_a_table_runs(name: str, built_samples: Path) -> None:
    store = Store(built_samples)
    frame = store.read(name) if store.exists(name) else schema_of(name).create_empty()
    with pl.SQLContext({name: frame}, eager=True) as tables:
        found = tables.execute(NOTES[name].query)
    assert found.width > 0
    assert (found.height > 0) or frame.is_empty() or "WHERE" in NOTES[name].query


@pytest.mark.parametrize("name", sorted({*COPIED, *MADE_OF}))
def test_columns_come_from_columns_of_tables_above(name: str, built_samples: Path) -> None:
    """Where the values of a column are said to be copied, each of them is a value of its sources."""
    store, columns = Store(built_samples), schema_of(name).columns()
    assert not COPIED.get(name, {}).keys() & MADE_OF.get(name, {}).keys()
    for column, sources in find_column_sources(name).items():
        assert column in columns
        for source in sources:
            above, own = source.split(".", 1)
            assert above in {key.to_user_string() for key in GRAPH.get(dg.AssetKey(name)).parent_keys}, (name, source)
            assert own in schema_of(above).columns(), source
    if not store.exists(name):
        return
    rows = store.read(name)
    for column, sources in COPIED.get(name, {}).items():
        known: set[Any] = set()
        for above, own in (source.split(".", 1) for source in sources):
            known |= set(store.read(above)[own])
        assert set(rows[column].drop_nulls()) <= known, f"{name}.{column}"


@pytest.mark.parametrize("name", ["anchors", "chunks"])
def test_the_origin_of_columns_is_shown_with_each_materialization(name: str, small_home: Path) -> None:
    """The UI reads it there, and not from the definition."""
    with open_instance(Store(small_home)) as instance:
        event = instance.get_latest_materialization_event(dg.AssetKey(name))
    assert event is not None
    assert event.asset_materialization is not None
    shown = event.asset_materialization.metadata["dagster/column_lineage"].value
    assert isinstance(shown, dg.TableColumnLineage)
    assert shown.deps_by_column.keys() == find_column_sources(name).keys()
    assert dg.TableColumnDep(dg.AssetKey("documents"), "document_id") in shown.deps_by_column["document_id"]


@pytest.mark.parametrize(
    ("depth", "order"),
    [
        (1, ["documents", "knowledge", "search"]),
        (2, ["documents/extraction", "knowledge/chunking", "search/retrieval", "search/evaluation", "search/release"]),
    ],
)
def test_groups_make_no_circle(depth: int, order: list[str]) -> None:
    """Neither when the outer groups are closed, nor when these are open and the inner ones are closed."""
    shown = {name: "/".join((spec.group_name or "").split("/")[:depth]) for name, spec in SPECS.items()}
    above: dict[str, set[str]] = {group: set() for group in shown.values()}
    for name, group in shown.items():
        parents = {shown[key.to_user_string()] for key in GRAPH.get(dg.AssetKey(name)).parent_keys}
        above[group] |= parents - {group}
    sorted_groups = list(TopologicalSorter(above).static_order())
    assert [group for group in sorted_groups if group in order] == order


def test_closed_groups_fit_a_window_with_their_status() -> None:
    """The UI writes the status on a closed group from a zoom of 0.6 on; of 1440 pixels 900 are for the graph."""
    outer = {(spec.group_name or "").split("/")[0] for spec in SPECS.values()}
    width = len(outer) * CLOSED_GROUP + (len(outer) - 1) * BETWEEN_GROUPS + AROUND_GRAPH
    assert 900 / width >= 0.6


def test_a_job_goes_to_the_release_without_training() -> None:
    job = defs.resolve_job_def("build")
    assert "without training" in (job.description or "")
    made = {key.to_user_string() for key in job.asset_layer.executable_asset_keys}
    assert made == set(PIPELINE.built())


def test_what_is_not_measured_warns_next_to_a_gate_that_passes(built_small: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(built_small, tmp_path / "home"))
    gate = "roles_on_labeled_documents"
    keys = [dg.AssetCheckKey(dg.AssetKey("elements"), name) for name in (gate, gate + MEASURED_SUFFIX)]
    with open_instance(Store(home)) as instance:
        latest = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    passed, warned = (latest[key].evaluation for key in keys)
    assert passed is not None
    assert warned is not None
    assert (passed.passed, passed.metadata[MEASURED].value) == (True, False)
    assert "role_accuracy | ≥ " in str(passed.metadata[FLOORS].value)
    assert (warned.passed, warned.severity, warned.blocking) == (False, dg.AssetCheckSeverity.WARN, False)
    assert "no labeled row" in str(warned.metadata["note"].value)


def test_what_is_measured_does_not_warn(built_samples: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(built_samples, tmp_path / "home"))
    key = dg.AssetCheckKey(dg.AssetKey("elements"), "roles_on_labeled_documents" + MEASURED_SUFFIX)
    with open_instance(Store(home)) as instance:
        found = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])[key].evaluation
    assert found is not None
    assert found.passed


@pytest.mark.parametrize("suffix", ["", MEASURED_SUFFIX])
def test_each_check_runs_alone_by_a_click(small_home: Path, suffix: str) -> None:
    """Else the UI turns off its button, and says that the table must be materialized first."""
    assert all(GRAPH.get_execution_set_asset_and_check_keys(key) == {key} for key in GRAPH.asset_check_keys)
    key = dg.AssetCheckKey(dg.AssetKey("elements"), "roles_on_labeled_documents" + suffix)
    job = defs.resolve_implicit_global_asset_job_def().get_subset(asset_selection=set(), asset_check_selection={key})
    with open_instance(Store(small_home)) as instance:
        result = job.execute_in_process(instance=instance, resources={"home": Home(home=str(small_home))})
    assert [found.check_name for found in result.get_asset_check_evaluations()] == [key.name]


def test_the_partition_of_a_refused_document_says_why(small_home: Path) -> None:
    """The UI shows it like any other, as the run that refused it has done its work."""
    store = Store(small_home)
    row = {
        **dict.fromkeys(("sha256", "source_uri", "code_version"), "x"),
        "document_id": "torn",
        "stage": "open",
        "reason": "The file is torn.",
        "remedy": "Glue it.",
        "is_check_failure": False,
        "first_seen_at": datetime(2031, 1, 1, tzinfo=UTC),
    }
    refused = pl.DataFrame([row], schema=store.read_or_empty("quarantine").schema)
    store.replace_documents("quarantine", refused, documents={"torn": {"content": "x"}})
    shown = describe_documents(store, "anchors", ["torn"], explorer_url="http://library/")["torn"]
    assert shown == {"dagster/partition_row_count": 0, "in quarantine": "The file is torn. Glue it."}


def test_pages_link_to_the_explorer_and_to_reports_with_plots(small_home: Path) -> None:
    store = Store(small_home)
    name = store.read("documents")["document_id"][0]
    shown = describe_documents(store, "anchors", [name], explorer_url="http://library/")[name]
    assert shown["explorer (taxkg serve)"].value == f"http://library/?view=document&document={name}"
    assert not any("explorer" in key for key in describe_documents(store, "anchors", [name])[name])
    figures = show_report(store)
    assert str(figures["report with plots"].value).endswith("reports/evaluation.html")
    assert any(key.endswith("recall@5") for key in figures), "a number, which the UI plots over the builds"
    assert str(show_extraction(store)["report with plots"].value).endswith("reports/extraction.html")
