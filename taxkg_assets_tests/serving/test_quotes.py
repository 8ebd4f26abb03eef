"""Each quote of an answer has the page and the rectangles of its own words, in every kind of reply."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.retrieval.answering.units import Piece
from taxkg_assets.retrieval.query.route_explanation import RouteExplanation
from taxkg_assets.retrieval.results import Explanation, Result
from taxkg_assets.serving.agent_replies import reply_answer, reply_passages
from taxkg_assets.serving.cli import app
from taxkg_assets.serving.quotes import excerpt, find_quotes, find_regions, join_lines
from taxkg_assets.serving.service import Service

QUESTION = "What is reported in box 1a?"


def _box(x0: float, y0: float, x1: float, y1: float, *, page: int = 1) -> BoundingBox:
    return BoundingBox(page=page, x0=x0, y0=y0, x1=x1, y1=y1)


def _passage(text: str, hit_start: int = 0) -> Result:
    via = Explanation(
        rerank_score=1.0, cosine=1.0, coverage=1.0, route=RouteExplanation(), chunk_ids=[], hit_start=hit_start
    )
    names = dict.fromkeys(("document", "form", "revision", "doc_type", "heading_path", "node_id", "chunk_id"), "")
    return Result(rank=1, score=1.0, page=1, bboxes=[], anchor_key=None, text=text, via=via, **names)


def _run(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_lines_below_one_another_are_one_region_and_other_columns_and_pages_are_not() -> None:
    lines = [_box(40, 100, 200, 112), _box(40, 111, 290, 123), _box(320, 50, 500, 62), _box(40, 20, 90, 32, page=2)]
    assert join_lines(lines) == [_box(40, 100, 290, 123), lines[2], lines[3]]


def test_lines_of_a_column_below_a_line_across_the_page_do_not_cover_the_next_column() -> None:
    lines = [_box(50, 100, 550, 112), _box(50, 112, 290, 124), _box(50, 124, 290, 136), _box(50, 136, 290, 148)]
    assert join_lines(lines) == [_box(50, 100, 550, 124), _box(50, 124, 290, 148)]


def test_the_text_of_a_passage_is_cut_where_it_lacks_words() -> None:
    short, long = _passage("Do not include dues.\nReport the rest.", 21), _passage("quay " * 100, 10)
    assert [(row.text, row.is_cut) for row in reply_passages([short], is_full=False).passages] == [
        ("Do not include dues. Report the rest.", False)
    ]
    assert reply_passages([long], is_full=False).passages[0].is_cut
    assert not reply_passages([long], is_full=True).passages[0].is_cut


def test_a_line_that_two_sentences_share_counts_once() -> None:
    line = _box(40, 100, 200, 112)
    assert join_lines([line, line]) == [line]


@pytest.mark.parametrize(
    ("quote", "hit_start", "expected"),
    [
        ("Harbour dues rise in May.", 0, "… Berths Dues apply. Harbour dues rise in May. Later text."),
        ("", 20, "… Dues apply. Harbour dues rise in May. Later text."),
        ("", 0, "An opening. Berths Dues apply. Harbour dues rise in May. Later …"),
    ],
)
def test_an_excerpt_begins_at_the_line_of_its_quote_or_at_the_hit(quote: str, hit_start: int, expected: str) -> None:
    text = "An opening.\nBerths Dues apply. Harbour dues\nrise in May.\nLater text."
    quotes = [Piece(role="sentence", text=quote)] if quote else []
    hit_start = text.index("Dues") if hit_start else 0
    assert excerpt(_passage(text, hit_start), quotes, max_chars=65) == expected
    assert excerpt(_passage(text, hit_start), quotes, max_chars=80) == " ".join(text.split()), "short enough as a whole"


def test_an_excerpt_is_no_longer_than_requested() -> None:
    short = excerpt(_passage("quay " * 100, 10), [], max_chars=50)
    assert len(short) <= 52
    assert short.startswith("… quay")
    assert short.endswith("quay …")


def test_the_command_line_gives_the_rectangles_of_the_quoted_words(built_samples: Path) -> None:
    found = json.loads(_run("ask", QUESTION, "--json", "--home", str(built_samples)))
    pieces = [piece for unit in found["units"] for piece in unit["pieces"] if piece["role"] not in ("label", "note")]
    assert pieces
    assert all(piece["bboxes"] for piece in pieces)
    shown = _run("ask", QUESTION, "--home", str(built_samples))
    first = pieces[0]["bboxes"][0]
    assert f"quoted from p. {first['page']} at ({first['x0']:.0f}, {first['y0']:.0f})" in shown


def test_an_agent_gets_the_rectangles_of_the_quoted_words(built_samples: Path) -> None:
    answer = Service(str(built_samples)).ask(QUESTION, k=5)
    reply = reply_answer(answer, k=5)
    for source in reply.sources:
        regions = find_regions(answer, source.number)
        assert [rectangle[0] for rectangle in source.rectangles] == [box.page for box in regions]
        assert source.page == regions[0].page
        first_quote = find_quotes(answer, source.number)[0].text
        assert first_quote[:40] in source.text
