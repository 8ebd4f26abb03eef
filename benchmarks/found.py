"""Found: places of needed passages for questions in everyday words over a library, with and without search parts.

`python -m benchmarks found` runs every answerable question of `data/library_eval` as queried and with one typing error,
on the whole search and without one part at a time.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.forum import HALVES, find_family, read_half
from benchmarks.labeled import LabeledQuestion
from benchmarks.results import open_home, write_results
from taxkg_assets.evaluation.metrics import Result, score_query
from taxkg_assets.evaluation.significance import Interval, score_interval
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.index.bm25 import LexicalRetriever
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

SHOWN = ("recall@5", "recall@2000tok", "hit@1", "mrr", "wrong_document@1")
WITHOUT = ("lay_terms", "tokens", "typos")
"""Parts of the search that are turned off, one at a time."""
RESULTS = 50
SEED = 7
_WORD = re.compile(r"\b[a-z]{6,}\b")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

Scores = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Figure:
    """Mean of a metric over the questions of a half; where a part is off, its gain with an interval over families."""

    half: str
    questions: str
    without: str
    metric: str
    mean: float
    gain: tuple[float, float | None, float | None] | None
    count: int


@dataclass(frozen=True, slots=True)
class Report:
    """Figures by half, kind of question and part."""

    figures: list[Figure]

    def write(self, folder: Path) -> str:
        """Write `found.json` and `found.md`; gives the Markdown."""
        lines = [
            "# found",
            "",
            "| half | questions | without | metric | mean | gain of the part | n |",
            "|---" * 7 + "|",
        ]
        lines += [_write_row(figure) for figure in self.figures]
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="found")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Ask the release of TAXKG_HOME the answerable questions of both halves; no repetitions."""
    released = open_home(Settings().home)
    figures: list[Figure] = []
    for half in HALVES:
        opened, _ = read_half(half, released.table("sections"))
        queried = [question for question in opened if question["gold"]]
        draw = random.Random(SEED)
        lexical = released.searcher.index.lexical
        spoiled: list[LabeledQuestion] = [
            {**question, "query": misspell(question["query"], lexical, draw=draw)} for question in queried
        ]
        for name, questions in (("as queried", queried), ("one typing error", spoiled)):
            figures += _compare(released.searcher, questions, half=half, name=name)
    return Report(figures)


def misspell(query: str, lexical: LexicalRetriever, *, draw: random.Random) -> str:
    """Return a question with one typing error in its rarest word of six letters or more that documents print.

    Args:
        query: Question.
        lexical: Postings of the index.
        draw: Source of the errors: two letters exchanged, one left out, one doubled, or one wrong.
    """
    words = {word: max(map(lexical.idf, find_terms(word)), default=0.0) for word in _WORD.findall(query)}
    word = max(words, key=lambda own: words[own], default="")
    if not words or not words[word]:
        return query
    place = draw.randrange(1, len(word) - 1)
    before, letter, after = word[:place], word[place], word[place + 1 :]
    other = draw.choice(_LETTERS.replace(letter, ""))
    changed = draw.choice([after[0] + letter + after[1:], after, 2 * letter + after, other + after])
    return query.replace(word, before + changed, 1)


def _compare(searcher: Searcher, questions: Sequence[LabeledQuestion], *, half: str, name: str) -> list[Figure]:
    families = [find_family(question) for question in questions]
    whole = _score(searcher, questions)
    figures = [
        Figure(half, name, "", metric, sum(whole[metric]) / len(questions), None, len(questions))
        for metric in SHOWN
        if questions
    ]
    for part in WITHOUT if questions else ():
        less = _score(searcher.with_parts(replace(searcher.parts, **{part: False})), questions)
        for metric in SHOWN:
            gains = [own - other for own, other in zip(whole[metric], less[metric], strict=True)]
            interval = score_interval(gains, families, seed=SEED, stream=[half, name, part, metric])
            mean = sum(less[metric]) / len(questions)
            figures.append(Figure(half, name, part, metric, mean, _read(gains, interval), len(questions)))
    return figures


def _score(searcher: Searcher, questions: Sequence[LabeledQuestion]) -> Scores:
    scores: Scores = {metric: [] for metric in SHOWN}
    for question in questions:
        found = [Result(row.document, row.text) for row in searcher.search(question["query"], k=RESULTS)]
        own = score_query(question, found, is_abstained=False)
        for metric in SHOWN:
            scores[metric].append(float(own[metric] or 0.0))
    return scores


def _read(gains: Sequence[float], interval: Interval) -> tuple[float, float | None, float | None]:
    return sum(gains) / len(gains), interval.low, interval.high


def _write_row(figure: Figure) -> str:
    gain = ""
    if figure.gain is not None:
        mean, low, high = figure.gain
        gain = f"{mean:+.3f}" + ("" if low is None else f" ({low:+.3f} to {high:+.3f})")
    cells = (figure.half, figure.questions, figure.without, figure.metric, f"{figure.mean:.3f}", gain, figure.count)
    return f"| {' | '.join(str(cell) for cell in cells)} |"
