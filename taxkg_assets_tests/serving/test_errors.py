"""Expected errors are known by their names: each name is that of a class, and a class made of one counts as well."""

from __future__ import annotations

from importlib import import_module

import pytest

from taxkg_assets.serving.errors import EXPECTED, SCHEMA_ERROR, explained, is_one_of
from taxkg_assets.settings import SettingError


@pytest.mark.parametrize("name", sorted([*EXPECTED, SCHEMA_ERROR]))
def test_each_name_is_that_of_an_error(name: str) -> None:
    module, _, own = name.replace("_internal.", "deltalake.exceptions.").rpartition(".")
    if module.endswith(".spark"):
        pytest.importorskip("pyspark", reason="Spark is an extra")
    found = getattr(import_module(module), own)
    assert issubclass(found, Exception)
    assert f"{found.__module__}.{found.__qualname__}" == name, "defined there, not imported"


def test_a_class_made_of_an_expected_one_is_expected() -> None:
    class NarrowerError(SettingError):
        pass

    assert is_one_of(NarrowerError("home"), EXPECTED)
    assert explained(NarrowerError("TAXKG_HOME is wrong")) == "TAXKG_HOME is wrong"
    assert explained(RuntimeError("a defect")) is None
