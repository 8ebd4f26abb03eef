"""Two steps run side by side, and a failure in one of them is reported."""

from __future__ import annotations

import threading

import pytest

from taxkg_assets.retrieval.encoding import parallel
from taxkg_assets.retrieval.encoding.parallel import run_in_parallel


def test_both_steps_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "has_one_core", lambda: False)
    both = threading.Barrier(2)
    assert run_in_parallel(lambda: both.wait(10) >= 0, lambda: both.wait(10) >= 0) == (True, True)


def test_on_one_core_no_thread_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "has_one_core", lambda: True)
    here = threading.get_ident()
    assert run_in_parallel(threading.get_ident, threading.get_ident) == (here, here)


@pytest.mark.parametrize("is_alone", [False, True])
def test_a_step_that_fails_is_an_error(is_alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "has_one_core", lambda: is_alone)
    for steps in ((lambda: 1 // 0, lambda: 1), (lambda: 1, lambda: 1 // 0)):
        with pytest.raises(ZeroDivisionError):
            run_in_parallel(*steps)
