"""Walks of calls: how often a reader who follows the code returns to a package that was left.

`python -m tools.call_walk` follows the bytes of one bundled form through the extraction, and one question through the
answer. The rule of counting:

- A walk is the order in which functions of the product are called for the first time, in one thread. What is loaded
  once for all documents or questions (rules, patterns) is loaded before. Lambdas, comprehensions, methods that
  `dataclass` generates, and those behind a loop or an attribute (`__iter__`, `__get__`) are no functions that someone
  reads.
- The package of a function is the innermost one that contains its module: `retrieval.index`, not `retrieval`. A figure
  for `retrieval` as a whole is printed, too: as long as it was one flat package, it was the only one, and near 0.
- A return is a step into a package that the walk has visited and left before; those in the first 120 functions count.
  A function that calls another package between two of its own package's functions causes one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "data" / "samples"
FORM = "sample-f1099div--2024-01"
OTHER_FORM = "sample-f1099div--2026-01"
QUESTION = "What is reported in box 1a of Form 1099-DIV?"
OTHER_QUESTION = "Which line shows the foreign tax paid, and who must file?"
"""The first question. It has other words: terms of words are remembered, and would not be looked up again."""
STEPS = 120
"""Functions of a walk that are counted."""
_PACKAGE = "taxkg_assets."
_GENERATED = "<string>"
"""File of methods that `dataclass` generates."""
_BEHIND_SYNTAX = {"__iter__", "__len__", "__get__"}
"""Methods that a loop, a length or an attribute calls."""


def record_walk(call: Callable[[], object]) -> list[str]:
    """Record the packages of the functions that a call enters.

    Args:
        call: Function to follow, in this thread only.

    Returns:
        Package of each function, such as `extraction.pdf`, in the order of their first calls.
    """
    seen: set[Any] = set()
    walk: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith(_PACKAGE) and frame.f_code not in seen:
            seen.add(frame.f_code)
            name = frame.f_code.co_name
            if not name.startswith("<") and name not in _BEHIND_SYNTAX and frame.f_code.co_filename != _GENERATED:
                walk.append(module.removeprefix(_PACKAGE).rpartition(".")[0])

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return walk


def count_returns(walk: list[str]) -> int:
    """Count the steps of a walk into a package that was left before.

    Args:
        walk: Package of each function.

    Returns:
        Number of returns.
    """
    left: set[str] = set()
    returns, here = 0, ""
    for package in walk:
        if package != here:
            returns += package in left
            left.add(here)
            here = package
    return returns


def walk_document() -> list[str]:
    """Follow one bundled form from its bytes to its tables."""
    from taxkg_assets.extraction.extract import extract

    def read(form: str) -> None:
        extract((SAMPLES / f"{form}.pdf").read_bytes(), document_id=form)

    read(OTHER_FORM)  # loads what every later document shares
    return record_walk(lambda: read(FORM))


def walk_question(home: Path) -> list[str]:
    """Follow one question to its answer.

    Args:
        home: Home with a release.
    """
    from taxkg_assets.retrieval.answering.answer import ask
    from taxkg_assets.serving.released import open_release
    from taxkg_assets.settings import Settings

    released = open_release(str(home))
    ask(released.searcher, OTHER_QUESTION, settings=Settings())  # opens what every later question shares
    return record_walk(lambda: ask(released.searcher, QUESTION, settings=Settings()))


def main() -> int:
    """Print the returns of both walks; without `--home` the bundled samples are built first."""
    parser = argparse.ArgumentParser(prog="python -m tools.call_walk", description=__doc__)
    parser.add_argument("--home", type=Path, help="home with a release; built from the samples by default")
    parser.add_argument("--show", action="store_true", help="print the packages of each walk, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = options.home
        if home is None:
            from taxkg_assets.serving.build import build

            home = Path(folder) / "home"
            build(str(home))
        for name, walk in (("one document", walk_document()), ("one question", walk_question(home))):
            steps = walk[:STEPS]
            outer = count_returns([package.partition(".")[0] for package in steps])
            print(
                f"{name}: {count_returns(steps)} returns in the first {len(steps)} functions of {len(walk)} "
                f"({outer} by outermost packages; {count_returns(walk)} in the whole walk)"
            )
            if options.show:
                print(
                    "  " + " ".join(package for ix, package in enumerate(steps) if not ix or package != steps[ix - 1])
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
