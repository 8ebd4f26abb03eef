"""What a library holds in few words, for the first page: counts, the values of the filters, questions to try."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import BaseModel, Field

from taxkg_assets.serving.library import list_documents, list_forms
from taxkg_assets.serving.library_replies import DocumentEntry, FormEntry
from taxkg_assets.serving.released import Released

EXAMPLES = 5
"""Questions that the first page suggests."""


class LibrarySummary(BaseModel):
    """Counts of a release, the forms and years of its documents, and questions to try."""

    documents: int = Field(description="number of documents in the release")
    products: int = Field(description="number of different forms and publications; all revisions of one count once")
    pages: int = Field(description="number of pages in all documents")
    flagged: int = Field(description="number of documents that fail a quality check")
    fillable: int = Field(description="number of forms whose fields can be browsed")
    forms: list[str] = Field(description="names of the forms and publications")
    years: list[str] = Field(description="tax years or revision years, newest first")
    examples: list[str] = Field(description="example questions that the library can answer")


def summarize_library(released: Released) -> LibrarySummary:
    """Summarize what a release contains, in a reply of constant size.

    Args:
        released: The release to read.

    Returns:
        The summary.
    """
    documents = list_documents(released)
    forms = list_forms(released)
    return LibrarySummary(
        documents=len(documents),
        products=len({row.product or row.document for row in documents}),
        pages=sum(row.pages for row in documents),
        flagged=sum(bool(row.flags) for row in documents),
        fillable=len(forms),
        forms=sorted({row.form for row in documents if row.form}),
        years=sorted({year for row in documents if (year := str(row.tax_year or row.revision[:4]))}, reverse=True),
        examples=suggest_questions(documents, forms),
    )


def suggest_questions(documents: Iterable[DocumentEntry], forms: Iterable[FormEntry]) -> list[str]:
    """Suggest questions to try, made from the titles and forms of a release.

    Args:
        documents: Documents of the release.
        forms: Forms with the keys of their first boxes or lines.
    """
    questions: list[str] = []
    for row in documents:
        _, _, topic = row.title.partition(" — ")
        if row.doc_type.endswith("instructions") and row.form and topic:
            questions.append(f"Who must file {name_of_form(row.form)}?")
        elif row.doc_type == "publication" and topic:
            questions.append(f"What does {row.form} say about {topic}?")
    for entry in forms:
        for key in entry.keys:
            preposition = "in" if key.startswith("box_") else "on"
            questions.append(f"What goes {preposition} {key.replace('_', ' ')} of {name_of_form(entry.form)}?")
    return _spread(list(dict.fromkeys(questions)))


def name_of_form(form: str) -> str:
    """Format the name of a form for readers: `Form 1099-DIV`, `Forms W-2 and W-3`, `Schedule D (Form 1040)`.

    Args:
        form: Name as in `documents`.
    """
    if form.startswith(("Schedule", "Form", "Pub", "Instructions")):
        return form
    return f"{'Forms' if ' and ' in form else 'Form'} {form}"


def _spread(questions: Sequence[str]) -> list[str]:
    step = max(1, len(questions) // EXAMPLES)
    return list(questions[::step][:EXAMPLES])
