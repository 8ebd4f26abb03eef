"""Near misses: a question about one box, the passage of the box, and a similar passage of another box.

They are generated from `registry`, for any corpus of forms. A system is given by its margins: the score of the right
passage minus that of the similar one; it passes a near miss if the margin is above 0.
"""

from __future__ import annotations

import calendar
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from taxkg_assets.evaluation.matching import find_words
from taxkg_assets.evaluation.significance import Interval, score_interval

SIBLING, OTHER_FORM, OTHER_YEAR = "sibling_box", "other_form", "other_year"
KINDS = (SIBLING, OTHER_FORM, OTHER_YEAR)
SIDES = ("filer", "recipient")
WORDINGS: Mapping[str, str] = {
    "key": "What is shown in {key} of Form {form}{edition}?",
    "label": "{label} on Form {form}{edition}: what amount is that?",
}
"""Templates of questions about a box; the wording `definition` quotes the passage for the other audience instead."""
DEFINITION, DEFINITION_WORDS = "definition", 40
_MONTHS = tuple(calendar.month_name)


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A question, the chunk id that answers it (`right`), and that of a similar chunk that does not (`near`)."""

    kind: str
    wording: str
    query: str
    form: str
    document_id: str
    right: str
    near: str


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Share of near misses for which a system ranked the right passage first."""

    system: str
    kind: str
    n: int
    interval: Interval


@dataclass(frozen=True, slots=True)
class _BoxPassage:
    """The first chunk of a box for one audience (`side`) in one revision."""

    chunk_id: str
    document_id: str
    form: str
    key: str
    side: str
    revision: str
    text: str
    definition: str
    words: frozenset[str]
    label: str


def find_near_misses(registry: pl.DataFrame, rows: pl.DataFrame) -> list[NearMiss]:
    """Build questions about boxes, each with the passage of the box and a similar passage.

    The similar passage is about another box of the same document, about the same box on another form, or about the same
    box in another revision; of each kind the most similar one is used. Passages with equal texts are a pair only if
    they differ in form or revision, as the question names these.

    Args:
        registry: Registered boxes with their labels.
        rows: Chunks with `form`, `anchor_key`, `perspective`, `heading_path` and `text`, and with the `revision` of
            their document.

    Returns:
        Questions with both passages, sorted.
    """
    passages = _find_box_passages(registry, rows)
    pairs: list[NearMiss] = []
    for passage in passages:
        most_similar = {
            SIBLING: _most_similar(passage, passages, is_near=_is_sibling),
            OTHER_FORM: _most_similar(passage, passages, is_near=_is_other_form),
            OTHER_YEAR: _most_similar(passage, passages, is_near=_is_other_year),
        }
        other_audience = [other for other in passages if _is_other_copy(passage, other)]
        for kind, similar in most_similar.items():
            if similar is not None:
                pairs += _make_questions(kind, passage, similar, other_audience)
    return sorted(set(pairs), key=lambda item: (item.kind, item.right, item.near, item.wording))


def _find_box_passages(registry: pl.DataFrame, rows: pl.DataFrame) -> list[_BoxPassage]:
    labels: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for form, key, revision, label in registry.select("form", "box_key", "revision", "label").iter_rows():
        labels[form, key][revision] = label
    boxes = rows.filter(
        pl.col("anchor_key").str.starts_with("box_"), pl.col("perspective").is_in(SIDES), pl.col("level") == "paragraph"
    ).sort("document_id", "chunk_ix", "chunk_id")
    first = boxes.unique(["document_id", "form", "anchor_key", "perspective"], keep="first", maintain_order=True)
    return [
        _BoxPassage(
            chunk_id=row["chunk_id"],
            document_id=row["document_id"],
            form=row["form"],
            key=row["anchor_key"],
            side=row["perspective"],
            revision=row["revision"],
            text=row["text"],
            definition=_find_definition(row["text"], heading=row["heading_path"].rsplit(" > ", 1)[-1]),
            words=frozenset(find_words(row["text"])),
            label=_find_label(labels.get((row["form"], row["anchor_key"]), {}), row["revision"]),
        )
        for row in first.iter_rows(named=True)
        if (row["form"], row["anchor_key"]) in labels
    ]


def _find_definition(text: str, *, heading: str) -> str:
    """Return the first words of a passage, without its heading, which would name the box."""
    return " ".join(text.removeprefix(heading).split()[:DEFINITION_WORDS])


def _find_label(label_by_revision: Mapping[str, str], revision: str) -> str:
    """Return the label in a revision, or else in the newest revision that has a label."""
    if label_by_revision.get(revision):
        return label_by_revision[revision]
    return next(
        (label_by_revision[name] for name in sorted(label_by_revision, reverse=True) if label_by_revision[name]), ""
    )


def _most_similar(
    passage: _BoxPassage, passages: Iterable[_BoxPassage], *, is_near: Callable[[_BoxPassage, _BoxPassage], bool]
) -> _BoxPassage | None:
    candidates = [other for other in passages if is_near(passage, other)]
    return max(candidates, key=lambda other: (_overlap(passage, other), other.chunk_id), default=None)


def _overlap(passage: _BoxPassage, other: _BoxPassage) -> float:
    return len(passage.words & other.words) / max(1, len(passage.words | other.words))


def _is_sibling(passage: _BoxPassage, other: _BoxPassage) -> bool:
    is_same_document = (passage.document_id, passage.form, passage.side) == (other.document_id, other.form, other.side)
    return is_same_document and passage.key != other.key and passage.text != other.text


def _is_other_form(passage: _BoxPassage, other: _BoxPassage) -> bool:
    return (passage.key, passage.side) == (other.key, other.side) and passage.form != other.form


def _is_other_year(passage: _BoxPassage, other: _BoxPassage) -> bool:
    is_same_box = (passage.form, passage.key, passage.side) == (other.form, other.key, other.side)
    return is_same_box and passage.revision != other.revision


def _is_other_copy(passage: _BoxPassage, other: _BoxPassage) -> bool:
    return (passage.form, passage.key) == (other.form, other.key) and passage.side != other.side


def _make_questions(
    kind: str, right: _BoxPassage, near: _BoxPassage, other_audience: Sequence[_BoxPassage]
) -> list[NearMiss]:
    """Return the questions that only the right passage answers; a label that both passages share is not used."""
    edition = f" ({_name_edition(right.revision)})" if kind == OTHER_YEAR else ""
    questions = {
        wording: pattern.format(key=right.key.replace("_", " "), label=right.label, form=right.form, edition=edition)
        for wording, pattern in WORDINGS.items()
        if "{label}" not in pattern or (right.label and (kind != SIBLING or right.label != near.label))
    }
    if kind == SIBLING and other_audience:
        nearest = min(other_audience, key=lambda other: (-len(other.words & right.words), other.chunk_id))
        questions[DEFINITION] = nearest.definition
    return [
        NearMiss(kind, wording, query, right.form, right.document_id, right.chunk_id, near.chunk_id)
        for wording, query in questions.items()
    ]


def _name_edition(revision: str) -> str:
    """Return a revision as users write it: 2025, or January 2024."""
    year, _, month = revision[:7].partition("-")
    return f"{_MONTHS[int(month)]} {year}" if month.isdigit() and 1 <= int(month) <= 12 else year


def sample_near_misses(near_misses: Sequence[NearMiss], *, max_count: int, seed: int) -> list[NearMiss]:
    """Sample near misses of each kind and wording.

    Args:
        near_misses: All near misses.
        max_count: Maximum number of each kind and wording.
        seed: Seed of the draw.

    Returns:
        The sampled near misses in their order.
    """
    draw = random.Random(seed)
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for ix, item in enumerate(near_misses):
        groups[item.kind, item.wording].append(ix)
    sampled_ixs = [
        ix for group in groups.values() for ix in (draw.sample(group, max_count) if len(group) > max_count else group)
    ]
    return [near_misses[ix] for ix in sorted(sampled_ixs)]


def score_near_misses(
    near_misses: Sequence[NearMiss], margins: Mapping[str, Sequence[float]], *, families: Sequence[str], seed: int = 0
) -> list[Accuracy]:
    """Compute the accuracy of each system over all near misses and by kind.

    Args:
        near_misses: The near misses.
        margins: By system the score of the right passage minus that of the similar one; 0 counts as wrong.
        families: Form family of each near miss; the bootstrap resamples whole families.
        seed: Seed of the bootstrap.

    Returns:
        One accuracy per system and kind.
    """
    accuracies = []
    for system, system_margins in margins.items():
        passed = [float(margin > 0) for margin in system_margins]
        for kind in ("all", *KINDS):
            ixs = [ix for ix, item in enumerate(near_misses) if kind in ("all", item.kind)]
            if ixs:
                interval = score_interval(
                    [passed[ix] for ix in ixs],
                    [families[ix] for ix in ixs],
                    seed=seed,
                    stream=("near_miss", kind),
                )
                accuracies.append(Accuracy(system, kind, len(ixs), interval))
    return accuracies


def describe_accuracy(accuracy: Accuracy) -> dict[str, str | int | float | None]:
    """Return one accuracy as a flat row.

    Args:
        accuracy: The accuracy.
    """
    interval = accuracy.interval
    return {
        "system": accuracy.system,
        "kind": accuracy.kind,
        "n": accuracy.n,
        "accuracy": interval.value,
        "low": interval.low,
        "high": interval.high,
    }
