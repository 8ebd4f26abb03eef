"""Near misses: which passages are paired, what is queried, and how a system's margins become an accuracy."""

from __future__ import annotations

from typing import Any

import polars as pl

from taxkg_assets.evaluation.near_misses import (
    OTHER_FORM,
    OTHER_YEAR,
    SIBLING,
    NearMiss,
    find_near_misses,
    sample_near_misses,
    score_near_misses,
)

TEXTS = {"box_2e": "Shows the rent from sample barns.", "box_2f": "Shows the gain from sample barns."}


def _row(document_id: str, form: str, key: str, **changed: Any) -> dict[str, Any]:
    name = key.replace("box_", "Box ")
    return {
        "chunk_id": f"{document_id}:{changed.get('perspective', 'recipient')}:{key}",
        "document_id": document_id,
        "chunk_ix": 0,
        "form": form,
        "anchor_key": key,
        "heading_path": f"Form {form} > {name}.",
        "perspective": "recipient",
        "level": "paragraph",
        "revision": document_id.partition("--")[2],
        "text": f"{name}. {TEXTS.get(key, 'Shows other things.')}",
    } | changed


def _find(*rows: dict[str, Any], labels: dict[tuple[str, str], str]) -> list[NearMiss]:
    registry = [
        {"form": form, "box_key": key, "revision": "2025", "label": label} for (form, key), label in labels.items()
    ]
    return find_near_misses(pl.DataFrame(registry), pl.DataFrame(rows))


def test_a_box_is_paired_with_the_sibling_that_reads_most_alike() -> None:
    rows = [_row("fx--2025", "X", key) for key in ("box_1", "box_2e", "box_2f")]
    found = _find(*rows, labels={("X", "box_1"): "Other", ("X", "box_2e"): "Rent", ("X", "box_2f"): "Gain"})
    pairs = {(m.right, m.near) for m in found if m.right.endswith("2e")}
    assert pairs == {("fx--2025:recipient:box_2e", "fx--2025:recipient:box_2f")}
    assert {m.query for m in found if m.right.endswith("2e")} == {
        "What is shown in box 2e of Form X?",
        "Rent on Form X: what amount is that?",
    }


def test_siblings_with_one_label_are_not_requested_by_it() -> None:
    rows = [_row("fx--2025", "X", key) for key in ("box_2e", "box_2f")]
    found = _find(*rows, labels={("X", "box_2e"): "Barns", ("X", "box_2f"): "Barns"})
    assert {m.wording for m in found} == {"key"}


def test_the_same_box_of_another_year_is_requested_with_its_year() -> None:
    rows = [_row("fx--2024", "X", "box_2e"), _row("fx--2025-04", "X", "box_2e")]
    found = _find(*rows, labels={("X", "box_2e"): "Rent"})
    assert {m.kind for m in found} == {OTHER_YEAR}
    assert {m.query for m in found if m.wording == "key"} == {
        "What is shown in box 2e of Form X (2024)?",
        "What is shown in box 2e of Form X (April 2025)?",
    }


def test_the_same_key_of_another_form_is_a_near_miss_and_another_copy_is_none() -> None:
    rows = [_row("fx--2025", "X", "box_2e"), _row("fy--2025", "Y", "box_2e", perspective="filer")]
    assert _find(*rows, labels={("X", "box_2e"): "Rent", ("Y", "box_2e"): "Milk"}) == []
    rows[1] = _row("fy--2025", "Y", "box_2e")
    found = _find(*rows, labels={("X", "box_2e"): "Rent", ("Y", "box_2e"): "Milk"})
    assert {(m.kind, m.form) for m in found} == {(OTHER_FORM, "X"), (OTHER_FORM, "Y")}


def test_a_definition_is_said_in_words_of_the_other_copy_without_the_key() -> None:
    rows = [
        _row("fx--2025", "X", "box_2e"),
        _row("ix--2025", "X", "box_2e", perspective="filer", text="Box 2e. Enter rent."),
        _row("ix--2025", "X", "box_2f", perspective="filer", text="Box 2f. Enter gain."),
    ]
    found = _find(*rows, labels={("X", "box_2e"): "Rent", ("X", "box_2f"): "Gain"})
    queried = [m.query for m in found if m.wording == "definition"]
    assert queried == [TEXTS["box_2e"]]


def test_a_sample_keeps_some_of_each_wording_and_is_drawn_alike_twice() -> None:
    rows = [_row(f"fx--{year}", "X", "box_2e") for year in range(2010, 2026)]
    every = _find(*rows, labels={("X", "box_2e"): "Rent"})
    some = sample_near_misses(every, max_count=3, seed=1)
    assert some == sample_near_misses(every, max_count=3, seed=1)
    assert sorted(m.wording for m in some) == ["key"] * 3 + ["label"] * 3


def test_accuracy_counts_a_tie_as_a_miss() -> None:
    items = [NearMiss(SIBLING, "key", "?", form, "d", f"r{n}", "n") for n, form in enumerate("XXYY")]
    found = {a.kind: a for a in score_near_misses(items, {"s": [0.1, 0.0, -0.1, 0.2]}, families=list("XXYY"))}
    assert found["all"].interval.value == 2 / 4
    assert (found[SIBLING].n, found[SIBLING].system) == (4, "s")
