"""Words that are the project's own in a file: names, comments, documentation and messages, without sample texts.

A pattern that matches documents, a sample document in a test and a written question use the words of others. They are
left out by the structure of the file, never by its name.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import yaml

DESCRIBED = frozenset({"source", "reason", "kind", "note", "id"})
"""Keys of rule files whose values describe a rule; all others are patterns, examples, word lists and limits."""
_COMMENT = re.compile(r"(?:^|\s)#(?=\s).*$")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def read_own_words(path: Path, *, has_samples: bool) -> str:
    """Read the project's own words of a file; what is left out becomes blank, so that lines keep their numbers.

    Args:
        path: File to read.
        has_samples: Whether string literals of a module are sample texts, as in tests.

    Returns:
        Text with as many lines as the file.
    """
    text = path.read_text(encoding="utf8")
    if path.suffix == ".py" and has_samples:
        return _place(_find_names_and_comments(text), height=text.count("\n"))
    if path.suffix in (".yaml", ".yml"):
        return _place(_find_descriptions(text), height=text.count("\n"))
    if path.suffix == ".md":
        return _FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    return text


def _place(words: Iterator[tuple[int, str]], *, height: int) -> str:
    """Put words on their 0-based lines; a word of several lines begins on the first."""
    lines = [""] * (height + 1)
    for line, word in words:
        for number, part in enumerate(word.split("\n")):
            lines[line + number] += f" {part}"
    return "\n".join(lines)


def _find_names_and_comments(text: str) -> Iterator[tuple[int, str]]:
    documented = {
        node.value.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_documentation = token.type == tokenize.STRING and token.start[0] in documented
        if token.type in (tokenize.NAME, tokenize.COMMENT) or is_documentation:
            yield token.start[0] - 1, token.string


def _find_descriptions(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines()):
        match = _COMMENT.search(line)
        # A quotation mark that is open before the sign makes it a part of a value.
        if match is not None and line[: match.start()].replace("''", "").count("'") % 2 == 0:
            yield number, match[0]
    waiting = [node for node in (yaml.compose(text),) if node is not None]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                yield key.start_mark.line, str(key.value)
                if key.value in DESCRIBED and isinstance(value, yaml.ScalarNode):
                    yield value.start_mark.line, " ".join(str(value.value).split())
                waiting.append(value)
