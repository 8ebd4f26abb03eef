"""A whole build with a model, and the same from its record in a fresh home: no call, and the same tables."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.serving.build import SAMPLES, BuildResult, build
from taxkg_assets_tests.llm.providers.conversations import answer_like_the_rules, task_of
from taxkg_assets_tests.llm.providers.loopback import loopback
from taxkg_assets_tests.serving.homes import assert_same_tables

pytestmark = pytest.mark.slow

DOCUMENTS = ("sample-f1099div--2024-01.pdf", "sample-i1099div--2024-01.pdf", "sample-statute-title-7.txt")
QUERIED = {
    *("ambiguous_references", "boundary_detection", "structure_analysis", "metadata_enrichment"),
    *("quality_validation", "summaries"),
}


def test_a_recorded_build_is_made_again_without_a_call(
    built_samples: Path, begin_home: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "corpus"
    first = begin_home(tmp_path / "first", other=built_samples)
    again = begin_home(tmp_path / "again", with_vectors=False)
    folder.mkdir()
    for name in DOCUMENTS:
        shutil.copy(SAMPLES / name, folder)
    settings = {"LLM_MODEL": "m", "CHUNKER": "semantic"}
    for name, value in {**settings, "LLM_PROVIDER": "openai"}.items():
        monkeypatch.setenv(f"TAXKG_{name}", value)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with loopback(answer_like_the_rules) as server:
        monkeypatch.setenv("TAXKG_LLM_URL", f"{server.url}/v1")
        made = _build(first, folder)
        paid = len(server.sent)
        assert {task_of(sent) for sent in server.sent} >= QUERIED
        assert Store(first).count("llm_calls") == paid
        for table in ("references", "chunks", "summaries"):
            assert "llm" in Store(first).read(table)["created_by"], table

        shutil.copytree(first / "tables" / "llm_calls", again / "tables" / "llm_calls")
        monkeypatch.setenv("TAXKG_LLM_PROVIDER", "replay")
        remade = _build(again, folder)
        assert len(server.sent) == paid
    assert remade.rows == made.rows
    assert_same_tables(first, again, names=PIPELINE.built())


def _build(home: Path, folder: Path) -> BuildResult:
    result = build(str(home), roots=[folder])
    assert result.is_done, result
    assert result.errors == []
    return result
