"""Questions with and without single rules: answers that contain what is needed, by family of the needed document.

Questions that are held out take no part.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import polars as pl

from benchmarks.forum import read_half
from benchmarks.labeled import LabeledQuestion, label_question, read_labeled
from benchmarks.questions import find_elements, read_questions
from taxkg_assets.evaluation.answer_metrics import Reply, score_answer
from taxkg_assets.evaluation.metrics import Result, find_passages, find_required, score_reciprocal_rank
from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.models.levels import load_levels
from taxkg_assets.rules.support import Key, name_family
from taxkg_assets.serving.released import Released
from taxkg_assets.settings import Settings
from tools.rule_evidence import find_reading, list_rules
from tools.rule_labels import read_development

LEVELS = Path(__file__).resolve().parents[1] / "data" / "library_eval" / "levels.jsonl"
BUDGET = 2_000
QUOTE = 300
"""Characters of an element that a result must contain."""
COUNTED = ("mrr", "contains_needed", "abstains_on_unanswerable")
"""Metrics that count: the right passage first, an answer with the needed passage, silence where there is no answer."""
Without = Callable[[Iterable[Key]], AbstractContextManager[None]]


def measure_questions(
    keys: Sequence[Key], released: Released, folders: Sequence[Path], *, without: Without
) -> Iterator[tuple[Key, int, dict[str, float]]]:
    """Answer the questions in which a rule fires with it and without it.

    Args:
        keys: Rules that read questions, or tables from which questions are answered.
        released: Release that answers.
        folders: Folders of labels, whose `queries.jsonl` are added to the questions of the project.
        without: Switches rules off.

    Yields:
        The rule, the number of questions, and the gain by family of the needed document: the sum of
        the metrics of `COUNTED`.
    """
    questions = [*_read_labeled(folders), *_read_development(released), *read_written(released.table("elements"))]
    rules = {(family, group, rule.id): rule for family, group, rule in list_rules()}
    base: dict[int, Mapping[str, float]] = {}
    for key in keys:
        fired = _find_fired(key, rules[key], questions)
        for ix in fired:
            if ix not in base:
                base[ix] = _score(released.searcher, questions[ix])
        gains: dict[str, float] = defaultdict(float)
        with without([key]):
            for ix in fired:
                after = _score(released.searcher, questions[ix])
                gains[_name_family(questions[ix])] += sum(base[ix].get(m, 0.0) - after.get(m, 0.0) for m in COUNTED)
        yield key, len(fired), gains


def measure_levels(key: Key, *, without: Without) -> tuple[int, dict[str, float]]:
    """Compare the levels of labeled questions with and without a rule.

    Args:
        key: Family, group and id of the rule.
        without: Switches rules off.

    Returns:
        Number of labeled questions, and the gain by family of the document that a question is about.
    """
    rows = read_development(LEVELS)

    def find_right() -> list[bool]:
        intents = load_levels().intents
        found = [next((rule for rule in intents if rule.pattern.search(row["query"])), None) for row in rows]
        return [(rule.level if rule else "auto") == row["level"] for rule, row in zip(found, rows, strict=True)]

    before, gains = find_right(), defaultdict[str, float](float)
    with without([key]):
        for row, was, stays in zip(rows, before, find_right(), strict=True):
            gains[name_family(row["family"])] += float(was) - float(stays)
    return len(rows), gains


def _find_fired(key: Key, rule: Rule, questions: Sequence[LabeledQuestion]) -> list[int]:
    """Questions in which a rule for questions fires; all questions for cells, if it reads tables."""
    if find_reading(*key[:2]) == "questions":
        return [ix for ix, row in enumerate(questions) if rule.pattern.search(row["query"])]
    return [ix for ix, row in enumerate(questions) if row["type"] == "table_value"]


def _name_family(question: LabeledQuestion) -> str:
    gold = question["gold"]
    return name_family(gold[0]["document"]) if gold else f"no answer: {question['kind']}"


def _read_labeled(folders: Sequence[Path]) -> Iterator[LabeledQuestion]:
    for path in (folder / "queries.jsonl" for folder in folders):
        if path.exists():
            yield from read_labeled(path)


def _read_development(released: Released) -> Iterator[LabeledQuestion]:
    """Read the development half of the library's questions; the check half decides about no rule."""
    yield from read_half("development", released.table("sections"))[0]


def read_written(elements: pl.DataFrame) -> list[LabeledQuestion]:
    """Read the written questions of `data/training` with the beginning of their element as the quote to find.

    Args:
        elements: Table `elements` of the home.

    Returns:
        Questions whose element the home contains, and questions that no document answers.
    """
    texts = {row[0]: row[1:] for row in elements.select("element_id", "document_id", "page", "text").iter_rows()}
    found = []
    for row in read_questions():
        names = find_elements(row)
        gold = [
            {"document": document, "page": page, "quote": text[:QUOTE], "grade": 3}
            for document, page, text in (texts[name] for name in names if name in texts)
        ]
        if gold or not names:
            kind = "written" if gold else "unanswerable"
            found.append(label_question({**row, "type": kind, "gold": gold}))
    return found


def _score(searcher: Searcher, question: LabeledQuestion) -> dict[str, float]:
    try:
        answer = ask(searcher, question["query"], settings=Settings())
    except (LookupError, StopIteration, RuntimeError) as missing:
        # The code names this rule, so nothing works without it.
        print(f"{question['id']}: {missing!r}", file=sys.stderr)
        return {}
    reply = Reply(text=answer.answer, confidence=answer.confidence, is_abstained=answer.abstained)
    scores = {name: value for name, value in score_answer(question, reply).items() if name in COUNTED}
    if required := find_required(question):
        results = [Result(row.document, row.text) for row in answer.results]
        ranks = find_passages(required, results, is_row=question["type"] == "table_value", budget=BUDGET).ranks
        scores["mrr"] = score_reciprocal_rank(ranks)
    return scores
