"""Evidence is valid only if its quote is in the text, and a sentence only if it says no more than its quotes."""

from __future__ import annotations

from itertools import pairwise

import pytest

from taxkg_assets.llm.evidence import BlockEvidence
from taxkg_assets.prompts.contract import Block, Evidence
from taxkg_assets.prompts.document_tasks import MOST_TAGS, MetadataProposal

TEXT = "Enter the rent in box 3. Do not enter deposits of $500 or more; enter them in box 4."
CHECK = BlockEvidence(
    [Block(element_id="d:p1:e2", text=TEXT, start=100), Block(element_id="d:p1:e3", text="Enter it.")]
)


@pytest.mark.parametrize(
    ("pointer", "quote", "found"),
    [
        ("d:p1:e2:100-114", "Enter the rent", "d:p1:e2:100-114"),
        ("d:p1:e2:0-14", "Enter the rent", "d:p1:e2:100-114"),  # counted from the block instead of from the element
        ("d:p1:e2:164-174", "box 4", "d:p1:e2:178-183"),
        ("d:p1:e3:0-9", "Enter it.", "d:p1:e3:0-9"),  # little, but all that the element says
        ("d:p1:e2:100-109", "Enter  the rent", None),
        ("d:p1:e2:100-101", "E", None),  # says nothing
        ("d:p1:e2:125-131", "Do not", None),
        ("d:p1:e2:100-109", "Enter the", None),
        ("d:p1:e2:100-109", "enter the rent", None),
        ("d:p1:e9:100-109", "Enter the", None),
        ("d:p1:e3:0-9", "Enter the", None),  # it is in another element
        ("d:p1:e2:100-100", "", None),
        ("d:p1:e2:100-101", " ", None),
    ],
)
def test_a_quote_is_verbatim_or_nothing(pointer: str, quote: str, found: str | None) -> None:
    located = CHECK.locate(Evidence(pointer=pointer, quote=quote))
    assert (located.pointer if located else None) == found


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ("Do not enter deposits of $500 or more", True),
        ("Deposits of $500 or more are not entered there, but in box 4.", True),
        ("Deposits of $600 or more are not entered, but in box 4.", False),  # another amount
        ("Deposits of $500 or more are entered in box 4.", False),  # the negation is gone
        ("Do not enter deposits in box 5.", False),  # another box
        ("Landlords never pay penalties on deposits.", False),  # other words
        ("", False),
    ],
)
def test_a_sentence_says_no_more_than_its_quotes(claim: str, holds: bool) -> None:
    quoted = Evidence(pointer="d:p1:e2:125-183", quote=TEXT[25:])
    assert CHECK.supports(claim, [quoted]) is holds


RULES = (
    "Do not enter deposits. Report rent in boxes 3 and 3a if the tenant paid it; do not report fees. "
    "Only owners file. Losses go on line 4."
)


@pytest.mark.parametrize(
    ("claim", "quote", "holds"),
    [
        ("Enter deposits.", "enter deposits", False),  # what is quoted begins after the denial
        ("enter deposits", "enter deposits", False),
        ("Do not enter deposits.", "enter deposits", True),
        ("Report rent in box 3a if the tenant paid it.", "Report rent in boxes 3 and 3a if the tenant paid it", True),
        ("Report rent in boxes 3 and 3a.", "Report rent in boxes 3 and 3a", False),  # the condition is gone
        ("Report rent on line 3a if the tenant paid it.", "Report rent in boxes 3 and 3a if the tenant paid it", False),
        ("Report fees if the tenant paid.", "if the tenant paid it; do not report fees", False),
        ("Owners file.", "owners file", False),  # others do not
        ("Losses go in box 4.", "Losses go on line 4", False),
        ("Losses go on line 4.", "Losses go on line 4", True),
        ("Losses of every owner of a house go on line 4.", "Losses go on line 4", False),  # bolder than its source
    ],
)
def test_a_sentence_keeps_denials_conditions_and_keys_of_its_source(claim: str, quote: str, holds: bool) -> None:
    check = BlockEvidence([Block(element_id="e", text=RULES)])
    located = check.locate(Evidence(pointer="e:0-1", quote=quote))
    assert located is not None
    assert check.supports(claim, [located]) is holds


@pytest.mark.parametrize(
    ("source", "claim", "holds"),
    [
        (
            "File the return if you paid more than $600 of rent.",
            "File the return if you paid less than $600 of rent.",
            False,
        ),
        (
            "File the return if you paid more than $600 of rent.",
            "File the return if more than $600 of rent was paid.",
            True,
        ),
        ("Rent of $600 or more is reported.", "Rent of $600 or less is reported.", False),
        ("Rent of $600 or more is reported.", "Rent of $600 is reported.", False),
        ("Rent of $600 or more is reported.", "Rent of at least $600 is reported.", True),
        ("Rent of at least six hundred dollars is reported.", "Report rent of at least $600.", True),
        ("Rent of at least six hundred dollars is reported.", "Report rent of at least $700.", False),
        ("Rent of at least six hundred dollars is reported.", "Report rent of at least seven hundred dollars.", False),
        ("Interest on the deposit is taxable.", "Interest on the deposit is exempt.", False),
        ("Interest on the deposit is taxable.", "Interest on the deposit is nontaxable.", False),
        ("Interest is taxable and dividends are exempt.", "Interest is exempt.", False),
        ("Interest is taxable and dividends are exempt.", "Dividends are taxable.", False),
        ("Interest is taxable and dividends are exempt.", "Dividends are exempt.", True),
        ("Interest and dividends are taxable; rent is exempt.", "Interest is exempt.", False),
        ("Interest and dividends are taxable; rent is exempt.", "Interest is taxable.", True),
        ("You must file the form.", "You may file the form.", False),
        ("You may file the form.", "You must file the form.", False),
        ("You may file the form.", "File the form.", False),
        ("You must file the form.", "File the form.", True),
        ("You need not file the form.", "You must not file the form.", False),
        ("You need not file the form.", "You must file the form.", False),
        ("You are not required to file the form.", "Do not file the form.", False),
        ("You are not required to file the form.", "You do not have to file the form.", True),
        ("You should file the form.", "You must file the form.", False),
        ("Do not enter deposits.", "Enter deposits.", False),
        ("Enter deposits.", "Do not enter deposits.", False),
        ("You may report the rent and must file the form.", "You must report the rent and may file the form.", False),
        ("The rent is included in the deposit.", "The deposit is included in the rent.", False),
        ("The rent is included in the deposit.", "The deposit includes the rent.", True),
        ("The rent is included in the deposit.", "The rent includes the deposit.", False),
        ("The rent is included in the deposit.", "The deposit contains the rent.", True),
        ("Subtract line 3 from line 4.", "Subtract line 4 from line 3.", False),
        ("The payer sends the recipient a copy.", "The recipient sends the payer a copy.", False),
        ("The payer sends the recipient a copy.", "A copy is sent to the recipient by the payer.", True),
        ("The owner sold the house to the tenant.", "The tenant sold the house to the owner.", False),
        (
            "Enter the rent if it was paid after December 31.",
            "Enter the rent if it was paid before December 31.",
            False,
        ),
        ("Enter the rent if it was paid after December 31.", "Enter the rent if it was paid after January 31.", False),
        ("File the form by January 31 and pay by March 15.", "File the form by March 15.", False),
        ("File the form by January 31 and pay by March 15.", "File the form by January 31.", True),
        ("File the form within 30 days after the sale.", "File the form within 30 months after the sale.", False),
        ("File the form within thirty days after the sale.", "File the form within 30 days after the sale.", True),
        ("The rate is 7 percent of the rent.", "The rate is 7% of the rent.", True),
        ("The rate is 7 percent of the rent.", "The rate is $7 of the rent.", False),
        ("Some owners file the form.", "All owners file the form.", False),
        ("Some owners file the form.", "Owners file the form.", False),
        ("All owners file the form.", "Owners file the form.", True),
        ("Generally, rent is taxable.", "Rent is taxable.", False),
        ("Rent is always taxable.", "Rent is never taxable.", False),
        ("Report the interest in box 1 of the form.", "Report the dividends in box 1 of the form.", False),
        ("Report the interest in box 1 of the form.", "The interest goes in box 1 of the form.", True),
        ("Report the interest in box 1 of the form.", "Interest is shown in box 1 of the form.", True),
        ("Employers report wages.", "Employees report wages.", False),
        ("Report rent if the tenant paid it and the lease ended.", "Report rent if the tenant paid it.", False),
        ("Do not report rent unless the lease ended.", "Do not report rent if the lease ended.", False),
        ("Report rent unless the lease ended.", "Report rent if the lease ended.", False),
        ("Report rent only if the lease ended.", "Report rent if the lease ended.", False),
        ("Rent is more than the deposit.", "The deposit is more than the rent.", False),
        ("Add line 3 and line 4.", "Subtract line 3 and line 4.", False),
        (
            "Increase the basis by the gain and reduce it by the loss.",
            "Increase the basis by the loss and reduce it by the gain.",
            False,
        ),
        ("Exclude the rent and include the fees.", "Include the rent and exclude the fees.", False),
        ("File before you pay the rent.", "Pay the rent before you file.", False),
        ("File before you pay the rent.", "File after you pay the rent.", False),
        ("The form has two copies.", "The form has 3 copies.", False),
        ("The form has two copies.", "The form has 2 copies.", True),
        ("Deposits are shown in box 4, not in box 3.", "Deposits are shown in box 3, not in box 4.", False),
        ("Do not report gains. Report losses on line 4.", "Losses are reported on line 4.", True),
        ("Do not report gains. Report losses on line 4.", "Report gains on line 4.", False),
        ("Report the gain in box 2a. Do not report losses.", "The gain goes in box 2a: report it.", True),
        ("If you sold a house, report the gain.", "Report the gain if you sold a house.", True),
        ("If you sold a house, report the gain.", "You sold a house if you report the gain.", False),
        ("A tenant who fails to pay loses the deposit.", "A tenant loses the deposit.", False),
        ("Failing to file costs the owner $50.", "To file costs the owner $50.", False),
        ("Enter the smaller of line 3 or line 4.", "Enter line 3 or line 4.", False),
        ("Rent was exempt before 2018.", "Rent was exempt.", False),
        ("The fee is half the rent.", "The fee is the rent.", False),
        ("Attach the lease and the receipt.", "Attach the lease or the receipt.", False),
        ("Attach the lease and the receipt.", "Attach the receipt and the lease.", True),
        ("Rent paid to a cousin is exempt.", "Rent paid by a cousin is exempt.", False),
        ("The owner owes you interest.", "You owe the owner interest.", False),
        ("Tenants can sue owners.", "Owners can sue tenants.", False),
        ("Owners are sued by tenants.", "Tenants sued owners.", True),
        ("Every lease is a contract.", "Every contract is a lease.", False),
        ("Box 3 shows rent. Box 4 shows fees.", "Box 4 shows rent.", False),
        ("Box 3 shows rent. Box 4 shows fees.", "Box 4 shows fees.", True),
        ("The owner cannot deduct the fee.", "The owner can deduct the fee.", False),
        ("The first copy goes to the tenant.", "The second copy goes to the tenant.", False),
        ("Short-term gain goes on line 1; long-term gain goes on line 2.", "Long-term gain goes on line 1.", False),
        ("Both owners sign the form.", "One of the owners signs the form.", False),
        ("At least half of the rent is exempt.", "At most half of the rent is exempt.", False),
        ("The fee is less than the rent.", "The fee is more than the rent.", False),
        ("The fee is due within five days.", "The fee is due within 15 days.", False),
        ("Either owner may sign.", "Neither owner may sign.", False),
        ("Rent is no longer taxable.", "Rent is taxable.", False),
        ("No fee is due if the owner is not at home.", "No fee is due if the owner is at home.", False),
        (
            "Give notice of the sale to the tenant of the house.",
            "Give notice of the tenant to the sale of the house.",
            False,
        ),
        ("Owners must file the form.", "Owners have to file the form.", True),
        ("If you choose to pay, you must file the form.", "You must file the form if you choose to pay.", True),
    ],
)
def test_a_sentence_turns_nothing_of_its_source_round(source: str, claim: str, holds: bool) -> None:
    check = BlockEvidence([Block(element_id="e", text=source)])
    assert check.supports(claim, [Evidence(pointer=f"e:0-{len(source)}", quote=source)]) is holds


def test_of_tags_and_entities_only_what_the_chunk_says_is_kept_each_once_and_not_too_many() -> None:
    text = "Enter self-employed income of $500 in box 3 for the Housing Board. See Form 7001-X."
    named = [("box", "box 3"), ("box", "box 3"), ("box", "income"), ("amount", "$500"), ("amount", "500"),
             ("term", ""), ("term", "the"), ("organization", "Housing Board"), ("form", "Form 7001-X"),
             ("form", "Form 7002")]  # fmt: skip
    words = ("income", "Income", "", " ", "the", "self employed", "exempt income", "income box", "housing board")
    entities = [{"name": name, "kind": kind, "evidence": _quote(text, name)} for kind, name in named]
    more = [f"{a} {b}" for a, b in pairwise(text.split())]
    proposal = MetadataProposal.model_validate(
        {
            "item_id": "m", "confidence": 1.0, "evidence": [_quote(text, text)], "title": "Exempt",
            "tags": [*words, *more], "entities": entities,
        }
    )  # fmt: skip
    kept = proposal.with_verified_evidence(BlockEvidence([Block(element_id="e", text=text)]))
    assert kept is not None
    assert kept.tags[:3] == ("income", "self employed", "housing board")
    assert len(kept.tags) == MOST_TAGS
    assert [entity.name for entity in kept.entities] == ["box 3", "$500", "Housing Board", "Form 7001-X"]
    assert kept.title == text


def _quote(text: str, words: str) -> dict[str, str]:
    start = max(0, text.find(words))
    return {"pointer": f"e:{start}-{start + len(words)}", "quote": words}
