"""Agreement of a judge with labels by a person, and rates of a labeled sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.evaluation.significance import Interval, score_interval

ANSWERS, OTHER_EDITION, RELATED, UNRELATED = "answers", "other_edition", "related", "unrelated"
LABELS = (ANSWERS, OTHER_EDITION, RELATED, UNRELATED)
"""Relation of a passage to a question: the passage answers it, at least in part; it would answer it for another year or
edition; it is on the same subject; it is on another subject."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts of rows by verdict of a judge and label: both positive, verdict only, label only, both negative."""

    both: int
    judge_alone: int
    label_alone: int
    neither: int

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return self.both + self.judge_alone + self.label_alone + self.neither

    @property
    def accuracy(self) -> float:
        """Return the share of rows on which judge and label agree."""
        return (self.both + self.neither) / self.n

    @property
    def kappa(self) -> float | None:
        """Return Cohen's kappa, the agreement beyond chance; None if judge and labels give one verdict only.

        Source:
            Cohen, Educational and Psychological Measurement 20, 1960.
        """
        judge_positive, label_positive = self.both + self.judge_alone, self.both + self.label_alone
        chance = (judge_positive * label_positive + (self.n - judge_positive) * (self.n - label_positive)) / self.n**2
        return None if chance == 1 else (self.accuracy - chance) / (1 - chance)


def score_agreement(verdicts: Sequence[bool], labels: Sequence[bool]) -> Agreement:
    """Count the combinations of a judge's verdicts and a person's labels.

    Args:
        verdicts: Verdict of the judge for each row.
        labels: Label of a person for each row.

    Returns:
        The counts.
    """
    pairs = Counter(zip(verdicts, labels, strict=True))
    return Agreement(pairs[True, True], pairs[True, False], pairs[False, True], pairs[False, False])


def score_rate(hits: Sequence[bool], clusters: Sequence[str], *, stream: Sequence[str], seed: int = 0) -> Interval:
    """Estimate the share of positive rows in a labeled sample, with a cluster bootstrap interval.

    Args:
        hits: Whether each row is positive.
        clusters: Question that each row belongs to, drawn as a whole by the bootstrap.
        stream: Names that, with the seed, give each estimate its own random numbers.
        seed: Seed of the bootstrap.
    """
    return score_interval([float(hit) for hit in hits], clusters, seed=seed, stream=stream)
