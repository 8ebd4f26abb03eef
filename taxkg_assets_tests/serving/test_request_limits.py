"""Places at a server: who sends or reads slowly takes none, and a busy server still says that it is alive."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from taxkg_assets.serving import request_limits
from taxkg_assets.serving.request_limits import RequestLimits
from taxkg_assets.settings import Settings

PLACES = 2
WHOLE = {"type": "http.request", "body": b"{}", "more_body": False}
BEGUN = {"type": "http.request", "body": b"{", "more_body": True}


class Caller:
    """One client: what it sends at once, whether it reads, and the status that it was reported."""

    def __init__(self, path: str = "/v1/search", *, sends: Message | None = WHOLE, is_reading: bool = True) -> None:
        self.path, self.status, self.reported = path, 0, b""
        self._messages, self._is_reading = [sends] if sends else [], is_reading

    async def call(self, app: ASGIApp) -> None:
        headers = [(b"host", b"localhost")]
        await app({"type": "http", "method": "POST", "path": self.path, "headers": headers}, self._receive, self._send)

    async def _receive(self) -> Message:
        if not self._messages:
            await anyio.sleep_forever()
        return self._messages.pop()

    async def _send(self, message: Message) -> None:
        self.status = message.get("status", self.status)
        self.reported += message.get("body", b"")
        if not self._is_reading:
            await anyio.sleep_forever()


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    assert (await receive())["body"] == b"{}"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"done"})


def guarded(app: ASGIApp) -> RequestLimits:
    return RequestLimits(app, settings=Settings(api_waiting=PLACES))


async def _while_busy(app: ASGIApp, busy: list[Caller], then: Callable[[], Awaitable[Any]]) -> None:
    async with anyio.create_task_group() as tasks:
        for caller in busy:
            tasks.start_soon(caller.call, app)
        await anyio.wait_all_tasks_blocked()
        await then()
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("slow", [{"sends": None}, {"sends": BEGUN}, {"is_reading": False}])
def test_slow_callers_take_nobodys_place(slow: dict[str, Any]) -> None:
    app, another = guarded(answer), Caller()
    anyio.run(_while_busy, app, [Caller(**slow) for _ in range(3 * PLACES)], lambda: another.call(app))
    assert (another.status, another.reported) == (200, b"done")


def test_a_body_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "BODY_SECONDS", 0.01)
    slow = Caller(sends=BEGUN)
    anyio.run(slow.call, guarded(answer))
    assert slow.status == 408
    assert "0.01 seconds" in json.loads(slow.reported)["detail"]


def test_more_than_may_wait_are_turned_away_and_the_watchdog_is_not() -> None:
    async def work(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/v1/search":
            await anyio.sleep_forever()
        await answer(scope, receive, send)

    app, turned_away, watchdog = guarded(work), Caller("/v1/ask"), Caller("/healthz")

    async def others() -> None:
        await turned_away.call(app)
        await watchdog.call(app)

    anyio.run(_while_busy, app, [Caller() for _ in range(PLACES)], others)
    assert (turned_away.status, watchdog.status) == (503, 200)
    later = Caller("/v1/ask")
    anyio.run(later.call, app)
    assert later.status == 200, "those who left have given their places back"
