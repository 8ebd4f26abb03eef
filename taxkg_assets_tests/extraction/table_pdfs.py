"""PDFs with tables of every build: ruled, half ruled, unruled, stacked headers, groups, notes, page breaks.

Real PDFs, so that spans, fonts and strokes come out of the same reader as those of published documents. All of the
content is invented.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pymupdf

SANS, BOLD = "helv", "hebo"


@dataclass
class Sheet:
    """A document under construction; y is the baseline of a line of text."""

    document: Any = field(default_factory=pymupdf.open)
    page: Any = None

    def turn(self) -> None:
        """Begin a page."""
        self.page = self.document.new_page(width=612, height=792)

    def text(self, x: float, y: float, text: str, *, bold: bool = False, size: float = 9.0) -> None:
        self.page.insert_text((x, y), text, fontname=BOLD if bold else SANS, fontsize=size)

    def right(self, x: float, y: float, text: str, *, bold: bool = False, size: float = 9.0) -> None:
        """Set a text that ends at x."""
        font = BOLD if bold else SANS
        self.text(x - pymupdf.get_text_length(text, fontname=font, fontsize=size), y, text, bold=bold, size=size)

    def center(self, x0: float, x1: float, y: float, text: str, *, bold: bool = False, size: float = 9.0) -> None:
        """Set a text in the middle between two places."""
        width = pymupdf.get_text_length(text, fontname=BOLD if bold else SANS, fontsize=size)
        self.text((x0 + x1 - width) / 2, y, text, bold=bold, size=size)

    def line(self, x0: float, y0: float, x1: float, y1: float, *, width: float = 0.6) -> None:
        self.page.draw_line((x0, y0), (x1, y1), width=width)

    def grid(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        """Draw all lines of a grid."""
        for y in ys:
            self.line(xs[0], y, xs[-1], y)
        for x in xs:
            self.line(x, ys[0], x, ys[-1])

    def prose(self, x: float, y: float, text: str, *, width: int = 92, size: float = 9.0) -> float:
        """Set lines of prose; gives the baseline after them."""
        words, line = text.split(), ""
        for word in [*words, ""]:
            if not word or len(line) + len(word) > width:
                self.text(x, y, line, size=size)
                line, y = "", y + size + 2.5
            line = f"{line} {word}".strip()
        return y

    def data(self) -> bytes:
        """The finished PDF."""
        return bytes(self.document.tobytes())


PROSE = (
    "The harbour office asks every keeper of a boat for a yearly return. Keep the return with the papers of the boat. "
    "The duty depends on the length of the boat and on the months that it lies in the harbour, as the tables show. "
)


def half_ruled() -> bytes:
    """Horizontals only: a header over two columns, names of groups, a wrapped row name, a note."""
    sheet = Sheet()
    sheet.turn()
    y = sheet.prose(54, 60, PROSE * 2)
    sheet.text(54, y + 14, "Table 5. Harbour Duty by Length and Season", bold=True, size=10)
    top = y + 22
    sheet.line(54, top, 558, top, width=1)
    sheet.text(58, top + 24, "Length of boat", bold=True)
    sheet.center(300, 440, top + 11, "Summer", bold=True)
    sheet.line(300, top + 14, 440, top + 14)
    sheet.right(360, top + 24, "Daily", bold=True)
    sheet.right(440, top + 24, "Weekly", bold=True)
    sheet.right(540, top + 24, "Winter", bold=True)
    sheet.line(54, top + 29, 558, top + 29)
    rows = [
        ("Sailing boats:", "", "", ""),
        ("  Under 20 feet", "$4", "$21", "$11"),
        ("  20 to 39 feet", "7", "36", "19"),
        ("  40 feet or more, with or without", "", "", ""),
        ("  an engine of its own", "12", "61", "33"),
        ("Motor boats:", "", "", ""),
        ("  Under 20 feet", "6", "32", "17"),
        ("  20 feet or more", "15", "80", "41"),
    ]
    for i, (name, *values) in enumerate(rows):
        at = top + 41 + 12 * i
        sheet.text(58 + (10 if name.startswith("  ") else 0), at, name.strip())
        for x, value in zip((360, 440, 540), values, strict=True):
            sheet.right(x, at, value)
    bottom = top + 41 + 12 * len(rows) - 6
    sheet.line(54, bottom, 558, bottom, width=1)
    sheet.text(54, bottom + 10, "* Boats on land pay nothing.", size=7)
    sheet.prose(54, bottom + 40, PROSE * 3)
    return sheet.data()


def unruled() -> bytes:
    """No line at all: bold headers over columns of amounts across the page, and a second table below it."""
    sheet = Sheet()
    sheet.turn()
    y = sheet.prose(54, 60, PROSE * 3)
    sheet.text(54, y + 16, "Table 6. Ferry Fares", bold=True, size=10)
    top = y + 34
    for x, name in ((58, "Distance"), (260, "Adult"), (360, "Child"), (460, "Vehicle")):
        sheet.text(x, top, name, bold=True)
    for i, row in enumerate(
        (
            ("Up to 5 miles", "$3.10", "$1.50", "$9.00"),
            ("6 to 15 miles", "4.80", "2.40", "14.50"),
            ("16 to 40 miles", "7.25", "3.60", "22.75"),
            ("Over 40 miles", "11.90", "5.95", "38.00"),
        )
    ):
        for x, text in zip((58, 260, 360, 460), row, strict=True):
            sheet.text(x, top + 13 * (i + 1), text)
    y = sheet.prose(54, top + 84, PROSE * 2)
    sheet.text(54, y + 16, "Table 7. Lock Fees", bold=True, size=10)
    for i, row in enumerate(
        (("Lock", "Day", "Night"), ("North", "$12", "$18"), ("South", "10", "16"), ("Mill", "7", "9"))
    ):
        for x, text in zip((58, 260, 360), row, strict=True):
            sheet.text(x, y + 34 + 13 * i, text, bold=i == 0)
    sheet.prose(54, y + 110, PROSE * 3)
    return sheet.data()


def over_pages() -> bytes:
    """One table over three pages: the header again under "(continued)", then rows without any header."""
    sheet = Sheet()
    xs = [54, 194, 314, 434, 558]
    number = 0
    for page, (caption, has_header) in enumerate(
        (("Table 8. Berth Rents", True), ("Table 8. Berth Rents (continued)", True), ("", False))
    ):
        sheet.turn()
        y = sheet.prose(54, 50, PROSE * 3) + 20 if page == 0 else 60
        if caption:
            sheet.text(54, y, caption, bold=True, size=10)
            y += 8
        count = 6 + has_header
        sheet.grid(xs, [y + 15 * i for i in range(count + 1)])
        if has_header:
            for x, name in zip(xs, ("Berth", "Spring rent", "Summer rent", "Winter rent"), strict=False):
                sheet.text(x + 4, y + 11, name, bold=True)
        for i in range(has_header, count):
            number += 1
            for x, text in zip(
                xs, (f"Berth {number}", f"${100 + number}", f"${200 + number}", f"${50 + number}"), strict=False
            ):
                sheet.text(x + 4, y + 11 + 15 * i, text)
        if page == 2:
            sheet.prose(54, y + 15 * count + 30, PROSE * 3)
    return sheet.data()


def stacked() -> bytes:
    """A full grid with three header rows and names drawn over several rows; next to it a smaller table."""
    sheet = Sheet()
    sheet.turn()
    sheet.text(54, 60, "Table 9. Permits by District", bold=True, size=10)
    xs, top = [54, 134, 214, 274, 334, 394, 454], 70
    for y in (top, top + 48, top + 112, top + 160):
        sheet.line(xs[0], y, xs[-1], y)
    for y in (top + 16, top + 32):
        sheet.line(xs[2], y, xs[-1], y)
    for y in (top + 64, top + 80, top + 96, top + 128, top + 144):
        sheet.line(xs[1], y, xs[-1], y)
    for i, x in enumerate(xs):
        sheet.line(x, {0: top, 1: top, 2: top, 4: top + 16, 6: top}.get(i, top + 32), x, top + 160)
    sheet.text(xs[0] + 4, top + 28, "District", bold=True)
    sheet.text(xs[1] + 4, top + 28, "Kind", bold=True)
    sheet.center(xs[2], xs[6], top + 12, "Permits issued", bold=True)
    sheet.center(xs[2], xs[4], top + 28, "Residents", bold=True)
    sheet.center(xs[4], xs[6], top + 28, "Visitors", bold=True)
    for i, name in enumerate(("2029", "2030") * 2):
        sheet.center(xs[2 + i], xs[3 + i], top + 44, name, bold=True)
    body = [("Day", 3, 4, 5, 6), ("Week", 13, 14, 15, 16), ("Month", 23, 24, 25, 26), ("Year", 33, 34, 35, 36)]
    body += [("Day", 43, 44, 45, 46), ("Week", 53, 54, 55, 56), ("Month", 63, 64, 65, 66)]
    for i, (kind, *values) in enumerate(body):
        y = top + 60 + 16 * i
        sheet.text(xs[1] + 4, y, kind)
        for x, value in zip(xs[3:], values, strict=True):
            sheet.right(x - 6, y, str(value))
    sheet.text(xs[0] + 4, top + 84, "Eastern")
    sheet.text(xs[0] + 4, top + 140, "Western")
    sheet.text(474, 60, "Table 10. Fines", bold=True, size=10)
    sheet.grid([474, 524, 566], [70 + 16 * i for i in range(4)])
    for i, row in enumerate((("Delay", "Fine"), ("Day", "$5"), ("Week", "$20"))):
        for x, text in zip((478, 528), row, strict=True):
            sheet.text(x, 81 + 16 * i, text, bold=i == 0)
    sheet.prose(54, 270, PROSE * 4)
    return sheet.data()


def words_only() -> bytes:
    """Cells of words: a shaded header that is not bold, wrapped cells, a note over the whole width."""
    sheet = Sheet()
    sheet.turn()
    sheet.text(54, 60, "Table 11. Where To Send the Return", bold=True, size=10)
    xs, ys = [54, 220, 400, 558], [70, 86, 112, 138, 164, 180]
    sheet.page.draw_rect((54, 70, 558, 86), fill=(0.85, 0.85, 0.85), color=(0.85, 0.85, 0.85))
    sheet.grid(xs, ys[:-1])
    sheet.line(54, 164, 54, 180)
    sheet.line(558, 164, 558, 180)
    sheet.line(54, 180, 558, 180)
    rows = [
        (("Boat",), ("Office",), ("When",)),
        (("Sailing boat of a", "resident"), ("Office at the north gate",), ("Before the first day", "of June")),
        (("Motor boat",), ("Office at the mill, second", "floor"), ("With the permit",)),
        (("Any boat of a visitor",), ("No office; use the letter", "box"), ("On the day of arrival",)),
    ]
    for top, row in zip(ys, rows, strict=False):
        for x, lines in zip(xs, row, strict=False):
            for i, line in enumerate(lines):
                sheet.text(x + 4, top + 11 + 11 * i, line)
    sheet.text(58, 175, "Note. Boats on land need no return at all.")
    sheet.prose(54, 206, PROSE * 3)
    return sheet.data()
