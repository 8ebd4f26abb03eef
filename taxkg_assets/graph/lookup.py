"""Lookup of boxes by a few words: a key, a name, a form's code or a word of its title, in any order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.graph.names import expand, find_initials, fold_name
from taxkg_assets.rules.forms import form_pattern
from taxkg_assets.rules.models.aliases import load_aliases
from taxkg_assets.schemas import Documents, Registry


@dataclass(frozen=True, slots=True)
class _ParsedQuestion:
    """Parsed question: forms by code, a key, and the remaining words."""

    forms: tuple[str, ...]
    box_key: str
    words: tuple[str, ...]


def find_boxes(
    question_text: str, registry: dy.DataFrame[Registry], *, documents: dy.DataFrame[Documents]
) -> dy.DataFrame[Registry]:
    """Find the boxes that a question names: `QD`, `1b`, `box 1b on the dividend form`.

    A form code selects the form. Other words are matched with a box's label, its initials or aliases, a form's title
    or, if nothing matches as a whole, single label words. All matching revisions and forms are returned.

    Args:
        question_text: Words of the user.
        registry: Boxes of all faces.
        documents: Documents of the corpus, for the titles of forms.

    Returns:
        Rows by form and key, newest revision first; empty if nothing matches.
    """
    rows = registry.to_dicts()
    question = _read(question_text, forms=sorted({row["form"] for row in rows}))
    rows = [row for row in rows if not question.forms or row["form"] in question.forms]
    rows = [row for row in rows if not question.box_key or row["box_key"] == question.box_key]
    if question.words:
        rows = _narrow(rows, question, titles=_find_titles(documents))
    elif not question.box_key:
        rows = []
    order = sorted(rows, key=lambda row: (row["revision"], row["document_id"]), reverse=True)
    order.sort(key=lambda row: (row["form"], order_of_key(row["box_key"])))
    return Registry.validate(pl.DataFrame(order, schema=Registry.create_empty().schema))


def find_named_forms(question_text: str, registry: dy.DataFrame[Registry]) -> tuple[str, ...]:
    """Find the forms that a question names by code if it names nothing else: `1099-DIV`, `Form W-2`.

    Args:
        question_text: Words of the user.
        registry: Boxes of all faces.

    Returns:
        Forms, longest code first; empty where the question names a key or other words.
    """
    question = _read(question_text, forms=registry["form"].unique().sort())
    return () if question.box_key or question.words else question.forms


def order_of_key(box_key: str) -> tuple[int, str]:
    """Return a sort key that orders keys as a face prints them: by number, then by letters.

    Args:
        box_key: Key of a box.
    """
    number = re.search(r"\d+", box_key)
    return int(number[0]) if number else 0, box_key


def _read(question_text: str, *, forms: Iterable[str]) -> _ParsedQuestion:
    """Separate codes of forms and the key from the other words."""
    rest = f" {question_text.casefold()} "
    named = []
    for form in sorted(forms, key=len, reverse=True):
        pattern = form_pattern(form)
        if pattern.search(rest):
            named.append(form)
            rest = pattern.sub(" ", rest)
    key = ""
    for rule in load_aliases().question_keys:
        match = rule.pattern.search(rest)
        if match:
            key, rest = f"box_{match['key']}", rest[: match.start()] + " " + rest[match.end() :]
            break
    skipped = set(load_aliases().question_words)
    words = [word for word in fold_name(expand(rest)).split() if word not in skipped]
    return _ParsedQuestion(tuple(named), key, tuple(words))


def _narrow(
    rows: Sequence[dict[str, Any]], question: _ParsedQuestion, *, titles: Mapping[str, frozenset[str]]
) -> list[dict[str, Any]]:
    """Keep the boxes that the words name: as a whole, next to words for the form, or by words of the label."""
    whole_matches = [row for row in rows if " ".join(question.words) in _names_of(row)]
    return (
        whole_matches
        or [row for row in rows if _fits_next_to_form(row, question, titles=titles)]
        or [
            row
            for row in rows
            if all(any(_is_inflection(word, label_word) for label_word in _words_of(row)) for word in question.words)
        ]
    )


def _fits_next_to_form(
    row: Mapping[str, Any], question: _ParsedQuestion, *, titles: Mapping[str, frozenset[str]]
) -> bool:
    words = question.words
    title_words = titles.get(row["form"], frozenset())
    names = _names_of(row) | ({""} if question.box_key else set())
    parts = [part for at in range(len(words) + 1) for part in ((words[:at], words[at:]), (words[at:], words[:at]))]
    return any(
        form
        and " ".join(name) in names
        and all(any(_is_inflection(word, title) for title in title_words) for word in form)
        for name, form in parts
    )


def _names_of(row: Mapping[str, Any]) -> set[str]:
    skipped = set(load_aliases().question_words)
    written_names = (row["label"], *row["aliases"])
    names = [fold_name(expand(name)).split() for name in (*written_names, *find_initials(expand(row["label"])))]
    return {" ".join(word for word in words if word not in skipped) for words in names} - {""}


def _words_of(row: Mapping[str, Any]) -> set[str]:
    return {word for name in (row["label"], *row["aliases"]) for word in fold_name(expand(name)).split()}


def _find_titles(documents: dy.DataFrame[Documents]) -> dict[str, frozenset[str]]:
    """Collect the words of each form's titles, and the letters of its code: nec of 1099-NEC."""
    titles: dict[str, frozenset[str]] = {}
    for row in documents.filter(pl.col("doc_type") == "form").iter_rows(named=True):
        titles[row["form"]] = titles.get(row["form"], frozenset()) | frozenset(
            fold_name(f"{row['title']} {row['form']}").split()
        )
    return titles


def _is_inflection(word: str, label_word: str) -> bool:
    """Return whether two words differ in an ending at most: dividend and dividends."""
    short, long = sorted((word, label_word), key=len)
    least = load_aliases().thresholds.shared_prefix_letters
    return short == long or (len(short) >= least and long.startswith(short) and len(long) - len(short) <= 2)
