"""Folds over form families: what a model may learn from, and which questions it is then queried."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.labeled import LabeledQuestion
from taxkg_assets.evaluation.matching import is_quoted
from taxkg_assets.evaluation.metrics import find_required
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.training.examples import Example

REASONS = ("held_out", "gold", "same_question", "negatives")
SAME_QUESTION = 0.6
"""Share of terms in common from which two questions are one."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Families that are left out of training, and the questions about them."""

    number: int
    families: tuple[str, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which examples a study learns from."""

    pairs: int = 4000
    dev: int = 120
    negatives: int = 2
    """Hardest negatives of each."""
    scenario_share: float = 0.6
    """Share of the pairs that are questions, where there are enough; the rest is dealt evenly to the other kinds."""
    seed: int = 0


def find_family(question: LabeledQuestion, families: Mapping[str, str]) -> str | None:
    """The family of most of the passages that an answer needs; None of a question without gold."""
    required = [families[passage["document"]] for passage in find_required(question)]
    return min(Counter(required).items(), key=lambda item: (-item[1], required.index(item[0])))[0] if required else None


def build_folds(questions: Sequence[LabeledQuestion], families: Mapping[str, str], *, count: int) -> list[Fold]:
    """Deal families with questions out to folds so that these hold about the same number of questions.

    A family without questions is held out of nothing: there would be nothing to ask.
    """
    own: dict[str, list[str]] = {}
    for question in questions:
        family = find_family(question, families)
        if family is not None:
            own.setdefault(family, []).append(question["id"])
    dealt: list[list[str]] = [[] for _ in range(count)]
    for family in sorted(own, key=lambda name: (-len(own[name]), name)):
        min(dealt, key=lambda held_out: sum(len(own[name]) for name in held_out)).append(family)
    return [
        Fold(number, tuple(held_out), tuple(sorted(ix for name in held_out for ix in own[name])))
        for number, held_out in enumerate(dealt)
        if held_out
    ]


def filter_examples(
    examples: Sequence[Example],
    *,
    fold: Fold,
    queried: Sequence[LabeledQuestion],
    family_of_text: Mapping[str, str],
    query_families: Mapping[str, str],
) -> tuple[list[Example], dict[str, dict[str, int]]]:
    """Leave out what would tell a model of a fold about its questions.

    Args:    queried: the fold's questions. family_of_text: family of each passage as it is encoded; a negative of a
             held-out family is taken from its example. query_families: family that an example's short side is from.
    Returns: the examples that are left; and, by reason and by kind of pair, how many were left out because passage or
             short side is of a held out family (`held_out`), because the passage holds a gold quote of another family
             (`gold`), because the question is nearly one of those queried (`same_question`), and how many negatives
             were taken away (`negatives`).
    """
    held_out = frozenset(fold.families)
    elsewhere = [passage for question in queried for passage in question["gold"]]
    terms = [frozenset(find_terms(question["query"])) for question in queried]
    kept: list[Example] = []
    why: dict[str, Counter[str]] = {name: Counter() for name in REASONS}
    for example in examples:
        if held_out & {example.family, query_families.get(example.pair_id, example.family)}:
            why["held_out"][example.kind] += 1
        elif any(is_quoted(gold["quote"], example.positive, is_row=False) for gold in elsewhere):
            why["gold"][example.kind] += 1
        elif is_same_question(example.query, terms):
            why["same_question"][example.kind] += 1
        else:
            left = tuple(text for text in example.negatives if family_of_text.get(text) not in held_out)
            why["negatives"][example.kind] += len(example.negatives) - len(left)
            kept.append(replace(example, negatives=left))
    return kept, {name: {kind: own[kind] for kind in sorted(own) if own[kind]} for name, own in why.items()}


def choose_examples(
    examples: Sequence[Example], *, dev_families: frozenset[str], choice: Choice, written: frozenset[str] = frozenset()
) -> tuple[list[Example], list[Example]]:
    """Examples to train on, at most N, and questions of the families of development.

    Args: written: ids of pairs with a written question; these go before made ones.
    """
    draw = random.Random(choice.seed)
    dev = [e for e in examples if e.family in dev_families and e.kind == "scenario"]
    left = [e for e in examples if e.family not in dev_families]
    scenario = [e for e in left if e.kind == "scenario"]
    other = sorted({e.kind for e in left} - {"scenario"})
    most = round(choice.pairs * (choice.scenario_share if other else 1))
    chosen = _draw_first(scenario, most, draw, first=written)
    for place, kind in enumerate(other):
        rest = (choice.pairs - len(chosen)) // (len(other) - place)
        chosen += _draw([e for e in left if e.kind == kind], rest, draw)
    train = [replace(e, negatives=e.negatives[: choice.negatives]) for e in sorted(chosen, key=lambda e: e.pair_id)]
    return train, _draw_first(dev, choice.dev, draw, first=written)


def _draw_first(
    examples: Sequence[Example], count: int, draw: random.Random, *, first: frozenset[str]
) -> list[Example]:
    chosen = _draw([e for e in examples if e.pair_id in first], count, draw)
    return chosen + _draw([e for e in examples if e.pair_id not in first], count - len(chosen), draw)


def _draw(examples: Sequence[Example], count: int, draw: random.Random) -> list[Example]:
    return draw.sample(list(examples), count) if len(examples) > count else list(examples)


def is_same_question(query: str, queried: Iterable[frozenset[str]], *, least: float = SAME_QUESTION) -> bool:
    """Whether a training question is one of those queried, or nearly: so large a share of the terms is in both."""
    own = frozenset(find_terms(query))
    return any(len(own & other) >= least * len(own | other) for other in queried if own or other)
