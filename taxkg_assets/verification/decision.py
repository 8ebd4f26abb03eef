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
_SHOWN = 0.05
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
    if not row.agrees or row.is_pointer or row.is_heading or _may_say_otherwise(row):
        return False
    bounds = load_verification().thresholds
    has_words = (
        min(row.coverage, row.soft_coverage) >= bounds.covered
        and row.unsaid < bounds.missing_weight
        and row.strange < bounds.strange
    )
    least_probability = bounds.support if row.own_absent else bounds.support_by_words
    return (
        has_words
        and row.agreement >= bounds.agreement
        and row.score >= (least_score or 0.0)
        and row.probability >= least_probability
    )


def _may_say_otherwise(row: Comparison) -> bool:
    """Return whether a passage with the words of a claim may be about other persons, years, cases or the contrary."""
    is_about_other = row.is_of_others or row.is_of_other_year or row.is_excepted
    is_contrary = row.is_stronger or row.lacks_sense or row.is_under_denial or row.is_turned
    is_turned_throughout = row.turns_part and row.turns_whole
    has_doubts = bool(row.doubts) or _DENIED in (row.literal or row).doubts
    return is_about_other or is_contrary or is_turned_throughout or has_doubts


def find_contradiction(row: Comparison) -> tuple[Difference, ...]:
    """Return the values and words with which a passage contradicts a claim; empty if it does not.

    Args:
        row: The comparison.
    """
    bounds = load_verification().thresholds
    is_near = row.score >= bounds.contradiction and row.own_coverage >= bounds.own_coverage
    lacks_part = bool(row.unmatched) or row.missing_weight >= bounds.missing_weight
    if not is_near or lacks_part or row.is_pointer:
        return ()
    if row.agrees:
        return (POLARITY,) if _states_opposite(row) else ()
    # `more than $5: section B` and `$5 or less: section A` are two halves of one rule.
    is_other_case = len(row.differences) > 1 and any(difference.kind == "bound" for difference in row.differences)
    if is_other_case or row.agreement < bounds.agreement:
        return ()
    # A sentence may name a form, a table or a worksheet for many reasons.
    names_only_forms = all(difference.kind in _NAMED_OFTEN for difference in row.differences)
    if names_only_forms and row.own_coverage < _ALL:
        return ()
    evidence = row.shared_weight + _VALUE_WEIGHT * len(row.matched)
    return row.differences if evidence >= bounds.evidence else ()


def _states_opposite(row: Comparison) -> bool:
    """Return whether a passage with all values of a claim affirms what the claim denies, or denies what it affirms."""
    bounds = load_verification().thresholds
    # Of a claim that is little more than keys, the keys count.
    score = row.order if len(row.matched) > 1 else row.score
    is_opposite = row.is_reversed and row.agreement <= bounds.disagreement
    return is_opposite and score >= bounds.denial and not row.names_exception


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
    if row.own_coverage < _MOST_WORDS:
        return False
    matched_figures = {value.figure for value, _ in row.matched}
    names_other_row = any(str(low) not in matched_figures for low, _ in find_ranges(row.passage.headers))
    if names_other_row:
        return False
    pairs_otherwise = {difference.stated for difference in differences} <= _list_stated(row)
    return len(differences) == 1 or pairs_otherwise


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
        return _decide_on_support(support, rows, contradicting, is_open=is_open)
    for row, found in contradicting:
        # Only the claim's own words contradict it; a paraphrase may lower the support, but proves nothing wrong.
        differences = find_contradiction(row.literal) if row.literal else found
        is_value = POLARITY not in differences
        is_left_open = is_open and is_value
        if not differences or is_left_open or not is_sure(row, differences):
            continue
        rival = next((other for other in rows if _says_so_nearly(other, row, is_value=is_value)), None)
        return Decision(Verdict.unclear, rival) if rival else Decision(Verdict.contradicted, row, differences)
    is_on_subject = rows[0].score >= bounds.score
    return Decision(Verdict.unclear if is_on_subject else Verdict.not_found, _choose_shown(rows))


def _choose_shown(rows: Sequence[Comparison]) -> Comparison:
    """Return the passage to show for a claim that none decides: of those about as near, one that answers its values.

    A reader can compare `a $50 fee` with the claim, and not the heading above it.
    """
    nearest = [row for row in rows if row.score >= rows[0].score - _SHOWN and not row.is_pointer]
    return next((row for row in nearest if not row.unmatched), rows[0])


def _decide_on_support(
    support: Comparison,
    rows: Sequence[Comparison],
    contradicting: Sequence[tuple[Comparison, tuple[Difference, ...]]],
    *,
    is_open: bool,
) -> Decision:
    """Decide on a claim that a passage supports, by what the other passages say; rule 2 of `decide`.

    Args:
        support: The supporting passage.
        rows: All comparisons.
        contradicting: Those near the best one that contradict, with what they state otherwise.
        is_open: Whether the graph reads the claim but leaves it open.
    """
    for row, differences in contradicting:
        if row.score >= support.score and _is_mispaired(row):
            is_wrong = not is_open and is_sure(row, differences)
            return Decision(Verdict.contradicted if is_wrong else Verdict.unclear, row, differences)
    return Decision(Verdict.unclear if _is_denied(support, rows, contradicting) else Verdict.supported, support)


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
    supporting = [row for row in rows if supports(row) and not _is_refuted(row, rows)]
    if not supporting:
        return None
    supporting.sort(key=lambda row: -row.probability)
    best = supporting[0].probability
    nearly_equal = [row for row in supporting if row.probability >= best - _NEAR]
    return min(nearly_equal, key=lambda row: row.passage.kind == "pair")


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
    """Return the values of the claim, as written, that a passage states."""
    return frozenset(value.text for value, _ in row.matched)


def _outweighs(row: Comparison, found: Sequence[Difference], support: Comparison) -> bool:
    """Return whether a passage that contradicts leaves one that supports in doubt.

    Of alternatives that a list gives, each names a value of its own: a single sentence with all words and values of the
    claim counts more than one with other values. A denial counts from the same share of words on.
    """
    if POLARITY in found:
        return row.own_coverage >= support.own_coverage - _NEAR and row.score >= support.score - _NEAR
    if row.order < support.order - _NEAR:
        return False
    is_single = support.passage.kind != "pair"
    is_alternative = is_single and support.coverage >= row.coverage - _NEAR and not _is_mispaired(row)
    return not is_alternative


def _is_nearer_denial(other: Comparison, support: Comparison) -> bool:
    """Return whether another passage has more of the claim's words than the supporting one, and denies some of them."""
    if other is support or not other.agrees:
        return False
    denies_some = (other.is_reversed and other.agreement <= _MIXED) or other.is_excepted
    is_nearer = other.score >= support.score and other.own_coverage >= support.own_coverage - _NEAR
    # A pair of sentences and one of them are the same passage.
    is_separate = other.passage.node_id != support.passage.node_id or other.passage.kind == support.passage.kind
    return denies_some and is_nearer and is_separate


def _says_so_nearly(other: Comparison, row: Comparison, *, is_value: bool) -> bool:
    """Return whether a passage states the claim's values and most of its words, though too few to support it.

    Where a value is in question, what the passage affirms or denies of it is not.
    """
    if not is_value and _is_part(row.passage, other.passage):  # what the other sentence denies is something else
        return False
    has_polarity = is_value or other.agreement >= load_verification().thresholds.agreement
    states_claim = other.agrees and not other.is_of_others and has_polarity
    return states_claim and other.coverage >= row.coverage - _FARTHER


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
