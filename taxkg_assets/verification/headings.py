"""Passages that are headings or stand under one that turns their sense."""

from __future__ import annotations

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.claims import Claim
from taxkg_assets.verification.clause_words import Wording
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.values import fold


def is_under_denial(claim: Claim, passage: Passage, wording: Wording) -> bool:
    """Return whether a fragment under a negative heading (`Who can't file`) is compared with a claim without negation.

    Args:
        claim: The claim.
        passage: The passage.
        wording: Its words by clause.
    """
    is_denied = any(clause.is_negative for clause in (*claim.wording.clauses, *wording.clauses))
    is_sentence = any(clause.has_verb for clause in wording.clauses) or passage.kind in ("label", "cell")
    is_order = load_verification().imperatives.order.pattern.search(passage.text) is not None
    if is_denied or is_sentence or is_order or not passage.headings[1:]:
        return False
    nearest = fold(passage.headings[-1])
    return load_verification().denials.matches(nearest)


def is_bare_heading(claim: Claim, passage: Passage, wording: Wording) -> bool:
    """Return whether a claim is compared with a label without a verb, which says nothing of its own.

    A claim that names a key is excluded: the label of that box, line or code states its content. So is one without
    must, may or can't, if the label belongs to a box, line or code: it may say what is entered there. The title of a
    section only names its subject.

    Args:
        claim: The claim.
        passage: The passage.
        wording: Its words by clause.
    """
    is_rule = any(clause.force or clause.is_negative for clause in claim.wording.clauses)
    is_label = passage.kind == "label" and not any(clause.has_verb for clause in wording.clauses)
    return is_label and not claim.keys and (is_rule or not passage.keys)
