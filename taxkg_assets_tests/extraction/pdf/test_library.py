"""PyMuPDF is loaded without what no one asks; who asks for it has it."""

from __future__ import annotations

import subprocess
import sys

import pytest

_LOAD = """
import sys

from taxkg_assets.extraction.pdf.library import load_layout, pymupdf
light = {"pymupdf.layout", "pymupdf4llm", "onnxruntime"} & sys.modules.keys()
assert not light, light
assert pymupdf._get_layout is None
load_layout()
print(callable(pymupdf._get_layout))
import pymupdf4llm
print(callable(pymupdf4llm.to_markdown))
"""


@pytest.mark.slow
def test_the_layout_model_is_loaded_where_it_is_requested() -> None:
    done = subprocess.run([sys.executable, "-c", _LOAD], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["True", "True"]
