"""Identity of a document: printed page first, then metadata, then file name."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from taxkg_assets.extraction.pdf.model import Page, Source, Span
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.extraction.structure.identity import read_identity


def _page(number: int, *lines: tuple[str, float, float]) -> Page:
    """Lay out lines given as (text, size, y)."""
    spans = tuple(
        Span(
            span_ix=ix,
            block_ix=ix,
            line_ix=0,
            text=text,
            font="Sans",
            size_pt=size,
            is_bold=size > 10,
            is_italic=False,
            color=0,
            x0=40.0,
            y0=y - size,
            x1=40.0 + 5 * len(text),
            y1=y,
        )
        for ix, (text, size, y) in enumerate(lines)
    )
    return Page(page=number, width_pt=612.0, height_pt=792.0, spans=spans)


def _source(document_id: str, *pages: Page, title: str = "", is_text_file: bool = False) -> Source:
    return Source(document_id=document_id, pages=pages, metadata={"title": title}, is_text_file=is_text_file)


_BODY = [(f"Plain words number {ix} of the body of the page.", 9.0, 200.0 + 12 * ix) for ix in range(20)]


def test_continuous_use_form_has_a_month_and_no_tax_year() -> None:
    cover = _page(1, ("Attention:", 16, 60), ("See the current general instructions before you print.", 11.5, 90))
    face = _page(2, ("Form 1099-ZZZ", 12, 60), ("(Rev. March 2031)", 9, 75), ("Imaginary Income", 12, 95), *_BODY)
    found = read_identity(_source("scan 12", cover, face))
    assert (found.form, found.doc_type, found.revision, found.tax_year) == ("1099-ZZZ", "form", "2031-03", None)
    assert found.irs_name == "f1099zzz"
    assert found.title == "Form 1099-ZZZ (Rev. March 2031) — Imaginary Income"


def test_annual_booklet_for_two_forms() -> None:
    first = _page(1, ("20 31", 36, 40), ("General Instructions for", 25, 70), ("Forms W-2 and W-3", 25, 100), *_BODY)
    second = _page(2, *_BODY, ("General Instructions for Forms W-2 and W-3 (2031)", 8, 770))
    found = read_identity(_source("iw2w3--2031", first, second))
    assert (found.form, found.doc_type, found.revision, found.tax_year) == (
        "W-2 and W-3",
        "filer_instructions",
        "2031",
        2031,
    )
    assert found.irs_name == "iw2w3"


def test_schedule_with_a_stacked_masthead() -> None:
    page = _page(1, ("SCHEDULE B", 10, 40), ("(Form 1040)", 10, 52), ("2031", 20, 60), *_BODY)
    found = read_identity(_source("f1040sb--2031", page))
    assert (found.form, found.doc_type, found.tax_year) == ("Schedule B (Form 1040)", "form", 2031)


def test_a_booklet_to_a_schedule_names_its_return_in_the_text_alone() -> None:
    """Words about another form in the foot of a later page do not rename it."""
    first = _page(
        1,
        ("2031 Instructions for Schedule Q", 20, 60),
        ("Fares of Ferries", 25, 90),
        ("Use Schedule Q (Form 9040) to report fares of ferries that you own.", 9, 120),
        *_BODY,
    )
    second = _page(2, *_BODY, ("the instructions for Form 9251, line 4", 9, 745))
    found = read_identity(_source("i9040sq--2031", first, second, title="2031 Instructions for Schedule Q"))
    assert (found.form, found.doc_type, found.irs_name) == ("Schedule Q (Form 9040)", "filer_instructions", "i9040sq")
    assert found.title == "Instructions for Schedule Q (Form 9040) (2031) — Fares of Ferries"


def test_a_schedule_without_a_return_names_nothing() -> None:
    page = _page(1, ("2031 Instructions for Schedule Q", 20, 60), *_BODY)
    assert read_identity(_source("x", page)).doc_type == "other"


def test_the_title_in_the_metadata_has_a_vote() -> None:
    """A large heading about a form is outvoted by what the booklet's maker calls it, a masthead is not."""
    cover = _page(1, ("9040", 60, 90), *_BODY)
    news = _page(2, ("Helpful Hints", 9, 20), ("Form 9040 Redesign", 30, 60), *_BODY)
    found = read_identity(_source("i9040--2031", cover, news, title="2031 Instruction 9040"))
    assert (found.form, found.doc_type, found.irs_name) == ("9040", "filer_instructions", "i9040")
    face = _page(1, ("Form 1099-ZZZ", 12, 60), ("Form 1099-ZZZ (Rev. March 2031)", 9, 770), *_BODY)
    assert read_identity(_source("x", face, face, title="2031 Form 9040")).form == "1099-ZZZ"


def test_instructions_for_a_requester_are_those_of_the_form() -> None:
    page = _page(1, ("Instructions for the Requester of Form W-99 (Rev. March 2031)", 12, 60), *_BODY)
    found = read_identity(_source("iw99--2031-03", page))
    assert (found.form, found.doc_type, found.revision) == ("W-99", "filer_instructions", "2031-03")


def test_publication_in_its_footer() -> None:
    page = _page(1, ("Imaginary", 30, 60), ("Gains", 30, 95), *_BODY, ("Publication 599 (2031)", 8, 770))
    found = read_identity(_source("x", page))
    assert (found.form, found.doc_type, found.irs_name) == ("Pub. 599", "publication", "p599")
    assert found.title == "Publication 599 (2031) — Imaginary Gains"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Dues Future Developments", "Publication 599 (2031) — Dues"),
        ("What’s New Reminders", "Publication 599 (2031)"),
        ("and", "Publication 599 (2031)"),
        ("Tax", "Publication 599 (2031) — Tax"),
    ],
)
def test_the_heading_of_a_first_section_is_no_name(name: str, title: str) -> None:
    page = _page(1, (name, 30, 60), *_BODY, ("Publication 599 (2031)", 8, 770))
    assert read_identity(_source("x", page)).title == title


@pytest.mark.parametrize("month", ["13", "0", "00", "99"])
def test_a_number_that_is_no_month_is_no_revision(month: str) -> None:
    page = _page(1, ("Form 1099-ZZZ", 12, 60), (f"(Rev. {month}-2031)", 9, 75), ("Imaginary Income", 12, 95), *_BODY)
    assert read_identity(_source("scan 12", page)).revision == ""
    named = read_identity(_source(f"f1099zzz--2030-{month.zfill(2)}", page))
    assert (named.revision, named.title) == ("2030", "Form 1099-ZZZ (2030) — Imaginary Income")


def test_every_month_of_the_year_is_one() -> None:
    for month in range(1, 13):
        page = _page(1, ("Form 1099-ZZZ", 12, 60), (f"(Rev. {month}-2031)", 9, 75), *_BODY)
        assert read_identity(_source("scan 12", page)).revision == f"2031-{month:02d}"
        unnamed = _page(1, ("Form 1099-ZZZ", 12, 60), *_BODY)
        assert read_identity(_source(f"f1099zzz--2031-{month:02d}", unnamed)).revision == f"2031-{month:02d}"


def test_a_sentence_about_a_new_form_is_no_revision() -> None:
    sentence = "Use the new Form W-99, Fees of Pilots (Rev. March 2030), which has fewer lines."
    page = _page(1, ("Imaginary Gains", 30, 60), (sentence, 9, 95), *_BODY, ("Publication 599 (2031)", 8, 770))
    assert read_identity(_source("x", page)).revision == "2031"


def test_the_printed_page_beats_the_file_name() -> None:
    page = _page(1, ("Form 1099-ZZZ", 12, 60), ("(Rev. March 2031)", 9, 75), *_BODY)
    found = read_identity(_source("f1099div--2024-01", page))
    assert (found.form, found.revision) == ("1099-ZZZ", "2031-03")


@pytest.mark.parametrize(
    ("mark", "is_draft"),
    [("DRAFT AS OF June 1, 2031 DO NOT FILE", True), ("Do not file copy A printed from a web page", False)],
)
def test_drafts_say_so(mark: str, is_draft: bool) -> None:
    page = _page(1, (mark, 14, 20), ("Form 1099-ZZZ", 12, 60), *_BODY)
    assert read_identity(_source("x", page)).is_draft is is_draft


def test_statute_by_its_section_headings() -> None:
    page = _page(1, *[(f"§ 9-{ix} Powers of the collector.", 10.0, 60.0 + 20 * ix) for ix in range(1, 6)])
    found = read_identity(_source("town-code-title-9", page, is_text_file=True))
    assert (found.doc_type, found.form, found.title) == ("statute", "", "town code title 9")


def test_the_title_of_a_code_is_above_its_first_section() -> None:
    sections = [(f"§ 9-{ix} Powers of the collector.", 10.0, 100.0 + 20 * ix) for ix in range(1, 6)]
    named = _page(1, ("Title 9: Berth Tax", 10.0, 60.0), *sections)
    assert read_identity(_source("scan-4", named, is_text_file=True)).title == "Title 9: Berth Tax"
    late = _page(1, *sections, ("Title 9: Berth Tax", 10.0, 400.0))
    assert read_identity(_source("scan-4", late, is_text_file=True)).title == "scan 4"


def test_silence_stays_silence() -> None:
    found = read_identity(_source("letter", _page(1, *_BODY)))
    assert (found.doc_type, found.form, found.revision, found.tax_year) == ("other", "", "", None)


@pytest.mark.corpus
def test_real_documents_by_their_pages_alone(corpus: Path) -> None:
    with (corpus / "corpus" / "MANIFEST.csv").open(encoding="utf8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["irs_name"] and int(row["pages"]) <= 45]
    assert rows
    wrong = []
    for row in rows:
        source = read_source((corpus / "corpus" / row["file"]).read_bytes(), document_id="scan 17")
        found = read_identity(source)
        revision = f"{found.revision} (draft)" if found.is_draft else found.revision
        if (found.irs_name, revision) != (row["irs_name"], row["revision"]):
            wrong.append((row["file"], found.irs_name, revision))
    assert wrong == []
