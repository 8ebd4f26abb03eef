"""Questions over a library: families of forms, and a table of figures that states what was left out."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.forum import FOLDER, SETS, Half, Report, find_family


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
