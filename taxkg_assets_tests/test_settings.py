"""Every setting: a value that cannot be is said in one line that names it, the value and the remedy."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Literal, get_origin

import pytest
from pydantic import SecretStr

from taxkg_assets.settings import SettingError, Settings, settings_of

ANY_TEXT = (str, SecretStr)
BAD: dict[object, tuple[str, ...]] = {
    int: ("many", "-7", "1e999", "²"),
    float: ("long", "-1", "nan", "inf", "1e400"),
    bool: ("perhaps",),
    Literal: ("nobody", "AUTO"),
    dict: ("x", "[1]", '{"a": [1]}', "[" * 100_000),
}


def _kind(name: str) -> object:
    annotation = Settings.model_fields[name].annotation
    return get_origin(annotation) or annotation


CASES = [(name, value) for name in Settings.model_fields for value in BAD.get(_kind(name), ())]


def test_every_setting_is_any_text_or_has_values_that_cannot_be() -> None:
    assert {_kind(name) for name in Settings.model_fields} <= {*ANY_TEXT, *BAD}


@pytest.mark.parametrize(("name", "value"), CASES, ids=[f"{name}-{value[:9]}" for name, value in CASES])
def test_a_wrong_value_is_said_in_one_line(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"TAXKG_{name.upper()}", value)
    with pytest.raises(SettingError) as raised:
        Settings()
    said = str(raised.value)
    assert f"TAXKG_{name.upper()} ({Settings.model_fields[name].description}) is " in said
    assert said.endswith(f"or unset it to use the default, {Settings.model_fields[name].default!r}.")
    assert (value if _kind(name) is not dict else value[:1]) in said
    assert "\n" not in said
    assert len(said) < 700


def test_all_wrong_settings_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAXKG_TIERS", '{"f1040": 7}')
    monkeypatch.setenv("TAXKG_WORKERS", "0")
    with pytest.raises(SettingError, match=r"TAXKG_WORKERS .* is '0'.*TAXKG_TIERS .* is '7' at f1040"):
        Settings()


@pytest.mark.parametrize("name", Settings.model_fields)
def test_an_empty_variable_is_the_default(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"TAXKG_{name.upper()}", "")
    assert getattr(Settings(), name) == Settings.model_fields[name].default


@pytest.mark.slow
def test_the_command_line_and_the_definitions_say_it_without_a_trace_of_their_own() -> None:
    program = (
        "import sys\n"
        "from taxkg_assets.serving.cli import main\n"
        "from taxkg_assets.settings import SettingError\n"
        "sys.argv = ['taxkg', 'status', '--home', 'nowhere']\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 2\n"
        "try: import taxkg_assets.definitions\n"
        "except SettingError as wrong: print(wrong)\n"
    )
    variables = {**os.environ, "TAXKG_CHUNKER": "foo"}
    done = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, timeout=120)
    wrong = "A setting is wrong: TAXKG_CHUNKER ("
    assert done.stderr.count("\n") == done.stdout.count("\n") == 1, done.stderr
    assert done.stderr.startswith(f"taxkg: {wrong}")
    assert done.stdout.startswith(wrong)
    assert "is 'foo': input should be 'auto', 'structural' or 'semantic'." in done.stderr


def test_settings_are_read_once_until_a_variable_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAXKG_WORKERS", raising=False)
    first = settings_of("here")
    assert settings_of("here") is first
    assert settings_of("there").home == "there"
    monkeypatch.setenv("TAXKG_WORKERS", "7")
    assert (first.workers, settings_of("here").workers) == (2, 7)
    monkeypatch.setenv("TAXKG_WORKERS", "none")
    with pytest.raises(SettingError, match="TAXKG_WORKERS"):
        settings_of("here")
    monkeypatch.delenv("TAXKG_WORKERS")
    assert settings_of("here") == first
