"""The interpretation of a question, as readers of a result see it; its JSON leaves out what was not found."""

from __future__ import annotations

from operator import not_
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")
Found = Annotated[T, Field(exclude_if=not_)]
"""A part that is left out of the JSON where nothing was found."""


class RouteExplanation(BaseModel):
    """How the search interpreted a question, for display."""

    model_config = ConfigDict(frozen=True)
    forms: Found[list[str]] = Field(default=[], description="forms that the question names or implies, e.g. 1099-DIV")
    years: Found[list[int]] = Field(default=[], description="tax years or revision years in the question")
    revisions: Found[list[str]] = Field(default=[], description="revisions as named")
    keys: Found[list[str]] = Field(
        default=[], description="keys of the requested boxes, lines and columns, e.g. box_1a"
    )
    perspective: Found[str] = Field(
        default="", description="requested audience of the instructions: filer or recipient"
    )
    certainty: Found[float] = Field(default=0.0, description="confidence in the detected perspective, 0 to 1")
    wants_draft: Found[bool] = Field(default=False, description="whether the question asks for a draft")
    places: Found[list[str]] = Field(default=[], description="states and cities that the question names")
    unknown_forms: Found[list[str]] = Field(default=[], description="forms that the library does not have")
    mentioned_forms: Found[list[str]] = Field(
        default=[], description="other forms that the question mentions in passing"
    )
    wants_amount: Found[bool] = Field(default=False, description="whether the question asks for an amount")
    wants_city: Found[bool] = Field(default=False, description="whether the question asks for a city's own law")
    filers: Found[list[str]] = Field(
        default=[], description="kinds of filers besides individuals that the question may be about, e.g. estate"
    )
    intent: Found[str] = Field(default="", description="kind of question, if it asks for something other than passages")
    corrections: Found[list[str]] = Field(
        default=[], description="corrected typing errors, each as `misspelled: corrected`"
    )
