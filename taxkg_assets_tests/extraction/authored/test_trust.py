"""Why the structure tags of a page are not trusted, each on a page of its own."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.authored.trust import FORM_FACE, TagTrust, drop_face_tags
from taxkg_assets.rules.loader import load_family
from taxkg_assets_tests.extraction.tagged_pdf import LEFT, RIGHT, TaggedPdf, fill, make_booklet, make_tables


def _untagged() -> TaggedPdf:
    """Most of the text is before the first tag, under none."""
    pdf = TaggedPdf()
    for text in fill(6):
        pdf.bare(text)
    return pdf.to(LEFT, 300).put("P", *fill(3))


def _heaped() -> TaggedPdf:
    """One tag holds three blocks of text far apart."""
    pdf = TaggedPdf()
    with pdf.tag("P"):
        for y in (60, 300, 500):
            pdf.to(LEFT, y).lines(*fill(4))
    return pdf


def _disordered() -> TaggedPdf:
    """Paragraphs from the foot of the page to its head."""
    pdf = TaggedPdf()
    for y in (500, 400, 300, 200, 100):
        pdf.to(LEFT, y).put("P", *fill(3))
    return pdf


def _pictured() -> TaggedPdf:
    """A page whose table is tagged as one picture."""
    pdf = TaggedPdf()
    with pdf.tag("Figure"):
        for y in (60, 200):
            pdf.to(LEFT, y).lines(*fill(4))
    return pdf


@pytest.mark.parametrize(
    ("pdf", "reason"),
    [
        (_untagged(), "cover only 3"),
        (_heaped(), "put 100% of the text into one element"),
        (_pictured(), "call the text of the page a picture"),
        (_disordered(), "contradicts the page at 100% of its paragraphs"),
        (TaggedPdf().put("H2", *fill(9)).put("P", *fill(3)), "of the text headings"),
        (TaggedPdf().put("P", "A few words."), "too little text"),
    ],
)
def test_reasons(pdf: TaggedPdf, reason: str) -> None:
    page = pdf.pages()[0]
    assert reason in page.distrust
    assert page.tags == ()


@pytest.mark.parametrize("pdf", [make_booklet(), make_tables()])
def test_valid_pages_are_trusted(pdf: TaggedPdf) -> None:
    assert [page.distrust for page in pdf.pages()] == [""] * len(pdf.sheets)


def test_many_short_headings_are_no_reason() -> None:
    pdf = TaggedPdf()
    for number in range(9):
        pdf.put("H3", f"Heading of hive number {number}", face="b").put("P", "Some words on it.")
    assert pdf.pages()[0].distrust == ""


def test_columns_side_by_side_are_no_disorder() -> None:
    pdf = TaggedPdf()
    for x in (LEFT, RIGHT):
        pdf.to(x)
        for _ in range(4):
            pdf.put("P", *fill(3))
    assert pdf.pages()[0].distrust == ""


def test_running_feet_count_neither_way() -> None:
    pdf = TaggedPdf().to(LEFT, 20).bare("A running head that nobody tagged, as long as the text itself is, and more")
    assert pdf.to(LEFT).put("P", *fill(2)).pages()[0].distrust == ""


def test_faces_of_forms_are_not_read_by_their_tags() -> None:
    most = load_family("roles")["thresholds"]["face_widgets"]
    assert TagTrust().wants_tags(widget_count=most - 1)
    assert not TagTrust().wants_tags(widget_count=most)


def test_a_face_with_boxes_is_read_without_its_tags() -> None:
    source = TaggedPdf().put("P", *fill(9)).turn().put("P", *fill(9)).source()
    assert all(page.tags for page in source.pages)
    dropped = drop_face_tags(source, faces={2})
    assert dropped.pages[0] == source.pages[0]
    assert (dropped.pages[1].tags, dropped.pages[1].distrust) == ((), FORM_FACE)
    assert {span.tag_ix for span in dropped.pages[1].spans} == {-1}
    assert drop_face_tags(source, faces=()) is source
