"""Dagster's daemon, which keeps a code server for an hour: `python -m taxkg_assets.defs.wiring.daemon_program run`.

Dagster's own daemon starts a new code server each minute, to see changed code. To load the asset graph takes seconds
of a processor each time, and memory for two of them.
"""

from __future__ import annotations

from pathlib import Path

from taxkg_assets.defs.wiring.compat import keep_code_servers, run_daemon

PACKAGE = Path(__file__).resolve().parents[2]

CodeState = dict[str, tuple[int, int]]
"""Time of change and size of each file of the package, by path."""


def read_code_state(folder: Path = PACKAGE) -> CodeState:
    """Return what changes when a file of the package does.

    Args:
        folder: Folder of the package.

    Returns:
        Time of change in nanoseconds and size in bytes, by path.
    """
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path): (status.st_mtime_ns, status.st_size) for path in files if (status := path.stat())}


class CodeWatch:
    """Whether a file of the package has changed since the last look.

    Args:
        folder: Folder of the package.
    """

    def __init__(self, folder: Path = PACKAGE) -> None:
        self._folder = folder
        self._seen = read_code_state(folder)

    def is_outdated(self) -> bool:
        """Return whether a file has changed, appeared or gone since the last call."""
        state = read_code_state(self._folder)
        has_changed = state != self._seen
        self._seen = state
        return has_changed


if __name__ == "__main__":
    keep_code_servers(CodeWatch().is_outdated)
    run_daemon()
