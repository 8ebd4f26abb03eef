"""Alerts: what a run leaves to be inspected, and that it reaches the webhook, or is logged where that cannot be."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import polars as pl
import pytest

from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.alerts import ATTEMPTS, Alert, describe_error, find_alerts, send
from taxkg_assets.serving.build import SAMPLES, build
from taxkg_assets.settings import Settings
from taxkg_assets_tests.defs.daemon import open_hook

ALERT = Alert("quarantine", "1 in quarantine", ("a.pdf: open: it is <cut>.",), "run-1")


def test_a_refused_document_and_a_failed_gate_are_reported_once(
    sample_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "cut.pdf").write_bytes(b"%PDF-1.7 cut")
    gold = tmp_path / "gold"
    gold.mkdir()
    rows = [json.loads(line) for line in (SAMPLES.parent / "eval" / "roles.jsonl").read_text().splitlines()]
    (gold / "roles.jsonl").write_text("\n".join(json.dumps({**row, "role": "Callout"}) for row in rows))
    monkeypatch.setenv("TAXKG_GOLD", str(gold))
    with open_hook() as hook:
        monkeypatch.setenv("TAXKG_ALERT_WEBHOOK", hook.url)
        assert not build(str(sample_home), roots=[folder], select=["documents", "elements"]).is_done
        assert hook.kinds() == ["failed gate", "quarantine"]
        assert "elements:roles_on_labeled_documents" in hook.alerts[0]["text"]
        assert "cut: open:" in hook.alerts[1]["lines"][0]
        assert not build(str(sample_home), select=["documents", "elements"]).is_done
        assert hook.kinds() == ["failed gate", "quarantine", "failed gate"], "the document was refused before"


@pytest.mark.parametrize(("seconds", "kinds"), [(-1, []), (5, ["quarantine"]), (11, [])])
def test_a_run_reports_only_what_it_refused_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, kinds: list[str]
) -> None:
    began = datetime(2026, 1, 2, tzinfo=UTC)
    refused = {"document_id": "cut", "stage": "open", "reason": "It is cut.", "remedy": "Fetch it again."}
    rows = pl.DataFrame([{**refused, "first_seen_at": began + timedelta(seconds=seconds)}])
    monkeypatch.setattr(Store, "read_or_empty", lambda *_: rows)
    run = SimpleNamespace(status=dg.DagsterRunStatus.SUCCESS, job_name="build")
    record = SimpleNamespace(dagster_run=run, start_time=began.timestamp(), end_time=began.timestamp() + 10)
    instance: Any = SimpleNamespace(get_run_record_by_id=lambda _: record)
    assert [alert.kind for alert in find_alerts(instance, Store(tmp_path), "run-1")] == kinds


def test_an_alert_is_sent_again_until_it_is_taken(caplog: pytest.LogCaptureFixture) -> None:
    with open_hook(failures=ATTEMPTS - 1) as hook:
        send(ALERT, settings=Settings(alert_webhook=hook.url), sleep=lambda _: None)
    assert [alert["run_id"] for alert in hook.alerts] == ["run-1"]
    assert "could not be delivered" not in caplog.text


def test_what_cannot_be_delivered_is_logged_without_its_address(caplog: pytest.LogCaptureFixture) -> None:
    with open_hook(failures=ATTEMPTS) as hook, caplog.at_level(logging.WARNING):
        send(ALERT, settings=Settings(alert_webhook=hook.url), sleep=lambda _: None)
    assert hook.alerts == []
    assert "1 in quarantine" in caplog.text
    assert "could not be delivered" in caplog.text
    assert hook.url not in caplog.text


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("taxkg_assets.llm.exchange.OutageError: m: it is down.\n", "m: it is down."),
        ("ZeroDivisionError: division by zero\n", "ZeroDivisionError: division by zero"),
    ],
)
def test_our_own_errors_are_reported_without_their_class(message: str, said: str) -> None:
    cause = SimpleNamespace(message=message, cause=None)
    assert describe_error(SimpleNamespace(message="a step has failed", cause=cause)) == describe_error(cause) == said
