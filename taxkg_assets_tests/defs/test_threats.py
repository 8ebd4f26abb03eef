"""What docs/threat-model.md promises and no other test shows."""

from __future__ import annotations

import ast
from pathlib import Path

import pymupdf
import pytest

import taxkg_assets
from taxkg_assets.extraction.extract import extract
from taxkg_assets.sources.scan import name_of
from taxkg_assets_tests.defs.hostile import valid_pdf

pytestmark = pytest.mark.slow

PACKAGE = Path(taxkg_assets.__file__).parent
FORBIDDEN = {"xml", "lxml", "zipfile", "tarfile", "pickle", "marshal", "shelve"}


def test_no_document_meets_an_archive_a_pickle_or_a_parser_of_xml_but_the_templates_own() -> None:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found |= {(path.name, name) for name in names if name.split(".")[0] in FORBIDDEN}
    # The template of a form alone, by a parser that is made to refuse document types and entities; and what a step's
    # own process states the one that started it; and the package's own rules, parsed, next to its compiled modules.
    assert found == {("form_template.py", "xml.parsers"), ("step_process.py", "pickle"), ("parsed_files.py", "marshal")}


def test_an_entity_in_a_form_reads_no_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the words of another file", encoding="utf8")
    with pymupdf.open("pdf", valid_pdf()) as document:
        xfa = document.get_new_xref()
        document.update_object(xfa, "<<>>")
        entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{secret}">]><xdp><field>&e;</field></xdp>'
        document.update_stream(xfa, entity.encode())
        document.xref_set_key(document.pdf_catalog(), "AcroForm", f"<</XFA {xfa} 0 R /Fields []>>")
        read = extract(document.tobytes(), document_id="form")
    assert read.frames["sections"].height
    assert not any("another file" in str(frame.to_dicts()) for frame in read.frames.values())


@pytest.mark.parametrize(
    ("file", "name"), [("a\x1b[31m.pdf", "a?[31m"), ("a\u202egpj.pdf", "a?gpj"), ("ä b.pdf", "ä b")]
)
def test_a_name_cannot_control_the_terminal(file: str, name: str) -> None:
    assert name_of(Path(file)) == name


def test_the_explorer_writes_text_and_no_markup() -> None:
    files = [path.read_text(encoding="utf8") for path in (PACKAGE / "serving" / "explorer").iterdir()]
    assert len(files) > 5
    markup = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(", "srcdoc")
    assert not any(word in text for word in markup for text in files)
