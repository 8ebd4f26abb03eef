"""A question loads no engine that only builds need, and says the same where LanceDB holds the passages."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from taxkg_assets.defs.home.index_files import IndexFilesError
from taxkg_assets.defs.home.question_models import CARD, VERIFIED, ExportDamagedError, export_name, open_export
from taxkg_assets.defs.home.store import Store
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder
from taxkg_assets.retrieval.index.passage_index import LanceIndex, SearchIndex
from taxkg_assets.serving.released import Released, open_release

pytestmark = pytest.mark.slow


FORBIDDEN = {"torch", "transformers", "sentence_transformers", "dagster", "lancedb", "pymupdf", "mcp"}
SCHEMA_LIBRARIES = {"dataframely", "sqlalchemy"}
"""Loaded where a table is read and checked; a question without filters reads the index alone."""
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


@pytest.mark.parametrize("command", [["ask", "How are ordinary dividends reported?"], ["table", "What is the rate?"]])
def test_a_question_without_filters_loads_no_schema(built_samples: Path, command: list[str]) -> None:
    loaded, _ = _loaded([*command, "--home", str(built_samples)])
    assert loaded & SCHEMA_LIBRARIES == set()


def test_who_asks_a_model_loads_no_engine_either() -> None:
    program = "import sys, taxkg_assets.defs.home.proposers; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & FORBIDDEN == set()


@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_cold_question_has_quality_flags(sample_home: Path, command: str) -> None:
    store = Store(sample_home)
    flagged = {"strength": "incomplete", "outcome": "flagged", "rows": 1, "message": "A heading is unread."}
    is_first = pl.col("law").cum_count().over("document_id") == 1
    changed = store.read("document_quality").with_columns(
        *(pl.when(is_first).then(pl.lit(value)).otherwise(name).alias(name) for name, value in flagged.items()),
    )
    version = store.write("document_quality", changed.cast({"rows": pl.Int32}), inputs="").version
    release = store.read("release")
    served = json.loads(release["table_versions"][-1]) | {"document_quality": version}
    store.write("release", release.with_columns(table_versions=pl.lit(json.dumps(served))), inputs="")
    loaded, shown = _loaded([command, "How are ordinary dividends reported?", "--home", str(sample_home)])
    words = " ".join(shown.split())
    assert "caution sample-" in words
    assert ": A heading is unread." in words
    assert loaded & FORBIDDEN == set()


def test_without_its_export_a_question_is_encoded_with_torch(
    sample_home: Path, built_samples: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(sample_home / "models")
    released, exact = open_release(str(sample_home)), open_release(str(built_samples)).searcher
    with caplog.at_level(logging.WARNING, logger="taxkg.serving"):
        assert isinstance(released.question_encoder, SentenceEncoder)
    assert "Questions are encoded with PyTorch" in caplog.text
    assert "run `taxkg build`" in caplog.text
    for question in QUESTIONS[:12]:
        ours, theirs = (searcher.search(question, k=1) for searcher in (released.searcher, exact))
        assert [row.chunk_id for row in ours] == [row.chunk_id for row in theirs], question


def test_help_loads_no_table_either() -> None:
    loaded, _ = _loaded(["--help"])
    assert loaded & {*FORBIDDEN, "polars", "deltalake", "onnxruntime", "numpy"} == set()


def _open(home: Path, rows: int, monkeypatch: pytest.MonkeyPatch) -> Released:
    monkeypatch.setenv("TAXKG_INDEX_MEMORY_ROWS", str(rows))
    released = open_release(str(home))
    assert released.searcher is not None
    return released


def test_an_index_in_lancedb_answers_as_one_in_memory_does(
    built_samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
            {**row.model_dump(), "score": pytest.approx(row.score, abs=2e-4), "via": via}  # scores have four decimals
            for row, via in ((row, _near(row.via.model_dump())) for row in exact.assemble(one, k=3))
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


@pytest.mark.parametrize("rows", [0, 1_000_000])
@pytest.mark.parametrize("left", [None, 100])
def test_a_missing_or_cut_off_file_of_the_index_is_refused(
    sample_home: Path, rows: int, left: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = open_release(str(sample_home))
    path = sample_home / released.row["index_path"] / "facts" / "code_signs.npy"
    whole = path.read_bytes()
    path.unlink()
    if left is not None:
        path.write_bytes(whole[:left])
    with pytest.raises(IndexFilesError, match=r"code_signs\.npy.*run `taxkg build`"):
        _open(sample_home, rows, monkeypatch).searcher.search(QUESTIONS[0])


def test_a_lost_index_is_named_with_the_remedy(sample_home: Path) -> None:
    shutil.rmtree(sample_home / "index")
    with pytest.raises(IndexFilesError, match=r"index/\w+, is missing\. Run `taxkg build`"):
        _ = open_release(str(sample_home)).searcher


def test_a_damaged_export_is_refused(built_samples: Path, tmp_path: Path) -> None:
    hashed = open_release(str(built_samples)).row["model_hash"]
    name = export_name(hashed)
    folder = tmp_path / name
    folder.mkdir(parents=True)
    for path in (built_samples / name).iterdir():
        (folder / path.name).write_bytes(path.read_bytes() + (b"" if path.name == CARD else b" "))
    with pytest.raises(ExportDamagedError, match="taxkg build"):
        open_export(Store(tmp_path), hashed, threads=1)


def test_an_export_that_did_not_change_is_not_hashed_again(
    built_samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = open_release(str(built_samples)).row["model_hash"]
    homes = [tmp_path / name for name in ("first", "second")]
    shutil.copytree(built_samples / export_name(hashed), homes[0] / export_name(hashed))
    homes[1].symlink_to(homes[0])  # another path: a model is opened once a process
    assert open_export(Store(homes[0]), hashed, threads=1) is not None
    with monkeypatch.context() as patched:
        patched.setattr(hashlib, "file_digest", lambda *_: pytest.fail("a file was hashed that did not change"))
        assert open_export(Store(homes[1]), hashed, threads=1) is not None
    (homes[0] / export_name(hashed) / VERIFIED).write_text("damaged", encoding="utf8")
    homes[1].rename(tmp_path / "third")
    assert open_export(Store(tmp_path / "third"), hashed, threads=1) is not None
