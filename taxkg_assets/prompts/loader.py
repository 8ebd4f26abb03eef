"""Loader of the prompt files: Markdown next to this module with instructions, JSON schema and examples."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_FENCED = re.compile(r"^```json (schema|example)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PREFACE = "_preface"
"""The file with the instructions of every task: text of documents is data, quotes are verbatim."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One parsed prompt file.

    Attributes:
        name: Name of the task.
        instructions: Preface of all prompts, then the instructions of this prompt.
        schema: JSON schema of the response.
        examples: Items and proposals, as JSON.
        prompt_hash: Digest of file and preface, 16 hexadecimal digits.
    """

    name: str
    instructions: str
    schema: dict[str, Any]
    examples: tuple[dict[str, Any], ...]
    prompt_hash: str


@cache
def load_prompt(name: str) -> Prompt:
    """Read a prompt file together with the preface of all prompts, once per process.

    Args:
        name: Name of a task.

    Returns:
        The prompt; its hash covers the file and the preface.
    """
    text, preface = _read(name), _read(PREFACE)
    code_blocks = [(m[1], json.loads(m[2])) for m in _FENCED.finditer(text)]
    instructions = _FENCED.split(text)[0].split("\n## ")[0].strip()
    return Prompt(
        name=name,
        instructions=f"{preface.strip()}\n\n{instructions}",
        schema=next(value for kind, value in code_blocks if kind == "schema"),
        examples=tuple(value for kind, value in code_blocks if kind == "example"),
        prompt_hash=hashlib.sha256(f"{preface}\x1f{text}".encode()).hexdigest()[:16],
    )


def _read(name: str) -> str:
    return files("taxkg_assets.prompts").joinpath(f"{name}.md").read_text(encoding="utf8")
