"""The programs in `docs/examples` do what the documentation says, on the home of the bundled samples."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import httpx
import polars as pl
import pytest
import uvicorn
from deltalake import DeltaTable

from taxkg_assets.serving.http_api import create_app
from taxkg_assets.serving.service import Service

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
QUESTION = "Is section 897 gain part of ordinary dividends?"


def load_example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def service(built_samples: Path) -> Service:
    return Service(str(built_samples))


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[httpx.Client]:
    server = uvicorn.Server(uvicorn.Config(create_app(service), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as opened:
        yield opened
    server.should_exit = True
    thread.join()


def test_langchain_gets_the_passages_of_a_search_with_their_places(client: httpx.Client) -> None:
    pytest.importorskip("langchain_core")
    found = load_example("langchain_retriever").TaxkgRetriever(client=client, k=3, form="1099-DIV").invoke(QUESTION)
    rows = client.post("/v1/search", json={"question": QUESTION, "k": 3, "form": "1099-DIV"}).json()
    assert [row.id for row in found] == [row["node_id"] for row in rows]
    assert [row.page_content for row in found] == [row["text"] for row in rows]
    assert found[0].metadata["bboxes"] == rows[0]["bboxes"]


def test_llama_index_gets_the_passages_of_a_search_without_rectangles_in_the_text(client: httpx.Client) -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.schema import MetadataMode

    found = load_example("llama_index_retriever").TaxkgRetriever(client, k=3, year=2024).retrieve(QUESTION)
    rows = client.post("/v1/search", json={"question": QUESTION, "k": 3, "year": 2024}).json()
    assert [(row.node.node_id, row.score) for row in found] == [(row["node_id"], row["score"]) for row in rows]
    prompt = found[0].node.get_content(metadata_mode=MetadataMode.LLM)
    assert rows[0]["text"] in prompt
    assert "x0" not in prompt


def test_an_unknown_form_is_an_error_for_the_retrievers(client: httpx.Client) -> None:
    pytest.importorskip("langchain_core")
    with pytest.raises(httpx.HTTPStatusError, match="404"):
        load_example("langchain_retriever").TaxkgRetriever(client=client, form="1099-XX").invoke(QUESTION)


def test_an_agent_prints_the_answer_that_the_api_gives_and_its_places(
    built_samples: Path, client: httpx.Client
) -> None:
    program = [sys.executable, str(EXAMPLES / "mcp_agent.py"), str(built_samples)]
    printed = subprocess.run(program, capture_output=True, text=True, check=True, timeout=300).stdout
    found = client.post("/v1/ask", json={"question": QUESTION, "k": 3}).json()
    first = found["results"][0]
    assert found["answer"]
    assert found["answer"] in printed
    assert f"[1] {first['document']}, page {first['page']}: " in printed


def test_sql_over_the_tables_counts_what_polars_counts(built_samples: Path) -> None:
    found = load_example("duckdb_tables").longest_boxes(str(built_samples)).pl()
    anchors, sections = (pl.read_delta(str(built_samples / "tables" / name)) for name in ("anchors", "sections"))
    boxes = anchors.filter(pl.col("kind").is_in(["box", "box_group"])).select("anchor_id", "key")
    lengths = (
        sections.join(boxes, on="anchor_id").group_by("document_id", "key").agg(pl.col("text").str.len_chars().sum())
    )
    assert found.height == 10
    assert found["characters"].to_list() == lengths["text"].sort(descending=True).head(10).to_list()


def test_spark_counts_the_edges_that_the_table_has(built_samples: Path) -> None:
    sql = pytest.importorskip("pyspark.sql", reason="Spark is an extra")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    session = sql.SparkSession.builder.master("local[1]").getOrCreate()
    found = load_example("spark_tables").count_relations(session, str(built_samples)).toPandas()
    assert found["count"].sum() == DeltaTable(str(built_samples / "tables" / "edges")).to_pyarrow_table().num_rows
