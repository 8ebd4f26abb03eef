"""Labels of several fields that a form prints in common: each field gets its own part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from taxkg_assets.extraction.forms.label_words import (
    find_answer,
    find_own_words,
    find_question,
    find_words,
    remove_parts,
)
from taxkg_assets.extraction.forms.option_labels import add_words, find_distinct_labels, find_option_labels

Row = Mapping[str, Any]


def group_by_label(rows: Sequence[dict[str, Any]]) -> list[list[int]]:
    """Group the rows that share a label, as fields of one line, box or column.

    Args:
        rows: Rows of `fields`.

    Returns:
        Numbers of the rows of each group.
    """
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for ix, row in enumerate(rows):
        if row["key"] or row["column"]:
            # The lines of a box have one label.
            table_row = "" if row["key"].startswith("box_") else row["row"]
            groups[row["page"], row["copy"], row["key"], row["column"], table_row, row["label"]].append(ix)
    return list(groups.values())


def add_spoken_words(rows: Sequence[dict[str, Any]], field_ixs: Sequence[int], spoken_labels: Sequence[str]) -> None:
    """Add to the label of each entry of a line the words of its spoken text that the label lacks.

    Args:
        rows: Rows of `fields`; their labels are changed.
        field_ixs: Numbers of the rows of the line.
        spoken_labels: Label in the spoken text of each field, in the order of the rows.
    """
    for ix in field_ixs:
        if rows[ix]["kind"] != "checkbox":
            rows[ix]["label"] = add_words(rows[ix]["label"], spoken_labels[ix])


def combine_over(label: str, words_over: Sequence[str]) -> list[str]:
    """Return the labels of check boxes of a column: the words above all of them, and the words above each.

    Args:
        label: Their common label: `Box is Red Blue`.
        words_over: Words right above each: `Red`, `Blue`.

    Returns:
        `Box is Red`, `Box is Blue`; empty where some have no words of their own above them.
    """
    if not all(words_over) or len(set(words_over)) < 2:
        return []
    common_words = remove_parts(label, {*words_over})
    if common_words is None:
        return []
    return [" ".join(f"{common_words} {words}".split()) for words in words_over]


def split_label(label: str, rows: Sequence[Row], spoken_labels: Sequence[str]) -> list[str]:
    """Return the labels of several fields with a common one, by the spoken text of each.

    Args:
        label: The common label.
        rows: Rows of the fields.
        spoken_labels: Label in the spoken text of each field.

    Returns:
        A label for each.
    """
    answers = [find_answer(row["spoken"]) for row in rows]
    if all(answers) and len(set(answers)) > 1:
        return [f"{find_question(label)} {answer}" for answer in answers]
    are_check_boxes = all(row["kind"] == "checkbox" for row in rows)
    if are_check_boxes and (options := find_option_labels(label, spoken_labels)):
        return list(options)
    parts = [find_words(label, spoken_label) for spoken_label in spoken_labels]
    if all(parts) and len(set(parts)) == len(rows):
        return parts
    if are_check_boxes:
        return list(find_distinct_labels(spoken_labels)) or [label] * len(rows)
    return [
        find_own_words(label, spoken_label, key=row["key"]) or label
        for row, spoken_label in zip(rows, spoken_labels, strict=True)
    ]
