"""Score how well the form of a passage matches the forms that a question names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from taxkg_assets.retrieval.encoding.arrays import Floats
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.rules.forms import split_forms

OTHER_FORM = -1.0
"""Score of a passage of another form."""


def score_form(form: str, route: Route) -> float:
    """Score how well the form of a passage matches the forms in the question.

    Args:
        form: Form of a passage; may be empty.
        route: Route of the question.

    Returns:
        1 for a requested form, -1 for another form, -0.4 for a publication or no form; 0 if the question names none.
    """
    return _score_form(form, route.forms)


@lru_cache(maxsize=100_000)
def _score_form(form: str, requested_forms: tuple[str, ...]) -> float:
    if not requested_forms:
        return 0.0
    forms = split_forms(form)
    if set(forms) & set(requested_forms):
        return 1.0
    return -0.4 if form.startswith("Pub") or not forms else OTHER_FORM


def score_forms(forms: Sequence[str], route: Route) -> Floats:
    """Score how well each form of an index matches the forms in the question.

    Args:
        forms: Forms of passages.
        route: Route of the question.

    Returns:
        Scores of `score_form`, shape (forms,).
    """
    if not route.forms:
        return np.zeros(len(forms))
    return np.array([_score_form(form, route.forms) for form in forms], dtype=np.float64)
