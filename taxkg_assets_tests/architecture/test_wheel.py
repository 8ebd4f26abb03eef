"""The built package installs and works outside the checkout, and writes nothing next to its code."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from taxkg_assets.defs.evaluation import FULL, LEFT_OUT
from tools.bare_install import find_bare_install

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (
    "LICENSE",
    "MANIFEST.in",
    "README.md",
    "dagster.yaml",
    "data",
    "pyproject.toml",
    "setup.py",
    "taxkg_assets",
    "workspace.yaml",
)
"""What a source distribution is made of; the rest of a checkout may not be needed."""
SDIST = "from setuptools import build_meta; build_meta.build_sdist('dist')"
WHEEL = "from setuptools import build_meta; build_meta.build_wheel('dist')"
START_SECONDS = 120.0


@dataclass(frozen=True)
class Installation:
    """A fresh environment with the built package.

    Attributes:
        folder: Environment of Python.
        user: Folder that commands run in; it is neither the checkout nor the environment.
    """

    folder: Path
    user: Path

    @property
    def package(self) -> Path:
        """Return the folder of the installed package."""
        return next(self.folder.glob("lib/python*/site-packages/taxkg_assets"))

    @property
    def environment(self) -> dict[str, str]:
        """Return environment variables without a trace of the checkout."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("TAXKG_", "PYTHON", "DAGSTER"))
        }
        return {**kept, "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `taxkg` as a user does."""
        command = [str(self.folder / "bin" / "taxkg"), *arguments]
        return subprocess.run(
            command, cwd=self.user, env=self.environment, capture_output=True, text=True, check=False, timeout=600
        )


def _build(command: str, folder: Path, suffix: str) -> Path:
    subprocess.run([sys.executable, "-c", command], cwd=folder, check=True, capture_output=True, timeout=300)
    return next((folder / "dist").glob(f"*{suffix}"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is built from the source distribution, as `python -m build` does."""
    checkout, unpacked = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("unpacked")
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, checkout / name, ignore=shutil.ignore_patterns("__pycache__", "store", "work"))
        else:
            shutil.copy(source, checkout / name)
    with tarfile.open(_build(SDIST, checkout, ".tar.gz")) as archive:
        archive.extractall(unpacked, filter="data")
    return _build(WHEEL, next(unpacked.iterdir()), ".whl")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The wheel in a fresh environment with links to the packages that it requires, and to no others.

    To download them would take minutes; a package that the wheel imports and does not require is missing all the same.
    """
    folder, user = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("user")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120)
    packages = next(folder.glob("lib/python*/site-packages"))
    required, _ = find_bare_install(ROOT / "pyproject.toml")
    for distribution in required.values():
        for name in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            if not name.endswith(".pth") and not (packages / name).is_symlink():
                (packages / name).symlink_to(distribution.locate_file(name))
    command = [sys.executable, "-m", "pip", "--python", str(folder), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return Installation(folder, user)


def _names(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def test_the_wheel_contains_every_file_that_the_package_reads(wheel: Path) -> None:
    names = _names(wheel)
    inside = [path for path in (ROOT / "taxkg_assets").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    bundled = [ROOT / "dagster.yaml", ROOT / "workspace.yaml", *(ROOT / "data" / "samples").glob("*.[pt][dx][ft]")]
    bundled += [*(ROOT / "data" / "eval").iterdir(), *(ROOT / "data" / "training").rglob("questions*.jsonl")]
    wanted = {path.relative_to(ROOT).as_posix() for path in inside}
    wanted |= {f"taxkg_assets/bundled/{path.relative_to(ROOT).as_posix()}" for path in bundled}
    assert len(bundled) > 10
    assert wanted - names == set()


def test_the_wheel_contains_neither_tests_nor_tools(wheel: Path) -> None:
    assert {name.split("/")[0].split("-")[0] for name in _names(wheel)} == {"taxkg_assets", "taxkg"}


def test_every_command_has_help(installed: Installation) -> None:
    done = installed.run("--help")
    assert done.returncode == 0, done.stderr
    assert "build" in done.stdout
    assert "ask" in done.stdout


@pytest.fixture(scope="module")
def built(installed: Installation) -> Path:
    """The home that `taxkg build` makes of the bundled samples, in the folder where the user is."""
    before = set(installed.folder.rglob("*"))
    done = installed.run("build")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert set(installed.folder.rglob("*")) == before, "nothing is written next to the code"
    return installed.user / "data" / "store"


def test_the_samples_are_built_with_their_labels_where_the_user_is(built: Path, installed: Installation) -> None:
    done = installed.run("status", "--json")
    assert done.returncode == 0, done.stderr
    assert (built / "tables" / "documents").is_dir()
    assert (built / "dagster" / "dagster.yaml").read_bytes() == (ROOT / "dagster.yaml").read_bytes()
    checkout = str(ROOT).encode()
    assert [path for path in built.rglob("*.json*") if path.is_file() and checkout in path.read_bytes()] == []


def test_a_build_measures_what_each_part_of_the_search_adds(built: Path, installed: Installation) -> None:
    done = installed.run("eval", "--json")
    assert done.returncode == 0, done.stderr
    systems = {row["system"] for row in json.loads(done.stdout)["figures"]}
    assert systems == {"bm25", "dense", "hybrid", FULL, *LEFT_OUT}
    assert "router" in (built / "reports" / "evaluation.md").read_text(encoding="utf8")


def test_a_question_is_answered_with_a_citation(built: Path, installed: Installation) -> None:
    done = installed.run("ask", "Is section 897 gain part of ordinary dividends?", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert "sample-" in json.dumps(answer), "a sample is cited"


@pytest.fixture
def served(built: Path, installed: Installation) -> Iterator[str]:
    """`taxkg serve` on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(installed.folder / "bin" / "taxkg"), "serve", "--home", str(built), "--port", str(port)]
    with subprocess.Popen(command, cwd=installed.user, env=installed.environment) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _read(address: str) -> bytes:
    ends = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(address, timeout=30) as reply:
                return bytes(reply.read())
        except OSError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.2)


def test_the_server_has_its_explorer_and_its_api(served: str) -> None:
    assert b"<html" in _read(f"{served}/")
    assert _read(f"{served}/assets/app.js")
    assert json.loads(_read(f"{served}/v1/documents"))
