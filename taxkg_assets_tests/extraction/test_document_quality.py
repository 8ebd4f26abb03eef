"""Each document is judged by each law: kept, flagged or withheld, with the rows that say so and what to do."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from taxkg_assets import schemas
from taxkg_assets.extraction import extract
from taxkg_assets.extraction.document_check import (
    CORRUPT,
    INCOMPLETE,
    DocumentCheck,
    column_check,
    find_failed_check,
    render_examples,
)
from taxkg_assets.extraction.document_quality import (
    CHECKS,
    FILE_CHECK,
    SCHEMA_CHECK,
    build_document_quality,
    find_check,
)
from taxkg_assets.extraction.invariants import CORRUPT_CHECKS

GOOD = {"warnings": [], "hidden_texts": [], "page_count": 1, "image_only_pages": [1], "page_sources": []}


def refusal(document_id: str, *, stage: str, reason: str, is_check_failure: bool = True) -> dict[str, Any]:
    """One row of `quarantine`."""
    text = dict.fromkeys(("sha256", "source_uri", "code_version"), "")
    when = {"first_seen_at": datetime(2031, 1, 1, tzinfo=UTC)}
    said = {"stage": stage, "reason": reason, "remedy": "Look.", "is_check_failure": is_check_failure}
    return {"document_id": document_id, **text, **said, **when}


def judge(
    rows: list[dict[str, Any]],
    refused: list[dict[str, Any]] | None = None,
    *,
    checks: Sequence[DocumentCheck] = CHECKS,
    **frames: pl.DataFrame,
) -> pl.DataFrame:
    """The quality of documents with these rows, without any row in the other tables unless they are given."""
    empty = {
        name: getattr(schemas, name.capitalize()).create_empty()
        for name in inspect.signature(build_document_quality).parameters
        if name not in ("documents", "quarantine", "failures", "checks")
    }
    quarantine = pl.DataFrame(refused or [], schema=schemas.Quarantine.create_empty().schema)
    return build_document_quality(
        schemas.Documents.sample(overrides=[{**GOOD, **row} for row in rows]),
        schemas.Quarantine.validate(quarantine),
        **{**empty, **frames},
        failures=pl.DataFrame(schema=["document_id", "table", "error"]),
        checks=checks,
    )


def doubts(quality: pl.DataFrame) -> list[tuple[str, str, str]]:
    """Document, law and outcome of what is not kept."""
    return quality.filter(pl.col("outcome") != "passed").select("document_id", "law", "outcome").rows()


def test_a_document_has_one_row_for_each_law() -> None:
    quality = judge([{"document_id": "a"}, {"document_id": "b"}])
    assert quality.height == 2 * len(CHECKS)
    assert doubts(quality) == []
    assert set(quality["rows"]) == {0}


def test_a_withheld_document_without_rows_has_the_law_that_it_broke() -> None:
    check = next(check for check in CORRUPT_CHECKS if check.name == "elements_have_one_owner")
    refused = [
        refusal("x", stage=check.on, reason=f"4 {check.broken} (element_id=e1)."),
        refusal("y", stage="open", reason="The file is encrypted.", is_check_failure=False),
        refusal("z", stage="spans", reason="Spans: 3 rows broke the rule.", is_check_failure=True),
    ]
    quality = judge([{"document_id": "z"}], refused)
    assert doubts(quality) == [
        ("x", "elements_have_one_owner", "withheld"),
        ("y", FILE_CHECK.name, "withheld"),
        ("z", SCHEMA_CHECK.name, "withheld"),
    ]
    assert quality.filter(document_id="z").height == len(CHECKS), "its old rows are judged by the other laws"
    assert set(quality.filter(document_id="x")["remedy"]) == {"Look."}


def test_an_incomplete_document_is_flagged_with_examples_and_remedy() -> None:
    order = {"page": 2, "kind": "printed", "text": "obey", "is_order": True, **dict.fromkeys(CORNERS, 1.0)}
    hidden = {**order, "is_order": False}
    rows = [
        {"document_id": "orders", "hidden_texts": [order, hidden]},
        {"document_id": "hides", "hidden_texts": [hidden]},
        {"document_id": "misread", "warnings": ["Tables kept as text, as cells have no header: t1"]},
    ]
    quality = judge(rows)
    assert doubts(quality) == [
        ("misread", "table_cells_have_headers", "flagged"),
        ("orders", "no_prompt_injection", "flagged"),
    ]
    (flagged,) = quality.filter(document_id="misread", outcome="flagged").to_dicts()
    assert flagged["rows"] == 1
    assert flagged["message"].startswith("Tables are served as plain text")
    assert flagged["message"].endswith(": 1.")
    assert flagged["remedy"]
    assert "t1" in flagged["examples"][0]


CORNERS = ("x0_pt", "y0_pt", "x1_pt", "y1_pt")


def test_a_box_without_an_explanation_flags_the_instructions() -> None:
    face = {"form": "9999-X", "revision": "2031-01", "box_key": "box_1", "document_id": "f9"}
    documents = [
        {"document_id": "f9", "form": "9999-X", "revision": "2031-01", "doc_type": "form"},
        {"document_id": "i9", "form": "9999-X", "revision": "2031-01", "doc_type": "filer_instructions"},
    ]
    line = {"document_id": "i9", "role": "BodyText", "text": "Box 1. Enter the sum."}
    quality = judge(
        documents,
        faces=schemas.Faces.sample(overrides=[face]),
        elements=schemas.Elements.sample(overrides=[line]),
    )
    assert ("i9", "boxes_are_explained", "flagged") in doubts(quality)
    (row,) = quality.filter(document_id="i9", law="boxes_are_explained").to_dicts()
    assert row["examples"] == ["form 9999-X, revision 2031-01, box_key box_1"]


def test_what_extract_refuses_is_declared_as_a_corrupt_law() -> None:
    """Each `_refuse` of extract.py names a check of severity `corrupt`, which the reason in `quarantine` names."""
    tree = ast.parse(Path(str(extract.__file__)).read_text(encoding="utf8"))
    named = [
        str(node.args[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_refuse"
        if isinstance(node.args[0], ast.Constant)
    ]
    checks = {check.name: check for check in CORRUPT_CHECKS}
    assert named
    for name in named:
        assert checks[name].severity == CORRUPT
        assert find_check(checks[name].on, f"3 {checks[name].broken} (a=b).") is checks[name]


def test_a_column_of_a_table_is_a_law_in_one_statement() -> None:
    check = column_check(
        "pages_are_trusted", on="pages", where=pl.col("trust") < 0.5, broken="pages are doubtful", remedy="Look.",
        show=("page",),
    )  # fmt: skip
    pages = pl.DataFrame({"document_id": ["a", "a", "b"], "page": [1, 2, 1], "trust": [0.2, 0.4, 0.9]})
    offending = check.find_offending({"pages": pages})
    assert (check.severity, check.reads) == (INCOMPLETE, ("pages",))
    assert offending["document_id"].to_list() == ["a", "a"]
    assert render_examples(offending, check.show) == ["page 1", "page 2"]
    assert check.describe(2) == "Pages are doubtful: 2."


def test_only_a_corrupt_law_withholds() -> None:
    frames = {"pages": pl.DataFrame({"document_id": ["a"]})}

    def find(pages: pl.DataFrame) -> pl.DataFrame:
        return pages

    checks = [
        DocumentCheck("l", strength, "pages", "pages are odd", "Look.", find) for strength in (INCOMPLETE, CORRUPT)
    ]
    assert find_failed_check(frames, checks[:1]) is None
    found = find_failed_check(frames, checks)
    assert found is not None
    assert found[0] is checks[1]


def failing_check(*names: str) -> DocumentCheck:
    """A check that divides by zero where it meets all of some documents, and flags the others' blank pages."""

    def find(documents: pl.DataFrame) -> pl.DataFrame:
        1 / (not set(names) <= set(documents["document_id"]))
        return documents.filter(pl.col("document_id") == "blank").select("document_id")

    return DocumentCheck("pages_are_printed", INCOMPLETE, "documents", "pages are blank", "Look.", find)


def test_a_document_on_which_a_check_fails_is_flagged_and_the_others_are_judged() -> None:
    quality = judge([{"document_id": name} for name in ("a", "blank", "odd")], checks=[failing_check("odd")])
    assert [outcome for *_, outcome in quality.select("document_id", "law", "outcome").rows()] == [
        "passed",
        "flagged",
        "flagged",
    ]
    message = quality.row(2, named=True)["message"]
    assert message.startswith("This check failed on the document: ZeroDivisionError: division by zero (test_document")
    assert quality.row(1, named=True)["message"] == "Pages are blank: 1."


def test_a_check_that_fails_on_several_documents_together_flags_all_of_them() -> None:
    quality = judge([{"document_id": name} for name in ("a", "b")], checks=[failing_check("a", "b")])
    assert set(quality["outcome"]) == {"flagged"}


def test_pages_that_are_damaged_or_unreadable_flag_their_document() -> None:
    warnings = [
        "Damaged page(s) 2, 14: some of their text may be missing.",
        "Text that cannot be read on page(s) 3.",
        "Left out: values of fields.",
    ]
    quality = judge([{"document_id": "a", "warnings": warnings}, {"document_id": "b"}])
    failed = quality.filter(pl.col("outcome") != "passed")
    assert failed.select("document_id", "law", "rows").rows() == [
        ("a", "files_are_as_published", 1),
        ("a", "pages_are_readable", 1),
        ("a", "pages_are_undamaged", 2),
    ]
    assert failed["examples"].to_list() == [
        ["warning Left out: values of fields."],
        ["page 3"],
        ["page 2", "page 14"],
    ]


def test_a_page_whose_text_is_taken_for_headers_flags_its_document() -> None:
    words = "Bees pay no toll on this bridge. " * 10
    rows = [(1, "BodyText"), (1, "PageArtifact"), (2, "PageArtifact"), (2, "PageArtifact"), (3, "PageArtifact")]
    texts = [words, words, words, words, "Page 3"]
    elements = schemas.Elements.sample(
        overrides=[
            {"document_id": "a", "element_id": f"e{ix}", "element_ix": ix, "page": page, "role": role, "text": text}
            for ix, ((page, role), text) in enumerate(zip(rows, texts, strict=True))
        ]
    )
    quality = judge([{"document_id": "a", "page_count": 3}], elements=elements)
    (row,) = quality.filter(pl.col("law") == "pages_have_content").iter_rows(named=True)
    assert (row["outcome"], row["examples"]) == ("flagged", ["page 2"])
