"""Engines that read many documents and encode many passages: this machine, or a Spark cluster.

Both run the same reading process with the same limits; a document's frames end up in the folder that its job names,
and what became of it is reported in the same words, so that everything after does not know who read. Both encode with
the same weights and arithmetic, so that vectors are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from taxkg_assets.defs.ingest.reader import Limits, Outcome, read_documents
from taxkg_assets.defs.ingest.worker_replies import Job
from taxkg_assets.retrieval.encoding.wrapped_encoders import DeferredEncoder
from taxkg_assets.settings import Settings


class EngineError(Exception):
    """The configured engine is unavailable; the message names the missing package."""


class Engine(Protocol):
    """Interface of an engine that reads documents in parallel and encodes passages."""

    def read(self, jobs: Sequence[Job], *, limits: Limits, on_done: Callable[[Outcome], None]) -> list[Outcome]:
        """Read all documents, largest files first.

        Args:
            jobs: Documents to read.
            limits: Limits of time and memory for each document.
            on_done: Called with the outcome of each document.

        Returns:
            One outcome per job.
        """

    def distribute_encoding(self, encoder: DeferredEncoder, *, name: str) -> DeferredEncoder:
        """Return an encoder that encodes passages on this engine's machines.

        Args:
            encoder: Local encoder.
            name: Folder or hub name of its model; empty for the packaged one.
        """


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """An engine of several local processes."""

    workers: int

    def read(self, jobs: Sequence[Job], *, limits: Limits, on_done: Callable[[Outcome], None]) -> list[Outcome]:
        """Read documents in local child processes, `workers` at a time.

        Args:
            jobs: Documents to read, largest files first.
            limits: Limits of time and memory for each document.
            on_done: Called with the outcome of each document, as it is read.

        Returns:
            Outcomes in the order of the jobs.
        """
        return read_documents(jobs, workers=self.workers, limits=limits, on_done=on_done)

    def distribute_encoding(self, encoder: DeferredEncoder, *, name: str) -> DeferredEncoder:
        """Return the encoder unchanged, as this engine encodes locally.

        Args:
            encoder: Encoder of this machine.
            name: Folder or hub name of its model; not used.
        """
        return encoder


def open_engine(settings: Settings) -> Engine:
    """Open the engine that the settings name.

    Args:
        settings: Settings of the home, of which `engine` is `local` or `spark`.

    Returns:
        Engine that reads documents and encodes passages.

    Raises:
        EngineError: The engine needs a package that is not installed.
    """
    if settings.engine == "local":
        return LocalEngine(settings.workers)
    try:
        from taxkg_assets.defs.ingest.spark import SparkEngine
    except ImportError as missing:
        raise EngineError(
            "TAXKG_ENGINE=spark needs pyspark and Java. Install Java and run pip install '.[spark]' in the checkout, "
            "or unset TAXKG_ENGINE."
        ) from missing
    return SparkEngine(settings.spark_master)
