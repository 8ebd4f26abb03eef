"""HyDE: a model generates a hypothetical passage that answers a question, to search with (Gao et al. 2022).

The passage is only used to search, and never shown or stored, so it needs no evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.prompts.tasks import HYDE, HydeItem


@dataclass(frozen=True, slots=True)
class HypotheticalPassage:
    """A hypothetical passage that could answer a question, with search terms (HyDE)."""

    passage: str
    terms: str


def generate_passage(question: str, *, vocabulary: str, proposer: Proposer | None) -> HypotheticalPassage | None:
    """Generate a hypothetical passage that could answer a question, to expand the query (HyDE).

    Args:
        question: Words of the user.
        vocabulary: Words of the corpus related to the question's, separated by blanks.
        proposer: The model; None for none.

    Returns:
        Passage and terms; None without a model, as a rule could only repeat the question.
    """
    if proposer is None or not question.strip():
        return None
    item = HydeItem(item_id="question", question=question, vocabulary=tuple(vocabulary.split()))
    (outcome,) = proposer.propose(HYDE, [item])
    if outcome.created_by != "llm" or outcome.proposal is None or not outcome.proposal.passage.strip():
        return None
    return HypotheticalPassage(passage=outcome.proposal.passage, terms=" ".join(outcome.proposal.terms))
