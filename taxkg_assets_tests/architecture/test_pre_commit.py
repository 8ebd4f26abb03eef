"""The hooks before a commit run what `make check` runs, with the environment's own tools."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
HOOKS = {
    hook["id"]: hook
    for repo in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf8"))["repos"]
    for hook in repo["hooks"]
}


def test_the_hooks_are_the_checks_that_need_no_network() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf8").partition("\ncheck:")[2].partition("\n\n")[0]
    checks = [line.replace("$(BIN)", ".venv/bin") for line in re.findall(r"^\t(\$\(BIN\).+)$", recipe, re.MULTILINE)]
    hooks = {hook["entry"] for hook in HOOKS.values() if hook["language"] == "system"}
    assert {check.removesuffix(" .") for check in checks} - {".venv/bin/python deploy/audit.py"} == hooks


@pytest.mark.parametrize(
    ("message", "is_accepted"),
    [
        ("feat(graph): Add polarity to edges", True),
        ("docs: Say what a gate is\n\nFor readers.", True),
        ("Merge branch 'work'", True),
        ("add polarity", False),
        ("feat: add polarity", False),
    ],
)
def test_a_commit_message_names_its_kind(message: str, is_accepted: bool) -> None:
    assert bool(re.search(HOOKS["conventional-commit"]["entry"], message)) == is_accepted
