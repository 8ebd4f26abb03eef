"""How flows are scored against labels by hand."""

from __future__ import annotations

from typing import Any

import polars as pl

from benchmarks.lines import digest_letters, find_labeled_passages, score_flow_passages, score_flows

SECTIONS = pl.DataFrame(
    {
        "document_id": ["i2889--2030", "i2889--2030", "i2041--2030"],
        "element_id": ["a", "b", "a"],
        "text": ["Carry it to Form 2040, line 9.", "Also enter it on line 4.", "Carry it to Form 2040, line 9."],
    }
)


def _flow(element: str | None, source: str, target: str, *, relation: str = "flows_to") -> dict[str, Any]:
    return {
        "document_id": "i2889--2030",
        "page": 3,
        "element_id": element,
        "evidence": {"a": "Carry it to Form 2040, line 9.", "b": "Also enter it on line 4."}.get(element or "", "here"),
        "relation": relation,
        "source_form": "2889",
        "source_key": source,
        "target_form": "2040",
        "target_key": target,
    }


def _label(source: str, target: str, *, also: tuple[tuple[str, ...], ...] = (), is_optional: bool = False) -> Any:
    ends = {"source_form": "2889", "source_key": source, "target_form": "2040", "target_key": target}
    return {**ends, "also": [list(pair) for pair in also], "optional": is_optional}


def _passage(text: str, *flows: Any, split: str = "own") -> dict[str, Any]:
    digest = digest_letters(text)
    return {"document": "i2889--2030", "page": 3, "passage": digest, "split": split, "flows": list(flows)}


def _score(labels: list[dict[str, Any]], flows: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    figures = score_flow_passages(labels, pl.DataFrame(flows), SECTIONS)
    return {each.name: (each.right, each.of) for each in figures}


def test_statements_of_a_passage_are_found_and_right() -> None:
    labels = [_passage("Carry it to Form 2040, line 9.", _label("line_3", "line_9"), _label("line_4", "line_9"))]
    flows = [_flow("a", "line_3", "line_9"), _flow("a", "line_3", "line_8")]
    # One of two labels is found; one of two flows is right.
    assert _score(labels, flows) == {
        "flows, own: labeled statements found": (1, 2),
        "flows, own: stated flows that are labeled": (1, 2),
    }


def test_a_sentence_that_two_passages_of_a_page_share_counts_for_both() -> None:
    sections = pl.concat(
        [SECTIONS, SECTIONS.head(1).with_columns(element_id=pl.lit("c"), text="For pilots. " + pl.col("text"))]
    )
    labels = [_passage("For pilots. Carry it to Form 2040, line 9.", _label("line_3", "line_9"))]
    figures = score_flow_passages(labels, pl.DataFrame([_flow("a", "line_3", "line_9")]), sections)
    assert [(each.right, each.of) for each in figures] == [(1, 1), (1, 1)]


def test_a_passage_without_flows_makes_every_flow_wrong() -> None:
    labels = [_passage("Also enter it on line 4.")]
    assert _score(labels, [_flow("b", "line_3", "line_4")])["flows, own: stated flows that are labeled"] == (0, 1)


def test_an_optional_statement_is_neither_missed_nor_wrong() -> None:
    labels = [_passage("Also enter it on line 4.", _label("line_3", "line_4", is_optional=True))]
    assert _score(labels, [_flow("b", "line_3", "line_4")]) == {
        "flows, own: labeled statements found": (0, 0),
        "flows, own: stated flows that are labeled": (1, 1),
    }


def test_another_pair_of_the_same_words_counts_as_found() -> None:
    also = (("2889", "line_3", "2040", "wages"),)
    labels = [_passage("Also enter it on line 4.", _label("line_3", "line_4", also=also))]
    assert _score(labels, [_flow("b", "line_3", "wages")]) == {
        "flows, own: labeled statements found": (1, 1),
        "flows, own: stated flows that are labeled": (1, 1),
    }


def test_formulas_and_ends_without_a_line_are_no_flows() -> None:
    labels = [_passage("Also enter it on line 4.")]
    flows = [_flow("b", "line_3", "line_4", relation="computed_from"), _flow("b", "", "line_4")]
    assert _score(labels, flows)["flows, own: stated flows that are labeled"] == (0, 0)


def test_a_passage_is_found_by_its_letters_alone() -> None:
    labels = [_passage("CARRY it—to form 2040 line 9", _label("line_3", "line_9"))]
    assert _score(labels, [_flow("a", "line_3", "line_9")])["flows, own: labeled statements found"] == (1, 1)


def test_a_passage_that_the_home_lacks_counts_as_missed() -> None:
    labels = [_passage("Words of another revision.", _label("line_3", "line_9"))]
    assert _score(labels, [_flow("a", "line_3", "line_9")])["flows, own: labeled statements found"] == (0, 1)


def test_each_split_has_its_own_figures() -> None:
    labels = [
        _passage("Carry it to Form 2040, line 9.", _label("line_3", "line_9"), split="one"),
        _passage("Also enter it on line 4.", _label("line_3", "line_4"), split="two"),
    ]
    figures = _score(labels, [_flow("a", "line_3", "line_9")])
    assert figures["flows, one: labeled statements found"] == (1, 1)
    assert figures["flows, two: labeled statements found"] == (0, 1)


def test_a_passage_that_another_set_labels_is_left_out_of_the_rest_of_the_library() -> None:
    pages = [{"document": "i2889--2030", "page": 3, "split": "library_rest"}]
    labels = [{**_label("line_3", "line_9"), "document": "i2889--2030", "page": 3, "split": "library_rest"}]
    flows = pl.DataFrame([_flow("a", "line_3", "line_9"), _flow("b", "line_3", "line_4")])
    others = find_labeled_passages([_passage("Also enter it on line 4.")], SECTIONS)
    assert others == {("i2889--2030", "b")}
    figures = score_flows(labels, pages, flows, others=others)
    assert [(each.right, each.of) for each in figures if "library_rest" in each.name] == [(1, 1), (1, 1)]
