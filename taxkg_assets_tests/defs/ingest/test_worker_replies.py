"""Replies of a reading process: the same after the pipe, and a remedy for each way to die."""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest

from taxkg_assets.defs.ingest.worker_replies import (
    Extracted,
    Ready,
    Refused,
    Reply,
    Unwritable,
    decode_reply,
    encode_reply,
    find_remedy,
)


@pytest.mark.parametrize(
    "reply",
    [
        Extracted(),
        Refused("spans", "Two lines\nof text.", "Look.", is_check_failure=True),
        Unwritable(28, "No space left on device", "/home"),
    ],
)
def test_a_reply_is_one_line_and_read_as_it_was_sent_with_its_time(reply: Reply) -> None:
    line = encode_reply(reply, seconds=1.5)
    assert line.count("\n") == 1
    assert decode_reply(line.encode()) == replace(reply, seconds=1.5)


def test_the_first_reply_has_no_time() -> None:
    assert decode_reply(encode_reply(Ready()).encode()) == Ready()


@pytest.mark.parametrize(
    ("exit_code", "words"),
    [
        (-signal.SIGKILL, ("TAXKG_DOCUMENT_MEMORY_MB",)),
        (-signal.SIGABRT, ("TAXKG_DOCUMENT_MEMORY_MB", "repair the file")),
        (-signal.SIGSEGV, ("Repair the file",)),
        (1, ("Repair the file",)),
    ],
)
def test_the_way_a_process_ended_decides_the_remedy(exit_code: int, words: tuple[str, ...]) -> None:
    assert all(word in find_remedy(exit_code) for word in words)
