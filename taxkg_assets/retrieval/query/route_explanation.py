"""What was inferred from a question, as readers of a result see it: only what was found is in its JSON."""

from __future__ import annotations

from operator import not_
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")
Found = Annotated[T, Field(exclude_if=not_)]
"""A part that is left out of the JSON where nothing was found."""


class RouteExplanation(BaseModel):
    """Interpretation of a question.

    Attributes:
        forms: Forms that it names or implies, e.g. `1099-DIV`.
        years: Tax years or years of revisions.
        revisions: Revisions as named.
        keys: Keys of boxes, lines and columns, e.g. `box_1a`.
        perspective: Reader whose view it takes, `filer` or `recipient`; empty for none.
        certainty: Certainty of the perspective, from 0 to 1.
        wants_draft: Whether it asks for a draft.
        places: States and cities that it names.
        unknown_forms: Forms that it names and the corpus does not have.
        mentioned_forms: Forms that it mentions besides those that it asks about.
        wants_amount: Whether it asks for an amount.
        wants_city: Whether it asks for a city's own law.
        intent: Kind of question; empty for one that passages answer.
        corrections: Corrected typing errors, each as `word: other`.
    """

    model_config = ConfigDict(frozen=True)
    forms: Found[list[str]] = []
    years: Found[list[int]] = []
    revisions: Found[list[str]] = []
    keys: Found[list[str]] = []
    perspective: Found[str] = ""
    certainty: Found[float] = 0.0
    wants_draft: Found[bool] = False
    places: Found[list[str]] = []
    unknown_forms: Found[list[str]] = []
    mentioned_forms: Found[list[str]] = []
    wants_amount: Found[bool] = False
    wants_city: Found[bool] = False
    intent: Found[str] = ""
    corrections: Found[list[str]] = []
