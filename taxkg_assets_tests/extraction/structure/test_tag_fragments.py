"""Paragraphs whose tags end at every link."""

from __future__ import annotations

from taxkg_assets_tests.extraction.tagged_pdf import LEFT, TaggedPdf, make_booklet


def _put_parted(pdf: TaggedPdf) -> TaggedPdf:
    """Set a paragraph of two lines with a link in the first, each piece tagged next to the others."""
    with pdf.tag("Div"):
        with pdf.tag("P"):
            pdf.run("Keepers read Guide ")
        with pdf.tag("Link"):
            pdf.run("9141")
        with pdf.tag("P"):
            pdf.run(", which is sent with the")
        pdf.to(LEFT, pdf.y + 12)
        with pdf.tag("P"):
            pdf.run("yearly list, before they open a hive.")
    return pdf.to(LEFT, pdf.y + 20)


def test_what_a_link_parts_is_one_paragraph() -> None:
    pdf = _put_parted(make_booklet().turn())
    pdf.put("P", "Wax is weighed in the shed,", "where it is dry.")
    texts = pdf.extract().frames["sections"].filter(page=3)["text"].to_list()
    assert texts == [
        "Keepers read Guide 9141, which is sent with the yearly list, before they open a hive.",
        "Wax is weighed in the shed, where it is dry.",
    ]


def test_a_link_by_itself_and_paragraphs_after_a_full_sentence_stay_apart() -> None:
    pdf = make_booklet().turn()
    with pdf.tag("Div"):
        pdf.put("P", "The list of keepers is here.")
        with pdf.tag("Link"):
            pdf.set("www.example.gov/keepers")
        pdf.put("P", "Wax is weighed in the shed.")
    texts = pdf.extract().frames["sections"].filter(page=3)["text"].to_list()
    assert texts == [
        "The list of keepers is here.",
        "www.example.gov/keepers",
        "Wax is weighed in the shed.",
    ]
