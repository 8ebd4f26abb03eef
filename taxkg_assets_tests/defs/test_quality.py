"""A law that few documents break costs no one the others; one that many break stops everything behind it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from taxkg_assets.defs.automation import BUILT, partition_range
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.io_manager import DeltaIO
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.serving.build import BuildResult, build
from taxkg_assets.serving.instance import open_instance
from taxkg_assets.serving.released import open_release
from taxkg_assets.serving.status import list_flagged
from taxkg_assets_tests.defs.breaking import MARK, ORDER, write_fault, write_page
from taxkg_assets_tests.defs.daemon import await_truth, open_daemon, open_hook
from taxkg_assets_tests.defs.wiring.test_gates import materialize_one

pytestmark = pytest.mark.slow

ALL, FEW, MANY, ORDERS = 60, 5, 9, 9
"""Five of sixty are too small a share to block a corpus, nine are not; neither is so few that it never blocks."""
DAEMON_SECONDS = 400.0


@pytest.fixture(scope="module")
def fault(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What PYTHONPATH has to be for reading processes to break a law over marked documents."""
    folder = write_fault(tmp_path_factory.mktemp("fault"))
    return os.pathsep.join(part for part in (folder, os.environ.get("PYTHONPATH", "")) if part)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of documents, of which a few break a corrupt law and more an incomplete one."""
    folder = tmp_path_factory.mktemp("pages")
    for number in range(ALL):
        write_page(folder, number, more=MARK if number < FEW else ORDER if number >= ALL - ORDERS else "")
    return folder


@pytest.fixture(scope="module")
def few(
    begin_home: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory, pages: Path, fault: str
) -> tuple[Path, BuildResult]:
    """A home of those documents."""
    home = begin_home(tmp_path_factory.mktemp("quality") / "home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", fault)
        return home, build(str(home), roots=[pages])


@pytest.fixture
def home(few: tuple[Path, BuildResult], tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that home, free to be broken."""
    monkeypatch.setenv("PYTHONPATH", fault)
    return Path(shutil.copytree(few[0], tmp_path / "home"))


@pytest.fixture
def revised(pages: Path) -> Iterator[Callable[[], list[str]]]:
    """What revises documents so that many in all break the law; they are put back after the test."""
    yield lambda: [write_page(pages, n, more=f"It was revised. {MARK}") for n in range(FEW, MANY)]
    for number in range(FEW, MANY):
        write_page(pages, number)


def versions(store: Store) -> dict[str, int]:
    """Commit numbers of the tables behind the extraction."""
    above = {"documents", "quarantine", *PIPELINE.ancestors(["references"])}
    return {name: store.version(name) for name in PIPELINE if name not in above}


def test_few_broken_documents_are_withheld_or_flagged_and_the_others_are_released(
    few: tuple[Path, BuildResult],
) -> None:
    home, result = few
    assert result.is_done, result.errors
    assert [row["document_id"] for row in result.quarantine] == [f"pennies-{n:03}" for n in range(FEW)]
    assert {row["stage"] for row in result.quarantine} == {"references"}
    assert all(row["is_check_failure"] and row["remedy"] for row in result.quarantine)
    released = open_release(str(home))
    assert released.table("documents").height == ALL - FEW
    quality = released.table("document_quality")
    withheld = quality.filter(outcome="withheld")
    assert withheld.select("law", "strength").unique().rows() == [("evidence_is_verbatim", "corrupt")]
    flagged = quality.filter(outcome="flagged")
    assert flagged["document_id"].to_list() == [f"pennies-{n:03}" for n in range(ALL - ORDERS, ALL)]
    assert set(flagged["law"]) == {"no_prompt_injection"}
    assert len(result.flagged) == len(list_flagged(Store(home))) == ORDERS
    words = {gate.check: gate.word for gate in result.gates if gate.word not in ("passed", "not measured")}
    assert words == {"evidence_is_verbatim": "warned", "no_prompt_injection": "warned"}


def test_answers_that_rest_on_a_flagged_document_say_so(few: tuple[Path, BuildResult]) -> None:
    released = open_release(str(few[0]))
    doubted, valid = (
        released.searcher.search("who pays pennies", k=1, document=f"pennies-{n:03}") for n in (ALL - 1, ALL // 2)
    )
    assert [flag.law for flag in doubted[0].quality] == ["no_prompt_injection"]
    assert doubted[0].quality[0].remedy
    assert valid[0].quality == []
    assert released.flags_of(f"pennies-{ALL - 1:03}")[0].document == f"pennies-{ALL - 1:03}"


def test_checks_warn_and_name_the_documents(few: tuple[Path, BuildResult]) -> None:
    with open_instance(Store(few[0])) as instance:
        key = dg.AssetCheckKey(dg.AssetKey("document_quality"), "evidence_is_verbatim")
        record = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])[key]
        shown = instance.get_latest_materialization_event(dg.AssetKey("document_quality"))
    assert record.evaluation is not None
    assert (record.evaluation.passed, record.evaluation.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert "pennies-000, pennies-001, pennies-002" in str(record.evaluation.metadata["note"].value)
    assert shown is not None
    assert shown.asset_materialization is not None
    plot = shown.asset_materialization.metadata["plot"].value
    assert "data:image/png;base64,iVBOR" in str(plot)


def test_many_broken_documents_stop_the_command_line_and_a_click(home: Path, revised: Callable[[], list[str]]) -> None:
    store, names = Store(home), revised()
    before, served = versions(store), open_release(str(home)).row
    result = build(str(home))
    assert not result.is_done
    assert [(g.table, g.check) for g in result.gates if g.word == "blocked"] == [
        ("documents", "few_documents_withheld")
    ]
    assert versions(store) == before
    assert open_release(str(home)).row == served
    kept = store.read("documents").filter(pl.col("document_id").is_in(names))
    assert kept.height == len(names), "their old rows stay"
    with open_instance(store) as instance:
        for name in ("document_quality", "nodes", "release"):
            clicked = materialize_one(home, instance, name)
            assert not clicked.success
            assert "few_documents_withheld" in str(clicked.failure_data_for_node(name))
    assert versions(store) == before


def test_a_share_that_is_set_higher_lets_them_be_withheld(
    home: Path, revised: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    revised()
    monkeypatch.setenv("TAXKG_WITHHELD_SHARE", "0.2")
    result = build(str(home))
    assert result.is_done, result.errors
    assert open_release(str(home)).table("document_quality").filter(outcome="withheld").height == MANY


def withheld(home: Path) -> int:
    """The number of documents that the current release withholds."""
    return open_release(str(home)).table("document_quality").filter(outcome="withheld").height


def materialize_all(home: Path, instance: dg.DagsterInstance, document: str) -> dg.ExecuteInProcessResult:
    """What a click on Materialize does for all tables of a build and the partition of one document."""
    from taxkg_assets.definitions import defs

    resource = Home(home=str(home))
    return dg.materialize(
        [*defs.assets, *defs.asset_checks],
        instance=instance,
        resources={"home": resource, "io_manager": DeltaIO(home=resource)},
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        selection=BUILT,
        tags=partition_range([document]),
        raise_on_error=False,
    )


@pytest.mark.usefixtures("revised")
def test_one_more_broken_document_is_withheld_and_the_others_released_by_a_click(home: Path, pages: Path) -> None:
    served = open_release(str(home)).row
    name = write_page(pages, FEW, more=f"It was revised. {MARK}")
    with open_instance(Store(home)) as instance:
        clicked = materialize_all(home, instance, name)
    assert clicked.success
    assert withheld(home) == FEW + 1
    assert open_release(str(home)).row != served
    assert name in set(open_release(str(home)).table("documents")["document_id"]), "its old rows stay"


def test_the_daemon_releases_with_few_broken_documents_and_stops_at_many(
    home: Path, pages: Path, revised: Callable[[], list[str]], fault: str
) -> None:
    store, log = Store(home), home.with_name("daemon.log")
    with open_hook() as hook:
        environment = {"TAXKG_AUTOMATION": "true", "TAXKG_ALERT_WEBHOOK": hook.url, "PYTHONPATH": fault}
        with open_daemon(home, environment=environment) as process:
            await_truth(lambda: "sources_changed" in log.read_text(), seconds=DAEMON_SECONDS, process=process, log=log)
            write_page(pages, FEW, more=f"It was revised. {MARK}")
            await_truth(lambda: withheld(home) == FEW + 1, seconds=DAEMON_SECONDS, process=process, log=log)
            await_truth(lambda: not store.active_run(), seconds=DAEMON_SECONDS, process=process, log=log)
            before = versions(store)
            assert "failed gate" not in hook.kinds()
            revised()
            await_truth(lambda: "failed gate" in hook.kinds(), seconds=DAEMON_SECONDS, process=process, log=log)
    alert = next(alert for alert in hook.alerts if alert["kind"] == "failed gate")
    assert "documents:few_documents_withheld" in alert["text"]
    assert versions(store) == before
