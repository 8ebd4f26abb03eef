"""How far a judge can be trusted: its verdicts against labels by hand, and rates of a labelled sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.evaluation.significance import Interval, score_interval

ANSWERS, OTHER_EDITION, RELATED, UNRELATED = "answers", "other_edition", "related", "unrelated"
LABELS = (ANSWERS, OTHER_EDITION, RELATED, UNRELATED)
"""What a reader found a passage to be for a question: it answers (in part is enough); it would, had the question not
asked for another year or edition; it is about the same thing; it is not."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Verdicts against labels, counted: both say yes, the judge alone, the label alone, neither."""

    both: int
    judge_alone: int
    label_alone: int
    neither: int

    @property
    def n(self) -> int:
        """Rows that both looked at."""
        return self.both + self.judge_alone + self.label_alone + self.neither

    @property
    def accuracy(self) -> float:
        """Share of rows on which both say the same."""
        return (self.both + self.neither) / self.n

    @property
    def kappa(self) -> float | None:
        """Agreement beyond chance; None where one verdict alone was ever given, so that chance explains all.

        Source: Cohen, Educational and Psychological Measurement 20, 1960.
        """
        judged, labelled = self.both + self.judge_alone, self.both + self.label_alone
        chance = (judged * labelled + (self.n - judged) * (self.n - labelled)) / self.n**2
        return None if chance == 1 else (self.accuracy - chance) / (1 - chance)


def score_agreement(verdicts: Sequence[bool], labels: Sequence[bool]) -> Agreement:
    """Count how a judge's verdicts and a reader's labels meet."""
    met = list(zip(verdicts, labels, strict=True))
    return Agreement(*(met.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False))))


def score_rate(hits: Sequence[bool], clusters: Sequence[str], *, stream: Sequence[str], seed: int = 0) -> Interval:
    """Share of hits in a labelled sample; the interval draws whole clusters, the questions that rows belong to."""
    return score_interval([float(hit) for hit in hits], clusters, seed=seed, stream=stream)
