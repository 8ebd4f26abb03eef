"""Claims: how many real sentences, turned round by a program, pass the check of a model's sentences."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchmarks.documents import CorpusError
from benchmarks.results import write_results
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.llm.claims import find_unsupported_content
from taxkg_assets.rules.sentences import find_sentence_parts

SEED, OF_KIND, WORDS = 7, 250, (6, 50)
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
Turn = Callable[[re.Match[str]], str]

FLIPS: dict[str, list[tuple[str, str | Turn]]] = {
    "more or less": [
        (r"\bmore than\b", "less than"), (r"\bless than\b", "more than"), (r"\bat least\b", "at most"),
        (r"\bor more\b", "or less"),
    ],
    "taxable or exempt": [(r"\btaxable\b", "exempt"), (r"\bexempt\b", "taxable"), (r"\bnontaxable\b", "taxable")],
    "must, may, need not": [
        (r"\bmust\b", "may"), (r"\bmay\b", "must"), (r"\bmust\b", "need not"), (r"\bshould\b", "must"),
        (r"\bcan\b", "must"),
    ],
    "denial": [
        (r"\bdo not ", ""), (r"\bnot ", ""), (r" is ", " is not "), (r"\bcannot\b", "can"), (r"\bisn’t\b", "is"),
        (r"\bany\b", "no"),
    ],
    "if, unless, except": [
        (r"\bif\b", "unless"), (r"\bunless\b", "if"), (r"\bonly if\b", "if"), (r"\bexcept\b", "and"),
    ],
    "before or after": [(r"\bbefore\b", "after"), (r"\bafter\b", "before"), (r"\bon or before\b", "before")],
    "include or exclude": [
        (r"\binclude\b", "exclude"), (r"\bexclude\b", "include"), (r"(?i)\badd\b", "subtract"),
        (r"\bincrease\b", "decrease"),
    ],
    "some or all": [(r"\bsome\b", "all"), (r"(?i)\bgenerally,? ", ""), (r"\bcertain ", "all ")],
    "another amount": [(r"\$\d[\d,]*", lambda m: f"${int(m[0][1:].replace(',', '') or 0) + 100}")],
    "another figure": [(r"\b\d{1,2}\b", lambda m: str(int(m[0]) + 1))],
    "another month": [(rf"\b(?:{MONTHS})\b(?= \d)", lambda m: "July" if m[0] == "March" else "March")],
    "a condition left out": [(r",? (?:if|unless|except) [^,.;]*(?=[,.;])", "")],
    "sides changed": [(r"\b(\w{4,}) (in|from|to) the (\w{4,})\b", r"\3 \2 the \1")],
}  # fmt: skip
TRUE: dict[str, list[tuple[str, str | Turn]]] = {
    "as it is": [(r"$", "")],
    "condition put last": [
        (r"^If (?P<c>you [^,]*), (?P<r>[^,;:]*)\.$", lambda m: f"{m['r'].capitalize()} if {m['c']}.")
    ],
    "synonym": [(r"\bEnter\b", "Report"), (r"\breport\b", "enter"), (r"\breceived\b", "got")],
    "in figures": [
        (
            rf"(?<!-)\b{word} (?=(?:days?|months?|years?|weeks?|copies|forms|times|percent|parts|dollars)\b)",
            f"{figure} ",
        )
        for word, figure in (("two", 2), ("three", 3), ("five", 5), ("ten", 10), ("thirty", 30), ("sixty", 60))
    ],
    "another wording of force": [(r"\bmust\b(?! not)", "has to"), (r"\bmay\b", "can"), (r"\bshall\b", "must")],
}
"""Ways to say the same."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to change a sentence: how many were changed, and how many of these the check takes for the same."""

    name: str
    is_true: bool
    changed: int
    passed: int


@dataclass(frozen=True, slots=True)
class Report:
    """One run over the sentences of a home."""

    sentences: int
    kinds: list[Kind]

    def write(self, folder: Path) -> str:
        """Write `claims.json` and `claims.md`; gives the Markdown."""
        return write_results(self, render(self), folder=folder, name="claims")


def render(report: Report) -> str:
    """What passes of what is wrong, and of what is right."""
    lines = [f"# claims\n\n{report.sentences} sentences\n", "| change | changed | passed |", "|---|---|---|"]
    for is_true, name in ((False, "all that is wrong"), (True, "all that is right")):
        own = [kind for kind in report.kinds if kind.is_true == is_true]
        total = Kind(name, is_true, sum(k.changed for k in own), sum(k.passed for k in own))
        lines += [
            f"| {k.name} | {k.changed} | {k.passed} ({k.passed / max(1, k.changed):.1%}) |" for k in (*own, total)
        ]
    return "\n".join(lines) + "\n"


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Change the sentences of the home that TAXKG_HOME names, each in every way that fits it."""
    store = Home(home=os.environ.get("TAXKG_HOME", "data/store")).store
    if not store.exists("sections"):
        raise CorpusError(f"{store.home} is not built: set TAXKG_HOME to a built home.")
    sentences = find_sentences(store.read("sections"))
    made = [(FLIPS, False), (TRUE, True)]
    kinds = [score(name, ways, sentences, is_true=true) for group, true in made for name, ways in group.items()]
    return Report(len(sentences), kinds)


def find_sentences(sections: pl.DataFrame) -> list[str]:
    """The distinct sentences of the running text, in an order at random that is always the same."""
    texts = sections.filter(pl.col("table_id").is_null())["text"]
    parts = {text[a:b] for text in texts for a, b in find_sentence_parts(text)}
    found = sorted(part for part in parts if WORDS[0] < len(part.split()) < WORDS[1])
    random.Random(SEED).shuffle(found)
    return found


def score(name: str, ways: list[tuple[str, str | Turn]], sentences: list[str], *, is_true: bool) -> Kind:
    """Change N sentences in one kind of way, and ask of each whether it still follows from what it was."""
    changed = passed = 0
    for sentence in sentences:
        for pattern, into in ways:
            other = re.sub(pattern, into, sentence, count=1)
            if other != sentence or (is_true and pattern == "$"):
                changed += 1
                passed += not find_unsupported_content(other, sentence)
        if changed >= OF_KIND:
            break
    return Kind(name, is_true, changed, passed)
