"""Reading and encoding on a Spark cluster: `mapInArrow` over document URIs and over passages, as on Databricks.

Each task runs the reading process of a build, under its limits, on its own machine; documents have to be readable there
under the path that the job names (a mount, a volume). Frames come back to the driver document by document, which puts
them where the local engine would have left them and commits them to the tables in batches. Passages are encoded by the
same model, opened once per Python process of an executor.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from taxkg_assets.defs.home.models import open_encoder_by_name
from taxkg_assets.defs.ingest.reader import Limits, Outcome, read_documents
from taxkg_assets.defs.ingest.worker_replies import Job
from taxkg_assets.retrieval.encoding.encoder import Progress, Vectors
from taxkg_assets.retrieval.encoding.wrapped_encoders import DeferredEncoder

WAVE = 128
"""Documents that are dealt out at once: their frames come back into the driver's memory together."""

PASSAGES_AT_ONCE = 20_000
"""Passages that are dealt out at once: their vectors come back into the driver's memory together."""
PASSAGES_PER_TASK = 500
"""Passages of a task: some ten seconds of one core."""
MOST_ON_DRIVER = 1_000
"""Passages that are encoded by the driver: a cluster would load the model for longer."""

_RAISED = re.compile(r"[A-Za-z_][\w.]*: ")
"""The line of a traceback that names the exception."""
_VECTORS = "row int, vector binary"
_ARROW_VECTORS = pa.schema([("row", pa.int32()), ("vector", pa.binary())])
_REPLY = "outcome string, names array<string>, files array<binary>"
_ARROW_REPLY = pa.schema([("outcome", pa.string()), ("names", pa.list_(pa.string())), ("files", pa.list_(pa.binary()))])
_ROOT = str(Path(__file__).resolve().parents[3])


class ExecutorError(Exception):
    """A task failed on the cluster; the message comes from the executor."""


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """An engine on a Spark cluster, given by its master's address; empty for the active or configured session."""

    master: str = ""

    def read(self, jobs: Sequence[Job], *, limits: Limits, on_done: Callable[[Outcome], None]) -> list[Outcome]:
        """Read documents on the cluster in waves of `WAVE`, and copy their frames into the job folders.

        Args:
            jobs: Documents to read, largest files first.
            limits: Limits of time and memory for each document.
            on_done: Called with the outcome of each document, once its wave is read.

        Returns:
            Outcomes in the order of the jobs.

        Raises:
            ExecutorError: A task of the cluster failed.
        """
        if not jobs:
            return []
        spark = self._session()
        read = partial(_read_batches, limits=limits)
        by_id = {job.document_id: job for job in jobs}
        outcomes: dict[str, Outcome] = {}
        for first in range(0, len(jobs), WAVE):
            wave = [(json.dumps(asdict(job)),) for job in jobs[first : first + WAVE]]
            rows = spark.createDataFrame(wave, "job string").repartition(len(wave))
            for reply in _collect(rows.mapInArrow(read, _REPLY)):
                outcome = Outcome(**json.loads(reply.outcome))
                if outcome.is_read:
                    _write_folder(
                        dict(zip(reply.names, reply.files, strict=True)), Path(by_id[outcome.document_id].folder)
                    )
                outcomes[outcome.document_id] = outcome
                on_done(outcome)
        return [outcomes[job.document_id] for job in jobs]

    def distribute_encoding(self, encoder: DeferredEncoder, *, name: str) -> DeferredEncoder:
        """Return an encoder that encodes large batches on the executors, with vectors equal to local ones.

        Args:
            encoder: Local encoder.
            name: Folder that executors can read, or hub name, of the model; empty for the packaged one.
        """

        def encode_many(texts: Sequence[str], progress: Progress | None) -> Vectors:
            if len(texts) <= MOST_ON_DRIVER:
                return encoder.encode_passages(texts, progress=progress)
            return self._encode(texts, name=name, model_hash=encoder.model_hash, progress=progress)

        return replace(encoder, encode_many=encode_many)

    def _encode(self, texts: Sequence[str], *, name: str, model_hash: str, progress: Progress | None) -> Vectors:
        spark = self._session()
        encode = partial(_encode_batches, name=name, model_hash=model_hash)
        vectors: list[bytes] = [b""] * len(texts)
        for first in range(0, len(texts), PASSAGES_AT_ONCE):
            wave = list(enumerate(texts[first : first + PASSAGES_AT_ONCE], first))
            rows = spark.createDataFrame(wave, "row int, text string").repartition(
                math.ceil(len(wave) / PASSAGES_PER_TASK)
            )
            for reply in _collect(rows.mapInArrow(encode, _VECTORS)):
                vectors[reply.row] = reply.vector
            if progress is not None:
                progress(first + len(wave), len(texts))
        return np.frombuffer(b"".join(vectors), dtype=np.float32).reshape(len(texts), -1)

    def _session(self) -> Any:
        # Executors import the very code that the driver runs, with the same interpreter.
        paths = os.pathsep.join(part for part in (_ROOT, os.environ.get("PYTHONPATH", "")) if part)
        builder = SparkSession.builder.appName("taxkg").config("spark.executorEnv.PYTHONPATH", paths)
        if self.master:
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            builder = builder.master(self.master).config("spark.ui.enabled", "false")
        return builder.getOrCreate()


def _collect(rows: Any) -> list[Any]:
    """Run a job and return its rows.

    Raises:
        ExecutorError: A task failed; the message is the last exception of its traceback.
    """
    try:
        collected: list[Any] = rows.collect()
    except PythonException as failed:
        lines = [line for line in str(failed).splitlines() if _RAISED.match(line)]
        reason = lines[-1].partition(": ")[2] if lines else str(failed)
        raise ExecutorError(
            f"An executor of the Spark cluster failed: {reason.rstrip('. ')}. Fix it on the cluster, and run "
            "`taxkg build` again; finished work is kept."
        ) from failed
    return collected


def _read_batches(batches: Iterator[pa.RecordBatch], *, limits: Limits) -> Iterator[pa.RecordBatch]:
    """Read the documents of a partition, one after the other, in a child process; one row for each."""
    for batch in batches:
        jobs = [Job(**json.loads(text)) for text in batch.column("job").to_pylist()]
        with tempfile.TemporaryDirectory() as scratch:
            local_jobs = [replace(job, folder=f"{scratch}/{ix}") for ix, job in enumerate(jobs)]
            outcomes = read_documents(local_jobs, workers=1, limits=limits, on_done=lambda _: None)
            for job, outcome in zip(local_jobs, outcomes, strict=True):
                files = sorted(Path(job.folder).iterdir()) if outcome.is_read else []
                row = {
                    "outcome": json.dumps(asdict(outcome)),
                    "names": [path.name for path in files],
                    "files": [path.read_bytes() for path in files],
                }
                yield pa.RecordBatch.from_pylist([row], schema=_ARROW_REPLY)


def _encode_batches(batches: Iterator[pa.RecordBatch], *, name: str, model_hash: str) -> Iterator[pa.RecordBatch]:
    """Encode the passages of a partition; one row for each.

    Raises:
        ModelError: The model of this machine is another one, or its processor has another arithmetic.
    """
    encoder = open_encoder_by_name(name, model_hash=model_hash)
    for batch in batches:
        vectors = encoder.encode_passages(batch.column("text").to_pylist())
        columns = [batch.column("row"), pa.array([vector.tobytes() for vector in vectors], type=pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, schema=_ARROW_VECTORS)


def _write_folder(files: dict[str, bytes], folder: Path) -> None:
    """Write a document's files into its folder, which appears whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    for name, data in files.items():
        (temporary / name).write_bytes(data)
    shutil.rmtree(folder, ignore_errors=True)
    temporary.replace(folder)
