"""Reads many documents side by side, each in a child process with a time and a memory limit.

A child that overruns its limits or dies is replaced; its document is refused with stage `limits`, the others go on.
"""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import IO

import psutil

from taxkg_assets.defs.ingest.worker_replies import (
    MEMORY_REMEDY,
    TIME_REMEDY,
    Extracted,
    Job,
    Lost,
    Ready,
    Refused,
    Reply,
    Unwritable,
    decode_reply,
    find_remedy,
)

START_SECONDS = 600.0
"""How long a reading process may take to start: it loads libraries, which a busy machine makes slow. One that dies is
noticed at once."""
POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of reading one document; stage, reason and remedy are empty if it succeeded, `pages` 0 if it failed."""

    document_id: str
    is_read: bool
    seconds: float
    stage: str = ""
    reason: str = ""
    remedy: str = ""
    is_check_failure: bool = False
    pages: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of time and memory for reading one document."""

    seconds: float
    memory_mb: int


class _Child:
    """One worker process and the pipe on which it replies."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        read_fd, write_fd = os.pipe()
        self.log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the child
        # One malloc arena: otherwise the C library tries a new one for each allocation that exceeds the limit.
        environment = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "taxkg_assets.defs.ingest.worker", str(write_fd), str(limits.memory_mb)],
            stdin=subprocess.PIPE,
            stdout=self.log,
            stderr=self.log,
            pass_fds=(write_fd,),
            bufsize=0,  # else closing the pipe of a dead process would try to send again what it did not take
            env=environment,
        )
        os.close(write_fd)
        self.replies = os.fdopen(read_fd, "rb", buffering=0)
        self.pending = b""
        reply = self._wait(START_SECONDS)
        if not isinstance(reply, Ready):
            self.close()
            reason = reply.reason if isinstance(reply, Lost) else ""
            raise RuntimeError(
                f"No worker process could start to read documents. {reason} Free memory or stop "
                f"other programs, and build again."
            )

    def read(self, job: Job) -> Reply | Lost:
        """Return the worker's reply to one job, or why there is none."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(asdict(job)).encode() + b"\n")
        return self._wait(self.limits.seconds)

    def _wait(self, seconds: float) -> Reply | Lost:
        deadline = time.monotonic() + seconds
        memory = psutil.Process(self.process.pid)
        while time.monotonic() < deadline:
            if select.select([self.replies], [], [], POLL_SECONDS)[0]:
                data = os.read(self.replies.fileno(), 1 << 16)
                if not data:
                    code = self.process.wait(timeout=START_SECONDS)
                    return Lost(f"The reading process died ({self._last_words()}).", find_remedy(code))
                self.pending += data
                if b"\n" in self.pending:
                    line, self.pending = self.pending.split(b"\n", 1)
                    return decode_reply(line)
            elif self._resident(memory) > (self.limits.memory_mb + 1024) * 1024 * 1024:
                return Lost(f"Reading took more than {self.limits.memory_mb} MiB of memory.", MEMORY_REMEDY)
        return Lost(f"Reading took longer than {seconds:g} seconds.", TIME_REMEDY)

    @staticmethod
    def _resident(process: psutil.Process) -> int:
        try:
            return int(process.memory_info().rss)
        except psutil.NoSuchProcess:
            return 0

    def _last_words(self) -> str:
        self.log.seek(0)
        lines = self.log.read()[-4000:].decode(errors="replace").strip().splitlines()
        code = self.process.poll()
        return (lines[-1][:200] if lines else "no message") + (f", exit status {code}" if code is not None else "")

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.replies.close()
        self.log.close()


def read_documents(
    jobs: Iterable[Job], *, workers: int, limits: Limits, on_done: Callable[[Outcome], None]
) -> list[Outcome]:
    """Read documents in several processes, each within limits of time and memory.

    Args:
        jobs: Documents to read, the most expensive first.
        workers: Number of processes.
        limits: Limits of one document.
        on_done: Receives each outcome when its document is done.

    Returns:
        Outcomes in the order of the jobs.

    Raises:
        OSError: A reading cannot be written, as on a full disk.
    """
    job_list = list(jobs)
    waiting_jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in job_list:
        waiting_jobs.put(job)
    outcomes: dict[str, Outcome] = {}
    failures: list[BaseException] = []
    lock = threading.Lock()

    def record(outcome: Outcome) -> None:
        with lock:
            outcomes[outcome.document_id] = outcome
            on_done(outcome)

    def serve() -> None:
        try:
            _serve(waiting_jobs, limits=limits, record=record)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(min(workers, len(job_list)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return [outcomes[job.document_id] for job in job_list]


def _serve(waiting_jobs: queue.SimpleQueue[Job], *, limits: Limits, record: Callable[[Outcome], None]) -> None:
    """Feed one child from the queue, replacing it whenever it is lost."""
    child: _Child | None = None
    try:
        while True:
            try:
                job = waiting_jobs.get_nowait()
            except queue.Empty:
                return
            child = child or _Child(limits)
            started = time.monotonic()
            try:
                reply = child.read(job)
            except BrokenPipeError:  # the worker died while it was idle: the document did not cause that
                child.close()
                child = _Child(limits)
                reply = child.read(job)
            record(_to_outcome(job, reply, seconds=time.monotonic() - started))
            if isinstance(reply, Lost) or (isinstance(reply, Refused) and reply.stage == "limits"):
                # The process may not return its memory: the next document gets a new one.
                child.close()
                child = None
    finally:
        if child is not None:
            child.close()


def _to_outcome(job: Job, reply: Reply | Lost, *, seconds: float) -> Outcome:
    """Turn a reply into the outcome of its document; `OSError` where its frames could not be written."""
    match reply:
        case Extracted():
            return Outcome(job.document_id, True, reply.seconds, pages=reply.pages)
        case Refused():
            return Outcome(
                job.document_id,
                False,
                reply.seconds,
                stage=reply.stage,
                reason=reply.reason,
                remedy=reply.remedy,
                is_check_failure=reply.is_check_failure,
            )
        case Lost():
            return Outcome(job.document_id, False, seconds, "limits", reply.reason, reply.remedy)
        case Unwritable():
            raise OSError(reply.errno, reply.message, reply.folder)
        case Ready():
            raise RuntimeError("A worker process sent `ready` instead of the result for a document.")
