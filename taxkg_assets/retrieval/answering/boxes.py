"""The box that a question describes without naming it, found by the labels printed on forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.query.router import covers_key
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.answers import load_answers


@dataclass(frozen=True, slots=True)
class NamedBox:
    """A box of a form with its label, as printed on the newest revision of the form."""

    form: str
    key: str
    label: str

    @property
    def name(self) -> str:
        """Return the name of the box for readers: box 1b."""
        return self.key.replace("_", " ")


def find_named_box(searcher: Searcher, question: str, ranking: Ranking) -> NamedBox | None:
    """Find the box that a question describes without naming it, by the similarity of its label.

    Args:
        searcher: Opened search, with the boxes of the home.
        question: Words of the user.
        ranking: Ranking of the question.

    Returns:
        The box; None where none or several match.
    """
    route = ranking.route
    if searcher.open_boxes is None or route.keys or not asks_for_box(question):
        return None
    wanted = frozenset(ranking.query_term_idf) - _frame_words(question, route.forms)
    rows = searcher.open_boxes().select("form", "revision", "document_id", "box_key", "label").rows(named=True)
    newest: dict[tuple[str, str], Mapping[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (row["revision"], row["document_id"])):
        if row["label"] and (not route.forms or set(route.forms) & set(split_forms(row["form"]))):
            newest[row["form"], row["box_key"]] = row
    fits = [(_score_label(wanted, row["label"]), form, key, row["label"]) for (form, key), row in newest.items()]
    best = max((fit[0] for fit in fits), default=0.0)
    found = [fit for fit in fits if fit[0] == best]
    if best < load_answers().label_share or len(found) != 1:
        return None
    _, form, key, label = found[0]
    return NamedBox(form, key, label)


def name_box(units: Sequence[Unit], box: NamedBox, results: Sequence[Result]) -> list[Unit]:
    """Label the first unit about a box with form, name and label, and move it to the front.

    Args:
        units: Units of the answer.
        box: The box.
        results: Passages of the units.

    Returns:
        Units with the labeled one first; unchanged if none is about the box.
    """
    named = list(units)
    for number, unit in enumerate(units):
        if covers_key(results[unit.rank - 1].anchor_key, (box.key,)):
            label = f"Form {box.form}, {box.name}, “{box.label}”"
            unlabeled = [piece for piece in unit.pieces if piece.role != "label"]
            pieces = [Piece(role="label", text=label), *unlabeled]
            named[number] = unit.model_copy(update={"pieces": pieces})
            return [named.pop(number), *named]
    return named


def asks_for_box(question: str) -> bool:
    """Return whether a question asks in which box an amount is reported.

    Args:
        question: Words of the user.
    """
    return load_answers().box_questions.matches(question)


def _frame_words(question: str, forms: tuple[str, ...]) -> frozenset[str]:
    """Return the terms that only request a box, or name the form."""
    requests = (match.group() for rule in load_answers().box_questions for match in rule.pattern.finditer(question))
    return frozenset(
        find_terms(" ".join([*requests, *forms, "form forms box boxes line shows show reported entered goes"]))
    )


def _score_label(wanted: frozenset[str], label: str) -> float:
    """Score the similarity of a label and a question: words that only one of them has count against it."""
    terms = frozenset(find_terms(label))
    return len(terms & wanted) / max(1, len(terms | wanted))
