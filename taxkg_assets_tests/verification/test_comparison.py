"""Comparisons and decisions: what supports, what contradicts, and where the checker abstains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taxkg_assets.verification.comparison import add_similarity, compare
from taxkg_assets.verification.decision import decide
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets.verification.reasons import explain_decision
from taxkg_assets.verification.shortlist import Shortlist
from taxkg_assets.verification.verdicts import Verdict
from taxkg_assets_tests.verification.words import LANGUAGE, claim_of, passage_of

FORMS = {"i9999--2031": ("9999",)}
FEE = passage_of("You must file Form 9999 if the moving fee is more than $600.")
LATE = passage_of("A late return doesn't lead to a penalty within 30 days.")
LISTED = passage_of(
    "Enter the harbor fee on line 1b (if Box A is checked), line 2 (if Box B is checked), "
    "or line 3 (if Box C is checked)."
)


def _verdict(text: str, *passages: Passage) -> Verdict:
    claim, reader = claim_of(text), PassageReader(LANGUAGE, FORMS)
    found = [compare(claim, passage, reader=reader) for passage in passages]
    return decide(add_similarity(claim, found, reader=reader)).verdict


PAIRED = passage_of("Report the harbor gain that is part of box 1a in box 2e, and the part of box 2a in box 2f.")
RESPECTIVE = passage_of(
    "If any part of the fee in box 1a or the toll in box 2a is harbor gain, report that gain in box 2e and box 2f, "
    "respectively."
)
BY_NUMBER = passage_of("The toll is $300 if you had one barge, or $600 if you had two or more barges.")
BY_RULE = passage_of("Barge fees are subject to the harbor rules of section 3406.")
MAY_EXCLUDE = passage_of("You may be able to exclude up to $250 of the barge gain.")
COUNTED = passage_of("Payers with 10 or more harbor returns have to file electronically.")


@pytest.mark.parametrize(
    ("text", "passage", "verdict"),
    [
        ("Form 9999 must be filed if the moving fee is above $600.", FEE, Verdict.supported),
        ("Form 9999 must be filed if the moving fee is above $700.", FEE, Verdict.contradicted),
        ("Form 9999 must be filed if the moving fee is less than $600.", FEE, Verdict.contradicted),
        ("Form 9999 need not be filed if the moving fee is more than $600.", FEE, Verdict.contradicted),
        ("Form 9999 must be filed by whalers with two cats in April.", FEE, Verdict.not_found),
        ("On Form 9999, a late return does not lead to a penalty within 30 days.", LATE, Verdict.supported),
        ("On Form 9999, a late return leads to a penalty within 30 days.", LATE, Verdict.contradicted),
        ("On Form 9999, a late return does not lead to a penalty within 60 days.", LATE, Verdict.contradicted),
        ("On Form 9999, enter the harbor fee on line 2 if Box B is checked.", LISTED, Verdict.supported),
        ("On Form 9999, enter the harbor fee on line 3 if Box B is checked.", LISTED, Verdict.contradicted),
        ("Box 2e of Form 9999 has the harbor gain that is part of box 1a.", PAIRED, Verdict.supported),
        ("Box 2f of Form 9999 has the harbor gain that is part of box 1a.", PAIRED, Verdict.contradicted),
        ("Box 2e of Form 9999 has the part of box 1a that is harbor gain.", RESPECTIVE, Verdict.supported),
        ("Box 2f of Form 9999 has the part of box 2a that is harbor gain.", RESPECTIVE, Verdict.supported),
        ("Box 2f of Form 9999 has the part of box 1a that is harbor gain.", RESPECTIVE, Verdict.contradicted),
        ("On Form 9999, you can exclude up to $250 of the barge gain.", MAY_EXCLUDE, Verdict.supported),
        ("Barge fees under section 404(k) are subject to the harbor rules.", BY_RULE, Verdict.unclear),
        ("Barge fees are subject to the harbor rules of section 3405.", BY_RULE, Verdict.contradicted),
        ("Form 9999 payers with 10 or more harbor returns have to file electronically.", COUNTED, Verdict.supported),
        ("Form 9999 payers with 25 or more harbor returns have to file electronically.", COUNTED, Verdict.contradicted),
    ],
)
def test_verdicts(text: str, passage: Passage, verdict: Verdict) -> None:
    assert _verdict(text, passage) is verdict


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        # A value that has one of its partners next to it is not swapped with another one.
        (
            "On Form 9999, a skipper claims the toll under chapter 3 or 4 on Schedule Z, line 20z.",
            "If the skipper paid the toll under chapter 3 or 4 and got Form 8888, Form 7777, or Form 6666, attach it "
            "to claim the toll. The skipper should claim the toll on Schedule Z, line 20z.",
        ),
        # A key of a reference, and one of the same list, are no other partners.
        (
            "On Form 9999, cargo income of line 18 leaves out harbor fees on line 12.",
            "Cargo income is figured as described for lines 4 and 5; however, for lines 18 and 19, cargo income "
            "doesn't include harbor fees on line 12.",
        ),
        (
            "On Form 9999, an employee aged 50 or more may be allowed $500 of further tolls.",
            "If you were at least age 50, your employer may have allowed further tolls of up to $500.",
        ),
        (
            "On Form 9999, voluntary sales of cargo are second-class sales.",
            "Second-class sales are rentals to the extent not paid out of tolls, voluntary sales of cargo, and barges.",
        ),
    ],
)
def test_a_true_statement_is_not_contradicted(text: str, passage: str) -> None:
    assert _verdict(text, passage_of(passage)) is not Verdict.contradicted


def test_a_source_cited_with_per_is_no_each() -> None:
    text = "Skippers abroad can't lower the harbor toll by the cargo credit, per the 2031 instructions for Form 9999."
    own = passage_of("Skippers abroad generally can't lower the harbor toll by the cargo credit.")
    assert _verdict(text, own) is Verdict.supported
    assert (
        _verdict("On Form 9999, skippers abroad can't ever lower any toll by the cargo credit.", own)
        is not Verdict.supported
    )


def test_a_word_that_opens_a_clause_says_nothing_alone() -> None:
    assert (
        "unless" not in claim_of("Form 9999 wants the toll reported, unless your logs show that you did not.").weights
    )


def test_values_may_come_from_the_place_of_a_passage() -> None:
    own = passage_of("This amount is not included in box 1.", label="Box 8 Allocated tips", keys=frozenset({"box_8"}))
    assert _verdict("Allocated tips in box 8 of Form 9999 are not included in box 1.", own) is Verdict.supported
    assert _verdict("Allocated tips in box 8 of Form 9999 are included in box 1.", own) is Verdict.contradicted
    assert _verdict("Allocated tips in box 7 of Form 9999 are not included in box 1.", own) is not Verdict.supported


def test_a_value_of_the_sentence_before_is_none_of_the_passage() -> None:
    own = passage_of("The user fee is due in May.", before="It was $43 before.")
    assert _verdict("On Form 9999, the user fee is $43, due in May.", own) is not Verdict.supported


def test_a_passage_that_denies_what_the_supporting_one_leaves_out_makes_it_unclear() -> None:
    support = passage_of("A transfer of your shop to a partner produces no gain.")
    denial = passage_of("A transfer of your shop to an alien partner produces a gain.")
    text = "On Form 9999, a transfer of your shop to an alien partner produces no gain."
    assert _verdict(text, support) is Verdict.supported
    assert _verdict(text, support, denial) in (Verdict.unclear, Verdict.contradicted)


def test_nothing_near_is_not_found() -> None:
    assert _verdict("Form 9999 costs $5.") is Verdict.not_found


def test_the_shortlist_leads_with_the_passage_of_most_words() -> None:
    found = Shortlist([LATE, FEE, LISTED], language=LANGUAGE).find(claim_of("The moving fee on Form 9999 is $600."))
    assert found[0] is FEE
    assert LATE not in found


ONLY = passage_of("Only harbor pilots can receive a tide number by telephone.")
LISTED_OUT = passage_of("1. For towing a moored barge;", lead_in="Qualified harbor expenses don't include expenses:")
EXCEPTED = passage_of("You must report the full harbor prize unless you are a resident of the lighthouse.")
POINTED = passage_of("For more information, see Form 8888 about the moving fee of the harbor barge.")
OTHER_YEAR = passage_of("The harbor credit will be limited to $15,000 (the dollar limitation for 2029).")
UNCLE = passage_of("Executors may file Form 9999 on or before the fifth anniversary of the harbor sale.")


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        ("On Form 9999, inland skippers can receive a tide number by telephone.", ONLY),
        ("On Form 9999, expenses for towing a moored barge are qualified harbor expenses.", LISTED_OUT),
        ("On Form 9999, residents of the lighthouse must report the full harbor prize.", EXCEPTED),
        ("On Form 9999 for 2031, the harbor credit will be limited to $15,000, the dollar limitation.", OTHER_YEAR),
        ("Executors may file Form 9999 up to the second anniversary of the harbor sale.", UNCLE),
    ],
)
def test_what_only_shares_words_supports_nothing(text: str, passage: Passage) -> None:
    assert _verdict(text, passage) is not Verdict.supported


def test_the_only_ones_that_a_passage_covers_are_supported() -> None:
    assert _verdict("On Form 9999, harbor pilots can receive a tide number by telephone.", ONLY) is Verdict.supported


def test_a_sentence_that_says_where_to_read_on_contradicts_nothing() -> None:
    text = "On Form 9999, Form 7777 is about the moving fee of the harbor barge."
    assert _verdict(text, POINTED) is not Verdict.contradicted


def test_of_alternatives_in_a_list_each_has_its_own_value() -> None:
    listed = [
        passage_of(
            f"{number}. You sailed for more than {hours} hours during the harbor season.", lead_in="You are a pilot if:"
        )
        for number, hours in ((1, 500), (2, 100))
    ]
    text = "On Form 9999, sailing for more than 500 hours during the harbor season makes you a pilot."
    assert _verdict(text, *listed) is Verdict.supported
    assert _verdict(text, *reversed(listed)) is Verdict.supported


def test_what_only_other_words_contradict_is_not_called_contradicted() -> None:
    claim = claim_of("On Form 9999, payers with 25 or more harbor returns have to file electronically.")
    row = compare(claim, COUNTED, reader=PassageReader(LANGUAGE, FORMS))
    (row,) = add_similarity(claim, [row], reader=PassageReader(LANGUAGE, FORMS))
    assert decide([row]).verdict is Verdict.contradicted
    aligned = replace(row, literal=replace(row, coverage=0.2, own_coverage=0.2))
    assert decide([aligned]).verdict is not Verdict.contradicted


CHOSEN = passage_of("If the mooring is paid by a harbor account, check the “Barge” box.")
EITHER = passage_of("Ask the harbor whether to check the “Barge” or “Boat” box if the mooring is paid.")


@pytest.mark.parametrize(
    ("text", "passage", "verdict"),
    [
        ('On Form 9999, check the "Barge" box if the mooring is paid by a harbor account.', CHOSEN, Verdict.supported),
        ('On Form 9999, check the "Boat" box if the mooring is paid by a harbor account.', CHOSEN, Verdict.unclear),
        ('On Form 9999, check the "Boat" box if the mooring is paid.', EITHER, Verdict.unclear),
    ],
)
def test_quoted_words_are_printed_by_the_passage(text: str, passage: Passage, verdict: Verdict) -> None:
    assert _verdict(text, passage) is verdict


def test_a_statement_about_where_to_read_rests_on_a_sentence_that_says_so() -> None:
    passage = passage_of("For more information on the mooring credit, see Pub. 9998.")
    assert (
        _verdict("Form 9999 refers to Publication 9998 for more on the mooring credit.", passage) is Verdict.supported
    )
    assert _verdict("Form 9999 grants the mooring credit of Publication 9998.", passage) is not Verdict.supported


@pytest.mark.parametrize(
    ("text", "passage", "verdict"),
    [
        (
            "On Form 9999, half of the barge toll is due by winter.",
            "50% of the barge toll is due by winter.",
            Verdict.supported,
        ),
        (
            "On Form 9999, half of the barge toll is due by winter.",
            "15% of the barge toll is due by winter.",
            Verdict.contradicted,
        ),
        ("On Form 9999, code Z is entered first.", 'Enter code "Z" first.', Verdict.supported),
        ("On Form 9999, Form 1095-A is attached.", "Attach Form 1095\u2010A to Form 9999.", Verdict.supported),
    ],
)
def test_values_are_read_however_they_are_printed(text: str, passage: str, verdict: Verdict) -> None:
    assert _verdict(text, passage_of(passage)) is verdict


def test_a_thing_that_the_passage_does_not_name_leaves_a_statement_unsupported() -> None:
    claim, reader = claim_of("On Form 9999, the harbor fee is due."), PassageReader(LANGUAGE, FORMS)
    row = compare(claim, passage_of("The harbor fee is due."), reader=reader)
    [found] = add_similarity(claim, [row], reader=reader)
    assert decide([found]).verdict is Verdict.supported
    assert decide([replace(found, strange=3.0)]).verdict is not Verdict.supported


def test_a_value_that_is_stated_twice_is_printed_twice_where_another_one_is() -> None:
    passage = passage_of("Pay the toll within 3 years of the sale or within 2 years of the voyage.")
    reader = PassageReader(LANGUAGE, FORMS)
    text = "On Form 9999, the toll is paid within 3 years of the sale or within {} years of the voyage."
    assert compare(claim_of(text.format(2)), passage, reader=reader).agrees
    assert not compare(claim_of(text.format(3)), passage, reader=reader).agrees
    once = passage_of("Pay the toll within 3 years of the sale.")
    assert compare(claim_of(text.format(3)), once, reader=reader).agrees


def test_a_part_that_denies_another_number_of_things_supports_no_word_that_it_turns() -> None:
    claim, reader = claim_of("On Form 9999, the harbor fee is due."), PassageReader(LANGUAGE, FORMS)
    [found] = add_similarity(
        claim, [compare(claim, passage_of("The harbor fee is due."), reader=reader)], reader=reader
    )
    assert found.denies_as_often
    assert found.turned == 0.0
    assert decide([replace(found, denies_as_often=False)]).verdict is Verdict.supported
    assert decide([replace(found, denies_as_often=False, turned=0.2)]).verdict is not Verdict.supported
    denied = compare(claim, passage_of("The harbor fee isn't due, but the toll is paid."), reader=reader)
    assert denied.turned == 1.0
    assert not add_similarity(claim, [denied], reader=reader)[0].denies_as_often


def test_a_value_that_another_passage_states_is_not_contradicted() -> None:
    text = "The Form 9999 instructions refuse the mooring credit to a skipper with one barge whose toll is over $500."
    mine = passage_of("If the toll is more than $500, and you have one barge, you can't take the mooring credit.")
    other = passage_of("If the toll is more than $100, and you have no barge, you can't take the mooring credit.")
    assert _verdict(text, other, mine) is not Verdict.contradicted


def test_lines_of_two_forms_are_not_in_the_place_of_each_other() -> None:
    claim = claim_of("Line 7 of Form 9999 (2031) adds the amounts of Form 7777, lines 45 and 50.")
    listed = passage_of("Enter on line 7 the amount from Form 8888, line 11, increased by Form 7777, lines 45 and 50.")
    assert not compare(claim, listed, reader=PassageReader(LANGUAGE, FORMS)).differences


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        (
            "On Form 9999, line 3 of the harbor worksheet takes the toll of line 8.",
            passage_of("In the harbor worksheet, take the toll from line 13."),
        ),
        (
            "Part I of Form 9999 is completed to change a mooring.",
            passage_of(
                "If you aren't changing any toll, but are changing a mooring and the rules of the harbor don't apply, "
                "do the following. Complete Part I of Form 9999 to change your mooring."
            ),
        ),
    ],
)
def test_a_passage_that_differs_in_more_than_one_thing_contradicts_nothing(text: str, passage: Passage) -> None:
    assert _verdict(text, passage) is not Verdict.contradicted


def test_a_value_belongs_to_the_one_of_its_own_part() -> None:
    own = passage_of(
        "Multiply the harbor toll by 0.25 if it is charged at 8%, and by 0.35 if it is charged at a 9% rate."
    )
    assert _verdict("On Form 9999, multiply the harbor toll charged at 9% by 0.35.", own) is not Verdict.contradicted
    assert _verdict("On Form 9999, multiply the harbor toll charged at 9% by 0.25.", own) is not Verdict.supported


def test_where_the_graph_leaves_lines_open_no_other_line_contradicts() -> None:
    claim, reader = (
        claim_of("On Form 9999, the harbor toll of line 3 is paid by box 7."),
        PassageReader(LANGUAGE, FORMS),
    )
    own = passage_of("The harbor toll of line 3 is paid by box 8.")
    (row,) = add_similarity(claim, [compare(claim, own, reader=reader)], reader=reader)
    assert decide([row]).verdict is Verdict.contradicted
    assert decide([row], is_open=True).verdict is Verdict.unclear
    denied = passage_of("The harbor toll of line 3 is not paid by box 7.")
    (row,) = add_similarity(claim, [compare(claim, denied, reader=reader)], reader=reader)
    assert decide([row], is_open=True).verdict is Verdict.contradicted


def test_what_a_state_levies_is_not_what_another_one_does() -> None:
    local = passage_of("Box 19 Local income tax", keys=frozenset({"box_19"}), kind="label")
    assert _verdict("Box 19 of Form 9999 is for state income tax.", local) is not Verdict.supported
    assert _verdict("Box 19 of Form 9999 is for local income tax.", local) is Verdict.supported


def test_a_denial_of_one_of_two_verbs_is_not_one_of_the_other() -> None:
    own = passage_of("A harbor prize that nobody pays back isn't includible in gross income.")
    text = (
        "On Form 9999, a harbor prize that need not be paid back and that a skipper gives is included in gross income."
    )
    assert _verdict(text, own) is not Verdict.supported


def test_regard_and_no_regard_are_contrary() -> None:
    own = passage_of("The harbor due date is determined without regard to extensions.")
    text = "On Form 9999, the harbor due date is determined with regard to extensions."
    assert _verdict(text, own) is not Verdict.supported
    assert _verdict(text.replace("with", "without", 1), own) is Verdict.supported


def test_regard_that_is_a_topic_is_no_contrary_of_no_regard() -> None:
    own = passage_of("Harbor skippers must report their tolls regardless of how they were paid.")
    text = "On Form 9999, with regard to barges, harbor skippers must report their tolls."
    assert _verdict(text, own) is not Verdict.contradicted


def test_the_value_of_the_same_case_is_named() -> None:
    claim, reader = claim_of("On Form 9999, the toll for two or more barges is $800."), PassageReader(LANGUAGE, FORMS)
    (difference,) = compare(claim, BY_NUMBER, reader=reader).differences
    assert (difference.stated, difference.found) == ("$800", "$600")


def test_what_answers_the_values_of_a_claim_is_shown_rather_than_the_heading_above_it() -> None:
    reader = PassageReader(LANGUAGE, FORMS)
    claim = claim_of("On Form 9999, the penalty of whalers with striped cats on quays without lamps is $500.")
    heading = passage_of("Penalty of forgetful whalers", kind="label")
    answer = passage_of("Whalers pay a penalty of $50.")
    rows = [compare(claim, passage, reader=reader) for passage in (heading, answer)]
    decision = decide(add_similarity(claim, rows, reader=reader))
    assert decision.verdict is Verdict.not_found
    assert decision.comparison is not None
    assert decision.comparison.passage is answer
    said = explain_decision(decision, claim.text, language=LANGUAGE)
    assert said == "No passage says so; the nearest one states $50 where the draft has $500."
