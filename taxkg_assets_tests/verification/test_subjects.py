"""Which documents a claim is about."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.verification.claims import Subject
from taxkg_assets.verification.subjects import find_documents


def _document(name: str, form: str, revision: str, *, is_draft: bool = False) -> dict[str, Any]:
    year = None if "-" in revision else int(revision)
    product = name.split("--")[0]
    return {
        "document_id": name,
        "irs_name": product,
        "form": form,
        "revision": revision,
        "tax_year": year,
        "is_draft": is_draft,
    }


DOCUMENTS = [
    _document("f9999--2030", "9999", "2030"),
    _document("f9999--2031", "9999", "2031"),
    _document("f9999--2032-draft", "9999", "2032", is_draft=True),
    _document("i9999--2029-07", "9999", "2029-07"),
    _document("i9999--2031-12", "9999", "2031-12"),
    _document("p999--2031", "Pub. 999", "2031"),
]


@pytest.mark.parametrize(
    ("subject", "own"),
    [
        (Subject(("9999",), 2031), {"f9999--2031", "i9999--2031-12"}),
        (Subject(("9999",), 2030), {"f9999--2030", "i9999--2029-07"}),
        (Subject(("9999",)), {"f9999--2031", "i9999--2031-12"}),
        (Subject(("9999",), 2031, 12), {"f9999--2031", "i9999--2031-12"}),
        (Subject(("Pub. 999",), 2030), set()),
        (Subject(("8888",), 2031), set()),
        (Subject(), set()),
    ],
)
def test_documents_are_chosen_by_form_and_year(subject: Subject, own: set[str]) -> None:
    assert set(find_documents(subject, DOCUMENTS).own) == own


def test_other_revisions_come_nearest_first() -> None:
    found = find_documents(Subject(("9999",), 2031), DOCUMENTS)
    assert found.others[0] in ("f9999--2030", "f9999--2032-draft")
    assert found.others[-1] == "i9999--2029-07"
    assert found.is_known
    assert not find_documents(Subject(("8888",)), DOCUMENTS).is_known
