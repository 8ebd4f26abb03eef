"""LanceDB is loaded without preparing to validate requests that no home sends; they are validated all the same."""

from __future__ import annotations

import subprocess
import sys

import pydantic
import pytest

from taxkg_assets.defs.home.lance_client import load_lancedb, validate_late

pytestmark = pytest.mark.slow


def _double(number: int) -> int:
    """Twice a number."""
    return 2 * number


def test_arguments_are_validated_when_the_function_is_called() -> None:
    late = validate_late(_double)
    assert (late(3), late("4"), late(number=5)) == (6, 8, 10)
    assert late.__name__ == "_double"
    with pytest.raises(pydantic.ValidationError):
        late("many")
    strict = validate_late(config={"strict": True})(_double)
    assert strict(3) == 6
    with pytest.raises(pydantic.ValidationError):
        strict("4")


def test_others_get_the_validation_of_pydantic() -> None:
    assert load_lancedb().__name__ == "lancedb"
    assert pydantic.validate_call is not validate_late


def test_requests_of_the_client_are_still_validated() -> None:
    program = """
import pydantic
from taxkg_assets.defs.home.lance_client import load_lancedb
load_lancedb()
from lance_namespace_urllib3_client.api.table_api import TableApi
try:
    TableApi().describe_table(id=3, describe_table_request={})
except pydantic.ValidationError as refused:
    print(refused.error_count())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert int(done.stdout) > 0, done.stderr
