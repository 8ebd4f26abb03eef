"""Which rules with little evidence stay on: the decision from measured effects, and where it is recorded.

`python -m benchmarks rule_effect` measures what is lost without each rule with little evidence and writes
`data/rule_effect.csv`. A rule that brings no measured gain gets `enabled: false` in its rule file.

Here: reading and deciding. Not here: measuring, which needs a built home.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from tools.rule_evidence import Evidence

ROOT = Path(__file__).resolve().parents[1]
EFFECTS = ROOT / "data" / "rule_effect.csv"
LEFT_OUT = ("check", "shared", "written")
"""Sets of questions that count: the check half of `data/library_eval`, the questions of TAXKG_GOLD, and the written
questions of `data/training`. The development questions are measured, but do not count."""
COUNTED = ("mrr", "contains_needed", "abstains_on_unanswerable")
"""Metrics that count: the right passage first, an answer with the needed passage, silence where there is no answer."""
DECIDED = {"lay_terms": "everyday words that add terms to a question"}
"""Families that the measurement decides on.

The other families that read questions are the syntax of keys, revisions, forms and places, and kinds of questions: each
is a capability with a test, and the labeled questions contain few of each.
"""
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect of switching off one rule, or several rules of one family together.

    Attributes:
        family: Rule family.
        group: List of the family; empty where rules of the whole family were switched off.
        rule: Id of the rule; empty where several were switched off.
        rules: Number of rules that were switched off.
        measured_on: Set of questions or of labels.
        metric: What was measured.
        n: Questions in which a rule fires, or labeled rows.
        with_rule: Mean over these questions or rows with the rules.
        without: The same without them.
    """

    family: str
    group: str
    rule: str
    rules: int
    measured_on: str
    metric: str
    n: int
    with_rule: float
    without: float

    @property
    def gain(self) -> float:
        """Return what the rules add: the mean with them less the mean without them."""
        return self.with_rule - self.without

    @property
    def total(self) -> float:
        """Return the gain summed over the questions or rows."""
        return self.gain * self.n


def write_effects(effects: Iterable[Effect], path: Path = EFFECTS) -> None:
    """Write effects as CSV.

    Args:
        effects: Rows to write.
        path: File to write.
    """
    with path.open("w", encoding="utf8", newline="") as out:
        writer = csv.DictWriter(out, [each.name for each in fields(Effect)], lineterminator="\n")
        writer.writeheader()
        for row in effects:
            values = asdict(row)
            writer.writerow({**values, "with_rule": f"{row.with_rule:.5f}", "without": f"{row.without:.5f}"})


def read_effects(path: Path = EFFECTS) -> list[Effect]:
    """Read effects.

    Args:
        path: File that `write_effects` wrote.

    Returns:
        Rows in the order of the file.
    """
    kinds: dict[str, Any] = {"rules": int, "n": int, "with_rule": float, "without": float}
    with path.open(encoding="utf8", newline="") as lines:
        return [
            Effect(**{name: kinds.get(name, str)(value) for name, value in row.items()})
            for row in csv.DictReader(lines)
        ]


def sum_gains(effects: Iterable[Effect], *, sets: Sequence[str] = LEFT_OUT) -> dict[Key, float]:
    """Sum the gains of each rule over the questions in which it fires.

    Args:
        effects: Effects of single rules; others are ignored.
        sets: Sets of questions that count.

    Returns:
        Gain by family, group and rule, in questions.
    """
    gains: dict[Key, float] = defaultdict(float)
    for row in effects:
        if row.rule and row.measured_on in sets and row.metric in COUNTED:
            gains[row.family, row.group, row.rule] += row.total
    return dict(gains)


def list_decided(rows: Iterable[Evidence]) -> set[Key]:
    """List the rules that the measurement decides on: those with little evidence of the decided families.

    Args:
        rows: Counts of all rules.

    Returns:
        Family, group and rule.
    """
    return {(row.family, row.group, row.rule) for row in rows if row.is_thin and row.family in DECIDED}


def find_unproven(rules: Iterable[Key], gains: Mapping[Key, float]) -> set[Key]:
    """Find the rules that a measurement does not turn on.

    Args:
        rules: Rules with little evidence that were measured.
        gains: Result of `sum_gains`.

    Returns:
        Rules without a gain; a rule that fires in no question has none.
    """
    return {key for key in rules if gains.get(key, 0.0) <= SMALLEST_GAIN}


SMALLEST_GAIN = 0.001
"""Gain in questions below which there is none; the file has five decimals."""
