"""Passages of an invented booklet, line by line, without a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl
import pytest

from taxkg_assets.retrieval.answering.statements import Statement, read_row
from taxkg_assets.retrieval.answering.units import Unit, draft_unit, finish_unit
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.passage_context import PassageContext, open_contexts
from taxkg_assets.retrieval.query.router import Route

Section = tuple[str, Sequence[str]]


def make_facts(
    *sections: Section,
    keys: Sequence[str | None] = (),
    level: str = "paragraph",
    levels: Sequence[str] = (),
    documents: Sequence[str] = (),
) -> PassageFacts:
    """Facts of passages: each a heading and its lines; sections of one heading are one."""
    rows = [
        {
            "document_id": documents[number] if documents else "z--2031",
            "anchor_id": f"z--2031#{heading}" if heading else None,
            "anchor_key": keys[number] if keys else None,
            "heading_path": f"Booklet > {heading}" if heading else "Booklet",
            "text": "\n".join(lines),
            "node_ids": [f"e{number}-{line}" for line in range(len(lines))],
            "chunk_id": f"c{number}",
            "terms": "",
            "level": levels[number] if levels else level,
            "form": "2077-ZED",
            "perspective": "filer",
            "irs_name": "z",
        }
        for number, (heading, lines) in enumerate(sections)
    ]
    return PassageFacts(pl.DataFrame(rows))


def state(context: PassageContext) -> list[Statement]:
    """All that a context states."""
    return [
        own
        for row in context.rows
        for own in read_row(row, context, route=Route(), passage=0, hit=row, question_terms=frozenset())
    ]


def quote(facts: PassageFacts, words: str, *, is_whole: bool = False) -> Unit:
    """The unit of the statement that begins with some words."""
    context = open_contexts(range(facts.rows.height), facts)[0]
    own = next(one for one in state(context) if one.text.startswith(words))
    return finish_unit(draft_unit(own, score=1.0, with_paragraph=is_whole), rank=1)


@pytest.fixture
def reported() -> Callable[..., str]:
    """The words of a unit on one line."""

    def tell(*sections: Section, of: str, is_whole: bool = False) -> str:
        return " ".join(quote(make_facts(*sections), of, is_whole=is_whole).lines)

    return tell
