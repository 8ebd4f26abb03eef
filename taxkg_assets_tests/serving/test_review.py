"""Review without anything to review."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxkg_assets.defs.home.store import Store
from taxkg_assets.serving.review import NotWaitingError, decide, list_waiting


def test_a_home_without_chunks_says_to_build_first(tmp_path: Path) -> None:
    with pytest.raises(NotWaitingError, match="taxkg build"):
        list_waiting(Store(tmp_path))
    with pytest.raises(NotWaitingError, match="taxkg build"):
        decide(Store(tmp_path), ["paragraph:d:p1:e1@0"], decision="accepted", reason="")
