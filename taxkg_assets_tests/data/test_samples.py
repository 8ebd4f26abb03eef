"""The bundled sample corpus and its gold: reproducible, marked as a sample, and true to its own pages."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from taxkg_assets.extraction.extract import extract

DATA = Path(__file__).resolve().parents[2] / "data"
SAMPLES, GOLD = DATA / "samples", DATA / "eval"
sys.path.insert(0, str(SAMPLES))

import generate  # noqa: E402
from generator.labels import read_code, read_pages  # noqa: E402
from label import CODE, build_labels  # noqa: E402

Row = dict[str, Any]
DOCUMENTS = [
    "sample-f1099div--2024-01",
    "sample-f1099div--2026-01",
    "sample-i1099div--2024-01",
    "sample-statute-title-8",
]
LABELS = ["anchors.jsonl", "boxes.json", "ownership.jsonl", "roles.jsonl", "tables.jsonl"]
TYPES = {"exact_anchor": 15, "concept": 20, "procedural": 10, "scenario": 15, "comparative": 5, "edge_case": 10}


@cache
def build_samples() -> dict[str, tuple[bytes, list[Any]]]:
    return generate.build_samples()


@cache
def labels() -> dict[str, str]:
    return build_labels()


def rows(name: str) -> list[Row]:
    return [json.loads(line) for line in (GOLD / name).read_text(encoding="utf-8").splitlines()]


def fold(text: str) -> str:
    """The gold format's comparison: quotes straightened, white space and hyphens removed, case folded."""
    straight = text.translate(str.maketrans("‘’“”", "''\"\""))
    return re.sub(r"[\s\-\u00ad\u2010\u2011]", "", straight).casefold()


@cache
def pages(document: str) -> list[str]:
    [path] = SAMPLES.glob(f"{document}.*")
    with pymupdf.open(path) as pdf:
        return [page.get_text() for page in pdf]


@cache
def blocks(document: str) -> list[str]:
    """Folded text of each paragraph, or of each row of a table, as the manuscript has it."""
    if document == CODE:
        code = (SAMPLES / f"{CODE}.txt").read_bytes()
        return [fold(block.plain) for block in read_code(code.decode("utf-8"), read_pages(code, kind="txt"))]
    found = build_samples()[document][1]
    return [fold(block.plain) for block in found] + [fold(" ".join(row)) for block in found for row in block.rows]


def quotes() -> Iterator[tuple[str, Row]]:
    for query in rows("queries.jsonl"):
        for passage in (*query["gold"], *query["near_miss"]):
            yield query["id"], passage
    for row in rows("ownership.jsonl"):
        yield "ownership", row


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_generator_gives_the_committed_bytes(document: str) -> None:
    assert build_samples()[document][0] == (SAMPLES / f"{document}.pdf").read_bytes()


def test_every_committed_sample_is_accounted_for() -> None:
    assert sorted(path.name for path in SAMPLES.glob("sample-*")) == [
        *(f"{d}.pdf" for d in DOCUMENTS[:3]),
        f"{CODE}.txt",
        f"{DOCUMENTS[3]}.pdf",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", LABELS)
def test_the_labels_follow_from_the_manuscripts(name: str) -> None:
    assert labels()[name] == (GOLD / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("document", [*DOCUMENTS, CODE])
def test_every_page_is_marked_as_a_sample(document: str) -> None:
    assert [page for page, text in enumerate(pages(document), 1) if "SAMPLE – not an IRS document" not in text] == []


def test_every_quote_is_on_its_page() -> None:
    lost = [
        (who, q["quote"]) for who, q in quotes() if fold(q["quote"]) not in fold(pages(q["document"])[q["page"] - 1])
    ]
    assert lost == []


def test_every_quote_has_the_length_of_the_format() -> None:
    assert [q["quote"] for _, q in quotes() if not 40 <= len(q["quote"]) <= 300] == []


def test_every_quote_of_a_question_is_in_one_paragraph() -> None:
    quoted = [(query["id"], q) for query in rows("queries.jsonl") for q in (*query["gold"], *query["near_miss"])]
    folded = [(who, fold(q["quote"]), q["document"]) for who, q in quoted]
    split = [(who, quote) for who, quote, name in folded if not any(quote in block for block in blocks(name))]
    assert split == []


def test_the_questions_have_the_types_of_the_design() -> None:
    queries = rows("queries.jsonl")
    assert Counter(query["type"] for query in queries) == TYPES
    assert len({query["id"] for query in queries}) == len({query["query"] for query in queries}) == sum(TYPES.values())


def test_no_passage_answers_two_questions() -> None:
    used = Counter((q["document"], q["quote"]) for query in rows("queries.jsonl") for q in query["gold"])
    assert [passage for passage, count in used.items() if count > 1] == []


def test_a_question_of_several_passages_says_how_many_it_needs() -> None:
    needed = {query["id"]: sum(q["grade"] >= 2 for q in query["gold"]) for query in rows("queries.jsonl")}
    assert [q["id"] for q in rows("queries.jsonl") if (needed[q["id"]] > 1) != (q["coverage"] is not None)] == []
    assert [
        q["id"] for q in rows("queries.jsonl") if q["type"] in ("scenario", "comparative") and needed[q["id"]] < 2
    ] == []


def test_the_words_of_a_locator_stand_in_the_paragraph_that_it_represents() -> None:
    astray = []
    for query in rows("queries.jsonl"):
        needed = [q for q in query["gold"] if q["grade"] >= 2]
        for passage, locator in zip(needed, query["locator"], strict=True):
            own = next(block for block in blocks(passage["document"]) if fold(passage["quote"]) in block)
            astray += [(query["id"], word) for word in locator["words"] if fold(word) not in own]
            assert len(locator["words"]) >= 3
            assert locator["grade"] == passage["grade"]
    assert astray == []


def test_every_reference_quotes_its_document() -> None:
    furniture = re.compile(
        r"SAMPLE – not an IRS document\n(?:-\d-\nInstructions for Form 1099-DIV \(Rev\. 01-2024\)\n)?"
    )
    lost = []
    for row in rows("references.jsonl"):
        text = fold(
            " ".join(furniture.sub("", page) for page in pages(row["document"])[row["page"] - 1 : row["page"] + 1])
        )
        if fold(row["evidence"]) not in text:
            lost.append(row["evidence"])
    assert lost == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_sample_has_an_official_address(name: str) -> None:
    read = extract((SAMPLES / f"{name}.pdf").read_bytes(), document_id=name)
    assert (read.addresses.page_url, read.addresses.pdf_url) == (None, None)
