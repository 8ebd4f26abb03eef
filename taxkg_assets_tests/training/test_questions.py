from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from taxkg_assets.training.phrasing import CorpusVocabulary, add_article, agree, is_subject
from taxkg_assets.training.questions import find_questions, turn_to_first_person, use_everyday_words
from taxkg_assets_tests.training import small
from tools.rule_switch import every_rule


@pytest.fixture(autouse=True, scope="module")
def _with_every_rule() -> Iterator[None]:
    """Rules with little support are off, but their reading is tested."""
    with every_rule():
        yield


@pytest.mark.parametrize(
    ("said", "turned"),
    [
        ("you let your lot", "I let my lot"),
        ("the payer gave you a slip that you didn’t ask for", "the payer gave me a slip that I didn’t ask for"),
        ("you and your spouse live there", "my spouse and I live there"),
        ("the bank did not notify you in time", "the bank did not notify me in time"),
        ("you’re the owner yourself", "I'm the owner myself"),
        ("you aren’t the owner", "I'm not the owner"),
        ("your employer sells you lots", "my employer sells me lots"),
    ],
)
def test_what_is_said_to_you_is_queried_by_me(said: str, turned: str) -> None:
    assert turn_to_first_person(said) == turned


def test_lay_questions_use_everyday_words() -> None:
    assert use_everyday_words("what is withheld from distributions") == "what is taken out from payouts"


def test_a_heading_is_softened_but_for_names_and_abbreviations() -> None:
    wording = CorpusVocabulary(small.corpus())
    assert wording.to_sentence_case("Rent of Lots") == "rent of lots"
    assert wording.to_sentence_case("Rent of Roth IRA Lots") == "rent of Roth IRA lots"
    assert not wording.contains("ROL")


@pytest.mark.parametrize(
    ("phrase", "verb"),
    [
        ("rents of a lot", "are"),
        ("rent on lots", "is"),
        ("rents on a lot", "are"),
        ("sample lots (SLs)", "are"),
        ("tax loss", "is"),
    ],
)
def test_a_verb_agrees_with_the_head_of_a_phrase(phrase: str, verb: str) -> None:
    assert agree(phrase)["is"] == verb


@pytest.mark.parametrize(
    "heading",
    [
        "Example 3",
        "If line 3 is more",
        "How To Report",
        "Rents are not taxable",
        "Note",
        "Used as collateral",
        "Explain rents here",
        "Boxes 1 through 8",
        "VOID",
        "Sample rent—general",
    ],
)
def test_headings_that_name_nothing_are_no_subjects(heading: str) -> None:
    assert not is_subject(heading)


@pytest.mark.parametrize(
    ("phrase", "said"),
    [
        ("refund of rent", "a refund of rent"),
        ("unpaid expense", "an unpaid expense"),
        ("S corporation loss", "an S corporation loss"),
        ("accrued interest", "accrued interest"),
        ("refunds", "refunds"),
        ("two or more refund", "two or more refund"),
    ],
)
def test_what_can_be_counted_takes_an_article(phrase: str, said: str) -> None:
    assert add_article(phrase) == said


def _ask_about(text: str) -> dict[str, str]:
    corpus = small.corpus()
    passage = next(p for p in corpus.passages.values() if p.anchor_id)
    queried = replace(passage, text=text)
    corpus = replace(corpus, passages={**corpus.passages, queried.chunk_id: queried})
    found = find_questions(corpus, queried, wording=CorpusVocabulary(corpus))
    return {f"{q.rule_id} {q.register}": q.text for q in found}


def test_questions_end_where_sentences_do_and_point_to_no_other_text() -> None:
    queried = _ask_about(
        "If you are a U.S. owner of more than 3.5 lots, you must report the sample rent, but not the deposit. "
        "If you made this choice, you can revoke it with the consent of the whole sample town. "
        "If you let a lot, you do not have to include the deposit in income unless it is kept."
    )
    assert queried["must_if lay"].startswith(
        ("I am a U.S. owner of more than 3.5 lots", "what now if I am a U.S. owner")
    )
    assert queried["must_if professional"] == "What obligation arises where I am a U.S. owner of more than 3.5 lots?"
    assert queried["need_not_if lay"] == "I let a lot. do I still have to include the deposit in income?"
    assert not any("this choice" in text or ("deposit" in text and "report" in text) for text in queried.values())
