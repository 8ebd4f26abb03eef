"""What each task looks like on the wire, both ways, kept next to this file; `make golden` rewrites it after a look."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from taxkg_assets.llm.exchange import compose
from taxkg_assets.prompts.loader import load_prompt
from taxkg_assets.prompts.tasks import TASKS
from taxkg_assets_tests.llm.providers.conversations import PROTOCOLS
from taxkg_assets_tests.llm.providers.loopback import loopback

HERE = Path(__file__).parent / "transcripts"
KEPT_HEADERS = ("content-type",)


def _talk(protocol_name: str, name: str) -> dict[str, Any]:
    """One call of a task, as it went over the wire."""
    protocol, task, prompt = PROTOCOLS[protocol_name], TASKS[name], load_prompt(name)
    example = prompt.examples[0]
    items = [task.item.model_validate(raw) for raw in example["items"]]
    answer = protocol.wrap({"proposals": example["proposals"]}, "")
    with loopback(lambda sent, number: answer) as server:
        reply = protocol.open(server.url, 5.0).complete(compose(task, items, model="maker.model-1"))
    (sent,) = server.sent
    headers = {key: sent.headers[key] for key in KEPT_HEADERS}
    queried = {"path": sent.path, "headers": headers, "body": sent.body}
    read = {"stop": reply.stop, "input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens}
    return {"request": queried, "response": answer.body, "read": {**read, "answer": json.loads(reply.text)}}


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_conversation_is_as_before(protocol: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    path = HERE / f"{protocol}-{name}.json"
    text = json.dumps(_talk(protocol, name), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    if os.environ.get("TAXKG_REWRITE_GOLDEN"):
        path.write_text(text, encoding="utf8")
    assert text == path.read_text(encoding="utf8")
