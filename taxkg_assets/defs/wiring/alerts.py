"""Alerts of failures: always to the log, and to a webhook if the settings name one.

A failed run (with the gates that stopped it), a document in quarantine, a source that cannot be read. The body is
JSON with `text` for chat services and the same in parts for programs. Text of documents is in it as data only.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import httpx
import polars as pl
from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.resources import COMMAND_LINE, STARTED_BY_TAG, Home
from taxkg_assets.settings import Settings

ATTEMPTS = 3
SECONDS = 10.0
MOST_LINES = 20
MOST_CHARACTERS = 300

_log = logging.getLogger("taxkg.alerts")
_OWN_CLASS = re.compile(r"^taxkg_assets(?:\.\w+)+: ")


@dataclass(frozen=True, slots=True)
class Alert:
    """A problem that needs attention.

    Attributes:
        kind: `failed gate`, `failed run`, `quarantine`, or `sources` for sources that cannot be read.
        title: What happened, in one line.
        lines: One line per gate, error, document or source.
        run_id: Dagster run in which it happened; empty outside a run.
    """

    kind: str
    title: str
    lines: tuple[str, ...]
    run_id: str = ""


def find_alerts(instance: dg.DagsterInstance, store: Store, run_id: str) -> Iterator[Alert]:
    """List the alerts of a finished run.

    Args:
        instance: Dagster instance with the run.
        store: Tables of the home.
        run_id: Id of the run.

    Returns:
        Its failed gates or errors, and the documents that it refused for the first time.
    """
    record = instance.get_run_record_by_id(run_id)
    if record is None:
        return
    run = record.dagster_run
    if run.status == dg.DagsterRunStatus.FAILURE:
        gate_lines = _gate_lines(instance, run_id)
        error_lines = _error_lines(instance, run_id)
        served = "the last release is still served" if store.exists("release") else "there is no release yet"
        if gate_lines:
            yield Alert("failed gate", f"{run.job_name}: a gate has failed; {served}", gate_lines, run_id)
        else:
            yield Alert("failed run", f"{run.job_name}: the run has failed; {served}", error_lines, run_id)
    if record.start_time is not None:
        # The sensor may check a run when the next one has already refused more: each run reports its refusals.
        end = record.end_time if record.end_time is not None else time.time()
        refusal_lines = _refusal_lines(
            store, *(datetime.fromtimestamp(timestamp, UTC) for timestamp in (record.start_time, end))
        )
        if refusal_lines:
            yield Alert(
                "quarantine",
                f"{len(refusal_lines)} in quarantine; rows of earlier versions stay",
                refusal_lines,
                run_id,
            )


def _gate_lines(instance: dg.DagsterInstance, run_id: str) -> tuple[str, ...]:
    lines = []
    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION):
        evaluation = entry.get_dagster_event().asset_check_evaluation_data
        if not evaluation.passed and evaluation.blocking:
            figures = {name: value.value for name, value in evaluation.metadata.items()}
            note, rows = figures.get("note", ""), figures.get("offending rows", 0)
            lines.append(
                (
                    f"{evaluation.asset_key.to_user_string()}:{evaluation.check_name}: {rows} offending rows. {note}"
                ).strip()
            )
    return tuple(lines)


def _error_lines(instance: dg.DagsterInstance, run_id: str) -> tuple[str, ...]:
    kinds = {dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE}
    lines = []
    for entry in instance.all_logs(run_id, of_type=kinds):
        event = entry.get_dagster_event()
        error = event.step_failure_data.error if event.is_step_failure else None
        message = describe_error(error) if error is not None else event.message or ""
        lines.append(f"{event.step_key or 'run'}: {message}")
    return tuple(lines)


def describe_error(error: Any) -> str:
    """Return the message of a step's error, without the class name of taxkg's own errors.

    Args:
        error: Error as Dagster records it.
    """
    deepest = error.cause or error
    return _OWN_CLASS.sub("", str(deepest.message).strip())


def _refusal_lines(store: Store, start: datetime, end: datetime) -> tuple[str, ...]:
    fresh = store.read_or_empty("quarantine").filter(pl.col("first_seen_at").is_between(start, end))
    return tuple(
        f"{row['document_id']}: {row['stage']}: {row['reason']} {row['remedy']}" for row in fresh.iter_rows(named=True)
    )


def send(alert: Alert, *, settings: Settings, sleep: Callable[[float], None] = time.sleep) -> None:
    """Log an alert, and post it to the configured webhook; a failed delivery is only logged.

    Args:
        alert: The alert.
        settings: Settings with the address of the webhook.
        sleep: Function that waits a number of seconds, used between attempts.
    """
    lines = [line[:MOST_CHARACTERS] for line in alert.lines[:MOST_LINES]]
    text = "\n".join([f"taxkg: {alert.title}", *(f"- {line}" for line in lines)])
    _log.warning("%s", text)
    address = settings.alert_webhook.get_secret_value()
    if not address:
        return
    body = {**asdict(alert), "lines": lines, "text": text, "home": settings.home}
    try:
        for attempt in Retrying(
            retry=retry_if_exception_type(httpx.HTTPError),
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_random_exponential(max=SECONDS),
            sleep=sleep,
        ):
            with attempt:
                reply = httpx.post(
                    address,
                    content=json.dumps(body, default=str),
                    headers={"content-type": "application/json"},
                    timeout=SECONDS,
                    trust_env=False,
                )
                reply.raise_for_status()
    except (RetryError, httpx.InvalidURL) as undelivered:
        # The address may hold a key, so it is not logged.
        _log.error("An alert could not be delivered to TAXKG_ALERT_WEBHOOK: %s", type(undelivered).__name__)


def alert_runs(instance: dg.DagsterInstance, store: Store, run_ids: Sequence[str], *, settings: Settings) -> None:
    """Send the alerts of finished runs; an alert that several runs have in common is sent once.

    Args:
        instance: Dagster instance with the runs.
        store: Tables of the home.
        run_ids: Finished runs.
        settings: Settings with the address of the webhook.
    """
    for alert in dict.fromkeys(a for run_id in run_ids for a in find_alerts(instance, store, run_id)):
        send(alert, settings=settings)


def default_status() -> dg.DefaultSensorStatus:
    """Return the status that sensors have until a user switches them: running if `automation` is set."""
    return dg.DefaultSensorStatus.RUNNING if Settings().automation else dg.DefaultSensorStatus.STOPPED


def default_schedule_status() -> dg.DefaultScheduleStatus:
    """Return the status that schedules have until a user switches them: running if `automation` is set."""
    return dg.DefaultScheduleStatus.RUNNING if Settings().automation else dg.DefaultScheduleStatus.STOPPED


@dg.run_status_sensor(
    run_status=dg.DagsterRunStatus.FAILURE,
    name="alert_failed_runs",
    description="Sends an alert for each failed run: its failed gates, and the documents in quarantine.",
    minimum_interval_seconds=10,
    default_status=default_status(),
)
def alert_failed_runs(context: dg.RunStatusSensorContext) -> None:
    """Send alerts for a failed run.

    Args:
        context: Context of the Dagster sensor, with the run.
    """
    _alert_run(context)


@dg.run_status_sensor(
    run_status=dg.DagsterRunStatus.SUCCESS,
    name="alert_quarantine",
    description="Sends an alert for each successful run that put documents in quarantine.",
    minimum_interval_seconds=10,
    default_status=default_status(),
)
def alert_quarantine(context: dg.RunStatusSensorContext) -> None:
    """Send alerts for documents that a successful run quarantined.

    Args:
        context: Context of the Dagster sensor, with the run.
    """
    _alert_run(context)


def _alert_run(context: dg.RunStatusSensorContext) -> None:
    """Report what a run leaves to be inspected, unless the command that started it reports that itself."""
    if context.dagster_run.tags.get(STARTED_BY_TAG) == COMMAND_LINE:
        return
    home = Home()
    alert_runs(context.instance, home.store, [context.dagster_run.run_id], settings=home.settings)
