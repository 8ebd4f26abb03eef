"""The job of a reading process and its replies, one type each, and their form on the pipe: one line of JSON.

A refusal names its remedy where the cause is known; it is not concluded from the words of a message.
"""

from __future__ import annotations

import json
import signal
from dataclasses import asdict, dataclass, replace

MEMORY_REMEDY = "Check the file, or raise TAXKG_DOCUMENT_MEMORY_MB and build with --retry."
TIME_REMEDY = "Check the file, or raise TAXKG_DOCUMENT_SECONDS and build with --retry."
CRASH_REMEDY = "The parser crashed on the file. Repair the file with a PDF tool, and build again."
ABORT_REMEDY = (
    "Memory ran out, or the parser crashed: raise TAXKG_DOCUMENT_MEMORY_MB and build with --retry, or repair the file "
    "with a PDF tool and build again."
)


@dataclass(frozen=True, slots=True)
class Job:
    """One document to read: where its bytes are and where its frames go.

    Attributes:
        document_id: Document.
        path: File of the document.
        sha256: Digest that its bytes must have.
        source_uri: Path of the file in printable characters.
        source_root: Source that contains it.
        is_text: Whether it is a text file.
        code_version: Digest of the code that reads it.
        max_pages: Maximum number of pages that are read.
        folder: Folder for its frames.
        table_engine: Engine that finds tables.
    """

    document_id: str
    path: str
    sha256: str
    source_uri: str
    source_root: str
    is_text: bool
    code_version: str
    max_pages: int
    folder: str
    table_engine: str = "own"


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker process has started and accepts documents."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The document was read, and its frames are in the job's folder.

    Attributes:
        pages: Number of its pages.
        seconds: Time that it took.
    """

    pages: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Refused:
    """The document was refused.

    Attributes:
        stage: Stage that refused it.
        reason: What is wrong, one sentence.
        remedy: What to do about it, one sentence.
        is_check_failure: Whether it was read but fails a document check.
        seconds: Time that it took.
    """

    stage: str
    reason: str
    remedy: str
    is_check_failure: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Unwritable:
    """The frames could not be written: a fault of the home, not of the document."""

    errno: int | None
    message: str
    folder: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker process gave no reply and must be replaced.

    Attributes:
        reason: Why, one sentence.
        remedy: What to do about it, one sentence.
    """

    reason: str
    remedy: str


Reply = Ready | Extracted | Refused | Unwritable
_KINDS: dict[str, type[Reply]] = {kind.__name__: kind for kind in (Ready, Extracted, Refused, Unwritable)}


def encode_reply(reply: Reply, *, seconds: float = 0.0) -> str:
    """Serialize a reply as one line of JSON.

    Args:
        reply: The reply.
        seconds: Time that the document took.

    Returns:
        JSON without line breaks, and a line feed.
    """
    timed_reply = reply if isinstance(reply, Ready) else replace(reply, seconds=seconds)
    return json.dumps({"kind": type(reply).__name__, **asdict(timed_reply)}) + "\n"


def decode_reply(line: bytes) -> Reply:
    """Parse a line that `encode_reply` serialized.

    Args:
        line: One line of JSON.

    Returns:
        The reply.
    """
    values = json.loads(line)
    return _KINDS[values.pop("kind")](**values)


def find_remedy(exit_code: int) -> str:
    """Choose the remedy for a document whose worker process was killed or crashed.

    Args:
        exit_code: Exit status of the process; the negative number of the signal that ended it.

    Returns:
        One sentence. If memory runs out, the kernel kills the process, or a library aborts it.
    """
    return {-signal.SIGKILL: MEMORY_REMEDY, -signal.SIGABRT: ABORT_REMEDY}.get(exit_code, CRASH_REMEDY)
