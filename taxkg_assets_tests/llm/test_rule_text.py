"""What the rules state about one passage: a verdict means what its limits say."""

from __future__ import annotations

import pytest

from taxkg_assets.llm import normalization
from taxkg_assets.llm.normalization import content_stems
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.prompts.contract import Block
from taxkg_assets.prompts.document_tasks import QualityItem
from taxkg_assets.prompts.tasks import QUALITY_VALIDATION
from taxkg_assets.rules.loader import load_family

WHOLE = "Enter the rent that the owner was paid during the year, whether it was due then or before."


@pytest.mark.parametrize(
    ("text", "before", "after", "verdict", "action", "reason"),
    [
        (WHOLE, "x", "Y", "ACCEPT", "none", "complete"),
        (WHOLE[6:], "x", "Y", "REFINE", "merge_previous", "fragment"),
        (WHOLE[:-1], "x", "and so on.", "REFINE", "merge_next", "fragment"),  # its sentence continues in the next one
        (WHOLE[:-1], "x", "Deposits", "ACCEPT", "none", "complete"),  # what follows is a heading
        ("Enter the rent.", "", "Y", "REFINE", "merge_next", "too short"),
        ("rent 4", "", "", "REFINE", "none", "fragment"),  # below the limit, and nothing to join it with
        ("- 12 -", "x", "Y", "REJECT", "none", "furniture"),
    ],
)
def test_a_chunk_is_accepted_only_where_the_limits_say_so(
    text: str, before: str, after: str, verdict: str, action: str, reason: str
) -> None:
    item = QualityItem(item_id="c", blocks=(Block(element_id="e", text=text),), before=before, after=after)
    (row,) = RuleProposer().propose(QUALITY_VALIDATION, [item])
    assert row.proposal is not None
    assert (row.proposal.verdict, row.proposal.action, row.proposal.reason) == (verdict, action, reason)
    assert row.proposal.find_validation_error(item) == ""
    if verdict == "ACCEPT":
        assert row.proposal.score >= load_family("llm")["quality"]["accept"]


@pytest.mark.parametrize("text", ["dune " * 3000, "0.00 " * 3000, "the of " * 2000])
def test_the_opening_of_a_repetitive_text_is_read_once(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    lengths: list[int] = []

    def read_and_count(part: str) -> frozenset[str]:
        lengths.append(len(part))
        return content_stems(part)

    monkeypatch.setattr(normalization, "content_stems", read_and_count)
    normalization.quote_opening(Block(element_id="e", text=text))
    assert sum(lengths) <= len(text)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("  The tide turns at noon, and each boat pays. ", "The tide turns at noon, and"),
        ("To be or not to be: at 12 the tide turns.", "To be or not to be: at 12 the tide"),
        ("To be.", "To be."),
    ],
)
def test_the_opening_has_a_few_words_with_content(text: str, quote: str) -> None:
    assert normalization.quote_opening(Block(element_id="e", text=text)).quote == quote
