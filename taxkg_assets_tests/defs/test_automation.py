"""What runs by itself: which documents the sensor asks for, and which tables follow them when."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from taxkg_assets.definitions import defs
from taxkg_assets.defs import automation
from taxkg_assets.defs.automation import SETTLE_SECONDS, is_being_written, sources_changed
from taxkg_assets.defs.extraction import READ_TABLES
from taxkg_assets.defs.home.recovery import report_dead_run
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import WORK_TAG, Home
from taxkg_assets.defs.wiring.table_asset import DOCUMENT_PARTITIONS
from taxkg_assets.serving.build import SAMPLES, build
from taxkg_assets.serving.instance import open_instance

pytestmark = pytest.mark.slow

NAME = "another-code"


@pytest.fixture(scope="module")
def read_home(built_samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that has just read a document of a folder next to it; never change it, copy it."""
    home = Path(shutil.copytree(built_samples, tmp_path_factory.mktemp("read") / "home"))
    folder = home.with_name("inbox")
    folder.mkdir()
    text = next(SAMPLES.glob("*.txt")).read_text(encoding="utf8")
    (folder / f"{NAME}.txt").write_text(text.replace("7-", "9-"), encoding="utf8")
    assert build(str(home), roots=[folder], select=["documents"]).is_done
    return home


@pytest.fixture
def inbox_home(read_home: Path, tmp_path: Path) -> Path:
    """A copy of that home, free to be changed."""
    return Path(shutil.copytree(read_home, tmp_path / "inbox-home"))


@pytest.fixture
def inbox(read_home: Path, tmp_path: Path) -> Iterator[Path]:
    """The recorded folder of that home with one document; after a test its files are as they were."""
    folder = read_home.with_name("inbox")
    before = Path(shutil.copytree(folder, tmp_path / "before"))
    yield folder
    shutil.rmtree(folder)
    shutil.copytree(before, folder)


@pytest.fixture
def instance(sample_home: Path) -> Iterator[dg.DagsterInstance]:
    with open_instance(Store(sample_home)) as opened:
        yield opened


@pytest.fixture
def inbox_instance(inbox_home: Path) -> Iterator[dg.DagsterInstance]:
    with open_instance(Store(inbox_home)) as opened:
        yield opened


def look(instance: dg.DagsterInstance, home: Path) -> dg.SensorResult | dg.SkipReason:
    """One tick of the sensor."""
    with dg.build_sensor_context(instance=instance, resources={"home": Home(home=str(home))}) as context:
        found = sources_changed(context)
    assert isinstance(found, dg.SensorResult | dg.SkipReason)
    return found


def queried(result: dg.SensorResult | dg.SkipReason) -> tuple[tuple[str, str], str]:
    """First and last partition, and run key, of the one request."""
    assert isinstance(result, dg.SensorResult)
    assert result.run_requests is not None
    (request,) = result.run_requests
    assert request.run_key is not None
    ends = [request.tags[f"dagster/asset_partition_range_{end}"] for end in ("start", "end")]
    return (ends[0], ends[1]), request.run_key


def test_a_file_that_is_being_written_is_left_for_the_next_look(
    inbox_instance: dg.DagsterInstance, inbox_home: Path, inbox: Path
) -> None:
    (inbox / "half.txt").write_text("The first half", encoding="utf8")
    assert isinstance(look(inbox_instance, inbox_home), dg.SkipReason)
    assert not is_being_written(inbox / "half.txt", time.time() + SETTLE_SECONDS)
    assert not is_being_written(inbox / "half.txt", time.time() - 3600), "a clock that was set back delays nothing"


def test_a_new_a_changed_and_a_gone_file_are_requested_once(
    inbox_instance: dg.DagsterInstance, inbox_home: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(automation, "SETTLE_SECONDS", 0.0)
    assert isinstance(look(inbox_instance, inbox_home), dg.SkipReason)
    new = inbox / "new.txt"
    shutil.copy(inbox / f"{NAME}.txt", new)
    store = Store(inbox_home)
    store.replace_documents("references", store.read("references").clear(), documents={NAME: None})
    first = queried(look(inbox_instance, inbox_home))
    assert first[0] == (NAME, "new"), "tables of the earlier one are still to be published"
    assert queried(look(inbox_instance, inbox_home)) == first
    new.write_text("changed", encoding="utf8")
    assert queried(look(inbox_instance, inbox_home))[1] != first[1]
    new.unlink()
    assert isinstance(look(inbox_instance, inbox_home), dg.SkipReason)
    (inbox / f"{NAME}.txt").unlink()
    (partition, _), _ = queried(look(inbox_instance, inbox_home))
    assert DOCUMENT_PARTITIONS.name is not None
    kept = inbox_instance.get_dynamic_partitions(DOCUMENT_PARTITIONS.name)
    assert NAME not in kept
    assert partition in kept


def test_tables_wait_for_the_last_of_those_they_are_made_from(instance: dg.DagsterInstance, sample_home: Path) -> None:
    """`index` and `eval_report` are made from `documents` too; requested at once they would only be refused."""

    def tick(cursor: object = None) -> tuple[object, set[str]]:
        result = dg.evaluate_automation_conditions(defs=defs, instance=instance, cursor=cursor)  # type: ignore[arg-type]
        return result.cursor, {n for n in PIPELINE if result.get_num_requested(dg.AssetKey(n))}

    cursor, _ = tick()
    assert build(str(sample_home), select=["documents", "quarantine"]).is_done
    _, requested = tick(cursor)
    read = {one.name for one in READ_TABLES}
    assert requested == set(PIPELINE.built()) - read - {"reviews"}, "one run, behind its gates; training is asked for"


def test_after_a_training_what_reads_the_models_follows_once(instance: dg.DagsterInstance, sample_home: Path) -> None:
    """The report says "not trained" otherwise until a document changes; training itself is started by name."""

    def tick(cursor: object = None) -> tuple[object, set[str]]:
        result = dg.evaluate_automation_conditions(defs=defs, instance=instance, cursor=cursor)  # type: ignore[arg-type]
        return result.cursor, {n for n in PIPELINE if result.get_num_requested(dg.AssetKey(n))}

    readers = {record.name for record in PIPELINE.records() if "model" in record.optional}
    cursor, _ = tick()
    run = instance.create_run_for_job(defs.resolve_job_def("train"), status=dg.DagsterRunStatus.STARTED)
    instance.report_runless_asset_event(dg.AssetMaterialization("model"))
    cursor, requested = tick(cursor)
    assert requested == set(), "the training has not ended"
    instance.report_run_canceled(run)
    cursor, requested = tick(cursor)
    assert readers <= requested, "tables that read the model"
    assert not requested & PIPELINE.trained()
    cursor, requested = tick(cursor)
    assert requested == set(), "once"


def test_a_run_that_was_killed_is_recorded_as_failed_and_made_again(
    instance: dg.DagsterInstance, sample_home: Path
) -> None:
    store = Store(sample_home)
    run = instance.create_run_for_job(defs.resolve_job_def("build"), status=dg.DagsterRunStatus.STARTED)
    store.record_active_run(run.run_id)
    with store.exclusive():
        assert report_dead_run(instance, store) == run.run_id, "the process with the lock knows that it is the only one"
    store.record_active_run(run.run_id)
    before, after = look(instance, sample_home), look(instance, sample_home)
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    assert found.status == dg.DagsterRunStatus.FAILURE
    assert queried(before) == queried(after), "once for each run that broke off"
    assert build(str(sample_home), select=["release"]).is_done
    assert isinstance(look(instance, sample_home), dg.SkipReason)


def test_training_holds_the_home_for_itself_alone(instance: dg.DagsterInstance, sample_home: Path) -> None:
    store, home = Store(sample_home), Home(home=str(sample_home))
    seen: list[str] = []

    @dg.op
    def work(home: Home) -> None:
        seen.append(home.store.active_run(work="training"))

    @dg.job(resource_defs={"home": home}, tags={WORK_TAG: "training"})
    def train() -> None:
        work()

    holder = "import sys; from taxkg_assets.defs.home.store import Store\n"
    holder += "with Store(sys.argv[1]).exclusive(): print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", holder, str(sample_home)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as build_at_work:
        assert build_at_work.stdout is not None
        assert build_at_work.stdout.readline() == "held\n"
        run = train.execute_in_process(instance=instance)
        build_at_work.communicate("")
    assert seen == [run.run_id], "it did not wait for the build"
    assert not store.active_run(work="training")
