"""Disks that are small or read-only, made without rights: a namespace of its own, in which a script mounts them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

CLI = f"{sys.executable} -m taxkg_assets.serving.cli"


@cache
def can_mount() -> bool:
    """Whether this machine lets an ordinary user mount a disk in a namespace of its own."""
    if not shutil.which("unshare"):
        return False
    probe = ["unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def run_mounted(script: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell script in a mount namespace; what it mounts is gone when it ends."""
    command = ["unshare", "-Urm", "bash", "-uc", script, "script", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
