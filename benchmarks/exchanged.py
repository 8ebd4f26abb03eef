"""One part of a true statement exchanged: a denial, a value, a quantifier or a thing. How many still pass?

Written statements are few, and a rule is written after reading some of them. These are made from all true statements of
the development sets that the checker supports: what passes shows which part of a statement it does not read.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.results import open_home, write_results
from benchmarks.verify import PASSED, SEED, SPLITS, read_statements
from taxkg_assets.rules.general_words import find_synonyms, is_noun
from taxkg_assets.serving.drafts import read_text
from taxkg_assets.serving.verify import Checker
from taxkg_assets.verification.verdicts import Finding

_VERB = re.compile(r"\b(?:is|are|was|were|can|may|must|should|will)\b(?! (?:not|no)\b)")
_NEGATED = re.compile(r"\b(?P<verb>is|are|was|were|can|may|must|should|will) not\b")
_DENIAL = re.compile(r"(?i)\b(?:not?|never|none|nor|neither|cannot|without|\w+n['’]t)\b")
_ASIDE = re.compile(r"(?i)\b(?:who|which|that|if|when|where|whose|unless|because|though)(?: \w+){0,3} $")
_SAYS = re.compile(r"(?i)\bsays? that(?: \S+){0,4} $")
_VALUE = re.compile(r"(?<![\w.(])(?P<sign>\$?)(?P<figure>\d{1,3}(?:,\d{3})+|\d+)(?![\w-])")
_CITED = re.compile(r"(?i)\b(?:forms?|schedule|pub\.|publication|sections?|table|worksheet) $")
_YEAR = re.compile(r"(?:19|20)\d\d")
_WORD = re.compile(r"(?<![\w-])[a-z]{4,}(?![\w-])")
_QUANTIFIER = re.compile(r"(?i)(?<![\w-])(?:only one|one|several|two|any|each|every|all|only)(?![\w-])")
_OTHERS = {"only one": "several", "one": "several", "only": "not only"}  # for all others, `only one`
Exchange = Callable[[str, str, Sequence[str], random.Random], str]


def exchange_denial(text: str, _passage: str, _things: Sequence[str], _chance: random.Random) -> str:
    """Deny the first main verb of a statement, or affirm what it denies; empty where it denies in another way."""
    if negated := _NEGATED.search(text):
        return f"{text[: negated.start()]}{negated['verb']}{text[negated.end() :]}"
    if _DENIAL.search(text):
        return ""
    for verb in _VERB.finditer(text):
        before = text[: verb.start()]
        aside = _ASIDE.search(before)
        if aside is None or _VERB.search(aside[0]) or _SAYS.search(before):
            return f"{text[: verb.end()]} not{text[verb.end() :]}"
    return ""


def exchange_value(text: str, passage: str, _things: Sequence[str], chance: random.Random) -> str:
    """Replace an amount, number, box or line of a statement by another one that the passage prints; empty for none."""
    own = [
        m for m in _VALUE.finditer(text) if not _YEAR.fullmatch(m["figure"]) and not _CITED.search(text[: m.start()])
    ]
    if not own:
        return ""
    value = chance.choice(own)
    others = {
        m["figure"]
        for m in _VALUE.finditer(passage)
        if m["sign"] == value["sign"] and m["figure"] != value["figure"] and not _YEAR.fullmatch(m["figure"])
    }
    if not others:
        return ""
    start, end = value.span("figure")
    return f"{text[:start]}{chance.choice(sorted(others))}{text[end:]}"


def exchange_quantifier(text: str, _passage: str, _things: Sequence[str], _chance: random.Random) -> str:
    """Replace the first quantifier of a statement by a contrary one; empty for none, and after a denial."""
    found = _QUANTIFIER.search(text)
    if found is None or _DENIAL.search(text[: found.start()]):
        return ""
    other = _OTHERS.get(found[0].casefold(), "only one")
    return f"{text[: found.start()]}{other}{text[found.end() :]}"


def exchange_thing(text: str, passage: str, things: Sequence[str], chance: random.Random) -> str:
    """Replace a thing that a statement and the passage name by one that neither names; empty where there is none."""
    there = set(_WORD.findall(f"{text} {passage}".casefold()))
    own = [match for match in _WORD.finditer(text) if is_noun(match[0]) and match[0] in passage.casefold()]
    if not own:
        return ""
    word = chance.choice(own)
    others = [
        thing
        for thing in things
        if thing not in there | find_synonyms(word[0]) and thing.endswith("s") == word[0].endswith("s")
    ]
    return f"{text[: word.start()]}{chance.choice(others)}{text[word.end() :]}" if others else ""


EXCHANGES: Mapping[str, Exchange] = {
    "denial": exchange_denial,
    "value": exchange_value,
    "quantifier": exchange_quantifier,
    "thing": exchange_thing,
}


@dataclass(frozen=True, slots=True)
class ExchangedReport:
    """How many exchanged statements pass.

    Attributes:
        scores: Those that pass and all, by what was exchanged.
        examples: Those that pass, by what was exchanged.
    """

    scores: dict[str, tuple[int, int]]
    examples: dict[str, list[str]]

    def write(self, folder: Path) -> str:
        """Write the report into a folder, and return it as Markdown."""
        lines = ["| exchanged | passed | share |", "|---|---|---|"]
        lines += [f"| {name} | {n} of {total} | {n / (total or 1):.1%} |" for name, (n, total) in self.scores.items()]
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="exchanged")


def score_exchanged(checker: Checker, rows: Iterable[Mapping[str, Any]]) -> ExchangedReport:
    """Check true statements, and those that are supported with one part exchanged.

    Args:
        checker: The checker.
        rows: True statements.
    """
    rows = list(rows)
    things = sorted({word for row in rows for word in _WORD.findall(row["statement"]) if is_noun(word)})
    chance = random.Random(SEED)
    report = ExchangedReport(dict.fromkeys(EXCHANGES, (0, 0)), {name: [] for name in EXCHANGES})
    for row in rows:
        found = _check(checker, row["statement"])
        if found is None or found.verdict not in PASSED or found.evidence is None:
            continue
        for name, exchange in EXCHANGES.items():
            text = exchange(row["statement"], found.evidence.text, things, chance)
            if text:
                other = _check(checker, text)
                is_passed = other is not None and other.verdict in PASSED
                passed, total = report.scores[name]
                report.scores[name] = passed + is_passed, total + 1
                report.examples[name] += [text] * is_passed
    return report


def _check(checker: Checker, text: str) -> Finding | None:
    findings = checker.check(read_text(text, name="statement")).findings
    return findings[0] if findings else None


def run(*, repeat: int, rival_repeat: int) -> ExchangedReport:
    """Exchange parts of the true statements of the development sets against the home that TAXKG_HOME names."""
    checker = Checker(open_home(os.environ.get("TAXKG_HOME", "data/store")))
    rows = [row for split in SPLITS if split.endswith("development") for row in read_statements(split)]
    return score_exchanged(checker, [row for row in rows if row["kind"] == "true"])
