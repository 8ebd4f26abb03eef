"""What a sentence says about the thing it names, by the ordered tests of the labeling guide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from taxkg_assets.extraction.references import amounts, relations
from taxkg_assets.extraction.references.clause_view import MentionInSentence, Relation
from taxkg_assets.extraction.references.relations import classify_relations
from taxkg_assets.rules.loader import load_family
from tools.rule_switch import every_rule


@pytest.fixture(scope="module", autouse=True)
def _with_every_rule() -> Iterator[None]:
    """Rules with little support are off, but their reading is tested."""
    with every_rule():
        yield


def _read(sentence: str, kind: str = "box", **more: object) -> Relation:
    """Ask about the `@` of a sentence, whose owner has an amount unless stated otherwise."""
    at = sentence.index("@")
    queried = MentionInSentence(sentence.replace("@", "box 9"), kind, at, at + 5, **more)  # type: ignore[arg-type]
    (said,) = classify_relations([queried])
    return said


def _expect(sentence: str, kind: str, expected: str) -> None:
    """Expect a relation, with `-` behind it where it is denied."""
    said = _read(sentence, kind)
    polarity = "negative" if expected.endswith("-") else "positive"
    assert (said.relation, said.polarity) == (expected.rstrip("-"), polarity), said.rule_id


@pytest.mark.parametrize(
    ("sentence", "kind", "expected"),
    [
        ("Shows the portion of the amount in @ that is gain.", "box", "portion_of"),
        ("This amount is included in @.", "box", "portion_of"),
        ("@ includes this amount.", "box", "portion_of"),
        ("Also enter this amount on @.", "line", "portion_of"),
        ("Enter here and on @.", "line", "portion_of"),
        ("Include the tips shown in @.", "box", "includes"),
        ("Enter the smaller of @.", "line", "includes"),
        ("Multiply @ by 9%.", "line", "includes"),
        ("Rent deduction from @", "form", "includes"),
        ("Show rent under a @ lease.", "irc_section", "includes"),
        ("Do not include deferrals except @ contributions.", "irc_section", "includes"),
        ("Subtract @ from the total.", "line", "excludes-"),
        ("Do not include this amount in @.", "box", "excludes-"),
        ("Show fees not reported in @.", "box", "excludes-"),
        ("A lease for towns (other than a @ lease).", "irc_section", "excludes-"),
        ("Report the excess in @.", "box", "requires"),
        ("You must also list a code in @.", "box", "requires"),
        ("In @, enter the harbor code.", "box", "requires"),
        ("Use this amount when completing @.", "section", "requires"),
        ("The rent is reported on @.", "form", "requires"),
        ("Agricultural employers file @.", "form", "requires"),
        ("Failure to file @ may result in penalties.", "form", "requires"),
        ("You are not required to report it in @.", "box", "requires-"),
        ("Until further notice, no penalty will apply for failure to file @.", "form", "requires-"),
        ("Skip @ and stop.", "line", "requires-"),
        ("Report the rest there, but not in @.", "box", "requires-"),
        ("If no amount is shown in @, stop here.", "box", "applies_if-"),
        ("If an amount is shown in @, do not go on.", "box", "applies_if"),
        ("Keep it, unless you checked @.", "box", "applies_if-"),
        ("For @, show the local tax.", "form", "applies_if"),
        ("A bank (as defined in @) must sign.", "irc_section", "defines"),
        ("Do not report for a plan described in @.", "irc_section", "defines"),
        ("@ lists two safe harbors.", "regulation", "qualifies"),
        ("However, see @.", "section", "qualifies"),
        ("The total of @ cannot exceed the yearly base.", "box", "qualifies"),
        ("Except as provided in @, pay at once.", "statute_section", "qualifies"),
        ("For the amount, see @.", "box", "references"),
        ("You may use @ to ask.", "form", "references"),
        ("See the cases in which you are not required to file @.", "form", "references"),
        ("Pursuant to @, all owners may shorten it.", "regulation", "references"),
        ("The payer tells you about @.", "box", "references"),
        ("Include all rents shown in @ in box 7.", "box", "references"),
        ("Include in your income the rent shown in @.", "box", "references"),
        ("You may also have to report rents in @.", "box", "references"),
        ("Ask whether you are required to complete @.", "box", "references"),
        ("These penalties of @ do not apply.", "irc_section", "references-"),
        ("If the rules in @ don’t apply, keep a copy.", "section", "applies_if-"),
        ("If you move, but the rules in @, earlier, don’t apply, adjust the rent.", "section", "applies_if-"),
        ("For the yearly count of boats, if there is one, complete @.", "line", "requires"),
        ("To ask for a berth at the quay, if you own a boat, file @.", "form", "requires"),
        ("You owe dues in May, if you complete @.", "form", "applies_if"),
        ("Each payer should send you a @.", "form", "requires"),
        ("You must provide your landlord with a properly completed @.", "form", "requires"),
        ("Give the owner of the rent Copy B of @ by May 2.", "form", "requires"),
        ("Attach to your return a @.", "form", "requires"),
        ("The town isn’t required to give you a @.", "form", "requires-"),
        ("Provide the facts that the owner of the @ keeps.", "form", "references"),
        ("Mail or promptly file @.", "form", "requires"),
        ("Use the Rent Table, Gift Worksheet, or @ to find your dues.", "section", "requires"),
        ("Leases include the Harbor Lease, the Quay Lease, or @.", "form", "references"),
        ("File all six pages of @.", "form", "requires"),
        ("The @ must be filed by the tenth day.", "form", "requires"),
        ("A new @ isn’t required.", "form", "requires-"),
        ("Two copies of each @ must be sent.", "form", "requires"),
        ("@ is not required to have a stamp.", "form", "references"),
        ("Fill in the list to figure the dues, and attach it to @.", "form", "requires"),
        ("Use the table to figure your dues and report the result on @.", "form", "requires"),
        ("Enter “See attached” in the margin next to @.", "line", "requires"),
        ("On the dotted line to the left of @, write the name of the boat.", "line", "requires"),
        ("Under “Season” at the top of @, check the box.", "form", "requires"),
        ("Enter the dues paid as a keeper on your behalf on @.", "form", "requires"),
        ("For more information about what is reported on @, see the leaflet.", "form", "references"),
        ("For details on who must file @, see the leaflet.", "form", "references"),
        ("You owe dues if you are a keeper, as discussed in @, even if you left.", "section", "references"),
        ("You owe dues unless you asked for relief, as explained earlier under @.", "section", "references"),
    ],
)
def test_the_first_test_that_says_yes_decides(sentence: str, kind: str, expected: str) -> None:
    _expect(sentence, kind, expected)


@pytest.mark.parametrize(
    ("sentence", "kind", "expected"),
    [
        ("If you checked “Moved,” attach @.", "form", "requires"),
        ("If the letter says “paid,” do not file @.", "form", "requires-"),
        ("When the code is “Q,” enter the amount from @.", "line", "includes"),
        ("If the code is “Q;” enter the amount from @.", "line", "includes"),
        ("If the word “Rent” is on it, attach @.", "form", "requires"),
        ("Enter “paid” if you filed @.", "form", "applies_if"),
        ("On line 3 enter the dues if you moved, file @, or sold a boat.", "form", "applies_if"),
        ("On line 3 list dues if you moved, file @, or sold a boat.", "form", "applies_if"),
        ("In column (a) check the box if you moved, file @, and rent.", "form", "applies_if"),
        ("For the use of a boat, if you moved, file @.", "form", "requires"),
        ("To report a sale, if you moved, file @.", "form", "requires"),
    ],
)
def test_a_condition_ends_where_its_punctuation_does(sentence: str, kind: str, expected: str) -> None:
    _expect(sentence, kind, expected)


@pytest.mark.parametrize(
    ("sentence", "kind", "expected"),
    [
        ("For information returns that you send by wire, do not file @.", "form", "requires-"),
        ("For information required of keepers, file @.", "form", "requires"),
        ("For details on boats, file @.", "form", "requires"),
        ("For help with boats, each owner must keep @.", "form", "requires"),
        ("For more information about boats, harbors, and @, see the leaflet.", "form", "references"),
        ("For details on how to file, report, or send @, see the leaflet.", "form", "references"),
        ("Include dues as described in @.", "section", "includes"),
        ("Include dues as provided in @.", "section", "includes"),
        ("Do not figure the loss as described in @.", "section", "excludes-"),
        ("Include dues as described earlier in @.", "section", "references"),
        ("Do not include dues as discussed in @.", "section", "references"),
        ("Report the dues, as described in @, in May.", "section", "references"),
        ("You owe dues if you are a keeper as described in @.", "section", "references"),
        ("Provide the date the @ was filed.", "form", "references"),
        ("Give your tenant notice the @ is due.", "form", "references"),
        ("Provide the name of the bank a @ was sent to.", "form", "references"),
        ("Furnish each new tenant a @.", "form", "requires"),
        ("Give the owner the @ by May.", "form", "requires"),
    ],
)
def test_words_of_a_pointer_or_receiver_are_none_under_an_order(sentence: str, kind: str, expected: str) -> None:
    _expect(sentence, kind, expected)


def test_only_an_owner_with_an_amount_takes_in_or_is_put_into() -> None:
    assert _read("Also enter this amount on @.", "line", holds_amount=False).relation == "requires"
    assert _read("Enter the amount from @.", "line", holds_amount=False).relation == "references"


def test_a_heading_of_exceptions_qualifies_and_one_of_definitions_defines() -> None:
    assert _read("See @, later.", "section", name="Exceptions").relation == "qualifies"
    assert _read("See @, later.", "section", name="Widget Defined").relation == "defines"
    assert _read("See @, later.", "section", name="Reporting").relation == "references"


def test_the_own_box_and_the_form_that_holds_a_line_have_no_amount_relation() -> None:
    assert _read("Enter this amount in @.", is_self=True).relation == "requires"
    assert _read("Also report this amount on @.", "line", is_container=True).relation == "requires"


@pytest.mark.parametrize(
    ("lead", "kind", "expected"),
    [
        ("Do not include the following.", "box", "excludes"),
        ("It includes the following.", "box", "includes"),
        ("Attach the following forms:", "form", "requires"),
        ("Read this first.", "form", "references"),
    ],
)
def test_the_sentence_that_leads_a_list_counts_for_its_items(lead: str, kind: str, expected: str) -> None:
    item = "Costs shown in @, or" if kind == "box" else "@, if any."
    assert _read(item, kind, lead=lead, holds_amount=False).relation == expected


def test_an_item_of_a_conditional_list_is_a_condition() -> None:
    assert _read("You file @.", "form", lead="Use it if any of the following apply.").relation == "applies_if"


def test_every_decision_of_the_code_is_described() -> None:
    texts = [Path(str(module.__file__)).read_text(encoding="utf8") for module in (amounts, relations)]
    named = {name for text in texts for name in re.findall(r'Relation\([^()]*?"([a-z_]+)"\)', text)}
    assert len(named) > 15
    assert named - set(load_family("relations")["relations"]) <= set(load_family("relations")["decisions"])
