"""The script of CI: it runs the checks and the tests with and without real documents, Chromium and apt-get."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("bash", "env", "dirname", "timeout", "chmod", "cat")
MAKE = '#!/bin/sh\necho "make $1, required: ${TAXKG_REQUIRE_CORPUS:-no}"\n'
ROOT_USER = "#!/bin/sh\necho 0\n"
PLAIN_USER = "#!/bin/sh\necho 1000\n"
INSTALLS = '#!/bin/sh\nif [ "$1" = install ]; then cp "$(dirname "$0")/id" "$(dirname "$0")/chromium"; fi\n'
FAILS = "#!/bin/sh\nexit 100\n"


def _run(folder: Path, *, programs: dict[str, str], corpus: bool = False) -> list[str]:
    """Run the script in an empty project on a machine that has only these programs; returns its lines."""
    project, programs_folder = folder / "project", folder / "bin"
    (project / ".ci").mkdir(parents=True)
    programs_folder.mkdir()
    shutil.copy(ROOT / ".ci" / "run", project / ".ci" / "run")
    if corpus:
        (folder / "shared" / "corpus").mkdir(parents=True)
    for tool in (*TOOLS, "cp"):
        found = shutil.which(tool)
        assert found is not None
        (programs_folder / tool).symlink_to(found)
    for name, text in {"make": MAKE, **programs}.items():
        (programs_folder / name).write_text(text)
        (programs_folder / name).chmod(0o755)
    bash = str(programs_folder / "bash")
    done = subprocess.run(
        [bash, str(project / ".ci" / "run")],
        env={"PATH": str(programs_folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_without_real_documents_their_tests_may_be_skipped(tmp_path: Path) -> None:
    lines = _run(tmp_path, programs={"id": ROOT_USER, "chromium": ROOT_USER})
    assert lines[0].startswith("No real documents in ../shared")
    assert lines[1:] == ["make check, required: no", "make test, required: no"]


def test_with_real_documents_their_tests_must_run(tmp_path: Path) -> None:
    lines = _run(tmp_path, programs={"id": ROOT_USER, "chromium": ROOT_USER}, corpus=True)
    assert lines == ["make check, required: 1", "make test, required: 1"]


def test_a_missing_chromium_is_installed(tmp_path: Path) -> None:
    lines = _run(tmp_path, programs={"id": ROOT_USER, "apt-get": INSTALLS}, corpus=True)
    assert lines[0] == "Chromium is installed for the tests of the explorer."
    assert lines[-1].startswith("make test")


@pytest.mark.parametrize(
    "programs",
    [{"id": ROOT_USER}, {"id": ROOT_USER, "apt-get": FAILS}, {"id": PLAIN_USER, "apt-get": INSTALLS}],
    ids=["no apt-get", "apt-get fails", "no rights"],
)
def test_where_chromium_cannot_be_installed_the_rest_runs(tmp_path: Path, programs: dict[str, str]) -> None:
    lines = _run(tmp_path, programs=programs, corpus=True)
    assert lines[0] == "Chromium cannot be installed here: tests of the explorer are skipped."
    assert lines[1:] == ["make check, required: 1", "make test, required: 1"]
