"""The home: Delta tables with their fingerprints, the manifest of sources, the cache of read documents.

What belongs here: how a table is committed. What does not: what is in it, and reading it
(`taxkg_assets/defs/home/stored_tables.py`). No dagster here, so that readers (the command line, servers) open a home
without it.

A home is a folder, or `s3://BUCKET/FOLDER`: tables, index, models, reports and the manifest then lie in the bucket, and
a folder of this machine keeps the rest (Dagster's records, cached readings) and the bucket's address, so that either
names the same home.

Every commit carries what it was made from, so that a later build can tell without reading rows whether a table is
current: `taxkg.content` (digest of the rows, `_at` columns aside), `taxkg.inputs` (digest of code, settings and the
contents of the inputs) and, for per-document tables, `taxkg.documents` (reading and content of each document).
"""

from __future__ import annotations

import fcntl
import json
import re
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import polars as pl
from deltalake import CommitProperties, PostCommitHookProperties, WriterProperties, write_deltalake
from deltalake.exceptions import TableNotFoundError

from taxkg_assets.defs.home.bucket import S3Storage
from taxkg_assets.defs.home.commit_retry import COMMIT_RETRY
from taxkg_assets.defs.home.contracts import empty_frame, enforce_contract, schema_of
from taxkg_assets.defs.home.renamed_columns import RENAMED_COLUMNS
from taxkg_assets.defs.home.storage import REMOTE, LocalStorage, is_remote
from taxkg_assets.defs.home.storage import HomeBusyError as HomeBusyError
from taxkg_assets.defs.home.storage import atomic_write as atomic_write
from taxkg_assets.defs.home.stored_tables import StoredTables, TableState
from taxkg_assets.digests import digest as digest
from taxkg_assets.digests import frame_digest
from taxkg_assets.settings import settings_of
from taxkg_assets.sources.manifest import SourceManifest

BUILD, TRAINING = "build", "training"
"""Purpose of a lock: one of each at a time, so that a new document never waits for training."""
POLL_SECONDS = 0.5

_ROW_GROUPS = WriterProperties(compression="SNAPPY", max_row_group_size=4096)
"""Rows of a few elements or documents are read without the rest of their table: rows are sorted by their key."""
_KEEP_LOG = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)
"""A release reads old versions by their log, however old it is; `defs/retention.py` knows which entries may go."""
SOURCE_MANIFEST = "sources.json"
NEWEST = 50
LINK = ".remote"
"""File in a folder of this machine that names the bucket of its home."""

_locked: set[str] = set()
"""What this process holds of homes: a run inside a build needs no second lock."""


_retry_on_conflict = COMMIT_RETRY.wraps


def work_folder(uri: str) -> Path:
    """Return the local cache folder of a bucket home.

    Args:
        uri: Address of the home, `s3://BUCKET/FOLDER`.
    """
    readable_name = re.sub(r"[^A-Za-z0-9]+", "-", uri.removeprefix(REMOTE)).strip("-")
    return (Path(settings_of().work) / f"{readable_name[-60:]}-{digest(uri.rstrip('/'))[:8]}").expanduser().resolve()


class Store(StoredTables):
    """One home: its tables, index, models, reports and the manifest `sources.json`.

    `home` is the local folder with `dagster` and `cache`, and with everything else if no bucket is set.
    """

    def __init__(self, home: str | Path, *, patience_s: float = 180.0) -> None:
        address = str(home)
        self.home = work_folder(address) if is_remote(address) else Path(home).expanduser().resolve()
        link = self.home / LINK
        if is_remote(address):
            bucket = S3Storage(address, work=self.home, patience_s=patience_s)
            if not link.exists():
                atomic_write(link, bucket.uri.encode())
            super().__init__(bucket, uri=bucket.uri)
        elif link.exists():
            bucket = S3Storage(link.read_text(encoding="utf8"), work=self.home, patience_s=patience_s)
            super().__init__(bucket, uri=bucket.uri)
        else:
            super().__init__(LocalStorage(self.home), uri=str(self.home))

    def __repr__(self) -> str:
        return f"Store({self.uri!r})"

    def folder(self, *parts: str) -> Path:
        """Return a local folder below the home, creating it if needed.

        Args:
            parts: Names of nested folders, outermost first.
        """
        path = self.home.joinpath(*parts)
        path.mkdir(parents=True, exist_ok=True)
        return path

    @contextmanager
    def exclusive(self, *, work: str = BUILD, wait_s: float = 0.0) -> Iterator[None]:
        """Lock the home for one build; a second process waits, then fails.

        The lock ends with its process.

        Args:
            work: Kind of work; a training and a build may run at the same time, as they write different tables.
            wait_s: Longest wait for another process, in seconds.

        Returns:
            A context that holds the lock.

        Raises:
            HomeBusyError: Another process holds the lock for longer than `wait_s`.
        """
        key = f"{self.home}:{work}"
        if key in _locked:
            yield
            return
        with (self.folder() / (".lock" if work == BUILD else f".{work}.lock")).open("w") as lock:
            deadline = time.monotonic() + wait_s
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError as busy:
                    if time.monotonic() >= deadline:
                        remedy = "Wait for it, or choose another home with --home."
                        raise HomeBusyError(f"Another {work} is running on {self.uri}. {remedy}") from busy
                    time.sleep(POLL_SECONDS)
            left_s = max(0.0, deadline - time.monotonic())
            with self.storage.lease(wait_s=left_s) if work == BUILD else nullcontext():
                _locked.add(key)
                try:
                    yield
                finally:
                    _locked.discard(key)

    def record_active_run(self, run_id: str, *, work: str = BUILD) -> None:
        """Record the run that works on the home, so that a run whose process dies can be detected.

        Args:
            run_id: Id of the Dagster run.
            work: Kind of work: a build, or a training.
        """
        atomic_write(self._note(work), run_id.encode())

    def active_run(self, *, work: str = BUILD) -> str:
        """Return the run that is active or died; empty if the last run ended.

        Args:
            work: Kind of work: a build, or a training.
        """
        path = self._note(work)
        return path.read_text(encoding="utf8") if path.exists() else ""

    def clear_active_run(self, *, work: str = BUILD) -> None:
        """Record that the active run has ended.

        Args:
            work: Kind of work: a build, or a training.
        """
        self._note(work).unlink(missing_ok=True)

    def _note(self, work: str) -> Path:
        return self.home / f".{work}.run"

    # ------------------------------------------------------------------------------------------------ writing

    def _create(self, name: str) -> None:
        """Make the table before its first rows: eight writers at once would otherwise lose some of them."""
        if not self.exists(name):
            self._commit(name, empty_frame(schema_of(name)), mode="ignore")

    def _commit(self, name: str, frame: pl.DataFrame, *, record: Mapping[str, str] | None = None, **how: Any) -> None:
        """Make one commit, with its metadata, unless another build may be writing by now."""
        self.storage.check_lease()
        if isinstance(self.storage, LocalStorage):
            Path(self.table_uri(name)).mkdir(parents=True, exist_ok=True)
        properties = CommitProperties(custom_metadata=dict(record or {}))
        write_deltalake(
            self.table_uri(name),
            frame,
            storage_options=self._options(),
            commit_properties=properties,
            post_commithook_properties=_KEEP_LOG,
            writer_properties=_ROW_GROUPS,
            **how,
        )

    @_retry_on_conflict
    def write(
        self,
        name: str,
        frame: pl.DataFrame,
        *,
        inputs: str,
        documents: Mapping[str, Mapping[str, str]] | None = None,
    ) -> TableState:
        """Replace a whole table with validated rows in one commit.

        Args:
            name: Name of the table.
            frame: New rows.
            inputs: Digest of the inputs from which the rows were built.
            documents: For a table built in parts, the input digest of each part.

        Returns:
            State of the table after the commit.
        """
        frame = enforce_contract(schema_of(name), frame)
        self._create(name)
        record = {"taxkg.content": frame_digest(frame), "taxkg.inputs": inputs}
        if documents:
            record["taxkg.documents"] = json.dumps(documents, sort_keys=True)
        self._commit(name, frame, record=record, mode="overwrite", schema_mode="overwrite")
        return self._state_after_write(name)

    def append(self, name: str, frame: pl.DataFrame) -> None:
        """Append validated rows to a table in one commit.

        A commit whose acknowledgment was lost is not repeated.

        Args:
            name: Name of the table, e.g. `sections`.
            frame: Validated rows.
        """
        frame = enforce_contract(schema_of(name), frame)
        token = uuid.uuid4().hex
        for attempt in COMMIT_RETRY.copy():
            with attempt:
                self._create(name)
                self._rename_columns(name)
                if attempt.retry_state.attempt_number == 1 or not self._holds(name, token):
                    self._commit(name, frame, record={"taxkg.token": token}, mode="append")

    def _rename_columns(self, name: str) -> None:
        """Rename the columns of a stored table to their present names, so that rows can be appended."""
        table = self.open_table(name)
        stored = set() if table is None else {field.name for field in table.schema().fields}
        if stored & set(RENAMED_COLUMNS.get(name, {})):
            self._commit(name, self.read(name), mode="overwrite", schema_mode="overwrite")

    def _holds(self, name: str, token: str) -> bool:
        """Return whether one of the newest commits has this token."""
        table = self.open_table(name)
        return table is not None and any(commit.get("taxkg.token") == token for commit in table.history(NEWEST))

    @_retry_on_conflict
    def replace_documents(
        self, name: str, frame: pl.DataFrame, *, documents: Mapping[str, Mapping[str, str] | None]
    ) -> TableState:
        """Replace the rows of some documents in one commit, leaving all others unchanged.

        Args:
            name: Name of the table.
            frame: New rows of the documents.
            documents: Input digest of each document; None removes the document.

        Returns:
            State of the table after the commit.
        """
        frame = enforce_contract(schema_of(name), frame)
        with self._table_lock(name):
            return self._replace_documents(name, frame, documents=documents)

    def _replace_documents(
        self, name: str, frame: pl.DataFrame, *, documents: Mapping[str, Mapping[str, str] | None]
    ) -> TableState:
        self._create(name)
        state = self._state_after_write(name)
        digests = {**state.documents, **documents}
        digests_left = {document_id: entry for document_id, entry in sorted(digests.items()) if entry is not None}
        content = digest(*(f"{document_id}={entry.get('content', '')}" for document_id, entry in digests_left.items()))
        record = {
            "taxkg.content": content,
            "taxkg.inputs": content,
            "taxkg.documents": json.dumps(digests_left, sort_keys=True),
        }
        quoted_ids = ", ".join("'" + document_id.replace("'", "''") + "'" for document_id in sorted(documents))
        predicate = f"document_id IN ({quoted_ids})"
        self._commit(name, frame, record=record, mode="overwrite", schema_mode="merge", predicate=predicate)
        return self._state_after_write(name)

    @contextmanager
    def _table_lock(self, name: str) -> Iterator[None]:
        """Allow one writer at a time: what a commit records of all documents is based on the commit before it."""
        with (self.folder("tables") / f".{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _state_after_write(self, name: str) -> TableState:
        state = self.state(name)
        if state is None:
            raise TableNotFoundError(
                f"Another program deleted the table {name} in {self.uri} during the build. Run the build "
                "again, and do not change a home while a build runs."
            )
        return state

    # -------------------------------------------------------------------------------------- cache of readings

    def reading_folder(self, document_id: str, *, reading: str) -> Path:
        """Return the cache folder for the tables extracted from one version of a document by one version of the code.

        Args:
            document_id: The document.
            reading: Digest of the document's bytes and of the code version.
        """
        return self.home / "cache" / "extract" / digest(document_id) / reading

    def forget_other_readings(self, folder: Path, *, keep: str) -> None:
        """Delete the cached readings of a document except the current one.

        Args:
            folder: Folder of the current reading, from `reading_folder`.
            keep: Name of the current reading.
        """
        for reading in folder.iterdir():
            if reading.name != keep:
                shutil.rmtree(reading, ignore_errors=True)

    # ------------------------------------------------------------------------------------------------- manifest

    def read_manifest(self) -> SourceManifest:
        """Return the recorded sources; empty for a new home."""
        data = self.storage.read(SOURCE_MANIFEST)
        return SourceManifest() if data is None else SourceManifest.model_validate(json.loads(data))

    @contextmanager
    def lock_manifest(self) -> Iterator[None]:
        """Lock the source manifest against other local processes during a read and write.

        Returns:
            A context that holds the lock.
        """
        with (self.folder() / ".sources.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def write_manifest(self, manifest: SourceManifest) -> None:
        """Record the sources.

        Args:
            manifest: Recorded sources.
        """
        self.storage.write(SOURCE_MANIFEST, json.dumps(manifest.model_dump(), indent=1, sort_keys=True).encode())
