"""Where a request goes to, and that its connection ends in time whatever it waits for."""

from __future__ import annotations

import socket
import time

import pytest

from taxkg_assets.sources.connection import limit_connection, pin_address


@pytest.mark.parametrize(
    ("url", "address", "target"),
    [
        ("https://forms.example/a.pdf?b=1", "192.0.2.7", "https://192.0.2.7/a.pdf?b=1"),
        ("http://forms.example:8080/a.pdf", "2001:db8::7", "http://[2001:db8::7]:8080/a.pdf"),
    ],
)
def test_a_name_is_replaced_by_the_address_that_was_inspected(url: str, address: str, target: str) -> None:
    assert pin_address(url, address) == target


@pytest.mark.parametrize("seconds", [0.1, -1.0], ids=["while it waits", "already over"])
def test_a_connection_that_waits_is_interrupted(seconds: float) -> None:
    class Stream:
        def get_extra_info(self, _: str) -> socket.socket:
            return ours

    ours, theirs = socket.socketpair()
    ours.settimeout(5.0)
    with ours, theirs, limit_connection(time.monotonic() + seconds) as trace:
        trace("connection.connect_tcp.complete", {"return_value": Stream()})
        assert ours.recv(1) == b"", "an end, not a timeout"
