"""Questions over a library: families of forms, and a table of figures that states what was left out."""

from __future__ import annotations

from pathlib import Path

from benchmarks.forum import Half, Report, find_family


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
