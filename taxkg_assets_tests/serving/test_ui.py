"""The Dagster UI on a home: a real web server, queried over the GraphQL that its pages use; no browser."""

from __future__ import annotations

import inspect
import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import taxkg_assets.definitions  # noqa: F401 - registers the tables and their gates
from taxkg_assets.defs.extraction import READ_TABLES
from taxkg_assets.defs.home.contracts import schema_of
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.asset_pages import stage_of
from taxkg_assets.defs.wiring.document_rows import PREVIEW_ROWS
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import PACKAGE, PROJECT
from taxkg_assets.serving.build import SAMPLES
from taxkg_assets_tests.serving.homes import run_cli

pytestmark = pytest.mark.slow

STAGES = {"sources", "extraction", "graph", "chunking", "retrieval", "evaluation", "llm", "training", "release"}
WITHIN = {"quality": "extraction", "questions": "evaluation", "reranking": "training", "release": "retrieval"}
"""Groups that are wired with another stage, so that groups make no circle."""
START_SECONDS = 240.0
RUN_SECONDS = 400.0
REPLY_SECONDS = 240.0
END_SECONDS = 120.0
POLL_SECONDS = 0.5
"""Between two checks of a run: each takes the server some of the time that the run needs."""

NODES = """{ assetNodes { assetKey { path } groupName description
  metadataEntries { __typename label
    ... on TableSchemaMetadataEntry { schema { columns { name description } } }
    ... on CodeReferencesMetadataEntry { codeReferences {
      ... on LocalFileCodeReference { filePath lineNumber label } } } }
  assetMaterializations(limit: 1) { metadataEntries { __typename label
    ... on IntMetadataEntry { intValue }
    ... on TableMetadataEntry { table { records } } } } } }"""

HISTORY = """query ($table: [String!]!, $check: String!) { assetCheckExecutions(
  assetKey: {path: $table}, checkName: $check, limit: 10) { runId status evaluation { metadataEntries { label
    ... on TableMetadataEntry { table { records } } } } } }"""

LAUNCH = """mutation ($table: [String!]!) { launchPipelineExecution(executionParams: {
  selector: {repositoryLocationName: "taxkg_assets.definitions", repositoryName: "__repository__",
    pipelineName: "__ASSET_JOB", assetSelection: [{path: $table}], assetCheckSelection: []}, mode: "default"}) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""

RUN = """query ($id: ID!) { runOrError(runId: $id) { ... on Run { status
  eventConnection { events { ... on ExecutionStepFailureEvent { error { message } } } } } } }"""


STATUS = """query ($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"""

BACKFILL = """mutation ($tables: [AssetKeyInput!]!, $documents: [String!]!) {
  launchPartitionBackfill(backfillParams: {assetSelection: $tables, partitionNames: $documents, tags: []}) {
    __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""

BACKFILLED = """query ($id: String!) { partitionBackfillOrError(backfillId: $id) {
  ... on PartitionBackfill { status runs { runId } } } }"""

RUNS = """{ runsOrError { ... on Runs { results { runId pipelineName
  repositoryOrigin { repositoryName repositoryLocationName } } } } }"""

JOBS = """{ repositoryOrError(repositorySelector: {repositoryName: "__repository__",
  repositoryLocationName: "taxkg_assets.definitions"}) { ... on Repository { jobs { name runs { runId } } } } }"""

MADE = """query ($table: [String!]!, $limit: Int!) { assetNodeOrError(assetKey: {path: $table}) { ... on AssetNode {
  assetMaterializations(limit: $limit) { partition runId metadataEntries { label
    ... on IntMetadataEntry { intValue } ... on TableMetadataEntry { table { records } } } } } } }"""


class Server:
    """A running UI, queried as its pages ask it."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def ask(self, query: str, **variables: Any) -> Any:
        """The data of a GraphQL answer."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.url}/graphql", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=REPLY_SECONDS) as reply:
            answer = json.load(reply)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    def is_up(self) -> bool:
        """Whether it answers yet."""
        try:
            with urllib.request.urlopen(f"{self.url}/server_info", timeout=5) as reply:
                return bool(reply.status == 200)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def await_run(self, run_id: str) -> tuple[str, str]:
        """Status of a run when it is over, and what its failed steps said."""
        deadline = time.monotonic() + RUN_SECONDS
        while time.monotonic() < deadline:
            if self.ask(STATUS, id=run_id)["runOrError"]["status"] in {"SUCCESS", "FAILURE", "CANCELED"}:
                run = self.ask(RUN, id=run_id)["runOrError"]
                errors = [e["error"]["message"] for e in run["eventConnection"]["events"] if e.get("error")]
                return run["status"], "\n".join(errors)
            time.sleep(POLL_SECONDS)
        raise TimeoutError(f"Run {run_id} is not over after {RUN_SECONDS} s.")


@contextmanager
def open_ui(home: Path) -> Iterator[Server]:
    """`taxkg ui` on a free port: web server, code server and daemon."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "taxkg_assets.serving.cli", "ui", "--home", str(home), "--port", str(port)]
    log = home.with_name("ui.log")
    with log.open("w") as sink, subprocess.Popen(command, stdout=sink, stderr=sink) as process:
        try:
            server = Server(port)
            deadline = time.monotonic() + START_SECONDS
            while not server.is_up():
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.1)
            yield server
        finally:
            process.terminate()
            process.wait(END_SECONDS)


@pytest.fixture(scope="module")
def refused_home(built_samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built home on which the command line has just seen a gate on `elements` fail."""
    folder = tmp_path_factory.mktemp("ui")
    home = Path(shutil.copytree(built_samples, folder / "home"))
    gold = folder / "gold"
    gold.mkdir()
    rows = [json.loads(line) for line in (SAMPLES.parent / "eval" / "roles.jsonl").read_text().splitlines()]
    (gold / "roles.jsonl").write_text("\n".join(json.dumps({**row, "role": "Callout"}) for row in rows))
    done = run_cli("build", "--home", str(home), "--select", "elements", environment={"TAXKG_GOLD": str(gold)})
    assert done.returncode == 1, done.stderr
    return home


@pytest.fixture(scope="module")
def server(refused_home: Path) -> Iterator[Server]:
    with open_ui(refused_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def shown(server: Server) -> dict[str, Any]:
    """What the asset pages show, by table."""
    nodes = server.ask(NODES)["assetNodes"]
    return {"/".join(node["assetKey"]["path"]): node for node in nodes}


def entries(metadata: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Metadata by label."""
    return {entry["label"]: entry for entry in metadata}


def test_the_ui_installs_the_settings_of_the_instance(server: Server, refused_home: Path) -> None:
    installed = refused_home / "dagster" / "dagster.yaml"
    assert installed.read_bytes() == (PROJECT / "dagster.yaml").read_bytes()


def test_every_table_is_described_from_its_schema_in_the_group_of_its_stage(shown: dict[str, Any]) -> None:
    assert shown.keys() == set(PIPELINE)
    for name, node in shown.items():
        schema = schema_of(name)
        stage = stage_of(node["groupName"])
        assert WITHIN.get(stage, stage) in STAGES
        assert node["description"].startswith(" ".join(str(inspect.getdoc(schema)).split()))
        columns = entries(node["metadataEntries"])["dagster/column_schema"]["schema"]["columns"]
        assert [c["name"] for c in columns] == list(schema.columns())
        assert all(c["description"] for c in columns), name


def test_an_asset_is_one_step_from_its_code(shown: dict[str, Any]) -> None:
    for name, node in shown.items():
        links = {r["label"]: r for r in entries(node["metadataEntries"])["dagster/code_references"]["codeReferences"]}
        assert links.keys() - {"reading"} == {"builder", "wiring"}
        builder = Path(links["builder"]["filePath"]).read_text().splitlines()
        assert builder[links["builder"]["lineNumber"] - 1].startswith("def build_"), name
        wiring, line = Path(links["wiring"]["filePath"]), links["wiring"]["lineNumber"]
        assert wiring.parent == PACKAGE / "defs"
        stage = stage_of(node["groupName"])
        assert wiring.stem.split("_")[0] in {WITHIN.get(stage, stage), "extraction", "quality"}
        wired = "".join(wiring.read_text().splitlines()[line - 1 : line + 4])
        assert name in wired or schema_of(name).__name__ in wired


def test_every_table_shows_its_row_count_and_a_preview(shown: dict[str, Any], refused_home: Path) -> None:
    store = Store(refused_home)
    for name in PIPELINE.built():
        node = shown[name]
        latest = entries(node["assetMaterializations"][0]["metadataEntries"])
        rows = store.count(name)
        assert latest["dagster/row_count"]["intValue"] == rows
        if "dagster/partition_row_count" not in latest:
            assert len(latest["preview"]["table"]["records"]) == min(rows, PREVIEW_ROWS), name


def test_a_partition_shows_what_its_document_gave(server: Server, refused_home: Path) -> None:
    anchors = Store(refused_home).read("anchors")
    made = server.ask(MADE, table=["anchors"], limit=1000)["assetNodeOrError"]["assetMaterializations"]
    latest = {one["partition"]: one for one in reversed(made)}
    assert latest.keys() == set(anchors["document_id"])
    for one in latest.values():
        own = anchors.filter(anchors["document_id"] == one["partition"])
        reported = entries(one["metadataEntries"])
        assert reported["dagster/partition_row_count"]["intValue"] == own.height
        shown = [json.loads(row) for row in reported["preview"]["table"]["records"]]
        assert {row["document_id"] for row in shown} == {one["partition"]}


def test_runs_of_the_command_line_stand_with_those_of_the_ui(server: Server) -> None:
    origins = {"repositoryName": "__repository__", "repositoryLocationName": "taxkg_assets.definitions"}
    runs = server.ask(RUNS)["runsOrError"]["results"]
    assert runs
    assert all(run["pipelineName"] == "build" and run["repositoryOrigin"] == origins for run in runs)
    jobs = {job["name"]: job["runs"] for job in server.ask(JOBS)["repositoryOrError"]["jobs"]}
    assert {run["runId"] for run in jobs["build"]} == {run["runId"] for run in runs}


def test_the_gates_of_the_command_line_stand_in_the_ui_with_their_history(server: Server) -> None:
    history = server.ask(HISTORY, table=["elements"], check="roles_on_labeled_documents")["assetCheckExecutions"]
    assert [execution["status"] for execution in history] == ["FAILED", "SUCCEEDED"]
    found = entries(history[0]["evaluation"]["metadataEntries"])["first offending rows"]["table"]["records"]
    assert json.loads(found[0]).keys() >= {"document_id", "page", "text", "wanted", "found"}


def test_materialize_on_one_table_below_a_failed_gate_is_refused(server: Server, refused_home: Path) -> None:
    store = Store(refused_home)
    before = {name: store.version(name) for name in PIPELINE}
    launched = server.ask(LAUNCH, table=["chunks"])["launchPipelineExecution"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    status, errors = server.await_run(launched["run"]["runId"])
    assert status == "FAILURE"
    assert "elements:roles_on_labeled_documents has failed" in errors
    assert {name: store.version(name) for name in PIPELINE} == before


def test_chosen_documents_are_made_again_by_a_backfill(server: Server, refused_home: Path) -> None:
    chosen = sorted(path.stem for path in SAMPLES.glob("*.pdf"))[:2]
    tables = [{"path": [one.name]} for one in READ_TABLES]
    launched = server.ask(BACKFILL, tables=tables, documents=chosen)["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched
    deadline, backfill = time.monotonic() + RUN_SECONDS, {"status": ""}
    while not backfill["status"].startswith("COMPLETED") and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        backfill = server.ask(BACKFILLED, id=launched["backfillId"])["partitionBackfillOrError"]
    assert backfill["status"] == "COMPLETED_SUCCESS"
    [run] = backfill["runs"]
    made = server.ask(MADE, table=["documents"], limit=1000)["assetNodeOrError"]["assetMaterializations"]
    own = [row["partition"] for row in made if row["runId"] == run["runId"]]
    assert sorted(own) == chosen, "one run makes each of them once"
