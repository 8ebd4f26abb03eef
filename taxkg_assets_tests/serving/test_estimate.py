"""A run's cost is reported before it; an empty home names the command to run, wrong settings are reported at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxkg_assets.defs.home.proposers import ProposerSettingError
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.serving.estimate import estimate_build


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An empty home whose setting names a server of models that no one may call."""
    monkeypatch.setenv("TAXKG_LLM_PROVIDER", "openai")
    monkeypatch.setenv("TAXKG_LLM_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("TAXKG_LLM_MODEL", "some-model")
    return Home(home=str(tmp_path))


def test_an_empty_home_states_how_to_come_by_an_estimate(home: Home) -> None:
    rows = estimate_build(home)
    assert rows
    assert all("TAXKG_LLM_PROVIDER=rules taxkg build" in row.note for row in rows)


@pytest.mark.parametrize("name", ["TAXKG_LLM_URL", "TAXKG_LLM_MODEL"])
def test_a_missing_setting_is_reported_before_anything_is_built(
    name: str, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "")
    with pytest.raises(ProposerSettingError, match=f"{name} is empty"):
        estimate_build(home)
