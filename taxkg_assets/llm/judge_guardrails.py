"""Guardrails on a model's verdict: limits, contradicting words, and rules with a certain answer.

A verdict is not a sentence that could be checked against its quotes: a model that obeys a prompt injection may quote
correctly and still return the verdict that the injection demands. So a verdict is checked by everything that is known
without a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from taxkg_assets.llm.normalization import find_figures, find_keys, is_limited, is_negative, split_clauses
from taxkg_assets.llm.question_validation import has_instruction
from taxkg_assets.llm.rule_questions import (
    propose_negative_judging,
    propose_pair_judging,
    propose_relevance_grading,
    propose_summaries,
)
from taxkg_assets.llm.rule_text import (
    propose_boundary_detection,
    propose_quality_validation,
    propose_structure_analysis,
)
from taxkg_assets.prompts.contract import Block, Item, Proposal
from taxkg_assets.prompts.document_tasks import (
    BoundaryItem,
    BoundaryProposal,
    QualityItem,
    QualityProposal,
    ReferenceItem,
    ReferenceProposal,
    RefinementItem,
    RefinementProposal,
    StructureItem,
    StructureProposal,
)
from taxkg_assets.prompts.tasks import (
    CLAIMED_GRADE,
    GradeProposal,
    HydeItem,
    HydeProposal,
    NegativeItem,
    NegativeProposal,
    PairProposal,
    QuestionItem,
    SummaryItem,
    SummaryProposal,
)
from taxkg_assets.rules.models.claims import load_claims
from taxkg_assets.rules.models.llm import load_llm

_NEUTRAL = ("references", "qualifies", "applies_if")
"""Relations that fit a negated and an affirmed clause: `no tax on what is exempt under section 3`."""


def find_objection(task: str, item: Item, proposal: Proposal) -> str:
    """Return what contradicts a model's verdict; empty if nothing does.

    Args:
        task: Name of the task.
        item: Item of the verdict.
        proposal: The verdict.
    """
    find = _OBJECTIONS.get(task)
    return find(item, proposal) if find is not None else ""


def _is_sure(confidence: float) -> bool:
    return confidence >= float(load_llm().verdicts.sure)


def _begins_within_sentence(block: Block) -> bool:
    return block.text.lstrip()[:1].islower()


# --------------------------------------------------------------------------------------------- graph, chunking


def _object_to_reference(item: ReferenceItem, proposal: ReferenceProposal) -> str:
    if proposal.target is None:
        return ""
    sentence = item.blocks[0].text
    remaining = (
        clause for clause in split_clauses(sentence) if sentence.find(clause) + len(clause) > item.mention_start
    )
    is_negated = is_negative(next(remaining, sentence))
    if is_negated:
        is_contrary = proposal.polarity == "positive" and proposal.relation not in _NEUTRAL
    else:
        is_contrary = proposal.polarity == "negative"
    if is_contrary and proposal.polarity != item.polarity:
        return f"the clause of the mention is not {proposal.polarity}"
    if proposal.relation == item.relation or is_negated or is_limited(sentence):
        return ""
    cues = [rule for rule in load_claims().relation_cues if rule.id == proposal.relation]
    has_cue = not cues or any(rule.pattern.search(sentence) for rule in cues)
    return "" if has_cue else f"no word of {proposal.relation}"


def _object_to_boundary(item: BoundaryItem, proposal: BoundaryProposal) -> str:
    if not item.before:
        return "" if proposal.is_boundary else "the text begins here"
    if proposal.is_boundary and item.continues_paragraph and _begins_within_sentence(item.blocks[0]):
        return "in the middle of a sentence"
    rule = propose_boundary_detection(item)
    return "the rule is sure" if rule.is_boundary != proposal.is_boundary and _is_sure(rule.confidence) else ""


def _object_to_structure(item: StructureItem, proposal: StructureProposal) -> str:
    rule = propose_structure_analysis(item)
    if proposal.part not in ("heading", "artifact") or rule.part == proposal.part:
        return ""
    if proposal.part == "artifact" and rule.part not in ("paragraph", "table_row"):
        return f"it looks like a {rule.part}"
    limits = load_llm().parts
    max_words = limits.heading_words if proposal.part == "heading" else limits.artifact_words
    return f"too many words for a {proposal.part}" if len(item.blocks[0].text.split()) > max_words else ""


def _object_to_quality(item: QualityItem, proposal: QualityProposal) -> str:
    limits = load_llm().quality
    rule = propose_quality_validation(item)
    if abs(proposal.score - rule.score) > load_llm().verdicts.most_apart:
        return "a score far from what can be counted"
    if proposal.verdict == "ACCEPT":
        # The model may decide whether a text has one subject or two, but not overrule what can be counted.
        if proposal.score < limits.accept:
            return "accepted below the limit"
        return "" if rule.verdict == "ACCEPT" or rule.reason == "several subjects" else f"the chunk is {rule.reason}"
    return "the rule accepts it" if proposal.verdict == "REJECT" and rule.verdict == "ACCEPT" else ""


def _object_to_refinement(item: RefinementItem, proposal: RefinementProposal) -> str:
    for block_ix in proposal.split_before:
        block = item.blocks[block_ix]
        if _begins_within_sentence(block):
            return "in the middle of a sentence"
        if not any(_is_inside(quote.pointer, block) for quote in proposal.evidence):
            return "a part without evidence"
    return ""


def _is_inside(pointer: str, block: Block) -> bool:
    element_id, _, span = pointer.rpartition(":")
    start = int(span.partition("-")[0])
    return element_id == block.element_id and block.start <= start < block.start + len(block.text)


# ------------------------------------------------------------------------------------------ training, retrieval


def _object_to_pair(item: QuestionItem, proposal: PairProposal) -> str:
    if proposal.is_valid and (kind := _find_other_key(item.question, item.blocks)):
        return f"another {kind} than in the question"
    rule = propose_pair_judging(item)
    return "the rule is sure" if rule.is_valid != proposal.is_valid and _is_sure(rule.confidence) else ""


def _object_to_negative(item: NegativeItem, proposal: NegativeProposal) -> str:
    if proposal.is_false_negative and (kind := _find_other_key(item.question, item.blocks)):
        return f"another {kind} than in the question"
    rule = propose_negative_judging(item)
    differs = rule.is_false_negative != proposal.is_false_negative
    return "the rule is sure" if differs and _is_sure(rule.confidence) else ""


def _object_to_grade(item: QuestionItem, proposal: GradeProposal) -> str:
    """Check a high relevance grade; a low one needs no check, as it only makes an answer more careful."""
    if proposal.grade < CLAIMED_GRADE:
        return ""
    if kind := _find_other_key(item.question, item.blocks):
        return f"another {kind} than in the question"
    difference = (proposal.grade - propose_relevance_grading(item).grade) / 10
    return "far above the words in common" if difference > load_llm().verdicts.most_apart_grade else ""


def _object_to_hyde(item: HydeItem, proposal: HydeProposal) -> str:
    """Check a hypothetical passage: it may use other words than the question, but no names and no instructions."""
    proposed, given = " ".join([proposal.passage, *proposal.terms]), " ".join([item.question, *item.vocabulary])
    if has_instruction(proposed):
        return "an instruction"
    if not find_figures(proposed) <= find_figures(given):
        return "a figure that the question does not have"
    return "too long" if len(proposed.split()) > load_llm().hyde.most_words else ""


def _object_to_summary(item: SummaryItem, proposal: SummaryProposal) -> str:
    is_missing = not proposal.sentences and bool(propose_summaries(item).sentences)
    return "the text says something" if is_missing else ""


def _find_other_key(question: str, blocks: Sequence[Block]) -> str:
    """Return the kind of key (`box`) of which the question names one and the passages only others; empty if none."""
    question_keys = find_keys(question)
    passage_keys = frozenset().union(*(find_keys(block.text) for block in blocks))
    for kind in sorted({kind for kind, _ in question_keys} & {kind for kind, _ in passage_keys}):
        if not any(key[0] == kind for key in question_keys & passage_keys):
            return kind
    return ""


_OBJECTIONS: Mapping[str, Callable[[Any, Any], str]] = {
    "ambiguous_references": _object_to_reference,
    "boundary_detection": _object_to_boundary,
    "structure_analysis": _object_to_structure,
    "quality_validation": _object_to_quality,
    "refinement": _object_to_refinement,
    "pair_judging": _object_to_pair,
    "negative_judging": _object_to_negative,
    "relevance_grading": _object_to_grade,
    "hyde": _object_to_hyde,
    "summaries": _object_to_summary,
}
