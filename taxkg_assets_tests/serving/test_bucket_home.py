"""The whole asset graph on a home in a bucket, on an S3 that fails now and then: as on a folder, and readable there."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxkg_assets.defs.home.store import Store
from taxkg_assets_tests.object_store import KEYS, ObjectStore
from taxkg_assets_tests.serving.homes import assert_same_tables, run_cli

pytestmark = pytest.mark.slow


HOME = "s3://library/homes/samples"
QUESTION = "What does box 1b of Form 1099-DIV show?"


def test_a_home_in_a_bucket_equals_one_in_a_folder(
    built_samples: Path, object_store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {**object_store.environment, "TAXKG_WORK": str(tmp_path / "work")}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    object_store.empty_bucket("library")
    object_store.fail(match=".", every=60)
    built = run_cli("build", "--home", HOME, environment=environment)
    failed = object_store.fail()
    assert built.returncode == 0, built.stdout + built.stderr
    assert failed > 3
    assert_same_tables(built_samples, HOME)

    store = Store(HOME)
    here = {
        path.relative_to(store.home).as_posix()
        for pattern in ("*", "tables/*/", "index/*/")
        for path in store.home.glob(pattern)
    }
    assert here <= {".lock", ".remote", ".sources.lock", "cache", "copies", "dagster", "index", "tables"}
    assert {"changes", "evaluation.html", "evaluation.md"} <= set(store.storage.children("reports"))

    queried = [run_cli("ask", QUESTION, "--json", "--home", home) for home in (HOME, str(built_samples))]
    assert queried[0].returncode == 0, queried[0].stderr
    assert queried[0].stdout == queried[1].stdout

    secret = KEYS["AWS_SECRET_ACCESS_KEY"].encode()
    logged = [path.read_bytes() for path in store.home.rglob("*") if path.is_file()]
    assert not any(secret in text for text in [*logged, built.stdout.encode(), built.stderr.encode()])
