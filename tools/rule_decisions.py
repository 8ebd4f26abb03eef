"""Measured gains of rules with little support, which decide whether these stay on, and the file that records them.

`python -m benchmarks rule_gain` measures what is lost without each such rule, family of documents by family of
documents. A rule below the bar of `rules/support.yaml` is off if `rules/gains.csv` shows no gain on enough rows.

Here: adding up, reading and writing. Not here: measuring, which needs a built home, and the decision of the loader.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from taxkg_assets.rules.support import Key, load_policy, load_support
from tools.rule_evidence import list_rules

ROOT = Path(__file__).resolve().parents[1]
GAINS = ROOT / "taxkg_assets" / "rules" / "gains.csv"


@dataclass(frozen=True, slots=True)
class Gain:
    """Measured gain of one rule.

    Attributes:
        family: Rule family.
        group: List of the family.
        rule: Id of the rule.
        measured_on: What was counted, e.g. `labels, tags`; empty where nothing of it can be measured.
        n: Documents or questions that were evaluated with and without the rule.
        families: Families of documents in which the rule changes a figure.
        gain: Rows or questions that are right only with the rule, less those that are right only without it.
        left_out_gain: The least gain that remains when one family of documents is left out.
    """

    family: str
    group: str
    rule: str
    measured_on: str
    n: int
    families: int
    gain: float
    left_out_gain: float

    @property
    def key(self) -> Key:
        """Return family, group and id of the rule."""
        return self.family, self.group, self.rule


def sum_gains(by_family: Mapping[str, float]) -> tuple[float, float]:
    """Add up the gains of one rule.

    Args:
        by_family: Gain by family of documents.

    Returns:
        The gain, and the least gain that remains when one family is left out.
    """
    total = sum(by_family.values())
    return total, min((total - own for own in by_family.values()), default=0.0)


def list_undecided() -> list[Key]:
    """List the rules that a measurement decides on: those below the bar, exempt lists aside.

    Returns:
        Family, group and id of each rule, in the order of the counts; counts of rules that are gone do not matter.
    """
    policy, known = load_policy(), {(family, group, rule.id) for family, group, rule in list_rules()}
    exempt = {name for row in policy.exempt for name in row.lists}
    return [
        (family, group, rule)
        for (family, group, rule), support in load_support().items()
        if f"{family}.{group}" not in exempt and policy.is_below(support) and (family, group, rule) in known
    ]


def write_gains(gains: Iterable[Gain], path: Path = GAINS) -> None:
    """Write gains as CSV.

    Args:
        gains: Rows to write.
        path: File to write.
    """
    with path.open("w", encoding="utf8", newline="") as out:
        writer = csv.DictWriter(out, [each.name for each in fields(Gain)], lineterminator="\n")
        writer.writeheader()
        for row in gains:
            writer.writerow({**asdict(row), "gain": f"{row.gain:.2f}", "left_out_gain": f"{row.left_out_gain:.2f}"})


def read_gains(path: Path = GAINS) -> list[Gain]:
    """Read gains.

    Args:
        path: File that `write_gains` wrote.

    Returns:
        Rows in the order of the file.
    """
    kinds: dict[str, Any] = {"n": int, "families": int, "gain": float, "left_out_gain": float}
    with path.open(encoding="utf8", newline="") as lines:
        return [
            Gain(**{name: kinds.get(name, str)(value) for name, value in row.items()}) for row in csv.DictReader(lines)
        ]
