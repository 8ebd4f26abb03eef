"""`python -m benchmarks` runs all benchmarks, `python -m benchmarks NAME…` some, `--list` names them.

`python -m benchmarks training PART` runs a part of the proof that training pays, which takes hours and has options of
its own; it is none of "all".
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

# As the reading processes of a build have it: one core each. Polars reads it when it is imported.
os.environ.setdefault("POLARS_MAX_THREADS", "1")

from rich.console import Console
from rich.markdown import Markdown

from benchmarks.documents import CorpusError

BENCHMARKS = (
    "accuracy",
    "answers",
    "authored",
    "chunking",
    "claims",
    "cold_start",
    "confidence",
    "continuations",
    "definitions",
    "destinations",
    "exchanged",
    "exclusions",
    "extraction",
    "forum",
    "found",
    "fuzz",
    "graph",
    "hostile_layers",
    "lines",
    "openings",
    "quality",
    "reliability",
    "retrieval",
    "rule_gain",
    "rules",
    "served_index",
    "serving",
    "sizing",
    "standard_sections",
    "verify",
)
"""Modules of this package, each loaded when it is requested: some of them load models."""

OWN_OPTIONS = {
    "authored": ("quick",),
    "confidence": ("write",),
    "forum": ("halves",),
    "fuzz": ("cases", "out"),
    "hostile_layers": ("cases", "out"),
    "reliability": ("repeat", "out"),
    "rule_gain": ("families",),
    "sizing": ("pages", "inside", "out"),
}
"""What a benchmark takes where it is not `repeat` and `rival_repeat`."""


def main() -> int:
    """Run what was requested; 0 done, 1 where there is no corpus."""
    if sys.argv[1:2] == ["training"]:
        from benchmarks.training import cli  # loads torch, which the others need not

        return cli.main(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run the benchmarks of taxkg.")
    parser.add_argument("names", nargs="*", choices=[[], *BENCHMARKS], help="which to run (default: all)")
    parser.add_argument("--list", action="store_true", help="name the benchmarks and leave")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="folder of the results")
    parser.add_argument("--repeat", type=int, default=7, help="repetitions of our own stages and of the floor")
    parser.add_argument("--rival-repeat", type=int, default=3, help="repetitions of the rivals, which are slow")
    parser.add_argument("--cases", type=int, default=200, help="broken PDFs that are read (fuzz, hostile_layers)")
    parser.add_argument("--pages", type=int, nargs="+", default=[100, 300, 1000], help="sizes of a library (sizing)")
    parser.add_argument(
        "--halves", nargs="+", choices=["development", "check"], default=["development", "check"], help="of forum"
    )
    parser.add_argument("--inside", action="store_true", help="without Dagster, in this process (sizing)")
    parser.add_argument("--families", nargs="+", default=[], help="rule families to measure (rule_gain; default: all)")
    parser.add_argument("--quick", action="store_true", help="only a sample of 40 documents (authored)")
    parser.add_argument("--write", action="store_true", help="put the weights into the rules (confidence)")
    options = parser.parse_args()
    if options.list:
        for name in BENCHMARKS:
            print(f"{name}\t{(import_module(f'benchmarks.{name}').__doc__ or '').splitlines()[0]}")
        return 0
    for name in options.names or BENCHMARKS:
        try:
            taken = OWN_OPTIONS.get(name, ("repeat", "rival_repeat"))
            report = import_module(f"benchmarks.{name}").run(**{option: getattr(options, option) for option in taken})
        except CorpusError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
        text = report.write(options.out)
        Console().print(Markdown(text))
        print(f"{name}: results in {options.out / name}.json and {name}.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
