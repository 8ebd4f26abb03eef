"""The number of an item that is tagged as part of another paragraph is read where it is printed."""

from __future__ import annotations

from taxkg_assets.extraction.authored.structure_tree import TagPlace
from taxkg_assets.extraction.layout.lines import Line, make_line
from taxkg_assets.extraction.pdf.model import Span
from taxkg_assets.extraction.structure.strayed_labels import find_strayed_labels
from taxkg_assets_tests.extraction.tagged_pdf import LEFT, TaggedPdf, fill

_PLACES = [TagPlace(ix, "P") for ix in range(4)]


def _line(text: str, x0: float, y0: float, tag_ix: int, *, is_bold: bool = False) -> Line:
    x1 = x0 + 5.0 * len(text)
    span = Span(0, 0, 0, text, "Sans", 10.0, is_bold, False, 0, x0, y0, x1, y0 + 12, tag_ix)
    line = make_line(1, [span])
    assert line is not None
    return line


def _labels(lines: list[Line]) -> dict[str, str]:
    found = find_strayed_labels(lines, _PLACES)
    return {line.text: found[id(line)].text for line in lines if id(line) in found}


def test_labels_in_another_paragraph_belong_to_the_words_behind_them() -> None:
    lines = [
        _line("Guide to Boats", 90, 100, 0),
        _line("Guide to Rafts", 90, 120, 1),
        _line("The captain keeps the", 300, 400, 2),
        _line("12", 64, 100, 2, is_bold=True),
        _line("B-4", 64, 120, 2, is_bold=True),
        _line("log of the boat.", 300, 412, 2),
    ]
    assert _labels(lines) == {"Guide to Boats": "12", "Guide to Rafts": "B-4"}


def test_a_label_out_of_order_in_its_own_paragraph_is_its_first_word() -> None:
    lines = [_line("Guide to Boats", 90, 100, 0), _line("and to Rafts", 90, 112, 0)]
    assert _labels([*lines, _line("12", 64, 100, 0, is_bold=True)]) == {"Guide to Boats": "12"}


def test_plain_numbers_at_the_end_of_a_column_and_lines_of_a_paragraph_stay() -> None:
    near = _line("Rafts, 9", 90, 100, 0)
    index = [near, _line("Boats, 3, 5", 20, 88, 1), _line("7, 11", 40, 100, 1)]
    assert _labels(index) == {}
    bold = [_line("Rafts", 90, 100, 0), _line("Form 3 and", 30, 88, 1), _line("Form 7", 30, 100, 1, is_bold=True)]
    assert _labels(bold) == {}


def test_a_label_is_read_between_the_bullet_of_its_item_and_the_words() -> None:
    pdf = TaggedPdf().put("P", *fill(4)).to(LEFT, 130)
    with pdf.tag("P"):
        pdf.set("The captain keeps these guides.").to(60, 200).set("Guide 12", "b").to(60, 220).set("Guide B-4", "b")
    with pdf.tag("L"):
        for y, words in ((200, "All About Boats"), (220, "All About Rafts")):
            with pdf.tag("LI"):
                pdf.to(45, y).put("Lbl", "•", gap=0)
                pdf.to(115, y).put("LBody", words, gap=0)
    texts = pdf.extract().frames["elements"]["text"].to_list()
    assert texts[1:] == ["The captain keeps these guides.", "• Guide 12 All About Boats", "• Guide B-4 All About Rafts"]
