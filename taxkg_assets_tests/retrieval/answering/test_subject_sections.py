"""Whether a thing is deductible or taxed: the section on that very thing opens the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest

from taxkg_assets.retrieval.answering.answer import Answer, ask
from taxkg_assets.retrieval.answering.subject_sections import match_heading, read_subject
from taxkg_assets.retrieval.encoding.lexical import find_distinct_terms
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

RULE = "Tenants can deduct what they pay a shipyard for the repair of a barge."


@pytest.mark.parametrize(
    ("question", "kind", "thing"),
    [
        ("Can I deduct barge repairs?", "deduct", "barge repair"),
        ("Can I write off the cost of barge repairs for my ferry?", "deduct", "barge repair"),
        ("Are barge repairs tax deductible?", "deduct", "barge repair"),
        ("Is harbour prize money taxable?", "tax", "harbour prize"),
        ("Do I have to pay tax on a harbour prize that I won?", "tax", "harbour prize"),
        ("Can I exclude harbour rent from income?", "exclude", "harbour rent"),
        ("How do I report harbour rent?", "how", "harbour rent"),
    ],
)
def test_the_thing_is_read(question: str, kind: str, thing: str) -> None:
    found = read_subject(question)
    assert found is not None
    assert (found.kind, found.terms) == (kind, find_distinct_terms(thing))


@pytest.mark.parametrize(
    "question",
    ["Where do I report harbour rent?", "What is a harbour prize?", "Who can deduct repairs?", "Is my income taxable?"],
)
def test_other_questions_are_for_no_thing(question: str) -> None:
    assert read_subject(question) is None


@pytest.mark.parametrize(
    ("heading", "match"),
    [
        ("Barge repairs", 0),
        ("Barge repair expenses.", 0),
        ("Barge repairs and barge paint", 1),
        ("Barges", None),
        ("Repairs of barges that sank in the harbour of another town", None),
        ("Ferry repairs", None),
    ],
)
def test_a_heading_names_the_thing(heading: str, match: int | None) -> None:
    assert match_heading(heading, find_distinct_terms("barge repair")) == match


@pytest.fixture
def answered(searcher: Searcher) -> Callable[..., Answer]:
    """Answer a question where the booklet's section on repair fees has another heading and text."""

    def tell(question: str, *, heading: str = "Barge repairs", text: str = RULE) -> Answer:
        is_own = pl.col("heading_path").str.ends_with("Repair fees") & pl.col("text").str.contains("shipyard")
        path = pl.col("heading_path").str.replace("Repair fees", heading, literal=True)
        rows = searcher.passages.rows.with_columns(
            text=pl.when(is_own).then(pl.lit(text)).otherwise("text"),
            heading_path=pl.when(is_own).then(path).otherwise("heading_path"),
        )
        return ask(replace(searcher, index=replace(searcher.index, rows=rows)), question, settings=Settings())

    return tell


def test_the_section_opens_the_answer(answered: Callable[..., Answer]) -> None:
    found = answered("Can I deduct barge repairs?")
    assert found.units[0].text.startswith(f"Barge repairs, 2077-ZED 2031: {RULE}")
    assert found.outcome == "answer"


@pytest.mark.parametrize(
    ("question", "changed"),
    [
        ("Can I deduct ferry repairs?", {}),
        ("Can I deduct barge repairs?", {"heading": "Repairs abroad"}),
        ("Can I deduct barge repairs?", {"text": "A shipyard repairs a barge in the order of the day it came in."}),
        ("Can I deduct barge repairs paid with a lottery ticket while my cousin watched?", {}),
        ("Can I deduct barge repairs?", {"heading": "What’s New > Barge repairs"}),
    ],
)
def test_a_question_for_something_else_is_not_opened(
    answered: Callable[..., Answer], question: str, changed: dict[str, str]
) -> None:
    found = answered(question, **changed)
    assert not found.units or ", 2077-ZED 2031: " not in found.units[0].text
