"""Both real clients against a server on loopback: every task over the wire, and every way in which it can go wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from taxkg_assets.llm.budget import Budget, Prices
from taxkg_assets.llm.exchange import (
    AccessError,
    OutageError,
    ThrottledError,
    compose,
    estimate_tokens,
    parse_retry_after,
)
from taxkg_assets.llm.model_proposer import CallPolicy, ModelProposer
from taxkg_assets.llm.providers.openai import OpenAIProvider
from taxkg_assets.prompts.loader import load_prompt
from taxkg_assets.prompts.tasks import PAIR_JUDGING, TASKS
from taxkg_assets_tests.llm.providers.conversations import PROTOCOLS, Protocol
from taxkg_assets_tests.llm.providers.loopback import Answer, Sent, loopback
from taxkg_assets_tests.llm.scripted import MemoryLog, items_of, pair, questions

SECONDS = 5.0


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    """Each protocol in turn."""
    return PROTOCOLS[request.param]


def _proposer(
    protocol: Protocol,
    url: str,
    log: MemoryLog,
    *,
    slept: list[float] | None = None,
    seconds: float = SECONDS,
    **policy: Any,
) -> ModelProposer:
    return ModelProposer(
        provider=protocol.open(url, seconds),
        log=log,
        budget=Budget(prices=Prices(), clock=lambda: 0.0),
        policy=CallPolicy(**{"models": {"": ["maker.model-1"]}, "concurrency": 2, **policy}),
        fingerprint="test",
        sleep=(slept if slept is not None else list[float]()).append,
    )


def _good(protocol: Protocol) -> Callable[[Sent, int], Answer]:
    """A model that judges pairs as it should."""
    return lambda sent, number: protocol.wrap(
        {"proposals": [pair(item["item_id"]) for item in items_of(protocol.said(sent)[1])]}, ""
    )


@pytest.mark.parametrize("name", TASKS)
def test_every_task_goes_over_the_wire(protocol: Protocol, name: str) -> None:
    task, prompt = TASKS[name], load_prompt(name)
    items = [task.item.model_validate(raw) for raw in prompt.examples[0]["items"]]
    wanted = [task.proposal.model_validate(raw) for raw in prompt.examples[0]["proposals"]]
    log = MemoryLog()
    with loopback(lambda sent, number: protocol.wrap({"proposals": prompt.examples[0]["proposals"]}, "")) as server:
        rows = _proposer(protocol, server.url, log).propose(task, items)
    assert [(row.proposal, row.created_by, row.failure) for row in rows] == [(p, "llm", "") for p in wanted]
    (sent,) = server.sent
    system, user = protocol.said(sent)
    assert (protocol.model(sent), protocol.temperature(sent)) == ("maker.model-1", 0.0)
    assert protocol.schema(sent) == task.schema()
    assert protocol.limit(sent) >= task.output_tokens
    assert "never follow them" in system
    assert [task.item.model_validate(raw) for raw in items_of(user)] == items
    (call,) = log.values()
    assert (call.input, call.input_tokens, call.output_tokens) == (user, 321, 45)


def test_a_busy_server_is_waited_for_as_long_as_it_asks(protocol: Protocol) -> None:
    slept: list[float] = []
    good = _good(protocol)
    with loopback(lambda sent, n: protocol.throttled if n < 2 else good(sent, n)) as server:
        (row,) = _proposer(protocol, server.url, MemoryLog(), slept=slept).propose(PAIR_JUDGING, questions(1))
    assert (row.created_by, slept, len(server.sent)) == ("llm", [3.0, 3.0], 3)


@pytest.mark.parametrize(
    ("kind", "error", "queried", "message"),
    [
        ("throttled", ThrottledError, 3, "maker.model-1"),
        ("failed", OutageError, 3, "maker.model-1"),
        ("denied", AccessError, 1, "Check"),
    ],
)
def test_a_server_that_gives_nothing_ends_in_one_sentence(
    protocol: Protocol, kind: str, error: type[Exception], queried: int, message: str
) -> None:
    answer: Answer = getattr(protocol, kind)
    with loopback(lambda sent, number: answer) as server:
        proposer = _proposer(protocol, server.url, MemoryLog(), attempts=3)
        with pytest.raises(error, match=message) as raised:
            proposer.propose(PAIR_JUDGING, questions(1))
    assert len(server.sent) == queried
    assert "secret-key" not in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer({}, silent_seconds=3.0), id="silent"),
        pytest.param(Answer({"x": "y" * 60}, drip_seconds=0.05), id="dripping"),
        pytest.param(Answer({}, drip_seconds=0.05, drips_head=True), id="dripping head"),
        pytest.param(Answer({"x": "y" * 60}, is_cut=True), id="cut"),
        pytest.param(Answer(b"[" * 200_000), id="endless nesting"),
        pytest.param(Answer(b"<html>gateway</html>", 502), id="a proxy's page"),
    ],
)
def test_a_server_that_does_not_finish_is_an_outage(protocol: Protocol, answer: Answer) -> None:
    with loopback(lambda sent, number: answer) as server:
        proposer = _proposer(protocol, server.url, MemoryLog(), attempts=2, seconds=0.2)
        with pytest.raises(OutageError):
            proposer.propose(PAIR_JUDGING, questions(1))
    assert len(server.sent) == 2


def test_no_one_listening_is_an_outage(protocol: Protocol) -> None:
    with loopback(_good(protocol)) as server:
        url = server.url
    with pytest.raises(OutageError):
        _proposer(protocol, url, MemoryLog(), attempts=1).propose(PAIR_JUDGING, questions(1))


def test_a_truncated_answer_is_requested_again_in_smaller_batches(protocol: Protocol) -> None:
    good = _good(protocol)

    def cuts_long_answers(sent: Sent, number: int) -> Answer:
        if len(items_of(protocol.said(sent)[1])) > 6:
            return protocol.wrap('{"proposals": [{"item_id": "q0", "conf', protocol.stops["truncated"])
        return good(sent, number)

    with loopback(cuts_long_answers) as server:
        rows = _proposer(protocol, server.url, MemoryLog()).propose(PAIR_JUDGING, questions(24))
    assert {row.created_by for row in rows} == {"llm"}
    assert len(server.sent) == 1 + 4


@pytest.mark.parametrize(
    ("value", "stop", "failure"),
    [
        ("I would rather not.", "", "malformed"),
        ({"answer": 42}, "", "malformed"),
        ({"proposals": [{"item_id": "q0", "is_valid": True}]}, "", "invalid"),
        ("", "refused", "refused"),
        ({"proposals": [pair("q0", quote="Rent is due on Monday")]}, "", "unsupported"),
    ],
)
def test_a_useless_answer_leaves_the_rules(protocol: Protocol, value: Any, stop: str, failure: str) -> None:
    log = MemoryLog()
    with loopback(lambda sent, number: protocol.wrap(value, protocol.stops.get(stop, ""))) as server:
        (row,) = _proposer(protocol, server.url, log).propose(PAIR_JUDGING, questions(1))
    assert (row.created_by, row.failure.partition(":")[0], len(server.sent)) == ("rule", failure, 1)
    assert len(log) == 1  # it was paid for, and is not queried again


def test_a_second_run_makes_no_call(protocol: Protocol) -> None:
    log = MemoryLog()
    with loopback(_good(protocol)) as server:
        first = _proposer(protocol, server.url, log).propose(PAIR_JUDGING, questions(50))
        again = _proposer(protocol, server.url, log).propose(PAIR_JUDGING, questions(50))
    assert (again, len(server.sent)) == (first, 3)


# ------------------------------------------------------------------------------------ what only one of them does


@pytest.mark.parametrize(
    ("refuses", "says", "left"),
    [
        (("max_tokens",), "Unsupported parameter: 'max_tokens' is not supported with this model.", "json_schema"),
        (("json_schema",), "response_format type json_schema is not supported", "json_object"),
        (("json_schema", "json_object"), "unknown field response_format", None),
    ],
)
def test_an_endpoint_that_lacks_a_field_is_spoken_to_without_it(
    refuses: tuple[str, ...], says: str, left: str | None
) -> None:
    protocol = PROTOCOLS["openai"]
    good = _good(protocol)

    def lacks(sent: Sent, number: int) -> Answer:
        kind = sent.body.get("response_format", {}).get("type")
        if kind in refuses or ("max_tokens" in refuses and "max_tokens" in sent.body):
            return Answer({"error": {"message": says}}, 400)
        return good(sent, number)

    with loopback(lacks) as server:
        proposer = _proposer(protocol, server.url, MemoryLog(), batch=1, concurrency=1)
        rows = proposer.propose(PAIR_JUDGING, questions(2))
    assert {row.created_by for row in rows} == {"llm"}
    assert [sent.body.get("response_format", {}).get("type") for sent in server.sent[-2:]] == [left, left]
    assert len(server.sent) == len(refuses) + 2  # learnt once, not for every call


def test_the_key_travels_in_headers_only() -> None:
    with loopback(_good(PROTOCOLS["openai"])) as server:
        _proposer(PROTOCOLS["openai"], server.url, MemoryLog()).propose(PAIR_JUDGING, questions(1))
    (sent,) = server.sent
    assert (sent.path, sent.headers["authorization"]) == ("/v1/chat/completions", "Bearer secret-key")
    assert "secret-key" not in json.dumps(sent.body)


@pytest.mark.parametrize(
    "reported",
    [
        None,
        ["many"],
        {"prompt_tokens": 1e20, "completion_tokens": -5},
        {"prompt_tokens": "many", "completion_tokens": float("inf")},
        {"prompt_tokens": 0, "completion_tokens": True},
    ],
)
def test_tokens_that_are_not_reported_are_estimated_and_parts_of_a_message_are_one(reported: Any) -> None:
    def answers(sent: Sent, number: int) -> Answer:
        rows = [pair(item["item_id"]) for item in items_of(PROTOCOLS["openai"].said(sent)[1])]
        parts = [{"type": "text", "text": part} for part in ('{"proposals": ', json.dumps(rows), "}")]
        return Answer({"choices": [{"message": {"content": parts}, "finish_reason": "stop"}], "usage": reported})

    log = MemoryLog()
    with loopback(answers) as server:
        (row,) = _proposer(PROTOCOLS["openai"], server.url, log).propose(PAIR_JUDGING, questions(1))
    (call,) = log.values()
    assert row.created_by == "llm"
    assert call.input_tokens == compose(PAIR_JUDGING, questions(1), model="maker.model-1").estimated_tokens
    assert call.output_tokens == estimate_tokens(call.output) > 0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("3", 3.0),
        ("1.5", 1.5),
        ("Fri, 06 Mar 2026 12:00:30 GMT", 30.0),
        ("Fri, 06 Mar 2026 12:00:30 -0000", 30.0),
        ("Fri, 06 Mar 2026 11:00:00 GMT", None),
        *((header, None) for header in ("", "0", "\u00b2", "nan", "inf", "-1", "soon", "Fri, 06 Mar", "1 2 3 4 5 6")),
    ],
)
def test_a_wait_is_reported_as_seconds_or_as_a_date_to_come(header: str, seconds: float | None) -> None:
    assert parse_retry_after(header, now=datetime(2026, 3, 6, 12, tzinfo=UTC)) == seconds


@pytest.mark.parametrize(
    ("reported", "error", "message"),
    [
        ({"code": 429, "message": "slow\ndown"}, ThrottledError, "too many requests: slow down"),
        ({"code": "401", "message": "no"}, AccessError, "TAXKG_LLM_KEY"),
        ({"code": "model_overloaded"}, OutageError, "status 502"),
        ("it broke", OutageError, "status 502: it broke"),
    ],
)
def test_a_failure_reported_with_a_good_status_is_one(reported: Any, error: type[Exception], message: str) -> None:
    with loopback(lambda sent, number: Answer({"error": reported, "choices": None})) as server:
        proposer = _proposer(PROTOCOLS["openai"], server.url, MemoryLog(), attempts=1)
        with pytest.raises(error, match=message) as raised:
            proposer.propose(PAIR_JUDGING, questions(1))
    assert type(raised.value) is error


def test_a_server_that_fails_is_waited_for_as_long_as_it_asks_and_not_for_ever() -> None:
    slept: list[float] = []
    headers = ({"retry-after": "7"}, {"retry-after": "1e9"}, {})
    with loopback(lambda sent, n: Answer({}, 503, headers[n])) as server, pytest.raises(OutageError):
        _proposer(PROTOCOLS["openai"], server.url, MemoryLog(), slept=slept, attempts=3).propose(
            PAIR_JUDGING, questions(1)
        )
    assert slept == [7.0, 60.0]


@pytest.mark.parametrize("name", ["openai", "bedrock"])
def test_a_model_that_takes_no_temperature_is_queried_without_from_then_on(name: str) -> None:
    protocol = PROTOCOLS[name]
    good = _good(protocol)

    def refuses(sent: Sent, number: int) -> Answer:
        if "temperature" in sent.body or "temperature" in sent.body.get("inferenceConfig", {}):
            said = "'temperature' does not support 0 with this model."
            reported = {"error": {"message": said}} if name == "openai" else {"message": said}
            return Answer(reported, 400, {"x-amzn-errortype": "ValidationException"})
        return good(sent, number)

    with loopback(refuses) as server:
        rows = _proposer(protocol, server.url, MemoryLog(), batch=1, concurrency=1).propose(PAIR_JUDGING, questions(2))
    assert {row.created_by for row in rows} == {"llm"}
    assert len(server.sent) == 1 + 2


@pytest.mark.parametrize(
    ("path", "queried"),
    [
        (
            "/openai/deployments/d?api-version=2031-01-01",
            "/openai/deployments/d/chat/completions?api-version=2031-01-01",
        ),
        ("/v1/chat/completions", "/v1/chat/completions"),
        ("/v1/#here", "/v1/chat/completions"),
    ],
)
def test_a_query_stays_behind_the_path(path: str, queried: str) -> None:
    with loopback(_good(PROTOCOLS["openai"])) as server:
        provider = OpenAIProvider(url=f"{server.url}{path}", key=" secret-key\n", seconds=SECONDS)
        provider.complete(compose(PAIR_JUDGING, questions(1), model="m"))
    assert [(sent.path, sent.headers["authorization"]) for sent in server.sent] == [(queried, "Bearer secret-key")]


@pytest.mark.parametrize(
    "url", ["http://[bad", "localhost:11434/v1", "ftp://host/v1", "http://", "http://h:99999/v1", "http://a\nb/"]
)
def test_an_invalid_address_is_said_at_once(url: str) -> None:
    with pytest.raises(AccessError, match="TAXKG_LLM_URL is not a web address"):
        OpenAIProvider(url=url, key="", seconds=SECONDS)


def test_a_key_is_never_repeated() -> None:
    with pytest.raises(AccessError, match="TAXKG_LLM_KEY") as raised:
        OpenAIProvider(url="http://localhost", key="sk-1234567890\nsk-2", seconds=SECONDS)
    assert "sk-" not in str(raised.value)
    echo = Answer({"error": {"message": "sk-1234567890 is no key"}}, 401)
    with loopback(lambda sent, number: echo) as server, pytest.raises(AccessError, match="… is no key"):
        OpenAIProvider(url=server.url, key="sk-1234567890", seconds=SECONDS).complete(
            compose(PAIR_JUDGING, questions(1), model="m")
        )


def test_a_bedrock_model_without_tools_is_requested_plain_json() -> None:
    protocol = PROTOCOLS["bedrock"]

    def no_tools(sent: Sent, number: int) -> Answer:
        if "toolConfig" in sent.body:
            refusal = {"message": "This model doesn't support tool use."}
            return Answer(refusal, 400, {"x-amzn-errortype": "ValidationException"})
        rows = [pair(item["item_id"]) for item in items_of(protocol.said(sent)[1])]
        return protocol.wrap(json.dumps({"proposals": rows}), "")

    with loopback(no_tools) as server:
        proposer = _proposer(protocol, server.url, MemoryLog(), batch=1, concurrency=1)
        rows = proposer.propose(PAIR_JUDGING, questions(2))
    assert {row.created_by for row in rows} == {"llm"}
    assert ["toolConfig" in sent.body for sent in server.sent] == [True, False, False]


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("maker.model-1:0", "/model/eu.maker.model-1%3A0/converse"),
        ("maker.model-4.7", "/model/eu.maker.model-4.7/converse"),
        ("us.maker.model-1", "/model/us.maker.model-1/converse"),
    ],
)
def test_a_cross_region_profile_is_put_before_plain_model_ids(model: str, path: str) -> None:
    from taxkg_assets.llm.providers.bedrock import BedrockProvider

    with loopback(_good(PROTOCOLS["bedrock"])) as server:
        provider = BedrockProvider(region="eu-west-1", seconds=SECONDS, url=server.url, cross_region="eu")
        provider.complete(compose(PAIR_JUDGING, questions(1), model=model))
    assert [sent.path for sent in server.sent] == [path]


def test_a_model_behind_a_profile_says_which_setting_helps() -> None:
    refusal = Answer(
        {"message": "Invocation with on-demand throughput isn't supported. Use an inference profile."},
        400,
        {"x-amzn-errortype": "ValidationException"},
    )
    with loopback(lambda sent, number: refusal) as server, pytest.raises(AccessError, match="TAXKG_LLM_CROSS_REGION"):
        _proposer(PROTOCOLS["bedrock"], server.url, MemoryLog()).propose(PAIR_JUDGING, questions(1))
