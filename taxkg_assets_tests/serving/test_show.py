"""A drawn page has the size it says, colors where the elements lie, and one sentence for a page that is not there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pymupdf
import pytest

from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.ingest.worker import read_document
from taxkg_assets.defs.ingest.worker_replies import Extracted, Job
from taxkg_assets.schemas import ROLES
from taxkg_assets.serving import show
from taxkg_assets.serving.evidence import draw_evidence
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.show import (
    MOST_PIXELS,
    PANEL_PT,
    ROLE_COLORS,
    PageNotFoundError,
    draw_page,
    draw_sheet,
    find_document,
    find_page,
    opened_page,
)
from taxkg_assets.sources.scan import sha256_of
from taxkg_assets_tests.extraction.typeset import Booklet
from taxkg_assets_tests.serving.homes import run_here

pytestmark = pytest.mark.slow

ZOOM = 2.0
NAME = "owls--2024"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that holds one booklet: a page with a title, a heading and six paragraphs, and one of a single line."""
    booklet = Booklet().set(("All About Owls", "b"), size=24).set(("Keeping of Owls", "b"), size=14, gap=30)
    for ix in range(6):
        booklet.lines(f"Every keeper of {ix + 2} owls shall write down the nights", "on which it was heard.", gap=8)
    booklet.turn().lines("Mice are fed at dusk.")
    path = tmp_path / f"{NAME}.pdf"
    path.write_bytes(booklet.document.tobytes())
    store, folder = Store(tmp_path / "home"), tmp_path / "read"
    places = {"path": str(path), "source_uri": str(path), "source_root": str(tmp_path), "folder": str(folder)}
    facts: dict[str, Any] = {
        "document_id": NAME,
        "sha256": sha256_of(path),
        "is_text": False,
        "code_version": "1",
        "max_pages": 9,
    }
    facts |= {"table_engine": "own"}
    assert isinstance(read_document(Job(**places, **facts)), Extracted)
    contents = json.loads((folder / "contents.json").read_text())
    for table in ("documents", "elements", "tables", "anchors", "sections"):
        frame = pl.read_ipc(folder / f"{table}.arrow")
        store.replace_documents(table, frame, documents={NAME: {"reading": "1", "content": contents[table]}})
    return store.home


def _is_near(pixel: tuple[int, ...], color: tuple[float, float, float]) -> bool:
    return all(abs(seen - 255 * wanted) < 90 for seen, wanted in zip(pixel, color, strict=True))


def test_boxes_stand_where_the_elements_lie(home: Path) -> None:
    content = find_page(Store(home), NAME, 1)
    assert {row["role"] for row in content.elements} >= {"BodyText"}
    assert len(content.elements) >= 6
    picture = draw_page(Store(home), content, zoom=ZOOM)
    image: Any = pymupdf.Pixmap(picture.png)
    assert (image.width, image.height) == (picture.width_px, picture.height_px)
    assert (image.width, image.height) == (round((612 + PANEL_PT) * ZOOM), round(792 * ZOOM))
    for row in content.elements:
        box = row["bbox"]
        middle = round((box["y0_pt"] + box["y1_pt"]) / 2 * ZOOM)
        left = round(box["x0_pt"] * ZOOM)
        assert any(_is_near(image.pixel(x, middle), ROLE_COLORS[row["role"]]) for x in range(left - 2, left + 3)), row
    assert image.pixel(round(500 * ZOOM), round(600 * ZOOM)) == (255, 255, 255)


def test_a_paragraph_is_listed_with_the_heading_that_owns_it(home: Path) -> None:
    content = find_page(Store(home), NAME, 1)
    owned = {content.owners.get(row["element_id"]) for row in content.elements if row["role"] == "BodyText"}
    headings = Store(home).read("anchors")["heading"].to_list()
    assert owned == set(headings) == {"Keeping of Owls"}
    assert sum(line.endswith("< Keeping of Owls") for line in content.describe_elements()) == 6


def test_every_role_has_a_color_of_its_own() -> None:
    assert tuple(ROLE_COLORS) == ROLES
    assert len(set(ROLE_COLORS.values())) == len(ROLES)


def test_a_sheet_of_any_size_is_drawn_within_the_limit(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_PIXELS > 612 * 792 * 16, "a letter page at the largest zoom is drawn as asked"
    monkeypatch.setattr(show, "MOST_PIXELS", 10_000)
    with pymupdf.open() as drawing:
        drawn = draw_sheet(drawing.new_page(width=14_400, height=3_600), zoom=4.0)
    assert (drawn.width, drawn.height) == (200, 50)
    picture = draw_page(Store(home), find_page(Store(home), NAME, 1))
    assert picture.width_px * picture.height_px <= 11_000


def test_what_the_parser_cannot_draw_is_one_sentence(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(home)
    with (
        pytest.raises(PageNotFoundError, match=f"Page 1 of {NAME} cannot be drawn: "),
        opened_page(find_document(store, NAME), 1) as page,
    ):
        page.get_pixmap(matrix=pymupdf.Matrix(1e5, 1e5))
    box = {"page": 9, "x0_pt": 1.0, "y0_pt": 1.0, "x1_pt": 2.0, "y1_pt": 2.0}
    node = {"node_id": "n", "document_id": NAME, "level": "paragraph", "heading_path": "", "text": "", "page": 9}
    nodes = pl.DataFrame([{**node, "bboxes": [box]}])
    released = Released(store, {}, {"nodes": nodes, "documents": store.read("documents")})
    with pytest.raises(PageNotFoundError, match=f"Page 9 of {NAME} cannot be drawn"):
        draw_evidence(released, "n")


@pytest.mark.parametrize("page", [1, 2, 3])
def test_every_page_of_a_text_can_be_marked_where_its_words_stand(tmp_path: Path, page: int) -> None:
    law = tmp_path / "law.txt"
    law.write_text("".join(f"{n} General rule.\nOwls are counted.\n" for n in range(100)), encoding="utf8")
    printed = pymupdf.open(law)[page - 1]
    word = printed.search_for("counted")[0]
    with opened_page({"document_id": "law", "source_uri": str(law), "sha256": sha256_of(law)}, page) as sheet:
        assert tuple(sheet.rect) == tuple(printed.rect)
        drawn, own = (one.get_pixmap(clip=word, colorspace="gray").samples for one in (sheet, printed))
        assert min(drawn) < 128 < max(drawn)
        assert sum(abs(x - y) for x, y in zip(drawn, own, strict=True)) / len(own) < 16
        sheet.draw_rect(word, color=(1, 0, 0))


def test_the_command_writes_the_picture(home: Path, tmp_path: Path) -> None:
    done = run_here("show", NAME, "2", "--home", str(home), "--out", str(tmp_path / "new" / "page.png"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "new" / "page.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("document", "page", "remedy"),
    [(NAME, 3, "Its pages are 1 to 2"), (NAME, 0, "Its pages are 1 to 2"), ("owls", 1, f"Documents: {NAME}")],
)
def test_an_unknown_document_or_page_says_what_there_is(home: Path, document: str, page: int, remedy: str) -> None:
    with pytest.raises(PageNotFoundError, match=remedy):
        find_page(Store(home), document, page)


def test_an_empty_home_says_how_to_build_it(tmp_path: Path) -> None:
    with pytest.raises(PageNotFoundError, match="taxkg build"):
        find_page(Store(tmp_path / "none"), NAME, 1)


def test_a_file_that_changed_or_went_is_not_drawn_over(home: Path) -> None:
    store = Store(home)
    content = find_page(store, NAME, 1)
    path = Path(store.read("documents")["source_uri"][0])
    kept = shutil.move(path, path.with_suffix(".kept"))
    with pytest.raises(PageNotFoundError, match="no longer exists"):
        draw_page(store, content)
    path.write_bytes(Path(kept).read_bytes() + b"\n")
    with pytest.raises(PageNotFoundError, match="has changed"):
        draw_page(store, content)
