"""The face of the sample form: ruled boxes, their labels and AcroForm fields."""

from __future__ import annotations

from dataclasses import dataclass

import pymupdf

from .booklet import SAMPLE
from .typeset import BLACK, PAGE_WIDTH, Color, draw_text, width_of

RED: Color = (0.80, 0.05, 0.10)
PINK: Color = (1.0, 0.85, 0.86)
_DROP = 30.0
_A, _B, _C, _D, _E = 50.4, 295.2, 396.0, 496.8, 576.0
_FATCA, _STATE = 237.6, 328.0
_FATCA_CHECK, _TIN_CHECK = (262.0, 311.0, 271.0, 320.0), (262.0, 342.0, 271.0, 351.0)
Cell = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class FaceBox:
    """One numbered box: its key as printed, its label (one entry per printed line) and its cell."""

    number: str
    label: tuple[str, ...]
    cell: Cell
    has_dollar: bool = True


@dataclass(frozen=True, slots=True)
class Edition:
    """What differs between the revisions of the form."""

    month: str
    short: str
    note: str
    boxes: tuple[FaceBox, ...]


def _pair(top: float, bottom: float) -> tuple[Cell, Cell]:
    return (_B, top, _C, bottom), (_C, top, _D, bottom)


def _boxes(*, fatca: str, exempt: str, activity: str, country: str) -> tuple[FaceBox, ...]:
    """The 22 boxes; the arguments are what the invented revision prints differently."""
    rows: list[tuple[float, float, str, str, str, str]] = [
        (108, 132, "2a", "Total capital gain distr.", "2b", "Unrecap. Sec. 1250 gain"),
        (132, 156, "2c", "Section 1202 gain", "2d", "Collectibles (28%) gain"),
        (156, 180, "2e", "Section 897 ordinary dividends", "2f", "Section 897 capital gain"),
        (180, 204, "3", "Nondividend distributions", "4", "Federal income tax withheld"),
        (204, 228, "5", "Section 199A dividends", "6", "Investment expenses"),
        (228, 264, "7", "Foreign tax paid", "8", country),
        (264, 288, "9", "Cash liquidation distributions", "10", "Noncash liquidation distributions"),
    ]
    boxes = [
        FaceBox("1a", ("Total ordinary dividends",), (_B, 36, _C, 72)),
        FaceBox("1b", ("Qualified dividends",), (_B, 72, _C, 108)),
    ]
    for top, bottom, left, left_label, right, right_label in rows:
        first, second = _pair(top, bottom)
        boxes += [FaceBox(left, (left_label,), first), FaceBox(right, (right_label,), second, has_dollar=right != "8")]
    first, second = _pair(288, 324)
    boxes += [
        FaceBox(fatca, ("FATCA filing", "requirement"), (_FATCA, 288, _B, 324), has_dollar=False),
        FaceBox(exempt, ("Exempt-interest dividends",), first),
        FaceBox(activity, ("Specified private activity", "bond interest dividends"), second),
        FaceBox("14", ("State",), (_B, 324, _STATE, 360), has_dollar=False),
        FaceBox("15", ("State identification no.",), (_STATE, 324, _C, 360), has_dollar=False),
        FaceBox("16", ("State tax withheld",), (_C, 324, _D, 360)),
    ]
    return tuple(sorted(boxes, key=lambda box: (int(box.number.rstrip("abcdef")), box.number)))


EDITIONS = {
    "2024-01": Edition(
        "January 2024",
        "1-2024",
        SAMPLE,
        _boxes(fatca="11", exempt="12", activity="13", country="Foreign country or U.S. possession"),
    ),
    "2026-01": Edition(
        "January 2026",
        "1-2026",
        f"{SAMPLE} – invented revision",
        _boxes(fatca="13", exempt="11", activity="12", country="Foreign country or U.S. territory"),
    ),
}
COPIES = {
    "A": ("For", "Internal Revenue", "Service Center", "", "File with Form 1096."),
    "B": ("For Recipient", "", "Dividend income in", "these boxes is known", "to the IRS."),
}


class Face:
    """Draws one copy of the form's face on a new page, then lays its fields over it."""

    def __init__(self, pdf: pymupdf.Document, edition: Edition, *, copy: str) -> None:
        self.page = pdf.new_page(width=PAGE_WIDTH, height=792.0)
        self.shape = self.page.new_shape()
        self.edition, self.copy = edition, copy
        self.color = RED if copy == "A" else BLACK
        self.field_count = 0

    def text(
        self, x: float, y: float, text: str, *, style: str = "regular", size: float = 7.0, right: float | None = None
    ) -> None:
        """Write a label; it shrinks until it ends left of `right`."""
        while right is not None and size > 5.0 and x + width_of(text, style, size) > right:
            size -= 0.1
        draw_text(self.shape, (x, y + _DROP), text=text, style=style, size_pt=round(size, 1), color=self.color)

    def end(self, right: float, y: float, text: str, *, style: str = "regular", size: float = 7.0) -> None:
        """Write a text that ends at `right`."""
        self.text(right - width_of(text, style, size), y, text, style=style, size=size)

    def rule(
        self, x0: float, y0: float, x1: float, y1: float, *, width: float = 0.6, dashes: str | None = None
    ) -> None:
        """Draw one straight rule."""
        self.shape.draw_line((x0, y0 + _DROP), (x1, y1 + _DROP))
        self.shape.finish(color=self.color, width=width, dashes=dashes)

    def check(self, cell: Cell) -> None:
        """Draw an empty check box."""
        self.shape.draw_rect(pymupdf.Rect(cell[0], cell[1] + _DROP, cell[2], cell[3] + _DROP))
        self.shape.finish(color=self.color, width=0.6)

    def tint(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Shade a field that the IRS copy reserves."""
        if self.copy == "A":
            self.shape.draw_rect(pymupdf.Rect(x0, y0 + _DROP, x1, y1 + _DROP))
            self.shape.finish(color=None, fill=PINK)

    def field(self, cell: Cell, label: str, *, is_check: bool = False) -> None:
        """Add one AcroForm field; its label is what a screen reader speaks."""
        self.field_count += 1
        widget = pymupdf.Widget()
        widget.field_type = pymupdf.PDF_WIDGET_TYPE_CHECKBOX if is_check else pymupdf.PDF_WIDGET_TYPE_TEXT
        widget.field_name = f"Copy{self.copy}_{'c' if is_check else 'f'}{self.field_count}"
        widget.field_label = label
        widget.rect = pymupdf.Rect(cell[0], cell[1] + _DROP, cell[2], cell[3] + _DROP)
        widget.border_width = 0
        widget.text_fontsize = 8
        if is_check:
            widget.field_value = False
        self.page.add_widget(widget)

    def draw(self) -> None:
        """Draw the whole copy."""
        self._draw_frame()
        self._draw_left()
        for box in self.edition.boxes:
            self._draw_box(box)
        self._draw_title()
        self.shape.commit()
        self._add_fields()

    def _draw_frame(self) -> None:
        for x0, y0, x1, y1 in ((_A, 288, _FATCA, 324), (_A, 144, _B, 180)):
            self.tint(x0, y0, x1, y1)
        self.rule(_A, 36, _D - 28, 36)
        self.rule(_A, 360, _E, 360, width=1.2)
        for x, top in ((_A, 36), (_B, 36), (_C, 36), (_D, 108)):
            self.rule(x, top, x, 360)
        self.rule(_D - 28, 36, _D - 28, 108)
        for y in (132, 180, 216, 252, 288, 324):
            self.rule(_A, y, _B, y)
        for y in (72, 108, 132, 156, 180, 204, 228, 264, 288, 324):
            self.rule(_B, y, _C, y)
        for y in (108, 132, 156, 180, 204, 228, 264, 288, 324):
            self.rule(_C, y, _D, y)
        self.rule(_D, 108, _E, 108)
        self.rule(172.8, 132, 172.8, 180)
        self.rule(_FATCA, 288, _FATCA, 360)
        self.rule(_STATE, 324, _STATE, 360)
        self.rule(_B, 348, _D, 348, dashes="[2 2] 0")

    def _draw_left(self) -> None:
        draw_text(self.shape, (50.4, 24), text=self.edition.note, style="bold", size_pt=9)
        for x, label in ((200, "VOID"), (258, "CORRECTED")):
            self.check((x - 13, 25, x - 4, 34))
            self.text(x, 33, label, size=9)
        self.text(54, 43, "PAYER’S name and address, including ZIP or foreign postal code,")
        self.text(54, 51, "and telephone no.")
        self.text(54, 139, "PAYER’S TIN")
        self.text(176, 139, "RECIPIENT’S TIN")
        self.text(54, 187, "RECIPIENT’S name")
        self.text(54, 223, "Street address (including apt. no.)")
        self.text(54, 259, "City or town, state or province, country, and postal code")
        self.text(54, 331, "Account number (see instructions)")
        if self.copy == "A":
            self.text(_FATCA + 10, 331, "2nd TIN not.")
            self.check(_TIN_CHECK)
        self.check(_FATCA_CHECK)

    def _draw_box(self, box: FaceBox) -> None:
        x0, y0, x1, y1 = box.cell
        self.text(x0 + 3, y0 + 8, box.number, style="bold")
        indent = x0 + 3 + width_of(box.number, "bold", 7.0) + 4
        for ix, line in enumerate(box.label):
            self.text(indent, y0 + 8 + 8 * ix, line, right=x1 - 2)
        for y in (y0 + 21, y1 - 3) if box.number == "16" else (y1 - 4,):
            if box.has_dollar:
                self.text(x0 + 4, y, "$", size=9)

    def _draw_title(self) -> None:
        edition = self.edition
        self.text(_C + 3, 44, "OMB No. 0000-SAMPLE", size=6.0)
        self.text(_C + 3, 62, "Form", size=7)
        self.text(_C + 22, 62, "1099-DIV", style="bold", size=11)
        self.text(_C + 6, 78, f"(Rev. {edition.month})", size=6.6)
        self.text(_C + 8, 92, "For calendar year", size=7)
        self.end(_E, 66, "Dividends and", style="bold", size=12)
        self.end(_E, 80, "Distributions", style="bold", size=12)
        self.end(_E, 118, f"Copy {self.copy}", style="bold", size=10)
        for ix, line in enumerate(COPIES[self.copy]):
            self.end(_E, 131 + 10 * ix, line, style="bold" if self.copy == "A" else "regular", size=8)
        self.text(_A, 369, "Form", size=7)
        self.text(_A + 20, 369, "1099-DIV", style="bold", size=10)
        self.text(_A + 70, 369, f"(Rev. {edition.short})", size=7)
        self.text(300, 369, "Not for filing: this page is a sample", size=7)
        self.end(_E, 369, edition.note, size=7)

    def _add_fields(self) -> None:
        left = (
            ((52, 54, 293, 130), "Payer’s name, address, and telephone number"),
            ((52, 146, 171, 179), "Payer’s TIN"),
            ((174, 146, 293, 179), "Recipient’s TIN"),
            ((52, 190, 293, 215), "Recipient’s name"),
            ((52, 226, 293, 251), "Street address"),
            ((52, 262, 293, 287), "City or town, state, country, and postal code"),
            ((52, 334, 236, 358), "Account number"),
        )
        for cell, label in left:
            self.field(cell, label)
        if self.copy == "A":
            self.field(_TIN_CHECK, "Second TIN notice", is_check=True)
        for box in self.edition.boxes:
            x0, _, x1, y1 = box.cell
            label = f"Box {box.number}. {' '.join(box.label)}"
            if box.label[0].startswith("FATCA"):
                self.field(_FATCA_CHECK, label, is_check=True)
            elif box.number in ("14", "15", "16"):
                inset = 12 if box.has_dollar else 2
                self.field((x0 + inset, 335, x1 - 2, 347), f"{label} (first state)")
                self.field((x0 + inset, 349, x1 - 2, 359), f"{label} (second state)")
            else:
                self.field((x0 + 11, y1 - 13, x1 - 2, y1 - 2), label)
