"""Regenerate the sample PDFs from their manuscripts: `python data/samples/generate.py [folder]`.

Same input, same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pymupdf

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from generator.booklet import draw_text, furnish_filer, furnish_statute, set_booklet  # noqa: E402
from generator.face import EDITIONS, Face  # noqa: E402
from generator.manuscript import Block, read_manuscript  # noqa: E402
from generator.typeset import Measure  # noqa: E402

RECIPIENT = Measure(
    body_pt=8.0,
    leading_pt=9.3,
    headings_pt={"section": 11.0},
    columns=((50.4, 297.0), (324.0, 568.0)),
    bottom=505.0,
    paragraph_gap_pt=2.5,
    first_line_pt=8.0,
)
STATUTE = Measure(columns=((72.0, 540.0),), bottom=730.0, first_line_pt=18.0, is_first_flush=False)
FIXED_DATE = "D:20240102000000Z"


def _save(pdf: pymupdf.Document, *, title: str) -> bytes:
    pdf.set_metadata(
        {"title": title, "subject": "SAMPLE, not an IRS document", "creationDate": FIXED_DATE, "modDate": FIXED_DATE}
    )
    return bytes(pdf.tobytes(garbage=4, deflate=True, no_new_id=True))


def _blocks(name: str) -> list[Block]:
    return read_manuscript((HERE / "manuscripts" / f"{name}.txt").read_text(encoding="utf-8"))


def build_form(revision: str) -> tuple[bytes, list[Block]]:
    """Copy A, Copy B and the recipient's page of one revision."""
    edition, blocks = EDITIONS[revision], _blocks(f"recipient--{revision}")
    pdf = pymupdf.open()
    for copy in ("A", "B"):
        Face(pdf, edition, copy=copy).draw()

    def furnish(shape: pymupdf.Shape, page: int) -> float:
        draw_text(shape, (50.4, 24), text=edition.note, style="bold", size_pt=9)
        return 44.0

    set_booklet(pdf, blocks, measure=RECIPIENT, furnish=furnish)
    return _save(pdf, title=f"Form 1099-DIV (Rev. {edition.month})"), blocks


def build_filer_instructions() -> tuple[bytes, list[Block]]:
    """The two-column booklet for payers."""
    pdf, blocks = pymupdf.open(), _blocks("i1099div--2024-01")
    set_booklet(pdf, blocks, measure=Measure(), furnish=furnish_filer)
    return _save(pdf, title="Instructions for Form 1099-DIV (Rev. January 2024)"), blocks


def build_statute() -> tuple[bytes, list[Block]]:
    """The title of the invented town code that comes as a PDF."""
    pdf, blocks = pymupdf.open(), _blocks("title-8")
    set_booklet(pdf, blocks, measure=STATUTE, furnish=furnish_statute)
    return _save(pdf, title="Title 8: Procedure"), blocks


def build_samples() -> dict[str, tuple[bytes, list[Block]]]:
    """Document id to PDF bytes and the blocks with the page each begins on."""
    return {
        "sample-f1099div--2024-01": build_form("2024-01"),
        "sample-f1099div--2026-01": build_form("2026-01"),
        "sample-i1099div--2024-01": build_filer_instructions(),
        "sample-statute-title-8": build_statute(),
    }


def main() -> None:
    """Write every sample PDF into the folder (by default the one of this script)."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name, (data, _) in build_samples().items():
        (folder / f"{name}.pdf").write_bytes(data)
        print(f"{name}.pdf: {len(data)} bytes")


if __name__ == "__main__":
    main()
