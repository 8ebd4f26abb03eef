"""The draft checker: verdicts on statements of known truth, and on quotations, verbatim and altered by a word."""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.results import open_home, write_results
from taxkg_assets.serving.drafts import read_text
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.verify import Checker
from taxkg_assets.verification.verdicts import FAULTS, Verdict

STATEMENTS = Path(__file__).resolve().parents[1] / "data" / "verify_eval" / "statements.jsonl"
SPLITS = (
    "development",
    "held_out",
    "second_development",
    "second_held_out",
    "check",
    "third_development",
    "third_held_out",
    "fourth_development",
    "fourth_held_out",
    "fifth_development",
    "fifth_held_out",
    "sixth_development",
    "sixth_held_out",
    "seventh_development",
    "seventh_held_out",
    "eighth_development",
    "eighth_held_out",
    "ninth_development",
    "ninth_held_out",
    "tenth_development",
    "tenth_held_out",
    "eleventh_development",
    "eleventh_held_out",
    "twelfth_development",
    "twelfth_held_out",
    "thirteenth_development",
    "thirteenth_held_out",
    "fourteenth_development",
)
SAMPLES = "samples"
PASSED = frozenset({Verdict.supported, Verdict.verbatim})
SEED, QUOTATIONS, WORDS = 11, 40, (9, 28)
OTHER_WORDS = ("seldom", "purple", "tomorrow", "village", "quietly")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on one statement.

    Attributes:
        row: Line of the file of statements.
        verdict: Verdict of the checker; `not_found` where it made none.
    """

    row: Mapping[str, Any]
    verdict: Verdict


def read_statements(split: str, *, home: str = "") -> list[dict[str, Any]]:
    """Read the statements of a split.

    Args:
        split: Name of the split.
        home: `samples` for the statements about the bundled samples; empty for those about published documents.
    """
    rows = [json.loads(line) for line in STATEMENTS.read_text(encoding="utf8").splitlines()]
    return [row for row in rows if row["split"] == split and row.get("home", "") == home]


def check_statements(checker: Checker, rows: Iterable[Mapping[str, Any]]) -> list[Outcome]:
    """Check statements, each as a draft of its own."""
    outcomes = []
    for row in rows:
        report = checker.check(read_text(row["statement"], name=row["id"]))
        verdicts = [finding.verdict for finding in report.findings]
        outcomes.append(Outcome(row, verdicts[0] if verdicts else Verdict.not_found))
    return outcomes


def score_statements(outcomes: Iterable[Outcome]) -> dict[str, tuple[int, int]]:
    """Score verdicts: wrong ones passed, true ones contradicted, true ones supported; each as count and total."""
    true = [own for own in outcomes if own.row["kind"] == "true"]
    wrong = [own for own in outcomes if own.row["kind"] != "true"]
    return {
        "wrong passed": (sum(own.verdict in PASSED for own in wrong), len(wrong)),
        "wrong rejected with the reason": (sum(own.verdict in FAULTS for own in wrong), len(wrong)),
        "true contradicted": (sum(own.verdict is Verdict.contradicted for own in true), len(true)),
        "true called of another year or form": (
            sum(own.verdict in FAULTS - {Verdict.contradicted} for own in true),
            len(true),
        ),
        "true supported": (sum(own.verdict in PASSED for own in true), len(true)),
    }


def draw_quotations(released: Released, *, seed: int = SEED) -> list[tuple[str, str]]:
    """Draw sentences of the library: each with harmless variations, and altered by one word."""
    chance = random.Random(seed)
    nodes = released.table("nodes").filter(
        pl.col("level") == "paragraph", pl.col("perspective").is_in(["filer", "publication", "recipient"])
    )
    texts = nodes.sort("node_id")["text"].to_list()
    chance.shuffle(texts)
    pairs: list[tuple[str, str]] = []
    for text in texts:
        words = text.split()
        if WORDS[0] <= len(words) <= WORDS[1] and text.endswith(".") and '"' not in text and "“" not in text:
            pairs.append((vary(text, chance), alter(text, chance)))
        if len(pairs) == QUOTATIONS:
            break
    return pairs


def vary(text: str, chance: random.Random) -> str:
    """Vary a sentence without changing its words: blanks, a line break, a hyphen within a word, plain quotes."""
    words = text.replace("’", "'").replace("–", "-").split()
    long = [number for number, word in enumerate(words) if re.fullmatch(r"[a-z]{8,}", word)]
    if long:
        number = chance.choice(long)
        words[number] = f"{words[number][:4]}-\n{words[number][4:]}"
    place = chance.randrange(1, len(words))
    return " ".join(words[:place]) + "  " + " ".join(words[place:])


def alter(text: str, chance: random.Random) -> str:
    """Replace one plain word of a sentence by another."""
    words = text.split()
    plain = [number for number, word in enumerate(words) if re.fullmatch(r"[a-z]{3,}", word)]
    words[chance.choice(plain) if plain else 1] = chance.choice(OTHER_WORDS)
    return " ".join(words)


def check_quotations(checker: Checker, pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Check quotations: verbatim ones that are found, altered ones that pass."""
    found = passed = total = 0
    for varied, altered in pairs:
        total += 1
        found += _quote(checker, varied) is Verdict.verbatim
        passed += _quote(checker, altered) in PASSED
    return {"verbatim quotations found": (found, total), "altered quotations passed": (passed, total)}


def _quote(checker: Checker, words: str) -> Verdict | None:
    report = checker.check(read_text(f"The document says: “{words}”", name="quotation"))
    verdicts = [finding.verdict for finding in report.findings if finding.kind == "quotation"]
    return verdicts[0] if verdicts else None


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Figures of the draft checker.

    Attributes:
        scores: Count and total of each measure, by split.
        verdicts: Number of verdicts by kind of statement, by split.
        seconds: Seconds for one statement, by split.
    """

    scores: dict[str, dict[str, tuple[int, int]]]
    verdicts: dict[str, dict[str, int]]
    seconds: dict[str, float]

    def write(self, folder: Path) -> str:
        """Write the report into a folder, and return it as Markdown."""
        lines = ["| split | measure | count | share |", "|---|---|---|---|"]
        for split, scores in self.scores.items():
            lines += [f"| {split} | {name} | {n} of {total} | {n / total:.1%} |" for name, (n, total) in scores.items()]
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="verify")


def run(*, repeat: int, rival_repeat: int) -> VerifyReport:
    """Check all statements and quotations against the home that TAXKG_HOME names."""
    released = open_home(os.environ.get("TAXKG_HOME", "data/store"))
    checker = Checker(released)
    report = VerifyReport({}, {}, {})
    names = released.table("documents")["document_id"].to_list()
    home = SAMPLES if any(name.startswith("sample-") for name in names) else ""
    for split in SPLITS:
        started = time.perf_counter()
        outcomes = check_statements(checker, read_statements(split, home=home))
        if not outcomes:
            continue
        report.seconds[split] = round((time.perf_counter() - started) / len(outcomes), 3)
        report.scores[split] = score_statements(outcomes)
        report.verdicts[split] = dict(sorted(Counter(f"{own.row['kind']}: {own.verdict}" for own in outcomes).items()))
    report.scores["quotations"] = check_quotations(checker, draw_quotations(released))
    return report
