"""Who must file a form, when and where: the section of its instructions opens the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest

from taxkg_assets.retrieval.answering import guardrail
from taxkg_assets.retrieval.answering.answer import Answer, ask
from taxkg_assets.retrieval.answering.standard_sections import find_section_kind
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

ADDRESS = "Mail the form to the harbour office, 1 Pier Road."


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who has to file Form 2077-ZED?", "who_files"),
        ("Do I need to file Form 2077-ZED if my berth is empty?", "who_files"),
        ("Who must sign Form 2077-ZED?", "who_signs"),
        ("When is Form 2077-ZED due?", "when_to_file"),
        ("Where do I mail Form 2077-ZED?", "where_to_file"),
        ("Can I have more time to file Form 2077-ZED?", "extension"),
        ("What happens if I don't file Form 2077-ZED?", "penalties"),
        ("Must both owners sign Form 2077-ZED?", "who_signs"),
        ("Where do I report harbour rent on Form 2077-ZED?", ""),
        ("Where do I report what I paid with an extension of Form 2077-ZED?", ""),
        ("What address do I put on Form 2077-ZED?", ""),
        ("Who does not have to file Form 2077-ZED?", ""),
        ("Can I use Form 2077-ZED for a barge?", ""),
        ("What is Form 2077-ZED?", ""),
    ],
)
def test_the_section_is_read_from_the_question(question: str, kind: str) -> None:
    assert find_section_kind(question) == kind


@pytest.fixture
def answered(searcher: Searcher) -> Callable[..., Answer]:
    """Answer a question where the booklet's section on repair fees has another heading and text."""

    def tell(question: str, *, heading: str = "Where To File", text: str = ADDRESS) -> Answer:
        is_own = pl.col("heading_path").str.ends_with("Repair fees") & pl.col("text").str.contains("shipyard")
        path = pl.col("heading_path").str.replace("Repair fees", heading, literal=True)
        rows = searcher.passages.rows.with_columns(
            text=pl.when(is_own).then(pl.lit(text)).otherwise("text"),
            heading_path=pl.when(is_own).then(path).otherwise("heading_path"),
        )
        return ask(replace(searcher, index=replace(searcher.index, rows=rows)), question, settings=Settings())

    return tell


def test_the_section_opens_the_answer(answered: Callable[..., Answer]) -> None:
    found = answered("Where do I send Form 2077-ZED?")
    assert found.units[0].text.startswith(f"Where To File, 2077-ZED 2031: {ADDRESS}")
    assert found.results[0].document == "i2077zed--2031"
    assert found.outcome == "answer"


def test_the_first_text_may_be_under_a_heading_below(answered: Callable[..., Answer]) -> None:
    found = answered("Where do I send Form 2077-ZED?", heading="Where To File > By mail")
    assert found.answer is not None
    assert ADDRESS in found.answer.splitlines()[0]


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("Where do I send Form 2077-ZED?", "Where To Report Rent"),
        ("When do I send Form 2077-ZED?", "Where To File"),
        ("Where do I send box 1a of Form 2077-ZED?", "Where To File"),
        ("Where do I send the letter of a shipyard about foreign vessels with Form 2077-ZED?", "Where To File"),
        ("Where do I send Form 2077-ZED and Form 3044-ZED?", "Where To File"),
        ("Where do I send Forms 2077-ZED and 944?", "Where To File"),
        ("Where do I send it?", "Where To File"),
        ("Where did I send Form 2077-ZED in 2019?", "Where To File"),
    ],
)
def test_a_question_for_something_else_is_not_opened(
    answered: Callable[..., Answer], question: str, heading: str
) -> None:
    found = answered(question, heading=heading)
    assert not found.units or f"{heading}, 2077-ZED" not in found.units[0].text


def test_a_section_that_may_say_it_is_less_sure(answered: Callable[..., Answer]) -> None:
    purpose = {"heading": "Purpose of Form", "text": "Report the rent of berths. File it if you have a barge."}
    sure = answered("Who must file Form 2077-ZED?", heading="Who Must File", text=purpose["text"])
    unsure = answered("Who must file Form 2077-ZED?", **purpose)
    assert all(purpose["text"] in own.units[0].text for own in (sure, unsure))
    assert unsure.confidence < sure.confidence


def test_a_longer_section_says_that_there_is_more(answered: Callable[..., Answer]) -> None:
    text = "\n".join(f"Pier {n} is where tenants of the berths of pier {n} bring what they fill in." for n in range(40))
    found = answered("Where do I send Form 2077-ZED?", text=text)
    assert found.answer is not None
    assert "Pier 0 is" in found.answer
    assert "Pier 39 is" not in found.answer
    assert "(more under this heading)" in found.answer


def test_a_form_is_found_by_its_purpose(answered: Callable[..., Answer]) -> None:
    purpose = {"heading": "Purpose of Form", "text": "Use this form to report what a barge earned in a shipyard."}
    found = answered("Which form do I use to report what a barge earned?", **purpose)
    assert found.answer is not None
    assert found.answer.startswith(f"Purpose of Form, 2077-ZED 2031: {purpose['text']}")
    other = answered("Which form do I use to report what a tugboat earned?", **purpose)
    named = answered("Which form do I file with Form 2077-ZED for a barge?", **purpose)
    assert found.confidence not in (other.confidence, named.confidence)
    denied = purpose | {"text": "Use this form for berths. Do not use it to report what a barge earned in a shipyard."}
    assert answered("Which form do I use to report what a barge earned?", **denied).confidence != found.confidence


@pytest.mark.parametrize(
    ("edition", "question", "is_found"),
    [
        ("2031", "When is Form 2077-ZED due?", True),
        ("2030", "When is Form 2077-ZED due?", True),
        ("2030", "When was Form 2077-ZED for 2030 due?", True),
        ("2030", "When is Form 2077-ZED for 2031 due?", False),
        ("2031", "Who must file Form 2077-ZED?", False),
    ],
)
def test_a_form_without_instructions_prints_its_due_dates_itself(
    searcher: Searcher, edition: str, question: str, is_found: bool
) -> None:
    found = _ask_form(searcher, question, edition=edition)
    label = f"Due dates, 2077-ZED {edition}: File Copy A with the harbor by May 3."
    assert bool(found.units and found.units[0].text.startswith(label)) is is_found


def test_dates_of_an_earlier_year_are_all_that_is_quoted_and_less_certain(searcher: Searcher) -> None:
    current = _ask_form(searcher, "When is Form 2077-ZED due?", edition="2031")
    earlier = _ask_form(searcher, "When is Form 2077-ZED due?", edition="2030")
    requested = _ask_form(searcher, "When was Form 2077-ZED for 2030 due?", edition="2030")
    assert len(earlier.units) == 1
    assert earlier.outcome == guardrail.GUIDANCE
    assert earlier.confidence < 0.6 < current.confidence == requested.confidence


def _ask_form(searcher: Searcher, question: str, *, edition: str) -> Answer:
    """Answer a question where no form has instructions, and one edition prints its due dates."""
    is_own = pl.col("document_id").eq(f"f2077zed--{edition}") & pl.col("heading_path").str.contains("Box 1b")
    path = pl.col("heading_path").str.replace("Box 1b.", "Due dates.", literal=True)
    is_booklet = pl.col("doc_type") == "filer_instructions"
    rows = searcher.passages.rows.with_columns(
        text=pl.when(is_own).then(pl.lit("File Copy A with the harbor by May 3.")).otherwise("text"),
        heading_path=pl.when(is_own).then(path).otherwise("heading_path"),
        doc_type=pl.when(is_booklet).then(pl.lit("other")).otherwise("doc_type"),
    )
    return ask(replace(searcher, index=replace(searcher.index, rows=rows)), question, settings=Settings())
