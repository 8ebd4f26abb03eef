"""Tests in the order in which the workers end together."""

from __future__ import annotations

import pytest

from taxkg_assets_tests.conftest import LONGEST, order_for_workers

MODULES = [
    *["tests/a/test_quick.py"] * 5,
    *[f"tests/{LONGEST[1]}"] * 2,
    *["tests/b/test_quick.py"] * 4,
    *[f"tests/{LONGEST[0]}"] * 1,
    *[f"tests/{LONGEST[2]}"] * 2,
]


@pytest.mark.parametrize("workers", [1, 2, 3, 20])
def test_every_test_runs_once_and_each_share_begins_with_the_longest(workers: int) -> None:
    order = order_for_workers(MODULES, workers=workers)
    assert sorted(order) == list(range(len(MODULES)))
    ordered = [MODULES[place] for place in order]
    assert ordered[0].endswith(LONGEST[0])
    if workers == 2:
        assert ordered[7].endswith(LONGEST[1])
        assert [ordered[place].endswith(LONGEST[2]) for place in (1, 2)] == [True, True]


def test_modules_stay_together() -> None:
    ordered = [MODULES[place] for place in order_for_workers(MODULES, workers=2)]
    for name in LONGEST[:3]:
        places = [place for place, module in enumerate(ordered) if module.endswith(name)]
        assert places == list(range(places[0], places[-1] + 1))
