"""Passages that share the words of a statement and say something else: order, contrast, values of another case."""

from __future__ import annotations

import pytest

from taxkg_assets.verification.comparison import add_similarity, compare
from taxkg_assets.verification.decision import decide
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets.verification.verdicts import Verdict
from taxkg_assets_tests.verification.words import LANGUAGE, claim_of, passage_of

FORMS = {"i9999--2031": ("9999",)}


def _verdict(text: str, *passages: str) -> Verdict:
    claim, reader = claim_of(text), PassageReader(LANGUAGE, FORMS)
    found = [compare(claim, passage_of(own), reader=reader) for own in passages]
    return decide(add_similarity(claim, found, reader=reader)).verdict


ORDERED = "Skippers apply the harbor limit on tolls before the anchor limits on barges."
CONTRASTED = "The election to dredge a canal must be made by the skipper of the barge."
CASES = "The harbor toll is 10% (5% in the case of a fishing barge) of the cargo."
EXCEPTED = "Harbor dues include pilot fees, except for anchor rentals and fishing licenses."
LIEU = "If a canal permit was sold in lieu of a harbor license, enter the toll."
COUNTED = "To figure the harbor period, begin on the day after you moored the barge."
KEYED = "Enter the harbor toll of line 4 on line 7, and the anchor fee of line 5 on line 8."
FAILED = "The agency can end the harbor election if the skipper failed to keep adequate logs."
FREE = "You can moor a barge at the harbor at any time."
CUSTODIAL = "A barge of divorced skippers is the qualifying barge of the custodial skipper."
REDUCED = "For a skipper who fished this year, the harbor toll in the log hasn't been reduced by the fishing credit."
OUTSIDE = "A pier of a foreign harbor outside the canal is due the toll."
ANCHORED = "You can use a barge that has a valid anchor for the harbor credit."


@pytest.mark.parametrize(
    ("true", "wrong", "passage"),
    [
        (
            "On Form 9999, skippers apply the harbor limit on tolls before the anchor limits on barges.",
            "On Form 9999, skippers apply the anchor limits on barges before the harbor limit on tolls.",
            ORDERED,
        ),
        (
            "On Form 9999, the election to dredge a canal must be made by the skipper of the barge.",
            "On Form 9999, the election to dredge a canal must be made by the barge, not by the skipper.",
            CONTRASTED,
        ),
        (
            "On Form 9999, the harbor toll is 5% for a fishing barge.",
            "On Form 9999, the harbor toll is 10% for a fishing barge.",
            CASES,
        ),
        (
            "On Form 9999, harbor dues include pilot fees.",
            "On Form 9999, harbor dues include anchor rentals and fishing licenses.",
            EXCEPTED,
        ),
        (
            "On Form 9999, the harbor toll in the log hasn't been reduced by the fishing credit.",
            "On Form 9999, the harbor toll in the log is already lowered by the fishing credit.",
            REDUCED,
        ),
        (
            "On Form 9999, a pier of a foreign harbor outside the canal is due the toll.",
            "On Form 9999, a pier of a foreign harbor inside the canal is due the toll.",
            OUTSIDE,
        ),
        (
            "On Form 9999, harbor dues include pilot fees, anchor rentals aside.",
            "On Form 9999, harbor dues include anchor rentals, pilot fees aside.",
            EXCEPTED,
        ),
        (
            "On Form 9999, you can use a barge with a valid anchor for the harbor credit.",
            "On Form 9999, you can use a barge without a valid anchor for the harbor credit.",
            ANCHORED,
        ),
        (
            "On Form 9999, the fishing credit reduces the harbor toll of a barge.",
            "On Form 9999, the fishing credit increases the harbor toll of a barge.",
            "The harbor toll of a barge is reduced by the fishing credit.",
        ),
        (
            "On Form 9999, begin the harbor period on the day after you moored the barge.",
            "On Form 9999, begin the harbor period on the day you moored the barge.",
            COUNTED,
        ),
        (
            "On Form 9999, enter the harbor toll of line 4 on line 7.",
            "On Form 9999, enter the harbor toll of line 7 on line 4.",
            KEYED,
        ),
        (
            "On Form 9999, the agency can end the harbor election if the skipper failed to keep adequate logs.",
            "On Form 9999, the agency can't end the harbor election if the skipper failed to keep adequate logs.",
            FAILED,
        ),
        (
            "On Form 9999, you can moor a barge at the harbor at any time.",
            "On Form 9999, you can moor a barge at the harbor only at a time before the tide.",
            FREE,
        ),
        (
            "On Form 9999, a barge of divorced skippers is the qualifying barge of the custodial skipper.",
            "On Form 9999, a barge of divorced skippers is the qualifying barge of the noncustodial skipper.",
            CUSTODIAL,
        ),
    ],
)
def test_the_statement_is_supported_and_its_reversal_is_not(true: str, wrong: str, passage: str) -> None:
    assert _verdict(true, *passage.split(" | ")) is Verdict.supported
    assert _verdict(wrong, passage) is not Verdict.supported


def test_words_scattered_over_a_long_passage_support_nothing() -> None:
    filler = "where the pilots of the northern canal meet to exchange charts of rocks and tides each spring and autumn"
    text = "On Form 9999, a skipper reports the harbor toll for the anchor of a barge."
    near = f"A skipper reports the harbor toll for the anchor of a barge, {filler}."
    far = f"A skipper reports the weather {filler}; the harbor, {filler}, has a toll {filler}; an anchor holds a barge."
    assert _verdict(text, near) is Verdict.supported
    assert _verdict(text, far) is not Verdict.supported


def test_the_case_of_an_exception_is_not_the_rule() -> None:
    turned = "However, a barge is treated as the harbor vessel of the other skipper if all four conditions are met."
    text = "On Form 9999, a barge is treated as the harbor vessel of the other skipper"
    assert _verdict(f"{text} if all four conditions are met.", turned) is Verdict.supported
    assert _verdict(f"{text}.", turned) is not Verdict.supported


def test_a_case_is_named_without_the_words_that_compare_its_amount() -> None:
    own = "However, if it has at least 50 anchors, the harbor may allow a barge a further toll of $500."
    text = "On Form 9999, a barge with 50 or more anchors may get a further harbor toll of $500."
    assert _verdict(text, own) is Verdict.supported
    assert _verdict(text.replace(" with 50 or more anchors", ""), own) is not Verdict.supported


def test_what_something_replaces_is_denied() -> None:
    assert _verdict("On Form 9999, enter the toll if a harbor license was sold.", LIEU) is not Verdict.supported


def test_a_nearer_passage_that_denies_a_part_makes_it_unclear() -> None:
    text = "On Form 9999, you can use a barge with a valid anchor for the harbor credit."
    general = "You can use a barge with a valid anchor for the credit."
    denial = "If the barge has a valid anchor, you can't use it for the harbor credit."
    assert _verdict(text, general) is Verdict.supported
    assert _verdict(text, general, denial) is not Verdict.supported


@pytest.mark.parametrize(
    ("true", "false", "passage"),
    [
        (
            "On Form 9999, the anchor fee is due in winter.",
            "On Form 9999, the harbor toll is paid on the quay card.",
            "The anchor fee is due in winter. | Previously, the harbor toll was paid on the quay card.",
        ),
        (
            "On Form 9999, report the harbor toll on only one card.",
            "On Form 9999, report the harbor toll on each card.",
            "Report the harbor toll on only one card.",
        ),
        (
            "On Form 9999, the harbor toll of a barge that has sailed is reported.",
            "On Form 9999, the harbor toll of a barge is reported before it has sailed.",
            "Report the harbor toll of a barge that has sailed.",
        ),
        (
            "On Form 9999, box 2 and box 8 mean a toll on a barge.",
            "On Form 9999, box 2 and box 9 mean a toll on a barge.",
            "An amount in box 2 and box 8 is a toll on a barge. An amount in box 2 and box 9 is rent.",
        ),
        (
            "On Form 9999, a pier is closed if no more than five skippers own it.",
            "On Form 9999, a pier is closed if no more than ten skippers own it.",
            "A pier is closed if it is owned by not more than 5 skippers.",
        ),
        (
            "On Form 9999, a barge can be used if the skipper knows the toll.",
            "On Form 9999, a barge can be used not only by a skipper who knows the toll.",
            "A barge can be used only if the skipper knows the toll.",
        ),
        (
            "On Form 9999, the harbor toll of a barge may be left out of fees.",
            "On Form 9999, the harbor toll of a barge may never be left out of fees.",
            "You may be able to exclude the harbor toll of a barge from fees.",
        ),
        (
            "On Form 9999, a harbor claim of the skipper is denied.",
            "On Form 9999, a harbor claim of the skipper is never denied.",
            "The harbor claim of a skipper is denied.",
        ),
        (
            "On Form 9999, a skipper has to report the harbor toll.",
            "On Form 9999, a skipper may report the harbor toll.",
            "Skippers must report the harbor toll.",
        ),
        (
            "On Form 9999, a skipper may have to report the harbor toll.",
            "On Form 9999, a skipper must report the harbor toll.",
            "You may also have to report the harbor toll as a skipper.",
        ),
        (
            "On Form 9999, the harbor toll is paid within 9 months.",
            "On Form 9999, the harbor toll is paid after 9 months.",
            "Pay the harbor toll within 9 months.",
        ),
        (
            "On Form 9999, the harbor toll is paid by May 1.",
            "On Form 9999, the harbor toll is paid after May 1.",
            "The harbor toll is due on May 1.",
        ),
        (
            "On Form 9999, a barge pays the harbor toll.",
            "On Form 9999, both of two barges pay the harbor toll.",
            "A barge pays the harbor toll.",
        ),
        (
            "On Form 9999, the harbor toll is paid in Step 3(b).",
            "On Form 9999, the harbor toll is paid in Step 3(c).",
            "The harbor toll is paid in Step 3(b).",
        ),
        (
            "On Form 9999, the harbor toll must be paid after May 1.",
            "On Form 9999, the harbor toll is due by May 1.",
            "The harbor toll is due after May 1.",
        ),
        (
            "On Form 9999, the harbor toll is due after 9 months.",
            "On Form 9999, the harbor toll is due within 9 months.",
            "The harbor toll is due after 9 months.",
        ),
        (
            "On Form 9999, the harbor toll is due after May 1.",
            "On Form 9999, the harbor toll is due by May 1.",
            "The harbor toll is due no earlier than May 1.",
        ),
        (
            "On Form 9999, the harbor toll is paid after May 1.",
            "On Form 9999, the harbor toll is paid by May 1.",
            "The harbor toll is paid not before May 1.",
        ),
        (
            "On Form 9999, the harbor toll is due from May 1.",
            "On Form 9999, the harbor toll is due by May 1.",
            "The harbor toll is due from May 1.",
        ),
        (
            "On Form 9999, only skippers get the harbor credit.",
            "On Form 9999, not only skippers get the harbor credit.",
            "Only skippers get the harbor credit.",
        ),
        (
            "On Form 9999, not only skippers get the harbor credit.",
            "On Form 9999, only skippers get the harbor credit.",
            "Not only skippers get the harbor credit.",
        ),
        (
            "On Form 9999, the harbor credit is not solely for skippers.",
            "On Form 9999, the harbor credit is solely for skippers.",
            "The harbor credit isn't only for skippers.",
        ),
    ],
)
def test_a_statement_is_bound_to_its_time_number_order_and_key(true: str, false: str, passage: str) -> None:
    assert _verdict(true, *passage.split(" | ")) is Verdict.supported
    assert _verdict(false, *passage.split(" | ")) is not Verdict.supported


@pytest.mark.parametrize(
    ("true", "wrong", "passage"),
    [
        (
            "On Form 9999, a skipper has only one home harbor at a time.",
            "On Form 9999, a skipper has {} home harbors at a time.",
            "A skipper has only one home harbor at a time.",
        ),
        (
            "On Form 9999, only one skipper can report the barge.",
            "On Form 9999, {} skippers can report the barge.",
            "Only one skipper can report the barge.",
        ),
        (
            "On Form 9999, only one anchor of the barge is free of tolls in a 2-year period.",
            "On Form 9999, {} anchors of the barge are free of tolls in a 2-year period.",
            "Only a single anchor of the barge is free of tolls in a 2-year period.",
        ),
        (
            "On Form 9999, a skipper can make only one voyage in a 2-year period.",
            "On Form 9999, a skipper can make {} voyages in a 2-year period.",
            "In 2031, a skipper is only allowed to make one voyage within a 2-year period.",
        ),
    ],
)
@pytest.mark.parametrize("quantifier", ["several", "all", "any", "two", "both"])
def test_several_things_are_not_the_only_one(quantifier: str, true: str, wrong: str, passage: str) -> None:
    assert _verdict(true, passage) is Verdict.supported
    assert _verdict(wrong.format(quantifier), passage) is not Verdict.supported


EXCLUDING = (
    "If you elected to exclude the harbor premium, the toll shown in the log hasn't been reduced by the exclusion."
)
NONE_KEPT = "If the harbor holds no barges of that kind, enter zero for the item."
FREE_OF_TAX = "Examples of nontaxable harbor income: mooring grants that lower the cost of a pier."
GONE = "Form 9998 is no longer available to file for harbor years beginning after 2031."


@pytest.mark.parametrize(
    ("true", "wrong", "passage"),
    [
        (
            "On Form 9999, the toll in the log hasn't been reduced if the skipper elected to exclude the premium.",
            "On Form 9999, the toll in the log is already lowered by the premium that the skipper elected to exclude.",
            EXCLUDING,
        ),
        (
            "On Form 9999, zero is entered for the item if the harbor holds no barges of that kind.",
            "On Form 9999, the item is left, not filled with zero, if the harbor holds no barges of that kind.",
            NONE_KEPT,
        ),
        (
            "Under Form 9999, nontaxable harbor income includes mooring grants that lower the cost of a pier.",
            "The 2031 Form 9999 instructions tax mooring grants that lower the cost of a pier.",
            FREE_OF_TAX,
        ),
        (
            "Under Form 9999, nontaxable harbor income includes mooring grants that lower the cost of a pier.",
            "The 2031 Form 9999 instructions tax mooring grants that lower the cost of a pier.",
            FREE_OF_TAX.replace("nontaxable", "non-taxable"),
        ),
        (
            "The 2031 Form 9999 instructions announce that Form 9998 can no longer be filed after harbor year 2031.",
            "The 2031 Form 9999 instructions announce that Form 9998 can be filed after harbor year 2031.",
            GONE,
        ),
    ],
)
def test_what_is_denied_in_other_words_is_seen(true: str, wrong: str, passage: str) -> None:
    assert _verdict(true, passage) is Verdict.supported
    assert _verdict(wrong, passage) is not Verdict.supported


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        (
            "Form 9999 says that paying too little toll leads to a penalty.",
            "You owe a penalty if you don't pay enough toll.",
        ),
        (
            "Form 9999 is due by the harbor date, not counting extensions.",
            "It is due by the harbor date, without regard to extensions.",
        ),
        (
            "On Form 9999, a skipper with a tax-free mooring grant can deduct the toll.",
            "If you are a skipper with a mooring grant that isn't taxable, you can deduct the toll.",
        ),
        ("On Form 9999, multiply the toll by 5%.", "Multiply the toll by 5% (instead of the number used for barges)."),
        (
            "On Form 9999, the barge credit is due even if the voyage does not span the full harbor year.",
            "The barge credit is due even though the voyage covers less than 12 months.",
        ),
        (
            "On Form 9999, no fee but the mooring toll is reported.",
            "You are not required to report any fee other than the mooring toll.",
        ),
        (
            "Form 9999 says not to lower the toll by the mooring refund.",
            "Don't lower the toll by the mooring refund.",
        ),
        (
            "Form 9999 has to say when a toll that is no longer outstanding was paid.",
            "Say when you paid the toll if the toll is no longer outstanding.",
        ),
    ],
)
def test_the_same_is_said_with_another_denial(text: str, passage: str) -> None:
    assert _verdict(text, passage) is not Verdict.contradicted
    claim, reader = claim_of(text), PassageReader(LANGUAGE, FORMS)
    row = compare(claim, passage_of(passage), reader=reader)
    assert row.agreement == 1.0
    assert not row.lacks_sense


@pytest.mark.parametrize(
    ("true", "wrong", "passage"),
    [
        (
            "On Form 9999, the harbor toll is not, and never was, reported by a skipper.",
            "On Form 9999, the harbor toll is reported by a skipper.",
            "The harbor toll isn't reported by a skipper.",
        ),
        (
            "On Form 9999, the harbor toll isn't reported by a skipper.",
            "On Form 9999, the harbor toll is reported by a skipper.",
            "The harbor toll is not, and never was, reported by a skipper.",
        ),
        (
            "On Form 9999, the harbor toll is reported by a skipper.",
            "On Form 9999, the harbor toll is not, and never was, reported by a skipper.",
            "The harbor toll is reported by a skipper.",
        ),
        (
            "On Form 9999, the harbor toll is reported by a skipper.",
            "On Form 9999, the harbor toll is not, nor was it ever, reported by a skipper.",
            "The harbor toll is reported by a skipper.",
        ),
        (
            "On Form 9999, the barge is reported by a skipper.",
            "On Form 9999, the barge is not or was not reported by a skipper.",
            "The barge is reported by a skipper.",
        ),
        (
            "On Form 9999, the barge is not and was not reported by a skipper.",
            "On Form 9999, the barge is reported by a skipper.",
            "The barge is not reported by a skipper.",
        ),
        (
            "On Form 9999, harbor dues do not include pilot fees.",
            "On Form 9999, harbor dues include pilot fees.",
            "Harbor dues do not, and never did, include pilot fees.",
        ),
        (
            "On Form 9999, harbor dues do not include and never did include pilot fees.",
            "On Form 9999, harbor dues include pilot fees.",
            "Harbor dues do not include pilot fees.",
        ),
        (
            "On Form 9999, the harbor claim of a skipper is not denied.",
            "On Form 9999, the harbor claim of a skipper is denied.",
            "The harbor claim of a skipper is not, and never was, denied.",
        ),
        (
            "On Form 9999, the harbor claim of a skipper is not, of course, denied.",
            "On Form 9999, the harbor claim of a skipper is denied.",
            "The harbor claim of a skipper is not denied.",
        ),
    ],
)
def test_coordinated_denials_deny_once(true: str, wrong: str, passage: str) -> None:
    assert _verdict(true, passage) is Verdict.supported
    assert _verdict(wrong, passage) is not Verdict.supported


@pytest.mark.parametrize(
    ("true", "wrong", "passage"),
    [
        (
            "On Form 9999, the harbor toll of a skipper with a moored barge is twelve thousand dollars.",
            "On Form 9999, the harbor toll of a skipper with a moored barge is fifteen thousand dollars.",
            "The harbor toll of a skipper with a moored barge is $12,000.",
        ),
        (
            "On Form 9999, the harbor toll of a moored barge is two million dollars.",
            "On Form 9999, the harbor toll of a moored barge is three million dollars.",
            "The harbor toll of a moored barge is $2 million.",
        ),
        (
            "On Form 9999, the harbor toll of a moored barge is five dollars.",
            "On Form 9999, the harbor toll of a moored barge is six dollars.",
            "The harbor toll of a moored barge is $5.",
        ),
        (
            "On Form 9999, the harbor toll of a moored barge is twenty percent of the cargo.",
            "On Form 9999, the harbor toll of a moored barge is thirty percent of the cargo.",
            "The harbor toll of a moored barge is 20% of the cargo.",
        ),
        (
            "On Form 9999, the harbor holds two hundred and fifty barges.",
            "On Form 9999, the harbor holds two hundred barges.",
            "The harbor holds 250 barges.",
        ),
        (
            "On Form 9999, the harbor holds nineteen thousand barges.",
            "On Form 9999, the harbor holds nineteen barges.",
            "The harbor holds 19,000 barges.",
        ),
        (
            "On Form 9999, the harbor holds twenty-five barges.",
            "On Form 9999, the harbor holds twenty-four barges.",
            "The harbor holds 25 barges.",
        ),
        (
            "On Form 9999, the harbor holds two dozen barges.",
            "On Form 9999, the harbor holds two barges.",
            "The harbor holds 24 barges.",
        ),
        (
            "On Form 9999, a skipper with two or more barges pays the harbor toll.",
            "On Form 9999, a skipper with three or more barges pays the harbor toll.",
            "A skipper with more than one barge pays the harbor toll.",
        ),
        (
            "On Form 9999, a skipper reports two barges.",
            "On Form 9999, a skipper reports three barges.",
            "A skipper reports either of the barges.",
        ),
        (
            "On Form 9999, a skipper reports two barges.",
            "On Form 9999, a skipper reports three barges.",
            "A skipper reports a couple of barges.",
        ),
    ],
)
def test_a_number_in_words_is_read_whole(true: str, wrong: str, passage: str) -> None:
    assert _verdict(true, passage) is Verdict.supported
    assert _verdict(wrong, passage) is not Verdict.supported
