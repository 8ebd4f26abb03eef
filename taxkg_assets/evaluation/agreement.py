"""Agreement of a judge with labels made by hand, and rates of a labeled sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.evaluation.significance import Interval, score_interval

ANSWERS, OTHER_EDITION, RELATED, UNRELATED = "answers", "other_edition", "related", "unrelated"
LABELS = (ANSWERS, OTHER_EDITION, RELATED, UNRELATED)
"""Relation of a passage to a question: it answers (in part is enough); it would, had the question not
named another year or edition; it is about the same thing; it is not."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts of a judge's verdicts against labels: both positive, judge only, label only, both negative."""

    both: int
    judge_alone: int
    label_alone: int
    neither: int

    @property
    def n(self) -> int:
        """Return the number of rows with both verdicts."""
        return self.both + self.judge_alone + self.label_alone + self.neither

    @property
    def accuracy(self) -> float:
        """Return the share of rows on which both agree."""
        return (self.both + self.neither) / self.n

    @property
    def kappa(self) -> float | None:
        """Return Cohen's kappa, the agreement beyond chance; None if only one verdict was ever given.

        Source:
            Cohen, Educational and Psychological Measurement 20, 1960.
        """
        judged, labeled = self.both + self.judge_alone, self.both + self.label_alone
        chance = (judged * labeled + (self.n - judged) * (self.n - labeled)) / self.n**2
        return None if chance == 1 else (self.accuracy - chance) / (1 - chance)


def score_agreement(verdicts: Sequence[bool], labels: Sequence[bool]) -> Agreement:
    """Count the combinations of a judge's verdicts and a person's labels.

    Args:
        verdicts: Verdict of the judge for each row.
        labels: Label of a person for each row.

    Returns:
        The counts.
    """
    pairs = list(zip(verdicts, labels, strict=True))
    return Agreement(*(pairs.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False))))


def score_rate(hits: Sequence[bool], clusters: Sequence[str], *, stream: Sequence[str], seed: int = 0) -> Interval:
    """Estimate the share of positive rows in a labeled sample, with a cluster bootstrap interval.

    Args:
        hits: Whether each row is a hit.
        clusters: Question that each row belongs to.
        stream: Names that, with the seed, give each estimate its own random numbers.
        seed: Seed of the bootstrap.
    """
    return score_interval([float(hit) for hit in hits], clusters, seed=seed, stream=stream)
