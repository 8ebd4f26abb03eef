"""Find the box that a question describes without naming it, by the labels printed on forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.query.router import Route, covers_key
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.answers import load_answers


@dataclass(frozen=True, slots=True)
class FormBox:
    """A box of a form with its label, as printed on the newest revision of the form."""

    form: str
    key: str
    label: str

    @property
    def name(self) -> str:
        """Return the name of the box for readers, such as "box 1b"."""
        return self.key.replace("_", " ")


def find_described_box(searcher: Searcher, question: str, ranking: Ranking) -> FormBox | None:
    """Find the box that a question describes without naming it, by the similarity of its label.

    Args:
        searcher: Opened search; `open_boxes` reads the boxes of the home.
        question: Words of the user.
        ranking: Ranking of the question.

    Returns:
        The box with the most similar label; None where no label is similar enough, or several are equally similar.
    """
    route = ranking.route
    if searcher.open_boxes is None or route.keys or not asks_for_box(question):
        return None
    description = frozenset(ranking.query_term_idf) - _list_request_terms(question, route.forms)
    scored = [(_score_label(description, box.label), box) for box in _list_newest_boxes(searcher.open_boxes(), route)]
    best_score = max((score for score, _ in scored), default=0.0)
    best_boxes = [box for score, box in scored if score == best_score]
    is_similar = best_score >= load_answers().label_share
    return best_boxes[0] if is_similar and len(best_boxes) == 1 else None


def _list_newest_boxes(boxes: pl.DataFrame, route: Route) -> list[FormBox]:
    """Return the boxes of the forms that a question names, or of all forms, each with its newest label."""
    rows = boxes.select("form", "revision", "document_id", "box_key", "label").rows(named=True)
    labels: dict[tuple[str, str], str] = {}
    for row in sorted(rows, key=lambda row: (row["revision"], row["document_id"])):
        if row["label"] and (not route.forms or set(route.forms) & set(split_forms(row["form"]))):
            labels[row["form"], row["box_key"]] = row["label"]
    return [FormBox(form, key, label) for (form, key), label in labels.items()]


def label_box(units: Sequence[Unit], box: FormBox, results: Sequence[Result]) -> list[Unit]:
    """Label the first unit about a box with the form, name and label of the box, and move this unit to the front.

    Args:
        units: Units of the answer.
        box: The box.
        results: Passages of the units.

    Returns:
        Units with the labeled unit first; unchanged if no unit is about the box.
    """
    labeled = list(units)
    for unit_ix, unit in enumerate(units):
        if covers_key(results[unit.rank - 1].anchor_key, (box.key,)):
            label = f"Form {box.form}, {box.name}, “{box.label}”"
            other_pieces = [piece for piece in unit.pieces if piece.role != "label"]
            pieces = [Piece(role="label", text=label), *other_pieces]
            labeled[unit_ix] = unit.model_copy(update={"pieces": pieces})
            return [labeled.pop(unit_ix), *labeled]
    return labeled


def asks_for_box(question: str) -> bool:
    """Return whether a question asks in which box an amount is reported.

    Args:
        question: Words of the user.
    """
    return load_answers().box_questions.matches(question)


def _list_request_terms(question: str, forms: tuple[str, ...]) -> frozenset[str]:
    """Return the terms of a question that ask for a box or name the form, and so do not describe the box."""
    requests = (match.group() for rule in load_answers().box_questions for match in rule.pattern.finditer(question))
    return frozenset(
        find_terms(" ".join([*requests, *forms, "form forms box boxes line shows show reported entered goes"]))
    )


def _score_label(description: frozenset[str], label: str) -> float:
    """Return the number of terms that a label and a description share, divided by the number that either has."""
    terms = frozenset(find_terms(label))
    return len(terms & description) / max(1, len(terms | description))
