"""Whether a statement on lines denies what it names, or says it only in part or for one case."""

from __future__ import annotations

import re

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.clause_words import split_clauses

_SENTENCE = re.compile(r"[;:.](?:\s|$)|\bbut\b")


def is_denied(before: str, between: str = "", *, text: str) -> bool | None:
    """Return whether a verb is negated within its own clause.

    Args:
        before: Words before the related lines, including the verb or followed by it.
        between: Words between the two lines that are related; empty for a computation.
        text: The whole statement.

    Returns:
        None if undecided: the negation is in another clause, or holds only in a case.

    Source:
        rules/verification.yaml: `no_denials`, `word_denials`, `asides`.
    """
    spoken, verb = _SENTENCE.split(_drop_indifferent(before))[-1], _drop_indifferent(between)
    denials = load_verification().word_denials
    own = _read_own_clause(spoken)
    is_relative = load_verification().relatives.own_verb.pattern.search(own) is not None
    if not denials.matches(f"{spoken} {verb}"):
        return False
    has_own = (denials.matches(own) and not is_relative) or denials.matches(_read_first_clause(verb))
    return True if has_own and not has_case(text) else None


def has_case(text: str) -> bool:
    """Return whether a statement holds only in a case, or names an exception or a concession.

    Args:
        text: The statement.
    """
    rules = load_verification().conditions
    return any(rule.pattern.match(part) for part in split_clauses(text) for rule in rules)


def is_multiplied(words: str) -> bool:
    """Return whether a clause names a multiple, a share or the negative of an amount.

    Args:
        words: Words of the clause.

    Source:
        rules/verification.yaml, `multipliers`.
    """
    return load_verification().multipliers.before.pattern.search(words) is not None


def is_operand(before: str, after: str) -> bool:
    """Return whether a statement uses what it names in a further computation.

    Args:
        before: Words of the same clause before a computation.
        after: Words after it.

    Source:
        rules/verification.yaml, `multipliers`.
    """
    rules = load_verification().multipliers
    return rules.operand.pattern.search(before) is not None or rules.after.pattern.match(after) is not None


def cut_clause(before: str) -> str:
    """Return the last clause of a text.

    Args:
        before: The text.
    """
    return _read_own_clause(_SENTENCE.split(before)[-1])


def _drop_indifferent(words: str) -> str:
    for rule in load_verification().no_denials:
        words = rule.pattern.sub(" ", words)
    return words


def _read_own_clause(words: str) -> str:
    openers = list(load_verification().asides.opener.pattern.finditer(words))
    return words[openers[-1].end() :] if openers else words


def _read_first_clause(words: str) -> str:
    """Return the words up to the first aside: `, if it is not zero, goes to` has none."""
    found = load_verification().asides.aside.pattern.search(words)
    return words if found is None else words[: found.start()]
