"""Without an operator: with the real daemon alone a document reaches the release, is refused, and recovers."""

from __future__ import annotations

import time
from pathlib import Path

import pymupdf
import pytest

from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.serving.build import SAMPLES
from taxkg_assets.serving.released import open_release
from taxkg_assets.serving.status import table_statuses
from taxkg_assets_tests.defs.daemon import await_truth, open_daemon, open_hook

pytestmark = pytest.mark.slow

START_SECONDS = 400.0
# A minute on an idle machine; the limit is for one that has a dozen other things to do.
UNATTENDED_SECONDS = 400.0
NEW = "small-i1099div--2026-01"


def revise(path: Path, *, sentence: str) -> None:
    """Write a later revision of the sample instructions, with one sentence more."""
    with pymupdf.open(SAMPLES / "sample-i1099div--2024-01.pdf") as document:
        document[-1].insert_text((72, 720), sentence, fontsize=9)
        document.save(path)


def pages(home: Path, name: str) -> str:
    """All text of a document as it is served."""
    rows = open_release(str(home)).table("sections").filter(document_id=name)
    return " ".join(rows["text"])


def test_a_dropped_document_is_released_a_bad_one_refused_and_a_corrected_one_recovers(small_home: Path) -> None:
    inbox, store = small_home / "inbox", Store(small_home)
    log = small_home.with_name("daemon.log")
    with open_hook() as hook:
        environment = {"TAXKG_AUTOMATION": "true", "TAXKG_ALERT_WEBHOOK": hook.url}
        with open_daemon(small_home, environment=environment) as process:
            await_truth(lambda: "sources_changed" in log.read_text(), seconds=START_SECONDS, process=process, log=log)

            revise(inbox / f"{NEW}.pdf", sentence="A first remark stands here.")
            await_truth(lambda: released(store, 2), seconds=UNATTENDED_SECONDS, process=process, log=log)
            assert "A first remark" in pages(small_home, NEW)
            changes = " ".join(p.read_text() for p in (small_home / "reports" / "changes").glob("*.md"))
            assert "A first remark" in changes
            report = (small_home / "reports" / "evaluation.md").stat().st_mtime
            assert time.time() - report < UNATTENDED_SECONDS
            served = open_release(str(small_home))

            (inbox / f"{NEW}.pdf").write_bytes(b"%PDF-1.7 cut")
            await_truth(lambda: refused(store) == [NEW], seconds=UNATTENDED_SECONDS, process=process, log=log)
            await_truth(lambda: hook.kinds() == ["quarantine"], seconds=UNATTENDED_SECONDS, process=process, log=log)
            assert NEW in hook.alerts[0]["text"]
            assert open_release(str(small_home)).row["index_version"] == served.row["index_version"]
            assert "A first remark" in pages(small_home, NEW)

            revise(inbox / f"{NEW}.pdf", sentence="A second remark stands here.")
            await_truth(
                lambda: not refused(store) and "A second remark" in pages(small_home, NEW),
                seconds=UNATTENDED_SECONDS,
                process=process,
                log=log,
            )
            await_truth(lambda: is_idle(store), seconds=UNATTENDED_SECONDS, process=process, log=log)
    # What is only trained is made by `taxkg train`: a document never waits for it.
    states = {table.table: table.state for table in table_statuses(store) if table.table in PIPELINE.built()}
    assert {name: state for name, state in states.items() if state != "current"} == {}
    assert hook.kinds() == ["quarantine"]


def released(store: Store, count: int) -> bool:
    return store.read("release").height >= count


def refused(store: Store) -> list[str]:
    return store.read_or_empty("quarantine")["document_id"].to_list()


def is_idle(store: Store) -> bool:
    return not store.active_run()
