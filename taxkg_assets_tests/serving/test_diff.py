"""`taxkg diff`: which documents are meant, what the command prints, and the reports that a build leaves."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner

from taxkg_assets.defs.home.store import Store
from taxkg_assets.graph.change_report import ChangeReport, Item
from taxkg_assets.schemas import Documents
from taxkg_assets.serving.cli import app
from taxkg_assets.serving.diff import RevisionNotFoundError, resolve_revision_pair, show
from taxkg_assets.serving.diff_files import admit_files
from taxkg_assets.settings import Settings
from taxkg_assets_tests.graph.corpora import document, frame_of

ROWS = [
    document("f9--2030", "9", "form", "2030"),
    document("f9--2031", "9", "form", "2031") | {"pdf_modified_on": "2031-12-27"},
    document("f9--2031__build20311206", "9", "form", "2031") | {"pdf_modified_on": "2031-12-06"},
    document("f9--2032-draft1", "9", "form", "2032", is_draft=True),
    document("i9--2030", "9", "filer_instructions", "2030"),
    document("i9--2033", "9", "filer_instructions", "2033"),
    document("w9", "W-9", "form", "2029") | {"irs_name": "w9"},
]


def two(name: str, older: str = "", newer: str = "") -> tuple[str, str]:
    before, after = resolve_revision_pair(pl.DataFrame(frame_of(Documents, ROWS)), name, older=older, newer=newer)
    return before["document_id"], after["document_id"]


@pytest.mark.parametrize(
    ("queried", "found"),
    [
        (("f9", "2030", "2031"), ("f9--2030", "f9--2031")),
        (("F9", "2031", "2030"), ("f9--2031", "f9--2030")),
        (("Form 9", "2030", "2031"), ("f9--2030", "f9--2031")),
        (("9", "2030", "2033"), ("i9--2030", "i9--2033")),
        (("f9", "2031", "2032"), ("f9--2031", "f9--2032-draft1")),
        (("f9", "2032-draft", "2031"), ("f9--2032-draft1", "f9--2031")),
        (("f9", "2031__build20311206", "f9--2031"), ("f9--2031__build20311206", "f9--2031")),
        (("f9", "2031", "2031__build20311206"), ("f9--2031", "f9--2031__build20311206")),
        (("f9",), ("f9--2031__build20311206", "f9--2031")),
    ],
)
def test_two_documents_are_found_by_name_and_revision(queried: tuple[str, ...], found: tuple[str, str]) -> None:
    assert two(*queried) == found


@pytest.mark.parametrize(
    ("queried", "message"),
    [
        (("f77",), "Names: f9, i9, w9"),
        (("9",), "matches several documents: f9, i9"),
        (("f9", "2030", "2040"), r"Revisions: f9: 2030, 2031, 2031__build20311206, 2032-draft1\."),
        (("f9", "2030"), "Give two revisions"),
        (("w9",), r"Revisions: w9: 2029\. Fetch another revision"),
        (("f9", "2030", "f9--2030"), "the same document, f9--2030. Name two of these: 2030, 2031"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(queried: tuple[str, ...], message: str) -> None:
    with pytest.raises(RevisionNotFoundError, match=message):
        two(*queried)


def test_the_command_prints_rows_and_writes_reports(built_samples: Path, tmp_path: Path) -> None:
    page, text = tmp_path / "out" / "c.html", tmp_path / "out" / "c.md"
    arguments = ["diff", "1099-DIV", "2024-01", "2026-01", "--home", str(built_samples)]
    done = CliRunner().invoke(app, [*arguments, "--json", "--html", str(page), "--markdown", str(text)])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    stored = Store(built_samples).read("revisions").to_dicts()
    assert [row for row in stored if row["to_document_id"] == rows[0]["to_document_id"]] == rows
    assert page.read_text(encoding="utf8").startswith("<!doctype html>")
    assert text.read_text(encoding="utf8").startswith("# Form 1099-DIV: what changed")
    shown = CliRunner().invoke(app, arguments)
    assert "Form 1099-DIV: what changed" in shown.output


def test_a_file_outside_the_home_represents_a_revision(built_samples: Path, tmp_path: Path) -> None:
    rows = Store(built_samples).read("documents").filter(irs_name="f1099div", is_draft=False).sort("revision")
    source = Path(rows["source_uri"][-1])
    newer = tmp_path / "rebuilt.pdf"
    newer.write_bytes(source.read_bytes())
    arguments = ["diff", "f1099div", rows["revision"][0], str(newer), "--home", str(built_samples), "--json"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    named = CliRunner().invoke(app, [*arguments[:3], rows["revision"][-1], *arguments[4:]])
    reported = [[(row["kind"], row["key"], row["after"]) for row in json.loads(o.stdout)] for o in (done, named)]
    assert reported[0] == reported[1] != []


@pytest.mark.parametrize(("content", "message"), [(None, "does not exist"), (b"no PDF", "could not be read")])
def test_a_file_that_cannot_be_read_is_refused_with_the_remedy(
    built_samples: Path, tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "f1099div.pdf"
    if content is not None:
        path.write_bytes(content)
    store = Store(built_samples)
    with pytest.raises(RevisionNotFoundError, match=message):
        admit_files(store, ["2024-01", str(path)], product="f1099div", settings=Settings())


@pytest.mark.parametrize(
    ("count", "note"), [(1, "1 routine change is not shown; --all shows it."), (2, "2 routine changes are not shown")]
)
def test_routine_changes_are_counted(count: int, note: str) -> None:
    items = (Item("Routine", "changed", "line 1", "", "page 1", (), ""),) * count
    report = ChangeReport("Form 9", "2030", "2031", ("f9--2030", "f9--2031"), (), items)
    out = Console(record=True, width=120, file=io.StringIO())
    show(report, has_routine=False, out=out)
    assert note in out.export_text()


def test_a_build_leaves_a_report_of_every_pair(built_samples: Path) -> None:
    pairs = Store(built_samples).read("revisions").select("from_document_id", "to_document_id").unique().rows()
    names = {path.name for path in (built_samples / "reports" / "changes").iterdir()}
    assert pairs
    assert {f"{a}--to--{b}.{suffix}" for a, b in pairs for suffix in ("md", "html")} <= names
