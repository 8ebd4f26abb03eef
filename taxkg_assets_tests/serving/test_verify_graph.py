"""Statements that the graph answers: computations and flows of invented forms, by the words that print them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from taxkg_assets.serving.verify_graph import GraphChecker
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets_tests.verification.words import LANGUAGE, claim_of, passage_of

SCHEDULE, RETURN = "f9999s1--2031", "f9999--2031"
FORMS = {SCHEDULE: ("Schedule 1",), RETURN: ("9999",)}
LABELS = {
    "line_6": "Add lines 3 through 5",
    "line_8": "Total fees. Subtract line 7 from line 6. Enter here and on Form 9999, line 5",
}
END = {"part": "", "column": "", "code": "", "line": None}


def _flow(target: str, **given: Any) -> dict[str, Any]:
    ends = (
        {"document_id": SCHEDULE, "form": "Schedule 1 (Form 9999)", "key": "line_8"},
        {
            "document_id": RETURN,
            "form": "9999",
            "key": target,
        },
    )
    row: dict[str, Any] = {f"source_{name}": value for name, value in (END | ends[0]).items()}
    row |= {f"target_{name}": value for name, value in (END | ends[1]).items()}
    row |= {"flow_id": target, "relation": "flows_to", "is_same_year": True, "problem": "", "agreement": "one_side"}
    row |= {
        "document_id": SCHEDULE,
        "element_id": None,
        "evidence": f"here and on Form 9999, {target.replace('_', ' ')}",
    }
    return row | given


def _formula(key: str, operation: str, operands: list[str], evidence: str) -> dict[str, Any]:
    return {
        "document_id": SCHEDULE,
        "part": "",
        "key": key,
        "operation": operation,
        "operands": operands,
        "operand_parts": ["" for _ in operands],
        "factor": None,
        "condition": "",
        "bound": "at_least_zero" if key == "line_8" else "",
        "evidence": evidence,
    }


def _label(key: str) -> Passage:
    return passage_of(
        LABELS[key], document_id=SCHEDULE, node_id=f"{SCHEDULE}#{key}", kind="label", keys=frozenset({key})
    )


class Released:
    """A release of three tables."""

    def __init__(self) -> None:
        """Fill the tables with one schedule."""
        lines = [
            {"document_id": SCHEDULE, "part": "", "key": key, "section": "", "label": label}
            for key, label in LABELS.items()
        ]
        self.tables = {
            "lines": pl.DataFrame(lines),
            "flows": pl.DataFrame([_flow("line_5")]),
            "formulas": pl.DataFrame(
                [
                    _formula("line_6", "sum", ["line_3", "line_4", "line_5"], "Add lines 3 through 5"),
                    _formula("line_8", "difference", ["line_6", "line_7"], "Subtract line 7 from line 6"),
                ]
            ),
        }

    def holds(self, name: str) -> bool:
        """Return whether there is such a table."""
        return name in self.tables

    def table(self, name: str) -> pl.DataFrame:
        """Return a table."""
        return self.tables[name]

    def read_documents(self, name: str, document_ids: Any) -> pl.DataFrame:
        """Return the rows of some documents."""
        return self.tables[name].filter(pl.col("document_id").is_in(list(document_ids)))


def _decide(text: str, released: Any = None) -> str | None:
    answered = _answer(text, released)
    return None if answered is None else answered[0]


def _answer(text: str, released: Any = None) -> tuple[str, str] | None:
    passages: Any = SimpleNamespace(shortlist_of=lambda name: SimpleNamespace(passages=[_label(key) for key in LABELS]))
    own: Any = released or Released()
    checker = GraphChecker(own, passages, PassageReader(LANGUAGE, FORMS))
    answered = checker.decide(claim_of(text), [SCHEDULE])
    return None if answered is None else (str(answered[0].verdict), answered[1])


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Line 8 of Schedule 1 (2031) is carried to Form 9999, line 5.", "supported"),
        ("Line 8 of Schedule 1 (2031) is carried to Form 9999, line 6.", "contradicted"),
        ("Line 8 of Schedule 1 (2031) is not carried to Form 9999, line 5.", "contradicted"),
        ("On Schedule 1 (2031), line 8 is line 6 minus line 7.", "supported"),
        ("On Schedule 1 (2031), line 8 is line 6 minus line 7, but not less than zero.", "supported"),
        ("On Schedule 1 (2031), line 8 is line 6 minus line 7, and zero if that is negative.", "supported"),
        ("On Schedule 1 (2031), line 8 is line 7 minus line 6.", "contradicted"),
        ("On Schedule 1 (2031), line 8 is not line 6 minus line 7.", "contradicted"),
        ("Line 6 of Schedule 1 (2031) combines lines 3 through 5.", "supported"),
        ("Line 6 of Schedule 1 (2031) combines lines 3 through 4.", "contradicted"),
        ("On Schedule 1 (2031), below line 2, lines 3, 4, and 5 are added on line 6.", "supported"),
        ("Line 8 of Schedule 1 (2031) is line 6 minus line 7, and goes to Form 9999, line 5.", "supported"),
        ("Line 8 of Schedule 1 (2031) is line 6 minus line 7, and goes to Form 9999, line 6.", "contradicted"),
    ],
)
def test_the_tables_answer_exactly(text: str, verdict: str) -> None:
    assert _decide(text) == verdict


@pytest.mark.parametrize(
    "text",
    [
        "Line 8 of Schedule 1 (2031) is carried to Form 9999, line 5, for parrots, lighthouses and barges.",
        "Line 8 of Schedule 1 (2031) is carried to Form 9999, line 5, if it is more than $500.",
        "Line 8 of Schedule 1 (2031), which line 2 lowers, is carried to Form 9999, line 5.",
        "Line 8 of Schedule 1 (2031) names a barge.",
        "Line 8 of Schedule 1 (2031) is carried to Form 9999, line 5, only in leap years.",
        "Line 8 of Schedule 1 (2031) is carried to Form 9999, line 5, if it is negative.",
        "Line 6 of Schedule 1 (2031) combines lines 3 through 5, but not less than zero.",
        "Line 8 of Schedule 1 (2031) is twice the excess of line 6 over line 7.",
        "Twice the amount on line 8 of Schedule 1 (2031) goes to Form 9999, line 5.",
        "Even if you do not sail, line 8 of Schedule 1 (2031) goes to Form 9999, line 5.",
        "If you have no boat, line 6 of Schedule 1 (2031) adds lines 3, 4, and 5.",
        "On Schedule 1 (2031), the amount on line 7 is entered on line 8.",
    ],
)
def test_what_says_more_is_left_to_the_passages(text: str) -> None:
    assert _decide(text) is None


def test_one_of_several_cases_is_left_to_the_passages() -> None:
    released = Released()
    words = "here and on Form 9999, line 5 (if A is checked) or line 6 (if B is checked)"
    released.tables["flows"] = pl.DataFrame([_flow("line_5", evidence=words), _flow("line_6", evidence=words)])
    assert _decide("Line 8 of Schedule 1 (2031) is carried to Form 9999, line 5.", released) is None


@pytest.mark.parametrize(
    ("text", "verdict", "reason"),
    [
        ("Line 8 of Schedule 1 (2031) is line 6 minus line 7.", "supported", "The form computes the line in this way."),
        (
            "Line 8 of Schedule 1 (2031) does not add lines 6 and 7.",
            "supported",
            "The form computes the line differently: Subtract line 7 from line 6.",
        ),
        (
            "Line 8 of Schedule 1 (2031) is not line 6 minus line 7.",
            "contradicted",
            "The form does compute the line in this way: Subtract line 7 from line 6.",
        ),
        (
            "Line 8 of Schedule 1 (2031) is line 7 minus line 6.",
            "contradicted",
            "The form computes the line differently: Subtract line 7 from line 6.",
        ),
    ],
)
def test_the_reason_says_how_the_form_computes(text: str, verdict: str, reason: str) -> None:
    assert _answer(text) == (verdict, reason)


def test_what_a_line_is_computed_from_is_not_carried_to_it() -> None:
    released = Released()
    words = "Subtract line 7 from line 6"
    end = {"source_key": "line_7", "target_document_id": SCHEDULE, "target_form": "Schedule 1 (Form 9999)"}
    released.tables["flows"] = pl.DataFrame([_flow("line_8", relation="computed_from", evidence=words, **end)])
    assert _decide("On Schedule 1 (2031), the amount on line 7 is entered on line 8.", released) is None


@pytest.mark.parametrize(("label", "verdict"), [("Fees of barges", "contradicted"), ("Reserved", "supported")])
def test_a_range_leaves_out_no_line_that_has_an_amount(label: str, verdict: str) -> None:
    released = Released()
    row = {"document_id": SCHEDULE, "part": "", "key": "line_4", "section": "", "label": label}
    released.tables["lines"] = pl.concat([released.tables["lines"], pl.DataFrame([row])])
    formula = _formula("line_6", "sum", ["line_3", "line_5"], "Add lines 3")
    released.tables["formulas"] = pl.DataFrame([formula])
    assert _decide("Line 6 of Schedule 1 (2031) combines lines 3 through 5.", released) == verdict


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("Line 8 of Schedule 1 goes to Form 9999, line 5.", True),
        ("Line 6 of Schedule 1 combines lines 3 through 5.", True),
        ("Line 8 of Schedule 1 is on the page of Form 9999, line 5.", False),
    ],
)
def test_a_statement_on_lines_alone_is_a_claim(text: str, is_read: bool) -> None:
    checker = GraphChecker(Released(), SimpleNamespace(), PassageReader(LANGUAGE, FORMS))  # type: ignore[arg-type]
    assert checker.reads(claim_of(text)) is is_read
