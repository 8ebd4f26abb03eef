"""Counts of the rules: complete, current, and right on a small home."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from taxkg_assets.rules.loader import Rule
from tools.rule_evidence import (
    EVIDENCE,
    Evidence,
    count_evidence,
    count_matches,
    find_reading,
    list_rules,
    pattern_digest,
    read_evidence,
    write_evidence,
)
from tools.rule_labels import REVIEWS, LabeledRows, Review, read_labels
from tools.rule_library import Library, Text, split_long

MOST_OUTDATED = 0.1
"""Share of the rules that may be new or changed since the last count."""


def _rule(pattern: str, *, name: str = "boats") -> Rule:
    return Rule(name, pattern, ("a boat",), (), "plain English", {})


def _library(*documents: str) -> Library:
    return Library(
        [f"f{ix}--2031" for ix in range(len(documents))],
        [Text(text, text.lower(), 1 << ix) for ix, text in enumerate(documents)],
    )


def test_nearly_every_rule_is_counted_with_its_present_pattern() -> None:
    current = {(row.family, row.group, row.rule, row.pattern) for row in read_evidence()}
    rules = [(family, group, rule.id, pattern_digest(rule)) for family, group, rule in list_rules()]
    outdated = [rule for rule in rules if rule not in current]
    assert len(outdated) <= MOST_OUTDATED * len(rules), f"run `python -m tools.rule_evidence`: {outdated}"


def test_the_file_holds_names_and_counts_only() -> None:
    assert EVIDENCE.read_text(encoding="utf8").splitlines()[0] == (
        "family,group,rule,reads,documents,families,questions,labeled,pattern"
    )
    for row in read_evidence():
        assert row.families <= row.documents
        assert row.reads == find_reading(row.family, row.group)
        assert min(row.documents, row.questions, row.labeled) >= 0


def test_documents_families_and_labels_are_counted() -> None:
    library = _library("A boat for hire.", "A barn.", "Boats and a boat.")
    labels = [["A boat", "on the lake"], ["a barn"]]
    rules = [("roles", "titles", _rule(r"(?i)\bboat\b"))]
    (row,) = count_evidence(
        rules, library, labels=LabeledRows({"documents": labels}, {}), questions=[["Is a boat exempt?"]], made={}
    )
    assert (row.documents, row.families, row.labeled, row.questions) == (2, 2, 1, 0)
    assert row.is_thin, "one labeled row is little"


def test_rules_of_questions_are_counted_on_questions() -> None:
    rules = [("lay_terms", "rules", _rule(r"\bboat\b"))]
    questions = [["Is a boat exempt?"], ["Is a barn exempt?"], ["Which boat?"]]
    (row,) = count_evidence(
        rules, _library("A boat."), labels=LabeledRows({"questions": [["boat"]] * 5}, {}), questions=questions, made={}
    )
    assert (row.documents, row.questions, row.reach) == (0, 2, 2)
    assert not row.is_thin


def test_a_rule_that_made_stored_rows_is_counted_by_them() -> None:
    rules = [("relations", "cues", _rule(r"see @"))]
    made = {"boats": {"f1--2031", "f1--2030", "p7--2031"}}
    (row,) = count_evidence(
        rules, _library("nothing"), labels=LabeledRows({}, {("relations", "boats"): 4}), questions=[], made=made
    )
    assert (row.documents, row.families, row.labeled) == (3, 2, 4)


def test_a_search_that_never_ends_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.rule_evidence.RULE_SECONDS", 0.05)
    endless = _rule(r"^(?:a+)+$")
    assert count_matches(endless, [["a"], ["a" * 60 + "b"], ["a"]]) == 1, "what was found by then"


def test_long_texts_are_split_at_sentences() -> None:
    short, long = "A boat.", "A boat is here. " * 60
    assert split_long(short) == [short]
    assert set(split_long(long.strip())) == {"A boat is here."}


def test_labels_of_references_have_the_text_around_their_target(tmp_path: Path) -> None:
    (tmp_path / "references.jsonl").write_text('{"evidence": "See box 3 first.", "target": "box 3"}\n')
    (tmp_path / "boxes.json").write_text('{"f9": [{"key": "box_3", "label": "Rent"}]}')
    (tmp_path / "queries.jsonl").write_text('{"query": "What is box 3?"}\n')
    assert read_labels([tmp_path], has_questions=True) == [["What is box 3?"]]
    assert read_labels([tmp_path]) == [["See box 3 first.", "See ", " first.", "See @ first."], ["Rent"]]


def test_a_family_has_labels_of_its_own() -> None:
    labels = LabeledRows({"documents": [["a boat"]], "formulas": [["boat plus boat"], ["barn"]]}, {})
    rules = [(family, "rules", _rule(r"\bboat\b")) for family in ("formulas", "roles")]
    rows = count_evidence(rules, _library("A boat."), labels=labels, questions=[], made={})
    assert [row.labeled for row in rows] == [2, 1]


def test_reviewed_matches_count_as_labeled_rows() -> None:
    labels = LabeledRows({"documents": [["a boat"]]}, reviewed={("roles", "titles", "boats"): Review(6, 4)})
    (row,) = count_evidence(
        [("roles", "titles", _rule("boat"))], _library("boat"), labels=labels, questions=[], made={}
    )
    assert (row.documents, row.families, row.labeled) == (4, 4, 7)


def test_reviews_name_known_rules_and_no_more_right_than_checked() -> None:
    known = {(family, group, rule.id) for family, group, rule in list_rules()}
    with REVIEWS.open(encoding="utf8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert {(row["family"], row["group"], row["rule"]) for row in rows} <= known
    assert all(0 <= int(row["right"]) <= int(row["checked"]) for row in rows)


def test_counts_survive_the_file(tmp_path: Path) -> None:
    rows = [Evidence("roles", "titles", "boats", "documents", 3, 2, 0, 7, "00c0ffee")]
    write_evidence(rows, tmp_path / "counts.csv")
    assert read_evidence(tmp_path / "counts.csv") == rows
