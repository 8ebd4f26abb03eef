"""Gates and contracts really block: in the run, in later runs, for one Materialize in the UI, under automation."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluationPlanned
from dagster._core.definitions.asset_daemon_cursor import AssetDaemonCursor

from taxkg_assets import schemas
from taxkg_assets.definitions import defs
from taxkg_assets.defs import graph
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring import gates
from taxkg_assets.defs.wiring.gates import find_ungated
from taxkg_assets.defs.wiring.io_manager import DeltaIO
from taxkg_assets.defs.wiring.registry import PIPELINE, Pipeline
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.serving.build import SAMPLES, build
from taxkg_assets.serving.instance import open_instance

pytestmark = pytest.mark.slow

DOWNSTREAM = ("registry", "nodes", "edges", "chunks", "embeddings", "index", "release")


def versions(store: Store) -> dict[str, int]:
    """Commit numbers of all tables."""
    return {name: store.version(name) for name in PIPELINE}


def add_document(tmp_path: Path) -> Path:
    """One more document in a folder of its own, so that every table would change."""
    folder = tmp_path / "more"
    folder.mkdir()
    source = next(SAMPLES.glob("*.txt"))
    (folder / "another-code.txt").write_text(source.read_text(encoding="utf8").replace("7-", "9-"), encoding="utf8")
    return folder


def test_a_run_that_waits_takes_nothing_from_what_gates_have_said(sample_home: Path) -> None:
    store = Store(sample_home)
    with open_instance(store) as instance:
        run = instance.create_run_for_job(defs.resolve_job_def("build"), status=dg.DagsterRunStatus.STARTING)
        for check in PIPELINE.gates("elements"):
            planned = AssetCheckEvaluationPlanned(asset_key=dg.AssetKey("elements"), check_name=check)
            event = dg.DagsterEvent(
                event_type_value=dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED.value,
                job_name=run.job_name,
                event_specific_data=planned,
            )
            instance.report_dagster_event(event, run_id=run.run_id)
        assert find_ungated(instance, store, ["elements"]) == {}
        instance.report_run_failed(run)
        faults = find_ungated(instance, store, ["elements"])
    assert set(faults.values()) == {"is waiting in a run"}


@pytest.fixture(scope="module")
def wrong_gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A labeled folder that contradicts every page of the sample form: a role gate on it must fail."""
    folder = tmp_path_factory.mktemp("wrong") / "gold"
    folder.mkdir()
    rows = [json.loads(line) for line in (SAMPLES.parent / "eval" / "roles.jsonl").read_text().splitlines()]
    wrong = [{**row, "role": "PageArtifact" if row["role"] != "PageArtifact" else "BodyText"} for row in rows]
    (folder / "roles.jsonl").write_text("\n".join(json.dumps(row) for row in wrong))
    return folder


@pytest.fixture(scope="module")
def blocked_home(built_samples: Path, wrong_gold: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose gate on `elements` has just failed while a new document was coming in; never change it, copy it."""
    folder = tmp_path_factory.mktemp("blocked")
    home = Path(shutil.copytree(built_samples, folder / "home"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAXKG_GOLD", str(wrong_gold))
        result = build(str(home), roots=[add_document(folder)])
    assert not result.is_done
    assert [(g.table, g.check) for g in result.gates if not g.is_passed] == [("elements", "roles_on_labeled_documents")]
    return home


@pytest.fixture
def failed_home(blocked_home: Path, wrong_gold: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that home, free to be broken, with the labels that its gate failed on."""
    monkeypatch.setenv("TAXKG_GOLD", str(wrong_gold))
    return Path(shutil.copytree(blocked_home, tmp_path / "home"))


def test_a_failed_gate_stops_everything_downstream_in_its_run(built_samples: Path, failed_home: Path) -> None:
    before, after = versions(Store(built_samples)), versions(Store(failed_home))
    assert after["elements"] > before["elements"]
    assert {n: after[n] for n in DOWNSTREAM} == {n: before[n] for n in DOWNSTREAM}


def test_the_gate_of_an_ancestor_stops_a_later_run(failed_home: Path) -> None:
    before = versions(Store(failed_home))
    result = build(str(failed_home), select=["chunks"])
    assert not result.is_done
    assert "elements" in {g.table for g in result.gates if not g.is_passed}
    assert versions(Store(failed_home)) == before


@pytest.fixture
def instance(failed_home: Path) -> Iterator[dg.DagsterInstance]:
    with open_instance(Store(failed_home)) as opened:
        yield opened


def materialize_one(
    home: Path, instance: dg.DagsterInstance, name: str, *, tags: dict[str, str] | None = None
) -> dg.ExecuteInProcessResult:
    """What a click on Materialize does: one asset with those of its step, nothing else."""
    from taxkg_assets.definitions import defs

    resource = Home(home=str(home))
    return dg.materialize(
        [*defs.assets, *defs.asset_checks],
        instance=instance,
        resources={"home": resource, "io_manager": DeltaIO(home=resource)},
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        selection=dg.AssetSelection.assets(name).required_multi_asset_neighbors().without_checks(),
        tags=tags,
        raise_on_error=False,
    )


@pytest.mark.parametrize("name", ["nodes", "chunks"])
def test_materialize_on_one_asset_is_refused(failed_home: Path, instance: dg.DagsterInstance, name: str) -> None:
    before = versions(Store(failed_home))
    result = materialize_one(failed_home, instance, name)
    assert not result.success
    message = str(result.failure_data_for_node(name))
    assert "elements:roles_on_labeled_documents has failed" in message
    assert versions(Store(failed_home)) == before


def test_automation_requests_nothing_below_a_failed_gate(
    sample_home: Path, wrong_gold: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from taxkg_assets.definitions import defs

    def tick(cursor: AssetDaemonCursor | None) -> tuple[AssetDaemonCursor, set[str]]:
        result = dg.evaluate_automation_conditions(defs=defs, instance=instance, cursor=cursor)
        return result.cursor, {n for n in PIPELINE if result.get_num_requested(dg.AssetKey(n))}

    with open_instance(Store(sample_home)) as instance:
        cursor, _ = tick(None)
        monkeypatch.setenv("TAXKG_GOLD", str(wrong_gold))
        assert not build(str(sample_home), roots=[add_document(tmp_path)]).is_done
        cursor, requested = tick(cursor)
        assert requested.isdisjoint(DOWNSTREAM)
        monkeypatch.delenv("TAXKG_GOLD")
        assert build(str(sample_home), select=["elements"]).is_done
        _, requested = tick(cursor)
        assert "registry" in requested


def test_a_table_changed_behind_the_gates_is_refused(sample_home: Path) -> None:
    store = Store(sample_home)
    store.read("nodes").head(3).write_delta(store.table_uri("nodes"), mode="overwrite")
    with open_instance(store) as instance:
        before = versions(store)
        result = materialize_one(sample_home, instance, "edges")
        assert not result.success
        assert "checked another version of nodes" in str(result.failure_data_for_node("edges"))
        assert versions(store) == before


def test_a_table_without_gate_record_is_refused(sample_home: Path) -> None:
    shutil.rmtree(sample_home / "dagster")
    store = Store(sample_home)
    before = versions(store)
    with open_instance(store) as instance:
        result = materialize_one(sample_home, instance, "edges")
        assert not result.success
        assert "has not been run" in str(result.failure_data_for_node("edges"))
        assert versions(store) == before


def test_a_broken_contract_writes_nothing_and_stops_what_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same wiring as every table, around a builder that breaks its schema."""
    from taxkg_assets.defs.wiring import io_manager, table_asset

    def build_spans(documents: pl.DataFrame) -> pl.DataFrame:
        return schemas.Spans.sample(2).with_columns(page=pl.lit(0, dtype=pl.Int32))

    def build_elements(spans: pl.DataFrame) -> pl.DataFrame:
        return schemas.Elements.create_empty()

    def build_documents() -> pl.DataFrame:
        return schemas.Documents.create_empty()

    for function in (build_spans, build_elements, build_documents):
        function.__module__ = "taxkg_assets.extraction.spans"
    names = ("Documents", "Spans", "Elements")
    builders = (build_documents, build_spans, build_elements)
    alone = Pipeline()
    for module in (table_asset, io_manager, gates):
        monkeypatch.setattr(module, "PIPELINE", alone)
    monkeypatch.setattr(table_asset, "asset_arguments", lambda *_, **__: {})
    assets = [table_asset.table(getattr(schemas, n), b, group="x") for n, b in zip(names, builders, strict=True)]
    home = Home(home=str(tmp_path))
    result = dg.materialize(
        assets,
        instance=dg.DagsterInstance.ephemeral(),
        resources={"home": home, "io_manager": DeltaIO(home=home)},
        raise_on_error=False,
    )
    assert not result.success
    assert "ContractError" in str(result.failure_data_for_node("spans"))
    store = Store(tmp_path)
    assert (store.exists("documents"), store.exists("spans"), store.exists("elements")) == (True, False, False)


def test_a_gate_is_not_queried_again_while_nothing_it_reads_has_changed(
    sample_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(sample_home)
    key = dg.AssetCheckKey(dg.AssetKey("nodes"), "nodes_form_trees")
    home = Home(home=str(sample_home))
    by = PIPELINE["nodes"].gate_code["nodes_form_trees"](home)
    versions = {"nodes": store.version("nodes")}
    with open_instance(store) as instance:
        standing = gates.find_current_result(instance, key, versions=versions, fingerprint=by)
        assert standing is not None
        assert standing["offending rows"].value == 0
        assert (
            gates.find_current_result(instance, key, versions={"nodes": versions["nodes"] + 1}, fingerprint=by) is None
        )
        assert gates.find_current_result(instance, key, versions=versions, fingerprint="other code") is None
        other = dg.AssetCheckKey(dg.AssetKey("nodes"), "no such gate")
        assert gates.find_current_result(instance, other, versions=versions, fingerprint=by) is None
    queried: list[int] = []
    monkeypatch.setattr(graph, "find_tree_faults", lambda nodes: queried.append(nodes.height) or nodes.clear())
    assert build(str(sample_home), select=["edges"]).is_done
    assert not queried
    written = store.write("nodes", store.read("nodes"), inputs=store.state("nodes").inputs)  # type: ignore[union-attr]
    assert written.version == versions["nodes"] + 1
    assert build(str(sample_home), select=["edges"]).is_done
    assert len(queried) == 1
