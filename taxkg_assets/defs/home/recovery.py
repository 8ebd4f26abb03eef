"""Interrupted runs: runs whose process was killed or ended, so that they are reported and repeated.

Dagster cannot see that a killed process is gone: it would wait for it, and start no other run, for ever. The home
knows, by the note that such a run leaves there.
"""

from __future__ import annotations

import dagster as dg

from taxkg_assets.defs.home.store import BUILD, HomeBusyError, Store

RUNS = ("build", "__ASSET_JOB")
INTERRUPTED = "DagsterExecutionInterruptedError"


def report_dead_run(instance: dg.DagsterInstance, store: Store, *, work: str = BUILD) -> str:
    """Mark the home's active run as failed in Dagster if its process died.

    Args:
        instance: Dagster instance.
        store: Tables of the home.
        work: Kind of run that may have died: `build` or `training`.

    Returns:
        Id of the dead run; empty if there is none.
    """
    if not store.active_run(work=work):
        return ""
    try:
        with store.exclusive(work=work):
            run = instance.get_run_by_id(store.active_run(work=work))
            store.clear_active_run(work=work)
    except HomeBusyError:
        return ""
    if run is None or run.is_finished:
        return ""
    instance.report_run_failed(run, "The process of this run ended early. Tables that it had committed are kept.")
    return run.run_id


def find_interrupted_run(instance: dg.DagsterInstance) -> str:
    """Return the id of the newest run if it was killed or interrupted; empty if one of its own steps failed.

    Args:
        instance: Dagster instance.
    """
    newest = next((run for run in instance.get_runs(limit=10) if run.job_name in RUNS), None)
    if newest is None or newest.status != dg.DagsterRunStatus.FAILURE:
        return ""
    failures = instance.all_logs(newest.run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    errors = [entry.get_dagster_event().step_failure_data.error for entry in failures]
    has_failed_step = any(error is not None and error.cls_name != INTERRUPTED for error in errors)
    return "" if has_failed_step else newest.run_id
