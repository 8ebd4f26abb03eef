"""Compare labeled names with extracted names: headings, keys, targets, labels, header paths."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from taxkg_assets.evaluation.matching import fold, squash
from taxkg_assets.rules.models.naming import load_naming


@lru_cache(maxsize=8192)
def find_name_words(text: str | None) -> frozenset[str]:
    """Return the normalized words of a label, path or piece of evidence, as a set.

    Args:
        text: Text; None counts as empty.

    Returns:
        Normalized words, without order.
    """
    return frozenset(load_naming().words.word_of_a_name.pattern.findall(fold(text).replace(",", "")))


def is_same_heading(extracted: str | None, labeled: str | None) -> bool:
    """Return whether two headings have the same letters, or one begins with the other and is little longer.

    Args:
        extracted: Extracted heading.
        labeled: Labeled heading.
    """
    short, long = sorted((squash(extracted), squash(labeled)), key=len)
    if not short:
        return False
    is_beginning = len(short) >= load_naming().thresholds.prefix_letters and long.startswith(short)
    return short == long or (is_beginning and len(short) / len(long) >= load_naming().thresholds.prefix_share)


def _rewrite(text: str | None, rule_ids: Sequence[str] | None = None) -> str:
    folded_text = (text or "").casefold()
    for rule in load_naming().targets:
        if rule_ids is None or rule.id in rule_ids:
            folded_text = rule.pattern.sub(rule.write, folded_text)
    return folded_text


@lru_cache(maxsize=8192)
def read_key(text: str | None) -> str:
    """Normalize a key, ignoring signs and the plural: "boxes_14-16" equals "box 14-16".

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


def is_same_label(labeled: Sequence[str], extracted: str | None) -> bool:
    """Return whether the label of a box, or one of its printed parts, was extracted, by F1 of the words.

    Args:
        labeled: Expected label of the box, and the parts that are printed in it.
        extracted: Extracted label.
    """
    extracted_words = find_name_words(extracted)
    best_f1 = 0.0
    for labeled_words in (find_name_words(part) for part in labeled if part):
        common = len(labeled_words & extracted_words)
        best_f1 = max(best_f1, 2 * common / (len(labeled_words) + len(extracted_words)) if common else 0.0)
    min_f1: float = load_naming().thresholds.label_f1
    return best_f1 >= min_f1


def is_same_evidence(extracted: str | None, labeled: str | None) -> bool:
    """Return whether two quotes share enough words of the shorter one to be the same sentence.

    Args:
        extracted: Extracted evidence.
        labeled: Labeled evidence.
    """
    extracted_words, labeled_words = find_name_words(extracted), find_name_words(labeled)
    min_share: float = load_naming().thresholds.evidence_share
    return (
        bool(extracted_words and labeled_words)
        and len(extracted_words & labeled_words) / min(len(extracted_words), len(labeled_words)) >= min_share
    )


def is_same_path(labeled: str, extracted: str | None, *, title: str | None) -> bool:
    """Return whether an extracted header path matches a labeled one.

    The innermost header must be in the path; the outer headers may be in the table's title.

    Args:
        labeled: Labeled path, separated by " > ".
        extracted: Extracted path.
        title: Title of the table.
    """
    max_words = (
        load_naming().thresholds.path_factor * len(find_name_words(labeled)) + load_naming().thresholds.path_extra_words
    )
    return (
        _contains_words(labeled.split(" > ")[-1], extracted, share=load_naming().thresholds.last_header_share)
        and _contains_words(labeled, f"{extracted or ''} {title or ''}", share=load_naming().thresholds.path_share)
        and len(find_name_words(extracted)) <= max_words
    )


def _contains_words(labeled: str, extracted: str | None, *, share: float) -> bool:
    labeled_words = find_name_words(_aside().sub(" ", labeled))
    return not labeled_words or len(labeled_words & find_name_words(extracted)) / len(labeled_words) >= share


@cache
def _aside() -> re.Pattern[str]:
    return load_naming().aside.labellers_name.pattern
