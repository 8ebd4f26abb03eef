"""Settings of the language models: what is wrong is said, and a table follows the models that made it."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxkg_assets.defs.home.proposers import ProposerSettingError, open_proposer, proposer_fingerprint
from taxkg_assets.defs.wiring.resources import Home


def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **settings: str) -> Home:
    for name, value in settings.items():
        monkeypatch.setenv(f"TAXKG_LLM_{name.upper()}", value)
    return Home(home=str(tmp_path))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"provider": "openai", "url": "http://x"}, "TAXKG_LLM_MODEL is empty"),
        ({"provider": "openai", "model": "m"}, "TAXKG_LLM_URL is empty"),
        ({"provider": "bedrock", "model": "m", "models": '{"poetry": "m"}'}, "unknown tasks: poetry"),
        ({"provider": "replay", "model": "m", "prices": "nowhere.yaml"}, "not a price list"),
    ],
)
def test_a_wrong_setting_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], message: str
) -> None:
    with pytest.raises(ProposerSettingError, match=message):
        open_proposer(_home(tmp_path, monkeypatch, **settings))


@pytest.mark.parametrize(
    "prices",
    [
        "m[: {input_usd: 1, output_usd: 2}",
        "m: {input_usd: -1, output_usd: 2}",
        "m: {input_usd: .nan, output_usd: 2}",
        "m: {input_usd: 1}",
        "- m",
        "m: [",
    ],
)
def test_invalid_prices_are_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prices: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(prices, encoding="utf8")
    with pytest.raises(ProposerSettingError, match="is not a price list") as raised:
        open_proposer(_home(tmp_path, monkeypatch, provider="replay", model="m", prices=str(path)))
    assert "\n" not in str(raised.value)


def test_the_fingerprint_follows_the_models_and_not_the_way_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = proposer_fingerprint(_home(tmp_path, monkeypatch))
    bedrock = proposer_fingerprint(_home(tmp_path, monkeypatch, provider="bedrock", model="m"))
    replay = proposer_fingerprint(_home(tmp_path, monkeypatch, provider="replay", concurrency="9", seconds="3"))
    other = proposer_fingerprint(_home(tmp_path, monkeypatch, model="n"))
    assert len({rules, bedrock, other}) == 3
    assert bedrock == replay
