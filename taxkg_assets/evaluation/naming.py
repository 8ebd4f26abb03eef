"""Comparison of printed and extracted names: headings, keys, targets, labels, header paths."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from taxkg_assets.evaluation.matching import fold, squash
from taxkg_assets.rules.models.naming import load_naming


@cache
@lru_cache(maxsize=8192)
def find_name_words(text: str | None) -> frozenset[str]:
    """Return the normalized words of a label, path or piece of evidence, as a set.

    Args:
        text: Text; None counts as empty.

    Returns:
        Normalized words, without order.
    """
    return frozenset(load_naming().words.word_of_a_name.pattern.findall(fold(text).replace(",", "")))


def is_same_heading(read: str | None, printed: str | None) -> bool:
    """Return whether two headings are the same: equal letters, or one is a slightly shorter beginning of the other.

    Args:
        read: Extracted heading.
        printed: Labeled heading.
    """
    short, long = sorted((squash(read), squash(printed)), key=len)
    if not short:
        return False
    is_cut = len(short) >= load_naming().thresholds.prefix_letters and long.startswith(short)
    return short == long or (is_cut and len(short) / len(long) >= load_naming().thresholds.prefix_share)


def _rewrite(text: str | None, rule_ids: Sequence[str] | None = None) -> str:
    written = (text or "").casefold()
    for rule in load_naming().targets:
        if rule_ids is None or rule.id in rule_ids:
            written = rule.pattern.sub(rule.write, written)
    return written


@lru_cache(maxsize=8192)
def read_key(text: str | None) -> str:
    """Normalize a key, ignoring signs and plural: boxes_14-16 equals "box 14-16".

    Args:
        text: Key; None counts as empty.

    Returns:
        Normalized key.
    """
    return _rewrite(text, ("several_boxes", "no_letter_or_digit"))


@lru_cache(maxsize=8192)
def normalize_target(text: str | None) -> str:
    """Normalize a reference target and its abbreviations: "Publication 550" equals "Pub. 550".

    Args:
        text: Target; None counts as empty.

    Returns:
        Normalized target.
    """
    return _rewrite(text)


def is_same_label(printed: Sequence[str], read: str | None) -> bool:
    """Return whether a box's label, or one of its printed parts, was extracted, by F1 of the words.

    Args:
        printed: Labeled label and its parts.
        read: Extracted label.
    """
    got = find_name_words(read)
    best = 0.0
    for wanted in (find_name_words(part) for part in printed if part):
        common = len(wanted & got)
        best = max(best, 2 * common / (len(wanted) + len(got)) if common else 0.0)
    enough: float = load_naming().thresholds.label_f1
    return best >= enough


def is_same_evidence(read: str | None, printed: str | None) -> bool:
    """Return whether two pieces of evidence quote the same sentence, by the words of the shorter one.

    Args:
        read: Extracted evidence.
        printed: Labeled evidence.
    """
    left, right = find_name_words(read), find_name_words(printed)
    share: float = load_naming().thresholds.evidence_share
    return bool(left and right) and len(left & right) / min(len(left), len(right)) >= share


def is_same_path(printed: str, read: str | None, *, title: str | None) -> bool:
    """Return whether a header path leads to the labeled cell.

    The innermost header must be in the path itself, the outer ones may be in the table's title.

    Args:
        printed: Labeled path, separated by " > ".
        read: Extracted path.
        title: Title of the table.
    """
    limit = (
        load_naming().thresholds.path_factor * len(find_name_words(printed)) + load_naming().thresholds.path_extra_words
    )
    return (
        _contains_words(printed.split(" > ")[-1], read, share=load_naming().thresholds.last_header_share)
        and _contains_words(printed, f"{read or ''} {title or ''}", share=load_naming().thresholds.path_share)
        and len(find_name_words(read)) <= limit
    )


def _contains_words(printed: str, read: str | None, *, share: float) -> bool:
    wanted = find_name_words(_aside().sub(" ", printed))
    return not wanted or len(wanted & find_name_words(read)) / len(wanted) >= share


@cache
def _aside() -> re.Pattern[str]:
    return load_naming().aside.labellers_name.pattern
