"""What the commands print: result rows as the contract has them, batch lines, messages that name the remedy."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from dataframely.exc import SchemaError
from typer.testing import CliRunner

from taxkg_assets.schemas import Documents
from taxkg_assets.serving.batch import BatchError, read_queries
from taxkg_assets.serving.boxes import BoxNotFoundError, find_box
from taxkg_assets.serving.cli import app
from taxkg_assets.serving.errors import explained
from taxkg_assets.serving.filters import FilterError
from taxkg_assets.serving.lines import LineNotFoundError
from taxkg_assets.serving.released import NotReleasedError, open_release

ROW = {
    *("rank", "score", "document", "form", "revision", "doc_type", "page", "bboxes", "heading_path", "anchor_key"),
    *("text", "node_id", "chunk_id", "via", "quality", "official_url"),
}
TRAINED = ("scenario_queries", "pairs", "hard_negatives", "model", "reranker")
TWO_BOXES = "How do the amounts in box 1b and box 2e relate to the total ordinary dividends in box 1a?"


def run(*arguments: str) -> Any:
    """The JSON that a command prints."""
    done = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_search_gives_contract_rows_within_its_filters(built_samples: Path) -> None:
    rows = run("search", "what is reported in box 2e", "-k", "3", "--home", str(built_samples))
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert all(row.keys() == ROW for row in rows)
    assert all(box.keys() == {"page", "x0", "y0", "x1", "y1"} for row in rows for box in row["bboxes"])
    only = "sample-f1099div--2026-01"
    rows = run("search", "exempt-interest dividends", "--document", only, "--home", str(built_samples))
    assert {row["document"] for row in rows} == {only}


def test_an_answer_cites_the_passages_that_it_quotes(built_samples: Path) -> None:
    found = run("ask", TWO_BOXES, "--home", str(built_samples))
    assert not found["abstained"]
    texts = {row["rank"]: " ".join(f"{row['heading_path']} {row['text']}".split()) for row in found["results"]}
    assert all(re.fullmatch(r".+ \[\d+\]", line) for line in found["answer"].splitlines())
    for unit in found["units"]:
        assert all(" ".join(piece["text"].split()) in texts[unit["rank"]] for piece in unit["pieces"])
        assert all(piece["text"] in found["answer"] for piece in unit["pieces"] if piece["role"] != "label")


def test_an_answer_can_be_narrowed_to_a_document(built_samples: Path) -> None:
    only = "sample-f1099div--2026-01"
    found = run("ask", "What is reported in box 1a?", "--document", only, "--home", str(built_samples))
    assert {row["document"] for row in found["results"]} == {only}


def test_an_answer_can_be_narrowed_to_a_year_and_to_a_form(built_samples: Path) -> None:
    documents = {row["document_id"]: row for row in open_release(str(built_samples)).table("documents").to_dicts()}
    for year in ("2024", "2026"):
        found = run("ask", "What is reported in box 1a?", "--year", year, "--home", str(built_samples))
        read = [documents[row["document"]] for row in found["results"]]
        assert read
        assert all(year in (str(row["tax_year"]), row["revision"][:4]) for row in read)
    found = run("ask", "What is reported in box 1a?", "--form", "1099-DIV", "--home", str(built_samples))
    assert found["results"]
    assert all("1099-DIV" in documents[row["document"]]["form"] for row in found["results"])


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [("--form", "9999", "about '9999'"), ("--year", "0", "document for 0"), ("--document", "f0", "document 'f0'")],
)
def test_a_filter_that_nothing_matches_is_refused(option: str, value: str, said: str, built_samples: Path) -> None:
    done = CliRunner().invoke(app, ["ask", "x", option, value, "--home", str(built_samples)])
    assert isinstance(done.exception, FilterError)
    assert said in str(done.exception)


@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_file_of_questions_becomes_a_run(command: str, built_samples: Path, tmp_path: Path) -> None:
    questions, out = tmp_path / "q.jsonl", tmp_path / "run.jsonl"
    rows = [
        {"id": "a", "query": "What goes into box 1a of Form 1099-DIV?"},
        {"id": "b", "query": "two\u2028lines and a lone \ud800 surrogate"},
    ]
    questions.write_text("\ufeff" + "\n".join(json.dumps(row) for row in rows), encoding="utf8")
    arguments = [command, "--queries", str(questions), "--out", str(out), "--home", str(built_samples)]
    assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 0
    lines = [json.loads(line) for line in out.read_text(encoding="utf8").split("\n") if line]
    assert [line["id"] for line in lines] == ["a", "b"]
    assert all({"id", "results", "abstained", "answer", "confidence"} <= line.keys() for line in lines)
    assert all(0 <= line["confidence"] <= 1 and len(line["results"]) <= 50 for line in lines)
    pieces = [
        piece
        for unit in lines[0].get("units", [])
        for piece in unit["pieces"]
        if piece["role"] not in ("label", "note")
    ]
    assert command == "search" or (pieces and all(piece["bboxes"] for piece in pieces)), "each quote has its place"


def test_a_box_shows_its_revisions_and_what_is_stated_about_it(built_samples: Path) -> None:
    rows = run("box", "1099-DIV", "2e", "--home", str(built_samples))
    assert [row["revision"] for row in rows] == ["2026-01", "2024-01"]
    assert {passage["perspective"] for passage in rows[1]["passages"]} >= {"filer", "recipient"}


def test_a_form_alone_lists_its_boxes_and_who_reads_of_them(built_samples: Path) -> None:
    rows = run("box", "1099-DIV", "--home", str(built_samples))
    faces = {row["document_id"]: [r["box_key"] for r in rows if r["document_id"] == row["document_id"]] for row in rows}
    assert list(faces) == ["sample-f1099div--2026-01", "sample-f1099div--2024-01"]
    assert faces["sample-f1099div--2024-01"][:3] == ["box_1a", "box_1b", "box_2a"]
    reported = {(row["document_id"], row["box_key"]): (row["filer"], row["recipient"]) for row in rows}
    assert reported["sample-f1099div--2024-01", "box_2e"] == ("this revision", "this revision")
    assert reported["sample-f1099div--2026-01", "box_2e"][0] == "this revision", "continuous-use instructions"


def test_a_line_is_found_in_every_revision_with_its_fields(built_samples: Path) -> None:
    rows = run("line", "1099-DIV", "box 1a", "--home", str(built_samples))
    assert [row["revision"] for row in rows] == ["2026-01", "2024-01"]
    assert all(row["kind"] == "box" and row["label"] for row in rows)
    assert rows[0]["canonical_id"] == rows[1]["canonical_id"] == "1099-DIV/total-ordinary-dividends"
    assert {field["key"] for row in rows for field in row["fields"]} == {"box_1a"}


def test_a_whole_form_is_listed_and_its_fields_exported(built_samples: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "fields.csv"
    rows = run("form", "1099-DIV", "--csv", str(sheet), "--home", str(built_samples))
    assert {row["document_id"] for row in rows} == {"sample-f1099div--2026-01"}
    exported = pl.read_csv(sheet)
    assert {"name", "key", "label", "x0_pt", "y1_pt"} <= set(exported.columns)
    assert exported.height == sum(row["field_count"] for row in rows)


def test_an_unknown_line_is_answered_with_those_that_there_are(built_samples: Path) -> None:
    for words, reported in ((("8889", "2"), "Forms: 1099-DIV"), (("1099-DIV", "99"), "Lines: 1a")):
        found = CliRunner().invoke(app, ["line", *words, "--home", str(built_samples)])
        assert isinstance(found.exception, LineNotFoundError)
        assert reported in str(found.exception)


def test_a_home_of_another_version_is_named_with_the_remedy() -> None:
    with pytest.raises(SchemaError) as caught:
        Documents.cast(pl.DataFrame({"document_id": ["a"]}))
    assert "Run `taxkg build`" in str(explained(caught.value))


def test_status_and_eval_show_what_is_stored(built_samples: Path) -> None:
    status = run("status", "--home", str(built_samples))
    missing = {table["table"] for table in status["tables"] if table["state"] == "missing"}
    assert {table["state"] for table in status["tables"]} <= {"current", "missing"}
    assert missing == set(TRAINED), "a build leaves training alone"
    figures = run("eval", "--home", str(built_samples))["figures"]
    systems = {row["system"] for row in figures}
    assert systems == {"bm25", "dense", "hybrid", "full"}


def test_answers_are_measured_by_kind(built_samples: Path) -> None:
    found = run("eval", "--answers", "--home", str(built_samples))
    assert found["report"].endswith("answers.html")
    cells = {(row["slice"], row["metric"]) for row in found["figures"]}
    assert {("all", "contains_needed"), ("all", "abstains_on_answerable")} <= cells


def test_what_is_not_there_is_named_with_a_remedy(built_samples: Path, tmp_path: Path) -> None:
    released = open_release(str(built_samples))
    with pytest.raises(BoxNotFoundError, match="Forms: 1099-DIV"):
        find_box(released, "1099-XYZ", "1a")
    with pytest.raises(BoxNotFoundError, match=r"no box '99z'.*2e"):
        find_box(released, "f1099div", "99z")
    with pytest.raises(NotReleasedError, match="Run `taxkg build`"):
        open_release(str(tmp_path))
    (tmp_path / "q.jsonl").write_text('{"id": "a"}')
    with pytest.raises(BatchError, match=r"line 1: not a JSON object"):
        read_queries(tmp_path / "q.jsonl")
    (tmp_path / "q.jsonl").write_bytes("Prüfung".encode("latin-1"))
    with pytest.raises(BatchError, match="is not UTF-8"):
        read_queries(tmp_path / "q.jsonl")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Give a question, or --queries FILE"),
        (["x", "--queries", "FILE", "--out", "o"], "Give a question, or --queries FILE"),
        (["--queries", "FILE"], "Give --queries and --out together"),
        (["--queries", "FILE", "--out", "o", "--form", "1099-DIV"], "cannot be combined"),
    ],
)
def test_a_question_or_a_file_but_not_both(arguments: list[str], said: str, tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": "a", "query": "What goes into box 1a of Form 1099-DIV?"}\n', encoding="utf8")
    done = CliRunner().invoke(app, ["ask", *(str(file) if each == "FILE" else each for each in arguments)])
    assert done.exit_code == 2
    assert said in " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize("days", ["inf", "nan", "1e300"])
def test_days_without_end_are_no_age(days: str, tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["vacuum", "--keep-days", days, "--home", str(tmp_path)]).exit_code == 2


def test_a_cell_comes_with_its_headers_and_rectangle_or_not_at_all(built_samples: Path) -> None:
    first = run("table", "when is copy A due that is filed electronically", "--home", str(built_samples))[0]
    assert first.keys() >= ROW | {"title", "row", "column", "value", "row_values"}
    assert (first["value"], first["row"], first["column"]) == ("March 31", "Copy A, filed electronically", "Due")
    assert first["title"] == "Table 3. Due Dates"
    box = first["bboxes"][0]
    assert box["page"] == first["page"]
    assert 0 < box["x0"] < box["x1"]
    assert run("table", "toll for a lorry on the bridge", "--home", str(built_samples)) == []
    shown = CliRunner().invoke(app, ["table", "toll for a lorry on the bridge", "--home", str(built_samples)])
    assert "No match" in shown.stdout
