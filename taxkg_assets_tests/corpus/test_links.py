"""Links of real booklets: their words, their targets, and the publisher's numbers from one edition to the next."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from taxkg_assets.extraction.authored.destinations import find_named_places
from taxkg_assets.extraction.authored.links import find_links
from taxkg_assets.extraction.extract import Extraction
from taxkg_assets.extraction.pdf.reader import read_source

pytestmark = pytest.mark.slow


BOOKLETS = ("i1099ac--2022-01", "iw2w3--2024", "iw2w3--2026")
_FOLD = re.compile(r"[\W_]+")


@pytest.mark.parametrize("document_id", BOOKLETS)
def test_links_cover_the_words_that_the_publisher_gives_them(corpus: Path, document_id: str) -> None:
    """Annotations carry their words a second time: the words under the rectangles are the same."""
    path = corpus / "corpus" / f"{document_id}.pdf"
    source = read_source(path.read_bytes(), document_id=document_id)
    links, _ = find_links(source, places=find_named_places(source.navigation))
    reported = [link for link in links if link.title and not link.url and not link.text.isdigit()]
    assert len(reported) >= 10
    assert [link.text for link in reported if _folded(link.text) != _folded(link.title)] == []


@pytest.mark.parametrize("document_id", BOOKLETS)
def test_links_lead_to_headings_of_their_words(read_real: Callable[[str], Extraction], document_id: str) -> None:
    frames = read_real(f"corpus/{document_id}").frames
    inner = frames["links"].filter(pl.col("kind") == "section")
    reached = inner.drop_nulls("target_anchor_id").join(
        frames["anchors"].select("anchor_id", "heading", target_on="page"),
        left_on="target_anchor_id",
        right_on="anchor_id",
    )
    assert reached.height >= 0.9 * inner.height
    assert (reached["target_on"] <= reached["target_page"]).all()
    same = [_folded(heading).startswith(_folded(text)) for heading, text in reached.select("heading", "text").rows()]
    assert sum(same) >= 0.85 * len(same)


def test_most_numbers_recur_in_the_next_edition(read_real: Callable[[str], Extraction]) -> None:
    before, after = (
        set(read_real(f"corpus/{name}").frames["anchors"]["publisher_id"].drop_nulls())
        for name in ("iw2w3--2024", "iw2w3--2026")
    )
    assert len(before & after) >= 0.75 * len(before)


def test_references_under_links_reach_their_targets(real_graph: dict[str, Any]) -> None:
    linked = real_graph["references"].filter(
        (pl.col("resolved_by") == "link") & pl.col("target_anchor_id").is_not_null() & ~pl.col("is_self")
    )
    edges = real_graph["edges"].select("element_id", "start", "target_id").unique()
    met = linked.join(edges, on=["element_id", "start"]).filter(
        pl.col("target_id").is_in([*real_graph["nodes"]["node_id"]])
        & ((pl.col("target_id") == pl.col("target_anchor_id")) | (pl.col("target_id") == pl.col("target_element_id")))
    )
    assert linked.height >= 100
    assert met.unique(["element_id", "mention_start", "target"]).height >= 0.97 * linked.height


def _folded(text: str) -> str:
    return _FOLD.sub("", text).casefold()
