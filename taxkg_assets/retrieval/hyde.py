"""A passage as it might answer a question, imagined by a model, to search with (Gao et al. 2022, HyDE).

It is never shown and never stored, decides on no form, year or key, and so needs no evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.prompts.tasks import HYDE, HydeItem


@dataclass(frozen=True, slots=True)
class Imagined:
    """An imagined passage, and words to look for."""

    passage: str
    terms: str


def imagine_passage(question: str, *, vocabulary: str, proposer: Proposer | None) -> Imagined | None:
    """What a model imagines; None without one, since a rule would only repeat the question.

    Args: vocabulary: words of the corpus that go with the question's.
    """
    if proposer is None or not question.strip():
        return None
    item = HydeItem(item_id="question", question=question, vocabulary=tuple(vocabulary.split()))
    (judged,) = proposer.propose(HYDE, [item])
    if judged.created_by != "llm" or judged.proposal is None or not judged.proposal.passage.strip():
        return None
    return Imagined(passage=judged.proposal.passage, terms=" ".join(judged.proposal.terms))
