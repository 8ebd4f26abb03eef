"""What the first page states about a library: counts, filters, questions to try."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.serving.library_replies import DocumentEntry, FormEntry
from taxkg_assets.serving.library_summary import EXAMPLES, name_of_form, suggest_questions


def _document(number: int, **given: Any) -> DocumentEntry:
    values: dict[str, Any] = {
        "document": f"d{number}",
        "title": "Instructions for Form 9999 (2031) — Harbor Dues",
        "form": "9999",
        "doc_type": "filer_instructions",
        "revision": "2031",
        "tax_year": 2031,
        "is_draft": False,
        "pages": 3,
        "product": "i9999",
        "page_url": None,
        "pdf_url": None,
        "flags": 0,
    }
    return DocumentEntry(**{**values, **given})


def test_questions_come_from_titles_and_keys_without_repeats() -> None:
    booklet = _document(3, title="Publication 99 (2031) — Barges at Sea", form="Pub. 99", doc_type="publication")
    forms = [FormEntry(form="9999", keys=["box_1", "line_2"], revisions=[])]
    assert suggest_questions([_document(1), _document(2), booklet, _document(4, title="Untitled")], forms) == [
        "Who must file Form 9999?",
        "What does Pub. 99 say about Barges at Sea?",
        "What goes in box 1 of Form 9999?",
        "What goes on line 2 of Form 9999?",
    ]


def test_of_many_questions_a_few_are_spread_over_the_library() -> None:
    found = suggest_questions([_document(number, form=f"{number}") for number in range(100, 150)], [])
    assert len(found) == EXAMPLES
    assert found[0] == "Who must file Form 100?"
    assert found[-1] == "Who must file Form 140?"
    assert suggest_questions([], []) == []


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("1099-DIV", "Form 1099-DIV"),
        ("W-2 and W-3", "Forms W-2 and W-3"),
        ("Schedule D (Form 1040)", "Schedule D (Form 1040)"),
        ("Pub. 17", "Pub. 17"),
    ],
)
def test_a_form_is_named_as_people_name_it(form: str, name: str) -> None:
    assert name_of_form(form) == name
