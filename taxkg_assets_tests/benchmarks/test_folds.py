"""Folds: families stay whole, and what would tell a model about its questions is left out."""

from __future__ import annotations

from typing import Any

from benchmarks.training.folds import build_folds, filter_examples, find_family, is_same_question
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.training.examples import Example

FAMILIES = {"fx--2025": "X", "ix--2025": "X", "py--2025": "Y", "fz--2025": "Z"}


def _question(name: str, *documents: str, query: str = "where does barn rent go?") -> dict[str, Any]:
    gold = [
        {"document": d, "quote": f"Barn rent is entered in the sample box of {d} only.", "grade": 3} for d in documents
    ]
    return {"id": name, "query": query, "type": "concept", "gold": gold}


def _example(name: str, family: str, **changed: Any) -> Example:
    held_out = {"query": f"what of {name}", "positive": f"Text of {name}.", "negatives": ()}
    return Example(**{**held_out, "kind": "scenario", "family": family, "weight": 1.0, "pair_id": name, **changed})


def test_a_question_belongs_to_the_family_of_most_of_its_passages() -> None:
    assert find_family(_question("a", "py--2025", "fx--2025", "ix--2025"), FAMILIES) == "X"
    assert find_family(_question("b"), FAMILIES) is None


def test_families_are_dealt_whole_and_evenly() -> None:
    questions = [_question(f"x{n}", "fx--2025") for n in range(3)]
    questions += [_question("y", "py--2025"), _question("z", "fz--2025"), _question("none")]
    folds = build_folds(questions, FAMILIES, count=2)
    assert [fold.families for fold in folds] == [("X",), ("Y", "Z")]
    assert [fold.questions for fold in folds] == [("x0", "x1", "x2"), ("y", "z")]


def test_a_fold_learns_nothing_of_its_families_questions_and_gold() -> None:
    questions = [_question("x", "fx--2025", "py--2025"), _question("z", "fz--2025")]
    fold = next(f for f in build_folds(questions, FAMILIES, count=2) if "X" in f.families)
    examples = [
        _example("held out", "X"),
        _example("short side held out", "Y"),
        _example(
            "gold", "Y", kind="table", positive="Note. Barn rent is entered in the sample box of py--2025 only. See."
        ),
        _example("asked", "Y", query="Where does the barn rent go"),
        _example("kept", "Y", negatives=("of X", "of Z")),
    ]
    kept, removed = filter_examples(
        examples,
        fold=fold,
        queried=questions[:1],
        family_of_text={"of X": "X", "of Z": "Z"},
        query_families={"short side held out": "X"},
    )
    assert [(example.pair_id, example.negatives) for example in kept] == [("kept", ("of Z",))]
    assert removed == {
        "held_out": {"scenario": 2},
        "gold": {"table": 1},
        "same_question": {"scenario": 1},
        "negatives": {"scenario": 1},
    }


def test_questions_are_the_same_by_their_words() -> None:
    queried = [frozenset(find_terms("where does barn rent go?"))]
    assert is_same_question("where does the barn rent go", queried)
    assert not is_same_question("where does the milk go", queried)
