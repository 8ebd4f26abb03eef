"""A question loads no engine that only builds need, and says the same as one that LanceDB answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from taxkg_assets.defs.question_models import CARD, ExportDamagedError, export_name, open_export
from taxkg_assets.defs.store import Store
from taxkg_assets.retrieval.passage_index import LanceIndex, SearchIndex
from taxkg_assets.serving.released import Released, open_release

FORBIDDEN = {"torch", "transformers", "sentence_transformers", "dagster", "lancedb", "bm25s", "pymupdf", "mcp"}
PROGRAM = """
import sys
from taxkg_assets.serving import cli
try:
    cli.main()
finally:
    print("LOADED", *sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""
QUESTIONS = [
    json.loads(line)["query"]
    for line in (Path(__file__).resolve().parents[2] / "data" / "eval" / "queries.jsonl").read_text("utf8").splitlines()
    if line.strip()
]


def _loaded(arguments: Sequence[str]) -> tuple[set[str], str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=False, env={**os.environ}
    )
    line = next(line for line in done.stderr.splitlines() if line.startswith("LOADED"))
    assert done.returncode == 0, done.stderr
    return set(line.split()[1:]), done.stdout


@pytest.mark.parametrize(
    "command",
    [
        ["ask", "How are ordinary dividends reported?"],
        ["search", "exempt-interest dividends", "--form", "1099-DIV"],
        ["box", "1099-DIV", "1a"],
        ["table", "What is the rate?"],
    ],
)
def test_a_question_loads_no_engine(built_samples: Path, command: list[str]) -> None:
    loaded, shown = _loaded([*command, "--home", str(built_samples)])
    assert loaded & FORBIDDEN == set()
    assert "polars" in loaded
    assert shown.strip()


def test_help_loads_no_table_either() -> None:
    loaded, _ = _loaded(["--help"])
    assert loaded & {*FORBIDDEN, "polars", "deltalake", "onnxruntime", "numpy"} == set()


def _open(home: Path, rows: int, monkeypatch: pytest.MonkeyPatch) -> Released:
    monkeypatch.setenv("TAXKG_INDEX_MEMORY_ROWS", str(rows))
    released = open_release(str(home))
    assert released.searcher is not None
    return released


def test_lancedb_answers_as_the_index_in_memory_does(built_samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = _open(built_samples, 1_000_000, monkeypatch).searcher
    served = _open(built_samples, 0, monkeypatch).searcher
    assert isinstance(exact.index, SearchIndex)
    assert isinstance(served.index, LanceIndex)
    assert served.index.height == exact.index.height
    for question in QUESTIONS:
        one, other = exact.rank(question), served.rank(question)
        assert [found.row for found in other.candidates] == [found.row for found in one.candidates], question
        scores = [[found.score for found in ranking.candidates] for ranking in (one, other)]
        assert scores[1] == pytest.approx(scores[0], abs=1e-4)
        assert [row.model_dump() for row in served.assemble(other, k=3)] == [
            {**row.model_dump(), "score": pytest.approx(row.score, abs=1e-4), "via": via}
            for row, via in ((row, _near(row.via)) for row in exact.assemble(one, k=3))
        ]


def _near(via: dict[str, object]) -> dict[str, object]:
    return {name: pytest.approx(value, abs=1e-3) if isinstance(value, float) else value for name, value in via.items()}


@pytest.mark.parametrize(
    "filters",
    [
        {"form": "1099-DIV"},
        {"year": 2026},
        {"form": "1099-DIV", "year": 2024},
        {"document": "sample-i1099div--2024-01"},
        {"level": "document"},
        {"level": "page"},
        {"level": "section"},
    ],
)
def test_filters_are_pushed_down(
    built_samples: Path, filters: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact, served = (_open(built_samples, rows, monkeypatch).searcher for rows in (1_000_000, 0))
    for question in QUESTIONS[:12]:
        one, other = (searcher.search(question, k=5, **filters) for searcher in (exact, served))  # type: ignore[arg-type]
        assert [row.chunk_id for row in other] == [row.chunk_id for row in one]
        if "document" in filters:
            assert {row.document for row in other} == {filters["document"]}


def test_a_damaged_export_is_refused(built_samples: Path, tmp_path: Path) -> None:
    hashed = open_release(str(built_samples)).row["model_hash"]
    name = export_name(hashed)
    folder = tmp_path / name
    folder.mkdir(parents=True)
    for path in (built_samples / name).iterdir():
        (folder / path.name).write_bytes(path.read_bytes() + (b"" if path.name == CARD else b" "))
    with pytest.raises(ExportDamagedError, match="taxkg build"):
        open_export(Store(tmp_path), hashed, threads=1)
