"""Real tagged PDFs for tests: structure tree, parent tree and marked content, written object by object.

All words are invented.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pymupdf

from taxkg_assets.extraction.authored.trust import TagTrust
from taxkg_assets.extraction.extract import Extraction, extract
from taxkg_assets.extraction.pdf.model import Page, Source
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets_tests.extraction.navigation_pdfs import new_object

_NAMES = {"": "Helvetica", "b": "Helvetica-Bold", "i": "Helvetica-Oblique", "bi": "Helvetica-BoldOblique"}
_FONTS: dict[str, Any] = {
    face: pymupdf.Font(name) for face, name in {"": "helv", "b": "hebo", "i": "heit", "bi": "hebi"}.items()
}
_KEYS = {face: f"F{ix}" for ix, face in enumerate(_NAMES)}
WIDTH, HEIGHT = 612.0, 792.0
LEFT, RIGHT, FOOT = 42.0, 315.0, 760.0


@dataclass
class Element:
    """A structure element; `kids` are elements and (page, MCID) pairs, `extra` is what else its object says."""

    kind: str
    parent: Element | None = None
    kids: list[Element | tuple[int, int]] = field(default_factory=list)
    extra: str = ""
    number: int = 0


@dataclass
class _Sheet:
    """The instructions of one page, and the element of each of its MCIDs."""

    content: list[str] = field(default_factory=list)
    owners: list[Element] = field(default_factory=list)


@dataclass
class TaggedPdf:
    """A tagged document under construction: text is set at the current place, under the open tags."""

    role_map: dict[str, str] = field(default_factory=dict)
    x: float = LEFT
    y: float = 60.0

    def __post_init__(self) -> None:
        self.root = Element("Document")
        self.sheets = [_Sheet()]
        self._open = self.root

    def turn(self) -> TaggedPdf:
        """Begin a page; open tags stay open."""
        self.sheets.append(_Sheet())
        return self.to(LEFT)

    def to(self, x: float, y: float = 60.0) -> TaggedPdf:
        self.x, self.y = x, y
        return self

    @contextmanager
    def tag(self, kind: str, extra: str = "") -> Iterator[Element]:
        """Open a tag."""
        element = Element(kind, self._open, extra=extra)
        self._open.kids.append(element)
        self._open = element
        try:
            yield element
        finally:
            assert element.parent is not None
            self._open = element.parent

    def set(self, text: str, face: str = "", *, size: float = 10.0, gap: float = 0.0, mode: int = 0) -> TaggedPdf:
        """Set one line under the innermost open tag; mode 3 prints nothing."""
        self.y += gap
        self._mark(self._write(text, face, size, mode), self._open)
        self.y += 1.12 * size
        return self

    def run(self, text: str, face: str = "", *, size: float = 10.0) -> TaggedPdf:
        """Set words and stay on the line behind them."""
        self._mark(self._write(text, face, size, 0), self._open)
        self.x += _FONTS[face].text_length(text, size)
        return self

    def lines(self, *texts: str, gap: float = 0.0) -> TaggedPdf:
        for ix, text in enumerate(texts):
            self.set(text, gap=gap if ix == 0 else 0.0)
        return self

    def put(self, kind: str, *texts: str, face: str = "", size: float = 10.0, gap: float = 4.0) -> TaggedPdf:
        """Set lines under a tag of their own."""
        with self.tag(kind):
            for ix, text in enumerate(texts):
                self.set(text, face, size=size, gap=gap if ix == 0 else 0.0)
        return self

    def bare(self, text: str, face: str = "", *, size: float = 10.0) -> TaggedPdf:
        """Set one line as an artifact, under no tag."""
        self.sheets[-1].content.append(f"/Artifact BMC {self._write(text, face, size, 0)} EMC")
        self.y += 1.12 * size
        return self

    def draw(self, operators: str) -> TaggedPdf:
        self.sheets[-1].content.append(f"/Artifact BMC q {operators} Q EMC")
        return self

    def row(self, *cells: tuple[float, str], kind: str = "TD", face: str = "", gap: float = 4.0) -> TaggedPdf:
        """Set a table row; each cell at its x, an empty text leaves its cell empty."""
        self.y += gap
        with self.tag("TR"):
            for x, text in cells:
                with self.tag(kind):
                    if text:
                        self._mark(self._write(text, face, 10.0, 0, x=x), self._open)
        self.y += 12.0
        return self

    def _write(self, text: str, face: str, size: float, mode: int, *, x: float | None = None) -> str:
        words = text.encode("cp1252").hex()
        x = self.x if x is None else x
        return f"BT {mode} Tr /{_KEYS[face]} {size} Tf {x:.2f} {HEIGHT - self.y - size:.2f} Td <{words}> Tj ET"

    def _mark(self, operators: str, owner: Element) -> None:
        sheet = self.sheets[-1]
        number = len(sheet.owners)
        sheet.owners.append(owner)
        owner.kids.append((len(self.sheets) - 1, number))
        sheet.content.append(f"/{owner.kind} <</MCID {number}>> BDC {operators} EMC")

    def build(self, *, is_tagged: bool = True) -> pymupdf.Document:
        """Write the document; without tags its pages print the same."""
        document = pymupdf.open()
        fonts = "".join(
            f"/{_KEYS[face]}<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding>>"
            for face, name in _NAMES.items()
        )
        for ix, sheet in enumerate(self.sheets):
            page = document.new_page(width=WIDTH, height=HEIGHT)
            stream = new_object(document, "<<>>")
            document.update_stream(stream, "\n".join(sheet.content).encode())
            document.xref_set_key(page.xref, "Contents", f"{stream} 0 R")
            document.xref_set_key(page.xref, "Resources", f"<</Font<<{fonts}>>>>")
            if is_tagged:
                document.xref_set_key(page.xref, "StructParents", str(ix))
        if is_tagged:
            self._write_tree(document)
        return document

    def _write_tree(self, document: pymupdf.Document) -> None:
        elements = list(_walk(self.root))
        for element in elements:
            element.number = document.get_new_xref()
            document.update_object(element.number, "<<>>")
        tree = document.get_new_xref()
        for element in elements:
            above = element.parent.number if element.parent else tree
            kids = " ".join(
                f"{kid.number} 0 R"
                if isinstance(kid, Element)
                else f"<</Type/MCR/Pg {document.page_xref(kid[0])} 0 R/MCID {kid[1]}>>"
                for kid in element.kids
            )
            text = f"<</Type/StructElem/S/{element.kind}/P {above} 0 R/K[{kids}]{element.extra}>>"
            document.update_object(element.number, text)
        arrays = [
            f"{ix} {new_object(document, '[' + ' '.join(f'{o.number} 0 R' for o in sheet.owners) + ']')} 0 R"
            for ix, sheet in enumerate(self.sheets)
        ]
        roles = "".join(f"/{name}/{role}" for name, role in self.role_map.items())
        document.update_object(
            tree,
            f"<</Type/StructTreeRoot/K {self.root.number} 0 R/RoleMap<<{roles}>>"
            f"/ParentTree<</Nums[{' '.join(arrays)}]>>/ParentTreeNextKey {len(arrays)}>>",
        )
        document.xref_set_key(document.pdf_catalog(), "StructTreeRoot", f"{tree} 0 R")
        document.xref_set_key(document.pdf_catalog(), "MarkInfo", "<</Marked true>>")

    def bytes(self, *, is_tagged: bool = True) -> bytes:
        return bytes(self.build(is_tagged=is_tagged).tobytes())

    def source(self) -> Source:
        """Read the document as a build does, by its tags where these are trusted."""
        return read_source(self.bytes(), document_id="tagged", policy=TagTrust())

    def pages(self) -> tuple[Page, ...]:
        return self.source().pages

    def extract(self) -> Extraction:
        return extract(self.bytes(), document_id="tagged")


def _walk(element: Element) -> Iterator[Element]:
    yield element
    for kid in element.kids:
        if isinstance(kid, Element):
            yield from _walk(kid)


def collect(data: bytes, page_ix: int = 0) -> list[dict[str, Any]]:
    """Read the nested blocks of a page as MuPDF gives them."""
    flags = pymupdf.TEXTFLAGS_DICT | pymupdf.TEXT_COLLECT_STRUCTURE
    document = pymupdf.open(stream=data, filetype="pdf")
    blocks: list[dict[str, Any]] = document[page_ix].get_text("dict", flags=flags)["blocks"]
    return blocks


def fill(count: int, *, about: str = "hives") -> list[str]:
    """Give lines of plain text of a column's width, the last one short and ended."""
    return [*(f"plain words on {about} that fill line number {ix} of it" for ix in range(count - 1)), f"and {about}."]


def make_booklet(*, role_map: Mapping[str, str] = {}) -> TaggedPdf:
    """A booklet of two pages in two columns: headings, a list, paragraphs that go on, running feet in open tags."""
    pdf = TaggedPdf(dict(role_map))
    pdf.put("H1", "Instructions for Form 9077", face="b", size=20)
    pdf.to(LEFT, 110).put("H2", "General Rules", face="b", size=14)
    pdf.put("P", "A keeper of bees reports the yield of each hive", *fill(6))
    with pdf.tag("P"):
        pdf.y += 4
        pdf.run("Wild swarms. ", "b").run("A swarm that nobody owns").to(LEFT, pdf.y + 11.2)
        pdf.lines("is reported by the person who takes it into a hive.")
    with pdf.tag("L"):
        for words in ("clover that was sown,", "heather that grew wild."):
            with pdf.tag("LI"):
                pdf.y += 4
                with pdf.tag("Lbl"):
                    pdf.run("•")
                with pdf.tag("LBody"):
                    pdf.to(LEFT + 12, pdf.y).set(words)
            pdf.x = LEFT
    pdf.put("H3", "Late Harvest", face="b", size=11)
    with pdf.tag("P"):
        pdf.lines("Honey that is taken after the frost is of the", "second kind and is weighed in the same", gap=4)
        pdf.to(RIGHT, 110).lines("week in which it is taken from the hive.")
    pdf.put("H2", "Wax and Pollen", face="b", size=14)
    with pdf.tag("P"):
        pdf.lines("Wax counts with the honey that it came with", *fill(5, about="wax")[:-1], gap=4)
        pdf.to(290, FOOT).set("-1-", size=8)
        pdf.turn().lines("unless it was sold before the honey was.")
    pdf.put("H3", "Pollen", face="b", size=11).put("P", "Pollen is reported by weight", *fill(4, about="pollen"))
    with pdf.tag("P"):
        pdf.lines("Royal jelly counts as pollen unless it is kept.", gap=4).to(290, FOOT).set("-2-", size=8)
    return pdf


SPAN = "/A<</O/Table/ColSpan 2>>"
COLUMNS = (60.0, 200.0, 290.0, 380.0, 470.0)


def make_tables() -> TaggedPdf:
    """Three pages: a table with a header over several columns that continues, a worksheet, a callout with its icon."""
    pdf = TaggedPdf()
    pdf.put("H1", "Yields of Hives", face="b", size=16)
    pdf.put("P", "The yields below are those of one season, in pounds", *fill(4))
    pdf.put("H3", "Table 1. Yields by Flower", face="b", gap=12)
    with pdf.tag("Table"):
        put_head(pdf)
        for flower, base in (("Clover", 11), ("Heather", 21), ("Linden", 31)):
            pdf.row(*zip(COLUMNS, (flower, *(f"{base + ix}.5" for ix in range(4))), strict=True))
        with pdf.tag("TR"), pdf.tag("TD"):
            pdf.to(290, FOOT).set("-1-", size=8)
        pdf.turn()
        for flower, base in (("Thyme", 41), ("Acacia", 51)):
            pdf.row(*zip(COLUMNS, (flower, *(f"{base + ix}.5" for ix in range(4))), strict=True))
    pdf.to(LEFT, pdf.y).put("P", "Wild flowers count where they grow.", *fill(4), gap=20)
    pdf.put("H2", "Callouts", face="b", size=14)
    with pdf.tag("P"):
        with pdf.tag("Figure"):
            pdf.run("CAUTION", "b", size=6)
        pdf.to(LEFT + 40, pdf.y).lines("Bees that swarm in a storm are not", "counted before they have settled.")
    pdf.to(290, FOOT).bare("-2-", size=8)
    pdf.turn().put("H2", "Honey Worksheet", face="b", size=12)
    with pdf.tag("Table"):
        for number, words in enumerate(WORKSHEET, 1):
            pdf.row((60, f"{number}."), (80, words), (430, f"{number}."), (450, "_______"))
    return pdf


WORKSHEET = ("Enter the pounds of honey", "Enter the pounds of wax", "Add lines 1 and 2", "Subtract what was eaten")


def put_head(pdf: TaggedPdf) -> None:
    """Set a header of two rows, its first cell over two columns each."""
    pdf.y += 6
    with pdf.tag("TR"):
        for x, text, span in ((60.0, "Flower", ""), (225.0, "Spring", SPAN), (405.0, "Autumn", SPAN)):
            with pdf.tag("TH", span):
                pdf.to(x, pdf.y).run(text, "b")
    for x0, x1 in ((200, 320), (380, 500)):
        pdf.draw(f"0.7 w {x0} {HEIGHT - pdf.y - 14} m {x1} {HEIGHT - pdf.y - 14} l S")
    pdf.to(LEFT, pdf.y + 12)
    pdf.row(*zip(COLUMNS, ("", "Dry", "Wet", "Dry", "Wet"), strict=True), kind="TH", face="b")


def build_hostile(change: Callable[[pymupdf.Document], None], pdf: TaggedPdf | None = None) -> bytes:
    """Write a booklet with its objects changed."""
    document = (pdf or make_booklet()).build()
    change(document)
    return bytes(document.tobytes())


def find_elements(document: Any, kind: str) -> list[int]:
    """Find the numbers of the structure elements of one type, in the order of the tree."""
    return [
        xref for xref in range(1, document.xref_length()) if document.xref_get_key(xref, "S") == ("name", f"/{kind}")
    ]
