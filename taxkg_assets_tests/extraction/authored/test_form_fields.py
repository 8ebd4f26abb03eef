"""Form fields are joined to their template by name; one that does not fit the form is not believed."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.authored.form_fields import find_form_fields
from taxkg_assets.extraction.pdf.model import Source
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets_tests.extraction.templated import FOOT, HEAD, TemplatedForm, field_xml


def _form() -> TemplatedForm:
    form = TemplatedForm()
    form.put(50, 100, "Boats and rafts of the harbour")
    form.add((300, 140, 380, 152), "2. Rafts.", name="later")
    form.add((300, 100, 380, 112), "1. Boats.", name="box")
    form.add((400, 100, 410, 110), "1. Check here.", name="box", kind="checkbox")
    return form


def _read(data: bytes) -> Source:
    return read_source(data, document_id="sample")


@pytest.mark.parametrize("layout", ["inline", "indirect", "stream"])
def test_fields_take_their_words_from_the_template_and_their_place_from_the_page(layout: str) -> None:
    found = find_form_fields(_read(_form().save(layout=layout)))
    assert found.is_trusted, found.reason
    assert [(one.name, one.kind, one.spoken, round(one.x0)) for one in found.fields] == [
        ("top[0].Page1[0].later[0]", "text", "2. Rafts.", 300),
        ("top[0].Page1[0].box[0]", "text", "1. Boats.", 300),
        ("top[0].Page1[0].box[1]", "checkbox", "1. Check here.", 400),
    ]
    assert all(one.subform == "top[0].Page1[0]" and one.is_from_template for one in found.fields)


def test_a_turned_page_gives_the_places_as_they_are_shown() -> None:
    form = _form()
    form.page.page.set_rotation(90)
    box = find_form_fields(_read(form.save())).fields[1]
    # A page of 612 by 792 points, turned to the right: what was 100 points below its top is 792 - 100 from the left.
    assert [round(value) for value in (box.x0, box.y0, box.x1, box.y1)] == [792 - 112, 300, 792 - 100, 380]


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (b"", "no template"),
        (b"<!DOCTYPE a>" + HEAD + FOOT, "document type"),
        (HEAD + field_xml("other", "1. Boats.") + FOOT, "names 0 of 3"),
        (HEAD + field_xml("later") + field_xml("box") * 2 + FOOT, "describes 0 of 3"),
    ],
)
def test_a_template_that_does_not_fit_is_not_believed(template: bytes, reason: str) -> None:
    found = find_form_fields(_read(_form().save(template)))
    assert not found.is_trusted
    assert reason in found.reason
    assert len(found.fields) == 3


def test_a_template_that_says_the_same_of_all_fields_is_not_believed() -> None:
    form = TemplatedForm()
    form.put(50, 80, "Boats and rafts of the harbour")
    for ix in range(12):
        form.add((300, 100 + 14 * ix, 380, 112 + 14 * ix), "1. Boats.")
    found = find_form_fields(_read(form.save()))
    assert (found.is_trusted, found.reason) == (False, "The template gives the same text for most fields.")
