"""The verdict on a claim from its comparisons. Where passages do not decide, the answer is `not_found` or `unclear`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.cells import find_ranges
from taxkg_assets.verification.claims import KEY_KINDS
from taxkg_assets.verification.comparison import Comparison
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.stated import Difference
from taxkg_assets.verification.verdicts import Verdict

_PART = 0.3
_ALL = 0.95
_NEARLY_ALL = 0.85  # weighted share of a claim's words in a passage that surely denies it
_MOST_WORDS = 0.75  # weighted share of a claim's words in a passage that surely states another value
_VALUE_WEIGHT = 2.0
_NEAR = 0.02
_FARTHER = 0.1
_BEHIND = 0.08  # of a denial of what a supporting passage lacks
_ALIKE = 0.1  # how much less alike than a supporting passage one may be that speaks against it, by the cosine
_MIXED = 0.5  # agreement of a passage that both affirms and denies
_DENIED = "denied"  # a doubt about a verb that other words for it would hide
_NAMED_OFTEN = frozenset({"form", "table", "worksheet"})
POLARITY = Difference("", "", "polarity")


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with the comparison that it is based on.

    Attributes:
        verdict: The verdict.
        comparison: Comparison that decides; None where no passage is near.
        differences: What differs.
    """

    verdict: Verdict
    comparison: Comparison | None = None
    differences: tuple[Difference, ...] = ()


def supports(row: Comparison, *, least_score: float | None = None) -> bool:
    """Return whether a passage supports a claim.

    Args:
        row: The comparison.
        least_score: Minimum score that it must reach in addition; None for none.
    """
    bounds = load_verification().thresholds
    return (
        row.agrees
        and not row.is_stronger
        and not row.is_of_others
        and not row.lacks_sense
        and not row.is_excepted
        and not row.is_of_other_year
        and not row.is_under_denial
        and not row.is_pointer
        and not row.is_heading
        and not (row.turns_part and row.turns_whole)
        and not row.is_turned
        and not row.doubts
        and _DENIED not in (row.literal or row).doubts
        and row.agreement >= bounds.agreement
        and min(row.coverage, row.soft_coverage) >= bounds.covered
        and row.unsaid < bounds.missing_weight
        and row.strange < bounds.strange
        and row.score >= (least_score or 0.0)
        and row.probability >= (bounds.support_by_words if not row.own_absent else bounds.support)
    )


def find_contradiction(row: Comparison) -> tuple[Difference, ...]:
    """Return the values and words with which a passage contradicts a claim; empty if it does not.

    Args:
        row: The comparison.
    """
    bounds = load_verification().thresholds
    is_near = row.score >= bounds.contradiction and row.own_coverage >= bounds.own_coverage
    if not is_near or row.is_pointer or row.unmatched or row.missing_weight >= bounds.missing_weight:
        return ()
    if row.agrees:
        # Of a claim that is little more than keys, the keys count.
        score = row.order if len(row.matched) > 1 else row.score
        is_opposite = row.agreement <= bounds.disagreement and score >= bounds.denial and row.is_reversed
        is_opposite = is_opposite and not row.names_exception
        return (POLARITY,) if is_opposite else ()
    # `more than $5: section B` and `$5 or less: section A` are two halves of one rule.
    is_other_case = len(row.differences) > 1 and any(difference.kind == "bound" for difference in row.differences)
    is_telling = row.shared_weight + _VALUE_WEIGHT * len(row.matched) >= bounds.evidence
    # A sentence may name a form, a table or a worksheet for many reasons.
    if all(difference.kind in _NAMED_OFTEN for difference in row.differences):
        is_telling = is_telling and row.own_coverage >= _ALL
    return row.differences if row.agreement >= bounds.agreement and is_telling and not is_other_case else ()


def is_sure(row: Comparison, differences: Sequence[Difference]) -> bool:
    """Return whether a passage that states something else surely is about what the claim is about.

    A denial has to be the one thing that the nearest part of the passage and the claim differ in, and the passage has
    to have nearly all words of the claim: what it lacks may be what makes the claim true. A passage that
    differs in two values is about another case, unless it pairs the values of the claim otherwise; and the row of a
    range of amounts has to be named by its ends.

    Args:
        row: The comparison.
        differences: What the passage states otherwise.
    """
    if POLARITY in differences:
        return row.turns_part and row.own_coverage >= _NEARLY_ALL
    figures = {value.figure for value, _ in row.matched}
    if row.own_coverage < _MOST_WORDS:
        return False
    if any(str(low) not in figures for low, _ in find_ranges(row.passage.headers)):
        return False
    return len(differences) == 1 or not {own.stated for own in differences} - _list_stated(row)


def decide(rows: Sequence[Comparison], *, is_open: bool = False) -> Decision:
    """Decide on a claim by the passages of the documents that it is about. The first rule that applies counts:

    1. There are no passages: `not_found`.
    2. A passage supports the claim. Of several, the most probable one counts.
       a. A contradicting passage with at least its score pairs a value of the claim with another one: `contradicted`.
       b. Another passage denies what it states, or one sentence how it relates its boxes or lines: `unclear`.
       c. Otherwise: `supported`.
    3. A passage contradicts the claim's own words, not only a paraphrase of them. The first such passage counts.
       a. Another passage states nearly what the claim states: `unclear`, with that passage.
       b. Otherwise: `contradicted`.
    4. The best passage reaches the least score of one on the subject: `unclear`; otherwise `not_found`. Both name it.

    Rules 2a and 3 consider only passages whose score is near the best one.

    Args:
        rows: Comparisons, best score first.
        is_open: Whether the graph reads the claim but leaves it open. Then no other value of a passage contradicts it:
            the words around its lines do not say how the form relates them.

    Returns:
        Verdict with the comparison that it follows from.
    """
    if not rows:
        return Decision(Verdict.not_found)
    bounds = load_verification().thresholds
    least_score = max(row.score for row in rows) - bounds.near_best
    contradicting = [(row, found) for row in rows if row.score >= least_score and (found := find_contradiction(row))]
    support = _choose(rows)
    if support is not None:
        for row, differences in contradicting:
            if row.score >= support.score and _is_mispaired(row):
                is_wrong = not is_open and is_sure(row, differences)
                return Decision(Verdict.contradicted if is_wrong else Verdict.unclear, row, differences)
        verdict = Verdict.unclear if _is_denied(support, rows, contradicting) else Verdict.supported
        return Decision(verdict, support)
    for row, found in contradicting:
        # Only the claim's own words contradict it; a paraphrase may lower the support, but proves nothing wrong.
        differences = find_contradiction(row.literal) if row.literal else found
        is_value = POLARITY not in differences
        if not differences or (is_open and is_value) or not is_sure(row, differences):
            continue
        rival = next((other for other in rows if _says_so_nearly(other, row, is_value=is_value)), None)
        if rival is not None:
            return Decision(Verdict.unclear, rival)
        return Decision(Verdict.contradicted, row, differences)
    best = rows[0]
    return Decision(Verdict.unclear if best.score >= bounds.score else Verdict.not_found, best)


def _is_denied(
    support: Comparison, rows: Sequence[Comparison], contradicting: Sequence[tuple[Comparison, Sequence[Difference]]]
) -> bool:
    """Return whether another passage denies what a supporting one states.

    One sentence of a pair may deny what the pair supports; any other passage must be about as similar to the claim.
    """
    rivals = [row for row in rows if row.similarity >= support.similarity - _ALIKE]
    return (
        any(_contradicts_within(row, support) for row in rows)
        or any(_denies_keys(row, differences) for row, differences in contradicting)
        or any(_outweighs(row, differences, support) for row, differences in contradicting if row in rivals)
        or any(_denies_the_rest(row, support) or _is_nearer_denial(row, support) for row in rivals)
    )


def _choose(rows: Sequence[Comparison]) -> Comparison | None:
    """Return the passage that most likely supports; of nearly equal ones a single sentence."""
    found = sorted(
        (row for row in rows if supports(row) and not _is_refuted(row, rows)), key=lambda row: -row.probability
    )
    near = [row for row in found if row.probability >= found[0].probability - _NEAR]
    return min(near, key=lambda row: row.passage.kind == "pair", default=None)


def _is_refuted(whole: Comparison, rows: Sequence[Comparison]) -> bool:
    """Return whether one sentence of a pair surely denies a claim, and the other does not state it.

    What the other one denies is then something else: together they support nothing.
    """
    parts = [row for row in rows if _is_part(row.passage, whole.passage)]
    is_denied = any(POLARITY in (found := find_contradiction(row)) and is_sure(row, found) for row in parts)
    return is_denied and not any(row.agrees and row.agreement >= _MIXED for row in parts)


def _denies_keys(row: Comparison, differences: Sequence[Difference]) -> bool:
    """Return whether one sentence that names all keys of a claim surely denies how the claim relates them."""
    keys = [value for value, _ in row.matched if value.kind in KEY_KINDS]
    is_single = row.passage.kind == "sentence" and len(keys) > 1
    return is_single and POLARITY in differences and is_sure(row, differences)


def _is_mispaired(row: Comparison) -> bool:
    """Return whether a passage states a value of the claim, but with another one: `1a in box 2e, 2a in box 2f`."""
    return any(difference.stated in _list_stated(row) for difference in row.differences)


def _list_stated(row: Comparison) -> frozenset[str]:
    return frozenset(value.text for value, _ in row.matched)


def _outweighs(row: Comparison, found: Sequence[Difference], support: Comparison) -> bool:
    """Return whether a passage that contradicts leaves one that supports in doubt.

    Of alternatives that a list gives, each names a value of its own: a single sentence with all words and values of the
    claim counts more than one with other values. A denial counts from the same share of words on.
    """
    if POLARITY in found:
        return row.own_coverage >= support.own_coverage - _NEAR and row.score >= support.score - _NEAR
    is_alternative = (
        support.passage.kind != "pair" and support.coverage >= row.coverage - _NEAR and not _is_mispaired(row)
    )
    return row.order >= support.order - _NEAR and not is_alternative


def _is_nearer_denial(other: Comparison, support: Comparison) -> bool:
    """Return whether another passage has more of the claim's words than the supporting one, and denies some of them."""
    is_denial = other.agrees and ((other.is_reversed and other.agreement <= _MIXED) or other.is_excepted)
    is_nearer = other.score >= support.score and other.own_coverage >= support.own_coverage - _NEAR
    is_apart = other.passage.node_id != support.passage.node_id or other.passage.kind == support.passage.kind
    return is_denial and is_nearer and is_apart and other is not support


def _says_so_nearly(other: Comparison, row: Comparison, *, is_value: bool) -> bool:
    """Return whether a passage states the claim's values and most of its words, though too few to support it.

    Where a value is in question, what the passage affirms or denies of it is not.
    """
    bounds = load_verification().thresholds
    if not is_value and _is_part(row.passage, other.passage):  # what the other sentence denies is something else
        return False
    is_same = other.agrees and not other.is_of_others and (is_value or other.agreement >= bounds.agreement)
    return is_same and other.coverage >= row.coverage - _FARTHER


def _contradicts_within(other: Comparison, row: Comparison) -> bool:
    """Return whether one of a pair of sentences contradicts by itself what both together support."""
    whole, part = row.passage, other.passage
    if not _is_part(part, whole):
        return False
    is_opposite = other.agreement <= load_verification().thresholds.disagreement and other.own_coverage >= _PART
    return is_opposite or bool(find_contradiction(other))


def _is_part(part: Passage, whole: Passage) -> bool:
    """Return whether a sentence is one of a pair."""
    is_pair = whole.kind == "pair" and part.kind == "sentence" and part.node_id == whole.node_id
    return is_pair and whole.start <= part.start < whole.end


def _denies_the_rest(other: Comparison, row: Comparison) -> bool:
    """Return whether another passage holds every word that the supporting one lacks, and says the contrary."""
    bounds = load_verification().thresholds
    is_contrary = other.agrees and other.agreement <= bounds.disagreement and other.score >= bounds.score
    is_near = other.order >= row.order - _BEHIND
    return bool(row.absent) and is_contrary and is_near and not row.absent & other.absent
