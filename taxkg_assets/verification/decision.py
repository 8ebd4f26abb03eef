"""The verdict on a claim from its comparisons. Where passages do not decide, the answer is `not_found` or `unclear`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.rules.verification import read_thresholds
from taxkg_assets.verification.comparison import Comparison, Difference
from taxkg_assets.verification.verdicts import Verdict

POLARITY = Difference("", "", "polarity")


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with the comparison that decides, or the nearest one.

    Attributes:
        verdict: The verdict.
        comparison: Comparison that decides; None where no passage is near.
        differences: What differs.
    """

    verdict: Verdict
    comparison: Comparison | None = None
    differences: tuple[Difference, ...] = ()


def supports(row: Comparison, *, least_score: float | None = None) -> bool:
    """Return whether a passage states what the claim states.

    Args:
        row: The comparison.
        least_score: Score that it must reach; the rules' own where it is not given.
    """
    bounds = read_thresholds()
    return (
        row.agrees
        and not row.is_stronger
        and row.coverage >= bounds.coverage
        and row.score >= (bounds.score if least_score is None else least_score)
        and row.own_coverage >= bounds.own_coverage
        and row.clause_coverage >= bounds.clause_coverage
        and row.missing_weight < bounds.missing_weight
        and row.agreement >= bounds.agreement
    )


def find_contradiction(row: Comparison) -> tuple[Difference, ...]:
    """Return what a passage states otherwise; empty where it does not contradict.

    Args:
        row: The comparison.
    """
    bounds = read_thresholds()
    is_near = row.score >= bounds.contradiction and row.own_coverage >= bounds.own_coverage
    if not is_near or row.unmatched or row.missing_weight >= bounds.missing_weight:
        return ()
    if row.agrees:
        return (POLARITY,) if row.agreement <= bounds.disagreement else ()
    return row.differences if row.agreement >= bounds.agreement else ()


def decide(rows: Sequence[Comparison]) -> Decision:
    """Decide on a claim by the passages of the documents that it is about; the nearest one that decides counts.

    Args:
        rows: Comparisons, best score first.
    """
    if not rows:
        return Decision(Verdict.not_found)
    for row in rows:
        if supports(row):
            is_denied = any(_denies_the_rest(other, row) or _contradicts_within(other, row) for other in rows)
            return Decision(Verdict.unclear if is_denied else Verdict.supported, row)
        if found := find_contradiction(row):
            return Decision(Verdict.contradicted, row, found)
    near = rows[0].score >= read_thresholds().score
    return Decision(Verdict.unclear if near else Verdict.not_found, rows[0])


def _contradicts_within(other: Comparison, row: Comparison) -> bool:
    """Return whether one of a pair of sentences contradicts by itself what both together support."""
    whole, part = row.passage, other.passage
    is_part = whole.kind == "pair" and part.kind == "sentence" and part.node_id == whole.node_id
    return is_part and whole.start <= part.start < whole.end and bool(find_contradiction(other))


def _denies_the_rest(other: Comparison, row: Comparison) -> bool:
    """Return whether another passage holds every word that the supporting one lacks, and says the contrary."""
    bounds = read_thresholds()
    is_contrary = other.agrees and other.agreement <= bounds.disagreement and other.score >= bounds.score
    return bool(row.missing) and is_contrary and not set(row.missing) & set(other.missing)
