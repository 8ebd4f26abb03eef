"""The two engines: what a cluster reads, in processes of its own, is what this machine reads."""

from __future__ import annotations

import shutil
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from deltalake import DeltaTable

from taxkg_assets.defs.extraction import READ_TABLES
from taxkg_assets.defs.home.models import ModelError, defer_encoder, open_encoder_by_name
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.ingest.engine import EngineError, LocalEngine, open_engine
from taxkg_assets.defs.ingest.reader import Limits, Outcome
from taxkg_assets.defs.ingest.worker_replies import Job
from taxkg_assets.defs.retrieval import defer_passage_encoder
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.serving.build import SAMPLES
from taxkg_assets.settings import Settings
from taxkg_assets_tests.defs.hostile import encrypted
from taxkg_assets_tests.defs.ingest.test_reader import job

pytestmark = pytest.mark.slow

LIMITS = Limits(seconds=240, memory_mb=2000)
MASTER = "local-cluster[2,1,1024]"
HAS_SPARK = find_spec("pyspark") is not None and shutil.which("java") is not None


def jobs_of(folder: Path) -> list[Job]:
    """A few of the samples, and a file that cannot be read."""
    folder.mkdir()
    valid = [job(folder, path.stem, path.read_bytes()) for path in sorted(SAMPLES.glob("*.pdf"))[:2]]
    return [*valid, job(folder, "locked", encrypted())]


def frames_of(jobs: list[Job]) -> dict[tuple[str, str], pl.DataFrame]:
    """What was left in the jobs' folders, `_at` columns aside."""
    paths = [(j.document_id, path) for j in jobs for path in sorted(Path(j.folder).glob("*.arrow"))]
    frames = {(name, path.stem): pl.read_ipc(path) for name, path in paths}
    return {key: frame.select(c for c in frame.columns if not c.endswith("_at")) for key, frame in frames.items()}


@pytest.mark.skipif(
    not HAS_SPARK, reason="no cluster of this machine's own: pyspark (extra `spark`) or Java is missing"
)
def test_a_cluster_reads_what_this_machine_reads(tmp_path: Path) -> None:
    here = jobs_of(tmp_path / "documents")
    there = [replace(one, folder=str(tmp_path / "cluster" / one.document_id)) for one in here]
    seen: list[str] = []
    local = LocalEngine(workers=2).read(here, limits=LIMITS, on_done=lambda _: None)
    engine = open_engine(Settings(engine="spark", spark_master=MASTER))
    cluster = engine.read(there, limits=LIMITS, on_done=lambda outcome: seen.append(outcome.document_id))
    assert [_reported(outcome) for outcome in cluster] == [_reported(outcome) for outcome in local]
    assert sorted(seen) == sorted(one.document_id for one in here)
    one, other = frames_of(here), frames_of(there)
    assert one.keys() == other.keys()
    assert {table for _, table in one} == {table.name for table in READ_TABLES} - {"quarantine"}
    assert all(frame.equals(other[key]) for key, frame in one.items())
    _assert_spark_reads_a_table(tmp_path / "home", one[here[0].document_id, "sections"])


def _assert_spark_reads_a_table(home: Path, sections: pl.DataFrame) -> None:
    """Without our code, as docs/scale.md shows it; in the session that is already running."""
    from pyspark.sql import SparkSession

    store = Store(home)
    for content in ("old", "new"):
        store.replace_documents("sections", sections, documents={sections["document_id"][0]: {"content": content}})
    spark = SparkSession.builder.getOrCreate()
    rows = spark.read.parquet(*DeltaTable(store.table_uri("sections")).file_uris()).collect()
    reported = {row.element_id: [tuple(piece) for piece in row.pieces] for row in rows}
    assert len(rows) == sections.height
    assert reported == {
        i: [tuple(p.values()) for p in pieces]
        for i, pieces in zip(sections["element_id"], sections["pieces"], strict=True)
    }


@pytest.mark.skipif(
    not HAS_SPARK, reason="no cluster of this machine's own: pyspark (extra `spark`) or Java is missing"
)
def test_a_cluster_encodes_as_this_machine_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from taxkg_assets.defs.ingest import spark

    monkeypatch.setattr(spark, "MOST_ON_DRIVER", 3)
    monkeypatch.setattr(spark, "PASSAGES_PER_TASK", 4)
    monkeypatch.setattr(spark, "PASSAGES_AT_ONCE", 16)
    monkeypatch.setenv("TAXKG_ENGINE", "spark")
    monkeypatch.setenv("TAXKG_SPARK_MASTER", MASTER)
    home = Home(home=str(tmp_path))
    texts = [f"Berth {number} pays {'a fee of some more ' * (number % 5)}pennies." for number in range(30)]
    encoder, done = defer_passage_encoder(home), []
    vectors = encoder.encode_passages(texts, progress=lambda *own: done.append(own))
    assert done == [(16, 30), (30, 30)]
    own = defer_encoder(home)
    assert np.array_equal(vectors, own.encode_passages(texts))
    assert np.array_equal(encoder.encode_passages(texts[:2]), vectors[:2])


@pytest.mark.skipif(
    not HAS_SPARK, reason="no cluster of this machine's own: pyspark (extra `spark`) or Java is missing"
)
def test_the_message_of_an_executor_is_that_of_the_build() -> None:
    from taxkg_assets.defs.ingest import spark

    with pytest.raises(spark.ExecutorError, match="One index cannot mix") as failed:
        spark.SparkEngine(MASTER)._encode(["a berth"], name="", model_hash="0" * 16, progress=None)
    assert "Traceback" not in str(failed.value)
    assert "\n" not in str(failed.value)


def test_a_machine_with_another_model_encodes_nothing() -> None:
    with pytest.raises(ModelError, match="One index cannot mix"):
        open_encoder_by_name("", model_hash="0" * 16)


def test_this_machine_encodes_where_no_cluster_is_named(tmp_path: Path) -> None:
    home = Home(home=str(tmp_path))
    assert defer_passage_encoder(home).encode_many is None


def _reported(outcome: Outcome) -> Outcome:
    return replace(outcome, seconds=0.0)


@pytest.mark.skipif(find_spec("pyspark") is not None, reason="pyspark is installed")
def test_without_spark_the_remedy_is_named() -> None:
    with pytest.raises(EngineError, match="pip install"):
        open_engine(Settings(engine="spark"))
