"""Garbage is looked for rarely, never while modules are loaded, and as before afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from taxkg_assets.garbage import COLLECT_AFTER, collect_rarely, loading_modules


@pytest.fixture(autouse=True)
def _thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_no_garbage_is_looked_for_while_modules_are_loaded() -> None:
    gc.unfreeze()
    with loading_modules():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0, "what is loaded stays"


def test_a_module_that_cannot_be_loaded_leaves_the_collector_on() -> None:
    with pytest.raises(ImportError), loading_modules():
        raise ImportError
    assert gc.isenabled()


def test_who_has_switched_the_collector_off_finds_it_off() -> None:
    gc.disable()
    with loading_modules():
        pass
    assert not gc.isenabled()
    gc.enable()


def test_garbage_is_looked_for_after_many_new_objects() -> None:
    gc.set_threshold(700, 11, 12)
    collect_rarely()
    assert gc.get_threshold() == (COLLECT_AFTER, 11, 12)
