"""What an answer is worth: needed passages, values, irrelevant words, silence, and honest confidence."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.evaluation.answer_metrics import (
    Reply,
    find_calibration_floor,
    find_calibration_floors,
    list_answer_outcomes,
    prints_cell,
    score_answer,
    score_answers,
    score_calibration_error,
    score_reliability,
    score_risk_coverage,
)

BARN = "Rent that you receive for a barn counts as income of the year in which it is paid."
STALL = "You may deduct the cost of repairing a stall only where the tenant does not repay it."


def question(*quotes: str, kind: str = "concept", name: str = "q") -> dict[str, Any]:
    gold = [{"document": "z--2024", "page": 1, "quote": quote, "grade": 3} for quote in quotes]
    return {"id": name, "query": "barn?", "type": kind, "gold": gold, "near_miss": [], "coverage": None}


def reply(text: str | None, *, confidence: float = 0.9) -> Reply:
    return Reply(text=text, confidence=confidence, is_abstained=text is None)


def test_an_answer_with_one_of_two_passages_has_a_needed_one_and_not_all() -> None:
    scores = score_answer(question(BARN, STALL), reply(f"{BARN} [1]"))
    assert (scores["contains_needed"], scores["contains_all"]) == (1.0, 0.0)
    assert score_answer(question(BARN, STALL), reply(f"{STALL} [2]\n{BARN} [1]"))["contains_all"] == 1.0


@pytest.mark.parametrize(
    ("line", "is_printed"),
    [
        ("Fees | 20 feet | Large berths: $1,300.00* [1]", True),
        ("20 feet; Small: 900; Large: 1,300 [2]", True),
        ("Large berths: $1,300 [1]", False),
        ("20 feet: $1,300 [1]", False),
        ("20 feet | Large: $11,300 [1]", False),
        ("20 feet [1]\nLarge: $1,300 [1]", False),
    ],
)
def test_a_cell_is_printed_with_its_row_and_column_in_one_line(line: str, is_printed: bool) -> None:
    assert prints_cell(line, row="20 feet", column="large", value="$1,300") == is_printed


def test_an_exclusion_is_not_the_inclusion_it_resembles() -> None:
    denied = BARN.replace("counts", "never counts")
    assert score_answer(question(BARN), reply(denied))["contains_needed"] == 0.0


def test_a_citation_inside_a_sentence_does_not_hide_it() -> None:
    scores = score_answer(question(BARN), reply(BARN.replace("income", "income [12]")))
    assert scores["contains_needed"] == 1.0


def test_words_off_the_point_are_those_that_no_gold_passage_has() -> None:
    assert score_answer(question(BARN), reply(f"{BARN} [1]"))["off_point"] == 0.0
    both = score_answer(question(BARN), reply(f"{BARN}\n{STALL}"))["off_point"]
    assert both == pytest.approx(0.5, abs=0.02)
    assert score_answer(question(BARN), reply(STALL))["off_point"] == 1.0


def test_silence_contains_nothing_and_is_not_off_the_point() -> None:
    scores = score_answer(question(BARN), reply(None))
    assert scores == {"abstains_on_answerable": 1.0, "contains_needed": 0.0, "contains_all": 0.0}


def test_an_unanswerable_question_is_judged_by_silence_alone() -> None:
    queried = question(kind="unanswerable")
    assert score_answer(queried, reply(None)) == {"abstains_on_unanswerable": 1.0}
    assert score_answer(queried, reply(BARN)) == {"abstains_on_unanswerable": 0.0}


def test_a_value_is_correct_with_its_row_and_wrong_with_another_amount() -> None:
    queried = question("Barns built of wood and stone 1,200", kind="table_value")
    assert score_answer(queried, reply("Barns built of wood and stone: Limit 1,200"))["value_correct"] == 1.0
    assert score_answer(queried, reply("Barns built of wood and stone: Limit 1,300"))["value_correct"] == 0.0


def test_calibration_error_is_the_distance_of_confidence_from_what_is_right() -> None:
    assert score_calibration_error([(0.75, True)] * 3 + [(0.75, False)]) == pytest.approx(0.0)
    assert score_calibration_error([(1.0, True), (1.0, False)]) == pytest.approx(0.5)
    assert score_calibration_error([(0.05, True), (0.95, False)]) == pytest.approx(0.95)
    assert score_calibration_error([]) is None


def test_outcomes_leave_out_silence_and_count_an_answer_to_the_unanswerable_as_wrong() -> None:
    queried = [question(BARN, name="a"), question(STALL, name="b"), question(kind="unanswerable", name="c")]
    replies = {"a": reply(BARN, confidence=0.8), "b": reply(None), "c": reply(BARN, confidence=0.6)}
    assert list_answer_outcomes(queried, replies) == [(0.8, True), (0.6, False)]


def test_risk_rises_as_less_sure_answers_are_given() -> None:
    queried = [question(BARN, name="a"), question(STALL, name="b")]
    replies = {"a": reply(BARN, confidence=0.8), "b": reply(BARN, confidence=0.6)}
    assert score_risk_coverage(queried, replies) == [(0.8, 0.5, 0.0), (0.6, 1.0, 0.5)]
    assert score_risk_coverage(queried, {"a": reply(None), "b": reply(None)}) == []


def test_a_report_averages_over_all_questions_and_over_each_kind() -> None:
    queried = [question(BARN, name="a"), question(STALL, name="b", kind="procedural")]
    replies = {"a": reply(BARN), "b": reply(BARN)}
    report = score_answers(queried, replies, families={"a": "x", "b": "y"})
    figures = {(row["slice"], row["metric"]): row for row in report.rows(named=True)}
    mean = figures["all", "contains_needed"]
    assert (mean["value"], mean["n"]) == (0.5, 2)
    assert mean["low"] <= mean["value"] <= mean["high"]
    assert figures["concept", "contains_needed"]["value"] == 1.0
    assert figures["procedural", "contains_needed"]["value"] == 0.0
    assert figures["concept", "contains_needed"]["low"] is None


def test_even_right_probabilities_show_an_error_over_a_few_answers() -> None:
    few, many = (find_calibration_floor([0.3, 0.7] * count) for count in (5, 500))
    assert few is not None
    assert many is not None
    assert 0.0 < many < 0.05 < few
    assert find_calibration_floor([]) is None
    assert find_calibration_floor([1.0, 0.0]) == 0.0


def test_most_draws_of_right_probabilities_stay_within_a_bound_above_their_mean() -> None:
    floors = find_calibration_floors([0.3, 0.7] * 20)
    assert floors is not None
    assert floors[0] == find_calibration_floor([0.3, 0.7] * 20)
    assert floors[0] < floors[1] < 0.5
    assert find_calibration_floors([]) is None


def test_reliability_compares_what_was_stated_with_what_was_right() -> None:
    rows = score_reliability([(0.1, False), (0.15, True), (0.9, True)])
    assert rows == [(0.0, 0.2, 2, 0.125, 0.5), (0.8, 1.0, 1, 0.9, 1.0)]
