"""Clauses of a sentence: where each begins, and whether it states a condition.

A clause decides how far a condition or a denial reaches; what it says about a target is decided in `polarity`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from taxkg_assets.extraction.regex_prefilter import Screen
from taxkg_assets.rules.families import RuleList
from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.models.polarity import load_polarity
from taxkg_assets.rules.models.relations import load_relations

_PARENTHESIS = re.compile(r"\s*\((?!\w{1,3}\))[^()]*\)")
_QUOTATION = re.compile(r"“(?!(?:yes|no)\W*”)[^“”@]{1,120}?(?P<mark>[,;]?)”", re.IGNORECASE)
_BRACKET = re.compile(r"[()]")
MAIN, CONDITION, ASIDE = "main", "condition", "aside"


# Clauses and breaks are not frozen, as a booklet has thousands of them; they are never changed all the same.
@dataclass(slots=True)
class Clause:
    """A part of a sentence up to the next clause.

    Attributes:
        start: Offset of its first character.
        kind: `MAIN`, `CONDITION` or `ASIDE`.
        resumes: Start of the clause that continues here after an inserted one; −1 for none.
    """

    start: int
    kind: str
    resumes: int = -1


@dataclass(slots=True)
class _Break:
    """A place where a clause may begin: `at` is its first character, `gap` where the one before it ends."""

    at: int
    gap: int
    sort: str
    is_after_comma: bool = False
    rule_id: str = ""


@cache
def open_clause_screen() -> Screen:
    """Open the prefilter for the rules that are applied to every sentence with a mention.

    Returns:
        The prefilter; reuse it for many sentences.
    """
    polarity, relations = load_polarity(), load_relations()
    return Screen(
        (
            polarity.clause_ends,
            polarity.subordinate,
            polarity.main_clause_starts,
            polarity.inserted_clause_ends,
            polarity.trailing_clause_ends,
            polarity.coordinate,
            relations.cues,
            relations.leading_conditions,
            relations.subjects,
            relations.duties,
        )
    )


def without_parentheses(text: str) -> str:
    """Remove closed parentheses from a text; an unclosed one, which contains the mention, stays.

    Args:
        text: Part of a sentence.

    Returns:
        The text without them.
    """
    return _PARENTHESIS.sub("", text) if "(" in text else text


def without_ellipses(text: str) -> str:
    """Remove elliptical conditions such as `if any` and `if applicable`.

    Args:
        text: Part of a sentence.

    Returns:
        The text with a blank in place of each.
    """
    lower_text = text.lower()
    for rule in load_polarity().elliptical:
        if rule.may_match(lower_text):
            text = rule.pattern.sub(" ", text)
    return text


def without_quotations(text: str) -> str:
    """Replace quoted words by the one word `quoted`, because verbs in a quotation state nothing.

    `“Yes”` and `“No”` are kept, as is a comma or semicolon before the closing mark, which may end a clause.

    Args:
        text: Part of a sentence.

    Returns:
        The text with `“quoted”` in place of each quotation.
    """
    return _QUOTATION.sub(r"“quoted\g<mark>”", text) if "“" in text else text


def find_clauses(sentence: str, *, rule_words: int) -> list[Clause]:
    """Split a sentence, its parentheses removed, into clauses.

    Args:
        sentence: The sentence.
        rule_words: Bit mask of the rule words in the sentence, from `open_clause_screen()`.

    Returns:
        Clauses in order; the first begins at 0.
    """
    clauses = [Clause(0, MAIN)]
    breaks = list(_find_breaks(sentence, rule_words=rule_words))
    if not breaks:
        return clauses
    is_leading = is_inserted = False
    main_start = 0
    for clause_break in sorted(
        breaks, key=lambda clause_break: (clause_break.at, clause_break.sort != MAIN, clause_break.sort)
    ):
        last_clause = clauses[-1]
        segment = sentence[last_clause.start : clause_break.gap]
        kind = _next_kind(
            clause_break, last_clause=last_clause, segment=segment, is_leading=is_leading, is_inserted=is_inserted
        )
        if kind is None:
            continue
        if clause_break.sort in (CONDITION, ASIDE):
            if last_clause.kind == MAIN:
                main_clause = sentence[main_start : clause_break.gap]
                is_fronted = load_polarity().fronted_phrases.matches(main_clause)
                is_leading = is_fronted or not _has_verb(main_clause) or main_clause.endswith(" that")
                is_inserted = clause_break.is_after_comma and not is_leading
        elif kind == MAIN:
            is_leading = is_inserted = False
            main_start = clause_break.at if clause_break.sort == MAIN else main_start
        if clause_break.at == last_clause.start:
            clauses.pop()
        resumes_main = clause_break.sort == "inserted_clause_ends" and len(clauses) > 1
        clauses.append(Clause(clause_break.at, kind, clauses[-2].start if resumes_main else -1))
    return clauses


def read_clause(sentence: str, clauses: list[Clause], *, position: int) -> tuple[str, str]:
    """Read the clause at a position in a sentence.

    Args:
        sentence: The sentence.
        clauses: Its clauses.
        position: Position in the sentence, in characters.

    Returns:
        Text of the clause, after the beginning of the clause that it continues, and its kind.
    """
    ix = bisect_right([clause.start for clause in clauses], position) - 1
    end_by_start = {clause.start: next_clause.start for clause, next_clause in pairwise(clauses)}
    clause = clauses[ix]
    text = sentence[clause.start : end_by_start.get(clause.start, len(sentence))]
    if clause.resumes >= 0:
        text = sentence[clause.resumes : end_by_start[clause.resumes]] + text
    return text, clause.kind


def _next_kind(
    clause_break: _Break, *, last_clause: Clause, segment: str, is_leading: bool, is_inserted: bool
) -> str | None:
    """Decide what clause begins at a place, if any does."""
    is_within = last_clause.kind != MAIN
    if clause_break.sort in (CONDITION, ASIDE, MAIN):
        return clause_break.sort
    if clause_break.sort == "main_clause_starts":
        return MAIN if is_within and is_leading and _may_open(clause_break.rule_id, segment) else None
    if clause_break.sort == "inserted_clause_ends":
        return MAIN if is_within and is_inserted and _has_verb(segment) else None
    if clause_break.sort == "trailing_clause_ends":
        return MAIN if is_within and not is_leading else None
    if clause_break.sort == "next_verb":
        return last_clause.kind if is_negated(segment) else None
    return last_clause.kind


def _may_open(rule_id: str, segment: str) -> bool:
    """Decide whether what is said so far can be a whole condition: it needs its verb where a list might go on."""
    if rule_id == "target_and_verb":
        return _finite().search(segment) is not None
    return rule_id not in ("subject_and_verb", "colon_or_dash") or _has_verb(segment)


def _find_breaks(sentence: str, *, rule_words: int) -> Iterator[_Break]:
    rules = load_polarity()
    for _, match in _match_all(rules.clause_ends, sentence, rule_words=rule_words):
        yield _Break(match.end(), match.start(), MAIN)
    subordinate = _match_all(rules.subordinate, sentence, rule_words=rule_words)
    for rule, match in subordinate:
        is_complement = any(ask.pattern.search(sentence[: match.start()]) for ask in rules.complements)
        kind = ASIDE if is_complement or rule.id == ASIDE else CONDITION
        yield _Break(match.start(), match.start(), kind, is_after_comma=match[0].startswith((",", "—", ":")))
    # Without a subordinate clause no clause end is searched for: that spares most sentences the slowest patterns.
    end_rules = (rules.main_clause_starts, rules.inserted_clause_ends, rules.trailing_clause_ends)
    for breaking in end_rules if subordinate else ():
        for rule, match in _match_all(breaking, sentence, rule_words=rule_words):
            yield _Break(match.end(), match.start(), breaking.group, rule_id=rule.id)
    for rule, match in _match_all(rules.coordinate, sentence, rule_words=rule_words):
        yield _Break(match.end(), match.start(), rule.id)


def _match_all(rules: RuleList[Rule], sentence: str, *, rule_words: int) -> list[tuple[Rule, re.Match[str]]]:
    usable = open_clause_screen().find_rules(rules, rule_words)
    # Of most lists no rule can match.
    return [(rule, match) for rule in usable for match in rule.pattern.finditer(sentence)] if usable else []


def _has_verb(segment: str) -> bool:
    """Decide whether a clause, as far as it goes, has its verb; that many words contain one that is not in the list."""
    if len(segment.split()) >= load_polarity().surely_with_verb_words:
        return True
    orders = load_polarity().main_clause_starts.order
    return _finite().search(segment) is not None or orders.pattern.match(", " + segment.strip()) is not None


@cache
def _finite() -> re.Pattern[str]:
    return re.compile(load_polarity().finite_verbs)


@cache
def _left_behind() -> re.Pattern[str]:
    return re.compile(load_polarity().denials_left_behind)


def is_negated(clause: str) -> bool:
    """Return whether a clause is negated at its end.

    Set phrases that only look negative do not count, nor does a negation that a later verb ends, as in `an owner who is
    not resident shall file`.

    Args:
        clause: Clause to test.
    """
    lower_text = clause.lower()
    negations = [rule for rule in load_polarity().negations if rule.may_match(lower_text)]
    if not negations:
        return False
    for rule in load_polarity().weak_negations:
        clause = rule.pattern.sub(" ", clause)
    last_negation = max((match.end() for rule in negations for match in rule.pattern.finditer(clause)), default=-1)
    return last_negation > max((match.end() for match in _left_behind().finditer(clause)), default=-1)


def read_parenthesis(text: str, *, start: int, end: int) -> tuple[int, int] | None:
    """Find the innermost parenthesis around a mention that is a statement by itself.

    Args:
        text: The sentence.
        start: Offset of the mention's first character.
        end: Offset after its last character.

    Returns:
        Range of the words inside the parentheses; None if there is none.
    """
    if text.find("(", 0, start) < 0:
        return None
    open_marks: list[int] = []
    for mark in _BRACKET.finditer(text, 0, start):
        if mark[0] == "(":
            open_marks.append(mark.start())
        elif open_marks:
            open_marks.pop()
    if not open_marks:
        return None
    close = text.find(")", end)
    inner_start = open_marks[-1] + 1
    inner_end = close if close >= 0 else len(text)
    is_statement = any(
        rule.pattern.match(text[inner_start:inner_end]) for rule in load_polarity().parentheses_that_speak
    )
    return (inner_start, inner_end) if is_statement else None
