"""Questions over a library: families of forms, and a table of figures that states what was left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.forum import FOLDER, JUDGED, SETS, Evaluated, Half, Report, accept_judged, find_family, read_judged
from benchmarks.labeled import LabeledQuestion, label_question
from taxkg_assets.evaluation.answer_metrics import Reply, score_answer
from taxkg_assets.evaluation.sealed_quotes import seal_passage
from taxkg_assets.records import GoldPassageRecord

SEALED = {"document", "page", "grade", "letters", "digest"}


def test_a_form_and_its_instructions_are_one_family_over_the_years() -> None:
    families = {find_family({"id": "q", "gold": [{"document": name}]}) for name in ("f99--2019", "i99--2024")}
    assert families == {"99"}
    assert find_family({"id": "q", "gold": [{"document": "p99--2024"}]}) == "p99"


def test_the_table_says_what_was_left_out_and_which_interval_cannot_be_reported(tmp_path: Path) -> None:
    row = {"slice": "all", "metric": "contains_needed", "value": 0.5, "low": None, "high": None, "n": 2}
    half = Half([row], 0.25, ["not in the library: z--2024"])
    text = Report({"development": half, "check": Half([], None, [])}).write(tmp_path)
    assert "| development | all | contains_needed | 0.500 |  | 2 |" in text
    assert "| development | all | calibration_error | 0.250 |" in text
    assert "| development | all | skipped | 1 |" in text
    assert "| check | all | calibration_error | none |" in text
    assert (tmp_path / "forum.md").read_text(encoding="utf8") == text


def test_the_error_is_next_to_what_exact_probabilities_would_show(tmp_path: Path) -> None:
    half = Half([], 0.08, [], floors=(0.05, 0.07), reliability=[(0.3, 0.4, 5, 0.35, 0.4)])
    text = Report({"all of development": half}).write(tmp_path)
    assert "| all of development | all | calibration_error of exact probabilities | 0.050 | to 0.070 | |" in text
    assert "| all of development | 0.3 to 0.4 | 5 | 0.350 | 0.400 |" in text


def test_no_family_of_a_check_half_is_in_a_development_half() -> None:
    families = {
        half: {
            find_family(row)
            for name in names
            for row in map(json.loads, (FOLDER / f"{name}.jsonl").read_text(encoding="utf8").splitlines())
            if row["gold"]
        }
        for half, names in SETS.items()
    }
    assert families["development"].isdisjoint(families["check"])


def test_a_judged_alternative_counts_only_as_a_whole_and_only_where_the_gold_is_missing() -> None:
    def label(name: str, quote: str) -> LabeledQuestion:
        return label_question({"id": name, "query": "q", "type": "concept", "gold": [_passage(quote)]})

    questions = [label(name, "Barges are counted in May.") for name in ("gold", "whole", "half", "silent")]
    replies = {
        "gold": Reply("Barges are counted in May. [1]", 0.8, is_abstained=False),
        "whole": Reply("Count them in spring. [1]\n\nRafts too. [2]", 0.8, is_abstained=False),
        "half": Reply("Count them in spring. [1]", 0.8, is_abstained=False),
        "silent": Reply(None, 0.1, is_abstained=True),
    }
    alternative = [_passage("Count them in spring."), _passage("Rafts too.")]
    evaluated = Evaluated(questions, replies, [], dict.fromkeys(replies, "99"))
    accepted = accept_judged(evaluated, {name: [alternative] for name in replies})
    assert [question["gold"] == alternative for question in accepted.questions] == [False, True, False, False]
    needed = [score_answer(question, replies[question["id"]])["contains_needed"] for question in accepted.questions]
    assert needed == [1.0, 1.0, 0.0, 0.0]


def test_judged_passages_are_sealed_and_belong_to_questions_with_labels() -> None:
    ids = {
        row["id"]
        for names in SETS.values()
        for name in names
        for row in map(json.loads, (FOLDER / f"{name}.jsonl").read_text(encoding="utf8").splitlines())
        if row["gold"]
    }
    rows = [json.loads(line) for line in JUDGED.read_text(encoding="utf8").splitlines()]
    assert rows
    assert {row["question"] for row in rows} <= ids
    assert all(passage.keys() == SEALED for row in rows for passage in row["passages"])


def test_judged_passages_are_read_from_a_home_that_contains_all_of_an_alternative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passages = [seal_passage(_passage(quote)) for quote in ("Rafts too.", "Not in the home.")]
    rows = [{"question": "a", "passages": passages[:1]}, {"question": "b", "passages": passages}]
    path = tmp_path / "judged.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf8")
    monkeypatch.setattr("benchmarks.forum.JUDGED", path)
    assert read_judged({"z99--2024": [(3, "Count. Rafts too.")]}) == {"a": [[_passage("Rafts too")]]}


def _passage(quote: str) -> GoldPassageRecord:
    return {"document": "z99--2024", "page": 3, "quote": quote, "grade": 3}
